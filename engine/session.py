"""One running world on the bundled model. ``step`` is the engine's table of contents."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from engine import camera, sampler, window
from engine.bundled import MODEL_FOLDER, BundledModel, load_bundled_model
from engine.camera import CameraConvention, CameraState, ChunkPoses
from engine.conditioning import DEFAULT_MIX, Blend, ChunkCondition, Place, asked_mix
from engine.config import EngineConfig
from engine.controls import ChunkInputs, ControlQueues
from engine.device import prepare_device
from engine.errors import BadValue
from engine.events import Rejection, parse
from engine.frames import to_pixels
from engine.models.dit import ChunkContext
from engine.models.kv_cache import CacheShape, CausalKVCache, CrossAttentionCache
from engine.protocol import (
    ChunkTimings,
    EventAccepted,
    EventRejected,
    FrameChunk,
    ModelCard,
    Pixels,
    SceneSpec,
    WindowReport,
)
from engine.schedule import DenoiseSchedule, Prediction, explicit
from engine.state import WorldState, draw_noise
from engine.window import KVWindow, MotionState

OWN_IMAGE_NOTICE = (
    "This small model cannot know your picture: it takes the picture's overall colours and light for its own world. "
    "The large models walk into the picture itself."
)
_RESIDUAL_LIMIT = 5.0


class BundledWorldModel:
    """Opens worlds on the loaded networks. Holds nothing of any one world."""

    def __init__(self, model: BundledModel, config: EngineConfig, card: ModelCard) -> None:
        self.model, self.config, self.card = model, config, card

    def open(self, scene: SceneSpec, seed: int, session_id: int) -> WorldSession:
        return WorldSession(self.model, self.config, scene, seed, session_id)

    def restore(self, scene: SceneSpec, seed: int, session_id: int, path: Path) -> WorldSession:
        world = self.open(scene, seed, session_id)
        world.load(path)
        return world


class WorldSession:
    """A world: apply events at any time, make chunks one after the other with ``step``."""

    def __init__(self, model: BundledModel, config: EngineConfig, scene: SceneSpec, seed: int, session_id: int) -> None:
        self.model, self.policy, self.scene, self.session_id = model, config.window, scene, session_id
        own = model.config
        self.geometry, self.stream = own.geometry, own.stream
        self.schedule = _schedule(own.sigmas, config.steps)
        self.convention = CameraConvention(config.camera.convention or "sglang")
        self.notice = OWN_IMAGE_NOTICE if scene.own_image else None
        self.text_encodes = self.cross_attention_resets = 0
        self.state = self._begin(scene, seed)

    @property
    def prompt(self) -> str:
        return self.state.prompt

    def apply(self, wire: Mapping[str, object], pressed_at: float | None, now: float) -> EventAccepted | EventRejected:
        """Take a whole composite event for the next chunk, or refuse it whole."""
        try:
            event = parse(wire, pressed_at)
        except Rejection as rejection:
            return rejection.report()
        self.state.controls.apply(event, now, wire)
        return EventAccepted(event.event_id, pressed_at, now)

    @torch.inference_mode()
    def step(self, clock: Callable[[], float] = time.monotonic) -> FrameChunk:
        """Make the next chunk: what was asked -> window -> poses -> condition -> denoise -> commit -> decode."""
        watch = _Stopwatch(clock)
        inputs = self.state.controls.sample(self.stream.chunk_latent_frames, self.state.chunk, clock())
        moving, seen = self._choose_window(inputs)
        prompt_updated = self._follow_prompt(inputs)
        text_ms = watch.lap()
        poses = self._move(inputs)
        condition = self._condition(poses)
        context = self._context(seen, poses)
        condition_ms = watch.lap()
        x0 = self._denoise(condition, context)
        denoise_ms = watch.lap()
        sampler.commit(self.model.networks.dit, self.schedule, context, condition=condition.condition, x0=x0)
        commit_ms = watch.lap()
        frames = self._decode(condition, x0)
        decode_ms = watch.lap()
        visible = self.state.cache.visible_tokens // self.geometry.tokens_per_latent_frame
        chunk = FrameChunk(
            session_id=self.session_id,
            chunk=self.state.chunk,
            frames=frames,
            prompt=self.state.prompt,
            prompt_updated=prompt_updated,
            moving=moving,
            window=WindowReport(seen.mode, seen.recent_latent_frames, visible),
            pose=tuple(float(v) for v in self.state.shown.reshape(-1)),
            ms=ChunkTimings(text_ms, condition_ms, denoise_ms, commit_ms, decode_ms),
            made_at=clock(),
            events=inputs.events,
        )
        self.state.chunk += 1
        self.state.latent_frame += self.stream.chunk_latent_frames
        return chunk

    def save(self, path: Path) -> None:
        """Write a snapshot from which ``load`` continues bit for bit."""
        self.state.save(path, self.model.sha256)

    def load(self, path: Path) -> None:
        self.state.load(path, self.model.sha256)

    # ---- the parts of a step ------------------------------------------------------------------------------------

    def _begin(self, scene: SceneSpec, seed: int) -> WorldState:
        dit, stream = self.model.config.dit, self.stream
        reading = self.model.reader.read(scene.prompt)
        self.text_encodes += 1
        mix = asked_mix(DEFAULT_MIX, reading.labels)
        per_frame = self.geometry.tokens_per_latent_frame
        shape = CacheShape(
            layers=dit.layers,
            heads=dit.heads,
            head_dim=dit.head_dim,
            sink_tokens=stream.sink_latent_frames * per_frame,
            cache_tokens=window.effective_cache_latent_frames(self.policy, stream) * per_frame,
        )
        size = (
            1,
            dit.out_channels,
            stream.chunk_latent_frames,
            self.geometry.latent_height,
            self.geometry.latent_width,
        )
        noise, renoise = draw_noise(seed, size, self.schedule.steps)
        return WorldState(
            place=Place.of(scene.map_seed, scene.start),
            blend=Blend(mix, mix),
            camera=CameraState(),
            shown=CameraState().c2w(),
            motion=MotionState(),
            controls=ControlQueues(),
            cache=CausalKVCache(shape, dtype=torch.float32, device="cpu"),
            cross=CrossAttentionCache(),
            prompt=scene.prompt,
            text_rows=reading.rows,
            noise=noise,
            renoise=renoise,
        )

    def _choose_window(self, inputs: ChunkInputs) -> tuple[bool, KVWindow]:
        look = inputs.look
        moving = window.is_moving(self.policy, inputs.actions, look.yaw_degrees, look.pitch_degrees)
        self.state.motion, seen = window.choose(self.policy, self.stream, self.state.motion, moving)
        return bool(moving), seen

    def _follow_prompt(self, inputs: ChunkInputs) -> bool:
        """Take a new prompt: only the cross-attention and the layout's aim change; the history stays."""
        if inputs.prompt is None or inputs.prompt == self.state.prompt:
            return inputs.prompt is not None
        reading = self.model.reader.read(inputs.prompt)
        self.text_encodes += 1
        self.cross_attention_resets += 1
        self.state.prompt, self.state.text_rows = inputs.prompt, reading.rows
        self.state.blend = self.state.blend.towards(asked_mix(self.state.blend.target, reading.labels))
        self.state.cross.reset()
        return True

    def _move(self, inputs: ChunkInputs) -> ChunkPoses:
        """Advance the camera; before the first camera input it stands."""
        actions = inputs.actions or ((),) * self.stream.chunk_latent_frames
        scale = self.model.config.camera_scale(self.convention)
        self.state.camera, poses = camera.advance(self.state.camera, actions, inputs.look, scale, self.convention)
        return poses

    def _condition(self, poses: ChunkPoses) -> ChunkCondition:
        """The layout from the frame shown last to the chunk's end, painted."""
        before, picture = self.state.shown, self._starts_from_picture
        condition, self.state.blend = self.model.conditioner.prepare_chunk(
            self.state.place, self.state.blend, before, poses.absolute, picture=picture
        )
        self.state.shown = before if picture else poses.absolute[-1]
        return condition

    def _context(self, seen: KVWindow, poses: ChunkPoses) -> ChunkContext:
        size = self.geometry.height_px, self.geometry.width_px
        rays = camera.pluecker_rays(poses.relative, self.model.config.intrinsics, *size)
        return ChunkContext(
            text=self.state.text_rows,
            camera=self.model.networks.dit.prepare_camera(rays),
            cache=self.state.cache,
            cross=self.state.cross,
            start_latent_frame=self.state.latent_frame,
            recent_window_tokens=seen.recent_tokens(self.geometry.tokens_per_latent_frame),
        )

    def _denoise(self, condition: ChunkCondition, context: ChunkContext) -> Tensor:
        """The chunk's residual x0 [1, 16, F, h, w]; a world's first picture is known and only needs to be encoded."""
        if self._starts_from_picture:
            return self._picture_residual(condition)
        return sampler.denoise(
            self.model.networks.dit,
            self.schedule,
            context,
            condition=condition.condition,
            noise=self.state.noise,
            renoise=lambda i: self.state.renoise[i],
        )

    @property
    def _starts_from_picture(self) -> bool:
        return self.state.chunk == 0 and self.scene.image is not None

    def _picture_residual(self, condition: ChunkCondition) -> Tensor:
        """What the scene's picture says beyond the painter; of a user's own picture only its overall look."""
        assert self.scene.image is not None
        picture = torch.from_numpy(np.ascontiguousarray(self.scene.image)).permute(2, 0, 1).float() / 127.5 - 1
        latent = self.model.networks.autoencoder.encode(picture.expand(1, 4, -1, -1, -1))[:, :, None]
        residual = (latent - condition.base) / self.model.conditioner.scale
        if self.scene.own_image:
            residual = residual.mean((3, 4), keepdim=True).expand_as(residual)
        return residual.clamp(-_RESIDUAL_LIMIT, _RESIDUAL_LIMIT)

    def _decode(self, condition: ChunkCondition, x0: Tensor) -> Pixels:
        latents = (condition.base + self.model.conditioner.scale * x0)[0].transpose(0, 1)  # [F, 16, h, w]
        frames = self.model.networks.autoencoder.decode(latents, condition.guides).flatten(0, 1)  # [F*4, 3, H, W]
        first = self.state.chunk == 0
        return to_pixels(frames[self.geometry.temporal_scale - 1 :] if first else frames)


