"""A test card that can be walked through: a real small world with the same controls, without torch and without a model.

A chequered ground under a sky with a compass, drawn from the walker's pose; the prompt chooses the colours. For people
who check their display and their keys, and for the tests of everything around a model.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine import window
from engine.config import EngineConfig
from engine.controls import ChunkInputs, ControlQueues
from engine.errors import BadValue, FileProblem
from engine.events import Rejection, check_prompt, parse
from engine.geometry import ChunkGeometry
from engine.moments import Moment
from engine.protocol import (
    ChunkTimings,
    EventAccepted,
    EventRejected,
    FrameChunk,
    ModelCard,
    Optics,
    Pixels,
    Prompt,
    PromptMix,
    SceneSpec,
    StartPose,
    WindowReport,
    prompt_to_wire,
    prompt_words,
)
from engine.window import KVWindow, MotionState, StreamShape, WindowPolicy

GEOMETRY = ChunkGeometry(width_px=192, height_px=112, latent_frames=1)
STREAM = StreamShape(chunk_latent_frames=1, window_latent_frames=12, sink_latent_frames=2)
FPS = 16.0
MOVE_METRES, YAW_DEGREES, PITCH_DEGREES, PITCH_LIMIT_DEGREES = 0.4, 6.0, 4.0, 60.0
_EYE_METRES, _FOCAL_PX, _FOG_METRES = 1.6, 120.0, 14.0
_BARS = ((255, 255, 255), (255, 255, 0), (0, 255, 255), (0, 255, 0), (255, 0, 255), (255, 0, 0), (0, 0, 255), (0, 0, 0))
_BAR_PX = 8


@dataclass(frozen=True, slots=True)
class Walker:
    """Metres on the ground (x right of north, z north), degrees."""

    x: float = 0.0
    z: float = 0.0
    yaw: float = 0.0
    pitch: float = 0.0

    def c2w(self) -> tuple[float, ...]:
        """Camera to world, 16 numbers, row-major, OpenCV axes."""
        rotation = _rotation(self)
        position = (self.x, 0.0, self.z)
        rows = [(*(float(v) for v in rotation[i]), position[i]) for i in range(3)]
        return (*rows[0], *rows[1], *rows[2], 0.0, 0.0, 0.0, 1.0)


class TestCardModel:
    """Opens test-card worlds."""

    __test__ = False  # its name is not that of a test

    def __init__(self, config: EngineConfig) -> None:
        self._policy = config.window
        self.card = ModelCard(
            backend="test_card",
            model="test card",
            model_sha256=hashlib.sha256(b"worldwalk test card 1").hexdigest(),
            device="cpu",
            dtype="uint8",
            threads=1,
            width=GEOMETRY.width_px,
            height=GEOMETRY.height_px,
            fps_nominal=FPS,
            latent_frames_per_chunk=GEOMETRY.latent_frames,
        )
        focal = _FOCAL_PX / GEOMETRY.width_px
        self.optics = Optics(YAW_DEGREES, PITCH_DEGREES, PITCH_LIMIT_DEGREES, focal)

    def open(self, scene: SceneSpec, seed: int, session_id: int) -> TestCardWorld:
        return TestCardWorld(self._policy, scene, seed, session_id)

    def restore(self, scene: SceneSpec, seed: int, session_id: int, path: Path) -> TestCardWorld:
        """Continue from a snapshot. Raises FileProblem."""
        world = self.open(scene, seed, session_id)
        world.load(path)
        return world


class TestCardWorld:
    """See ``engine.backends.World``. Everything follows from scene, seed and events; there is no randomness.

    A retake with another seed gives other colours; steps mean nothing here.
    """

    __test__ = False

    def __init__(self, policy: WindowPolicy, scene: SceneSpec, seed: int, session_id: int) -> None:
        self._policy, self._session_id, self._seed = policy, session_id, seed
        self.notice = "The test card has no picture in it: it shows its own ground." if scene.own_image else None
        self.text_encodes, self.cross_attention_resets = 1, 0
        self._prompt: Prompt = scene.prompt
        self._walker = _at(scene.start)
        self._motion, self._controls = MotionState(), ControlQueues()
        self._chunk = self._frame = 0

    @property
    def prompt(self) -> str:
        return prompt_words(self._prompt)

    @property
    def mix(self) -> PromptMix | None:
        return self._prompt if isinstance(self._prompt, PromptMix) else None

    def apply(self, wire: Mapping[str, object], pressed_at: float | None, now: float) -> EventAccepted | EventRejected:
        """Take an event whole for the next chunk, or refuse it whole."""
        try:
            event = parse(wire, pressed_at)
        except Rejection as rejection:
            return rejection.report()
        self._controls.apply(event, now, wire)
        return EventAccepted(event.event_id, pressed_at, now)

    def step(self, clock: Callable[[], float]) -> FrameChunk:
        """The next chunk: one frame first, four from then on."""
        began = clock()
        inputs = self._controls.sample(STREAM.chunk_latent_frames, self._chunk, began)
        look = inputs.look
        moving = window.is_moving(self._policy, inputs.actions, look.yaw_degrees, look.pitch_degrees)
        self._motion, seen = window.choose(self._policy, STREAM, self._motion, moving)
        if inputs.prompt is not None and inputs.prompt != self._prompt:
            self._prompt = inputs.prompt
            self.text_encodes += 1
            self.cross_attention_resets += 1
        if inputs.retake is not None and inputs.retake.seed is not None:
            self._seed = inputs.retake.seed
        frames = self._draw(inputs)
        made_at = clock()
        chunk = FrameChunk(
            session_id=self._session_id,
            chunk=self._chunk,
            frames=frames,
            prompt=self.prompt,
            prompt_updated=inputs.prompt is not None,
            moving=bool(moving),
            window=WindowReport(seen.mode, seen.recent_latent_frames, self._visible(seen)),
            pose=self._walker.c2w(),
            ms=ChunkTimings(decode=(made_at - began) * 1000),
            made_at=made_at,
            events=inputs.events,
        )
        self._chunk += 1
        return chunk

    @property
    def moment_bytes(self) -> int:
        return len(self._written())

    def keep(self) -> Moment:
        """The state after the newest chunk (``engine.moments``)."""
        state = self._written()
        return Moment(self._chunk - 1, {id(state): len(state)}, partial(self._read, state))

    def save(self, path: Path) -> None:
        """Write a snapshot (JSON), whole or not at all. Raises OSError."""
        part = path.with_name(path.name + ".part")
        part.write_text(self._written(), encoding="utf-8")
        os.replace(part, path)

    def load(self, path: Path) -> None:
        """Take over the state in a snapshot. Raises FileProblem."""
        try:
            self._read(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, KeyError, TypeError, BadValue) as error:
            raise FileProblem(path, f"the snapshot cannot be read ({error})", "Start the scene anew instead.") from None

    def _written(self) -> str:
        state = {
            "model": "test card",
            "seed": self._seed,
            "prompt": prompt_to_wire(self._prompt),
            "walker": asdict(self._walker),
            "motion": asdict(self._motion),
            "controls": self._controls.to_dict(),
            "chunk": self._chunk,
            "frame": self._frame,
        }
        return json.dumps(state)

    def _read(self, text: str) -> None:
        state = json.loads(text)
        walker, motion = Walker(**state["walker"]), MotionState(**state["motion"])
        controls = ControlQueues.from_dict(state["controls"])
        chunk, frame, seed, prompt = (state[name] for name in ("chunk", "frame", "seed", "prompt"))
        self._walker, self._motion, self._controls = walker, motion, controls
        self._chunk, self._frame, self._seed, self._prompt = chunk, frame, seed, check_prompt(prompt, ("prompt",))

    def _draw(self, inputs: ChunkInputs) -> Pixels:
        """Walk and draw: RGB [T, H, W, 3]."""
        count = GEOMETRY.video_frames(STREAM.chunk_latent_frames, first=self._chunk == 0)
        actions = inputs.actions[0] if inputs.actions else ()
        palette = _colours(self._prompt, self._seed)
        frames = np.empty((count, GEOMETRY.height_px, GEOMETRY.width_px, 3), np.uint8)
        for index in range(count):
            look = inputs.look
            self._walker = _walked(self._walker, actions, look.yaw_degrees, look.pitch_degrees, 1 / count)
            frames[index] = _picture(self._walker, palette, self._frame)
            self._frame += 1
        return frames

    def _visible(self, seen: KVWindow) -> int:
        """Latent frames that a model with this window would see, the chunk's own included."""
        made = self._chunk + 1
        if seen.recent_latent_frames is None:
            return min(made, STREAM.window_latent_frames)
        return min(made, STREAM.sink_latent_frames + seen.recent_latent_frames + STREAM.chunk_latent_frames)


