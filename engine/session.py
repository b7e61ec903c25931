"""One running world on a loaded model, bundled or large. ``step`` is the engine's table of contents."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch
from torch import Tensor

from engine import camera, sampler, window
from engine.camera import CameraPreset, CameraState, ChunkPoses
from engine.controls import ChunkInputs, ControlQueues
from engine.errors import OutOfGpuMemory, WorldwalkError
from engine.events import Rejection, parse
from engine.frames import PixelStream
from engine.geometry import ChunkGeometry
from engine.models.dit import CausalDiT, ChunkContext
from engine.models.kv_cache import CacheShape, CausalKVCache, CrossAttentionCache
from engine.moments import Moment
from engine.protocol import (
    ChunkTimings,
    EventAccepted,
    EventRejected,
    FrameChunk,
    ModelCard,
    Optics,
    Pixels,
    PromptMix,
    SceneSpec,
    WindowReport,
    prompt_words,
)
from engine.rebase import stay_within
from engine.scenery import PreparedChunk, Scenery
from engine.schedule import DenoiseSchedule
from engine.state import KeptState, SharedTensor, WorldState
from engine.stopwatch import Stopwatch
from engine.window import KVWindow, MotionState, StreamShape, WindowPolicy


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A loaded model and everything about it that never changes while worlds run on it.

    ``begin`` makes the scenery of a new world from its scene and seed. ``position_limit_latent_frames``: positions of
    latent frames end there (``engine.rebase``); None: they do not, as time is no axis of the model's positions.
    ``snapshot_limit_bytes``: a larger world is not saved, as that would stop the walk for seconds.
    """

    card: ModelCard
    dit: CausalDiT
    geometry: ChunkGeometry
    stream: StreamShape
    schedule: DenoiseSchedule
    schedule_of: Callable[[int], DenoiseSchedule]
    """The schedule with so many steps, for single chunks."""
    camera: CameraPreset
    policy: WindowPolicy
    begin: Callable[[SceneSpec, int], Scenery]
    device: torch.device
    dtype: torch.dtype
    position_limit_latent_frames: int | None = None
    snapshot_limit_bytes: int | None = None

    @property
    def optics(self) -> Optics:
        return self.camera.optics(self.geometry.width_px)

    def open(self, scene: SceneSpec, seed: int, session_id: int) -> WorldSession:
        return WorldSession(self, scene, seed, session_id)

    def restore(self, scene: SceneSpec, seed: int, session_id: int, path: Path) -> WorldSession:
        world = self.open(scene, seed, session_id)
        world.load(path)
        return world


