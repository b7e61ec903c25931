"""Which past latent frames a chunk can see: all, or fewer while one stands still. Integers only.

A picture that moves needs a long memory, one that stands still gets calmer and cheaper with a short one. The choice is
made once a chunk and holds for all its denoising passes and its commit. Rules: SGLang-Diffusion's interactive window.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

Mode = Literal["full", "base", "moving", "still"]


@dataclass(frozen=True, slots=True)
class WindowPolicy:
    """``moving_latent_frames`` None: no interactive window at all; ``still_latent_frames`` None: it never shrinks."""

    interactive: bool = False
    moving_latent_frames: int | None = 12
    still_latent_frames: int | None = 3
    still_chunks: int = 2
    """Still chunks in a row after which the still window is taken."""
    look_threshold_degrees: float = 0.05
    """A look of no more than this, summed over a chunk, counts as standing still."""

    @property
    def active(self) -> bool:
        return self.interactive and self.moving_latent_frames is not None

    def within(self, moving_latent_frames: int, still_latent_frames: int) -> WindowPolicy:
        """The same, looking back no further than that: for a model that gains nothing by more."""
        moving, still = self.moving_latent_frames, self.still_latent_frames
        return replace(
            self,
            moving_latent_frames=None if moving is None else min(moving, moving_latent_frames),
            still_latent_frames=None if still is None else min(still, still_latent_frames),
        )


@dataclass(frozen=True, slots=True)
class StreamShape:
    """The model's own values. The sink lies inside the window, and so does the current chunk."""

    chunk_latent_frames: int
    window_latent_frames: int
    sink_latent_frames: int

    @property
    def base_latent_frames(self) -> int:
        """Past latent frames that the model's own window leaves besides sink and current chunk."""
        return self.window_latent_frames - self.sink_latent_frames - self.chunk_latent_frames


@dataclass(frozen=True, slots=True)
class MotionState:
    """What a session remembers of its motion; ``recent`` is None until the first chunk with camera input."""

    consecutive_still: int = 0
    recent: int | None = None


@dataclass(frozen=True, slots=True)
class KVWindow:
    """``recent_latent_frames`` are seen besides the sink and the chunk itself; None: the plain sliding window."""

    mode: Mode
    recent_latent_frames: int | None

    def recent_tokens(self, tokens_per_latent_frame: int) -> int | None:
        if self.recent_latent_frames is None:
            return None
        return self.recent_latent_frames * tokens_per_latent_frame


FULL = KVWindow("full", None)


def effective_cache_latent_frames(policy: WindowPolicy, shape: StreamShape) -> int:
    """Latent frames that the cache must hold so that every window of the policy fits beside sink and chunk."""
    if not policy.interactive:
        return shape.window_latent_frames
    widest = max(_clamped(policy.moving_latent_frames), _clamped(policy.still_latent_frames))
    return max(shape.window_latent_frames, shape.sink_latent_frames + widest + shape.chunk_latent_frames)


def is_moving(
    policy: WindowPolicy, actions: Sequence[Sequence[str]] | None, yaw_degrees: float, pitch_degrees: float
) -> bool | None:
    """Whether a chunk's camera input moves; None when there was no camera input. A prompt is not motion."""
    looks = max(abs(yaw_degrees), abs(pitch_degrees)) > policy.look_threshold_degrees
    if looks or (actions is not None and any(actions)):
        return True
    return None if actions is None else False


def choose(
    policy: WindowPolicy, shape: StreamShape, motion_state: MotionState, moving: bool | None
) -> tuple[MotionState, KVWindow]:
    """The next state and the window of the coming chunk; ``moving`` None: the chunk has no camera input."""
    if not policy.interactive or policy.moving_latent_frames is None:
        return motion_state, FULL
    if moving is None:
        base = shape.base_latent_frames
        return motion_state, KVWindow("base", base) if base > 0 else KVWindow("base", None)
    wide = _clamped(policy.moving_latent_frames)
    if moving:
        return MotionState(0, wide), KVWindow("moving", wide)
    still = motion_state.consecutive_still + 1
    if still >= max(1, policy.still_chunks) and policy.still_latent_frames is not None:
        narrow = _clamped(policy.still_latent_frames)
        return MotionState(still, narrow), KVWindow("still", narrow)
    kept = wide if motion_state.recent is None else motion_state.recent
    return MotionState(still, kept), KVWindow("moving", kept)


def _clamped(latent_frames: int | None) -> int:
    return max(0, latent_frames or 0)