def _at(start: StartPose) -> Walker:
    return Walker(start.x_metres, start.z_metres, start.yaw_degrees)


def _walked(walker: Walker, actions: Sequence[str], look_yaw: float, look_pitch: float, part: float) -> Walker:
    """The walker after ``part`` of a latent frame with these actions held and this look asked."""

    def axis(plus: str, minus: str) -> int:
        return (plus in actions) - (minus in actions)

    yaw = walker.yaw + part * (axis("l", "j") * YAW_DEGREES + look_yaw)
    pitch = walker.pitch + part * (axis("i", "k") * PITCH_DEGREES + look_pitch)
    ahead, aside = (part * MOVE_METRES * axis(*keys) for keys in (("w", "s"), ("d", "a")))
    sine, cosine = math.sin(math.radians(yaw)), math.cos(math.radians(yaw))
    return replace(
        walker,
        x=walker.x + ahead * sine + aside * cosine,
        z=walker.z + ahead * cosine - aside * sine,
        yaw=(yaw + 180.0) % 360.0 - 180.0,
        pitch=max(-PITCH_LIMIT_DEGREES, min(PITCH_LIMIT_DEGREES, pitch)),
    )


def _rotation(walker: Walker) -> NDArray[np.float32]:
    """[3, 3], camera to world: Ry(yaw) Rx(pitch)."""
    sy, cy = math.sin(math.radians(walker.yaw)), math.cos(math.radians(walker.yaw))
    sp, cp = math.sin(math.radians(walker.pitch)), math.cos(math.radians(walker.pitch))
    return np.array([[cy, sy * sp, sy * cp], [0.0, cp, -sp], [-sy, cy * sp, cy * cp]], np.float32)