class WorldSession:
    """A world: apply events at any time, make chunks one after the other with ``step``."""

    def __init__(self, model: LoadedModel, scene: SceneSpec, seed: int, session_id: int) -> None:
        self.model, self.scene, self.session_id = model, scene, session_id
        self.geometry, self.stream, self.schedule = model.geometry, model.stream, model.schedule
        self.text_encodes, self.cross_attention_resets = 1, 0
        self.state = self._begin(seed)
        self._kept: Mapping[str, SharedTensor] = {}

    @property
    def prompt(self) -> str:
        return prompt_words(self.state.prompt)

    @property
    def mix(self) -> PromptMix | None:
        return self.state.prompt if isinstance(self.state.prompt, PromptMix) else None

    @property
    def notice(self) -> str | None:
        return self.state.scenery.notice

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
        """Make the next chunk. Raises OutOfGpuMemory, and then the world is as before, and the chunk can be asked for
        again."""
        back = self._mark()
        try:
            return self._make(clock)
        except torch.OutOfMemoryError as error:
            problem = str(error).partition(". ")[0]
        back()  # not before the error is gone, which holds the tensors of the chunk that failed
        torch.cuda.empty_cache()
        raise OutOfGpuMemory(problem)

    def _make(self, clock: Callable[[], float]) -> FrameChunk:
        """What was asked -> window -> poses -> condition -> denoise -> commit -> decode."""
        watch = Stopwatch(clock, self.model.device)
        inputs = self.state.controls.sample(self.stream.chunk_latent_frames, self.state.chunk, clock())
        moving, seen = self._choose_window(inputs)
        prompt_updated = self._follow_prompt(inputs)
        schedule = self._retake(inputs)
        watch.mark()
        poses = self._move(inputs)
        prepared = self.state.scenery.prepare(self.state.chunk, self.state.shown, poses)
        if prepared.anew:
            self._begin_anew()
        context = self._context(seen, poses, prepared.rope)
        watch.mark()
        x0 = self._denoise(schedule, prepared, context)
        watch.mark()
        sampler.commit(self.model.dit, schedule, context, condition=prepared.condition, x0=x0)
        watch.mark()
        frames = self._decode(prepared, x0)
        watch.mark()
        visible = self.state.cache.visible_tokens // self.geometry.tokens_per_latent_frame
        self.state.shown = prepared.shown
        chunk = FrameChunk(
            session_id=self.session_id,
            chunk=self.state.chunk,
            frames=frames,
            prompt=self.prompt,
            prompt_updated=prompt_updated,
            moving=moving,
            window=WindowReport(seen.mode, seen.recent_latent_frames, visible),
            pose=tuple(float(v) for v in self.state.shown.reshape(-1)),
            ms=ChunkTimings(*watch.milliseconds()),
            made_at=clock(),
            events=inputs.events,
            notice=self.notice if prompt_updated else None,
            fade=self.state.scenery.fade_share,
        )
        self.state.chunk += 1
        self.state.latent_frame += self.stream.chunk_latent_frames
        return chunk

    def save(self, path: Path) -> None:
        """Write a snapshot from which ``load`` continues bit for bit. Raises WorldwalkError where it is too large."""
        size, limit = self.state.byte_count, self.model.snapshot_limit_bytes
        if limit is not None and size > limit:
            told = f"the world's memory is {size / 1e6:.0f} MB, and the limit {limit / 1e6:.0f} MB"
            raise WorldwalkError(f"{told} (engine.lingbot.snapshot_limit_mb).")
        self.state.save(path, self.model.card.model_sha256)

    def load(self, path: Path) -> None:
        self.state.load(path, self.model.card.model_sha256)

    @property
    def moment_bytes(self) -> int:
        return self.state.byte_count

    @torch.inference_mode()
    def keep(self) -> Moment:
        """The state after the newest chunk, in main memory (``engine.moments``)."""
        kept = self.state.keep(self._kept)
        self._kept = kept.shared
        return Moment(self.state.chunk - 1, kept.parts, partial(self._go_back, kept))

    @torch.inference_mode()
    def _go_back(self, kept: KeptState) -> None:
        self.state.go_back(kept)

    # ---- the parts of a step ------------------------------------------------------------------------------------

    def _begin(self, seed: int) -> WorldState:
        dit, stream, model = self.model.dit.config, self.stream, self.model
        per_frame = self.geometry.tokens_per_latent_frame
        shape = CacheShape(
            layers=dit.layers,
            heads=dit.heads,
            head_dim=dit.head_dim,
            sink_tokens=stream.sink_latent_frames * per_frame,
            cache_tokens=window.effective_cache_latent_frames(model.policy, stream) * per_frame,
        )
        return WorldState(
            scenery=model.begin(self.scene, seed),
            camera=CameraState(),
            shown=CameraState().c2w(),
            motion=MotionState(),
            controls=ControlQueues(),
            cache=CausalKVCache(shape, dtype=model.dtype, device=model.device),
            cross=CrossAttentionCache(),
            prompt=self.scene.prompt,
        )

    def _mark(self) -> Callable[[], None]:
        """What sets the world back to before a chunk. Memory stays as it is: a chunk made again is written over the one
        that failed, at the same positions."""
        state, scenery = self.state, self.state.scenery.mark()
        camera_state, motion, prompt, controls = state.camera, state.motion, state.prompt, state.controls.to_dict()

        def back() -> None:
            scenery()
            state.camera, state.motion, state.prompt = camera_state, motion, prompt
            state.controls = ControlQueues.from_dict(controls)
            state.cross.reset()

        return back

    def _choose_window(self, inputs: ChunkInputs) -> tuple[bool, KVWindow]:
        look, policy = inputs.look, self.model.policy
        moving = window.is_moving(policy, inputs.actions, look.yaw_degrees, look.pitch_degrees)
        self.state.motion, seen = window.choose(policy, self.stream, self.state.motion, moving)
        return bool(moving), seen

    def _follow_prompt(self, inputs: ChunkInputs) -> bool:
        """Take a new prompt, or a step towards it: of the network's memory only the cross-attention begins anew; the
        history stays (until a scenery has become another world, see ``PreparedChunk.anew``)."""
        is_new = inputs.prompt is not None and inputs.prompt != self.state.prompt
        if inputs.prompt is not None and is_new:
            self.state.scenery.follow(inputs.prompt)
            self.text_encodes += 1
            self.state.prompt = inputs.prompt
        if self.state.scenery.fade() or is_new:
            self.cross_attention_resets += 1
            self.state.cross.reset()
        return inputs.prompt is not None

    def _begin_anew(self) -> None:
        """Another world: what is remembered of the one before would only stain it."""
        self.state.cache.reset()
        self.state.latent_frame = 0

    def _retake(self, inputs: ChunkInputs) -> DenoiseSchedule:
        """The chunk's schedule; where it is made in another way, from the noise that is wanted."""
        wanted = inputs.retake
        if wanted is not None and wanted.seed is not None:
            self.state.scenery.redraw(wanted.seed)
        steps = None if wanted is None else wanted.steps
        return self.schedule if steps is None or steps == self.schedule.steps else self.model.schedule_of(steps)

    def _move(self, inputs: ChunkInputs) -> ChunkPoses:
        """Advance the camera. Before the first camera input it stands: it is told to the model in every chunk, as
        having no camera at all is another input, which would change the picture once somebody touches a key."""
        actions, preset = inputs.actions or ((),) * self.stream.chunk_latent_frames, self.model.camera
        self.state.camera, poses = camera.advance(
            self.state.camera, actions, inputs.look, preset.scale, preset.convention
        )
        return poses

    def _context(self, seen: KVWindow, poses: ChunkPoses, rope: Tensor | None) -> ChunkContext:
        """What all passes over the chunk share; positions that would end are moved back first."""
        model, state = self.model, self.state
        limit = model.position_limit_latent_frames
        if limit is not None:
            state.latent_frame -= stay_within(
                limit, state.cache, state.latent_frame, self.geometry, model.dit.config.rotated_pairs
            )
        size = self.geometry.height_px, self.geometry.width_px
        rays = camera.pluecker_rays(poses.relative, model.camera.intrinsics, *size, model.device)
        return ChunkContext(
            text=state.scenery.text_rows,
            camera=model.dit.prepare_camera(rays),
            cache=state.cache,
            cross=state.cross,
            start_latent_frame=state.latent_frame,
            recent_window_tokens=seen.recent_tokens(self.geometry.tokens_per_latent_frame),
            rope=rope,
        )

    def _denoise(self, schedule: DenoiseSchedule, prepared: PreparedChunk, context: ChunkContext) -> Tensor:
        """The chunk's x0 [1, 16, F, h, w]."""
        if prepared.known is not None:
            return prepared.known
        return sampler.denoise(
            self.model.dit,
            schedule,
            context,
            condition=prepared.condition,
            noise=prepared.noise,
            renoise=prepared.renoise,
        )

    def _decode(self, prepared: PreparedChunk, x0: Tensor) -> Pixels:
        """The chunk's frames; while one part is on its way to the host the next is decoded."""
        frames = self.geometry.video_frames(self.stream.chunk_latent_frames, first=self.state.chunk == 0)
        pixels = PixelStream(frames)
        for part in prepared.decode(x0):
            pixels.push(part)
        return pixels.collect()