class _Stopwatch:
    def __init__(self, clock: Callable[[], float]) -> None:
        self.clock, self.last = clock, clock()

    def lap(self) -> float:
        """Milliseconds since the last lap."""
        now = self.clock()
        passed, self.last = (now - self.last) * 1000, now
        return passed


def _schedule(sigmas: tuple[float, ...], steps: int | None) -> DenoiseSchedule:
    """The model's own noise levels, or ``steps`` of them evenly from 1 down."""
    chosen = sigmas if steps is None else tuple(1 - i / steps for i in range(steps))
    return explicit(chosen, Prediction.RESIDUAL)


def load_bundled(
    config: EngineConfig, progress: Callable[[str, float | None], None], log: Callable[[str], None]
) -> BundledWorldModel:
    """Load the bundled model and say what runs where."""
    asked = config.device
    if asked.device not in ("auto", "cpu"):
        raise BadValue("engine.device.device", asked.device, "auto or cpu: the bundled model is made for the processor")
    if asked.dtype not in ("auto", "float32"):
        raise BadValue("engine.device.dtype", asked.dtype, "auto or float32: the bundled model computes in float32")
    plan = prepare_device(replace(asked, device="cpu", dtype="float32"))
    log(plan.line)
    folder = MODEL_FOLDER if config.model is None else Path(config.model)
    model = load_bundled_model(folder, progress)
    own = model.config
    card = ModelCard(
        backend="bundled",
        model=own.name,
        model_sha256=model.sha256,
        device="cpu",
        dtype="float32",
        threads=plan.threads,
        width=own.geometry.width_px,
        height=own.geometry.height_px,
        fps_nominal=own.fps,
        latent_frames_per_chunk=own.stream.chunk_latent_frames,
    )
    return BundledWorldModel(model, config, card)