def _colours(prompt: Prompt, seed: int) -> NDArray[np.float32]:
    """The palette of a prompt; of a mix, between those of its two."""
    if isinstance(prompt, str):
        return _palette(prompt, seed)
    share = np.float32(prompt.share)
    return (1 - share) * _palette(prompt.text, seed) + share * _palette(prompt.mixed_with, seed)


def _palette(prompt: str, seed: int) -> NDArray[np.float32]:
    """[4, 3] in 0..255: light and dark of the ground, horizon, zenith."""
    digest = hashlib.sha256(f"{seed}\n{prompt}".encode()).digest()
    colours = np.frombuffer(digest[:12], np.uint8).reshape(4, 3).astype(np.float32)
    return np.array([[120.0], [30.0], [140.0], [60.0]], np.float32) + colours * 0.4


def _picture(walker: Walker, palette: NDArray[np.float32], frame: int) -> Pixels:
    """One frame [H, W, 3]: ground and sky by casting a ray through each pixel, colour bars and a beat at the foot."""
    height, width = GEOMETRY.height_px, GEOMETRY.width_px
    across = (np.arange(width, dtype=np.float32) + 0.5 - width / 2) / _FOCAL_PX
    down = (np.arange(height, dtype=np.float32) + 0.5 - height / 2) / _FOCAL_PX
    rays = (
        np.stack(np.broadcast_arrays(across[None, :], down[:, None], np.float32(1)), -1) @ _rotation(walker).T
    )  # [H, W, 3]
    lower = np.maximum(rays[..., 1], 1e-4)
    x, z = (walker.x + rays[..., 0] * _EYE_METRES / lower), (walker.z + rays[..., 2] * _EYE_METRES / lower)
    squares = ((np.floor(x) + np.floor(z)) % 2)[..., None]
    ground = palette[0] * squares + palette[1] * (1 - squares)
    fog = np.minimum(_EYE_METRES / lower / _FOG_METRES, 1.0)[..., None]
    ground = ground * (1 - fog) + palette[2] * fog
    bearing = np.degrees(np.arctan2(rays[..., 0], rays[..., 2]))
    high = np.clip(-rays[..., 1], 0, 1)[..., None]
    sky = palette[2] * (1 - high) + palette[3] * high
    mark = (np.abs((bearing + 15) % 30 - 15) < 0.6) & (rays[..., 1] > -0.12)
    sky[mark] = 255.0
    sky[mark & (np.abs(bearing) < 5)] = (255.0, 0.0, 0.0)  # north
    pixels: Pixels = np.where(rays[..., 1:2] > 0, ground, sky).round().astype(np.uint8)
    pixels[-_BAR_PX:] = np.asarray(_BARS, np.uint8).repeat(width // len(_BARS), 0)[None]
    beat = frame % (width // _BAR_PX) * _BAR_PX
    pixels[-2 * _BAR_PX : -_BAR_PX, beat : beat + _BAR_PX] = 255
    return pixels
