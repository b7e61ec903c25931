"""What the app knows of its walk: how far it has come, the world that runs, its prompt, its film, what was told."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from engine.protocol import ChunkTimings, ModelCard, RemoteShares, SceneSpec, WindowReport

TOAST_SECONDS = 5.0
BAD_TOAST_SECONDS = 9.0
READ_CHARACTERS_PER_SECOND = 18.0
MOST_TOASTS = 3


class Screen(StrEnum):
    STARTING = "starting"
    SCENES = "scenes"
    LOADING = "loading"
    WALK = "walk"


class Stage(StrEnum):
    """How far a prompt has come."""

    TYPED = "typed"
    ACCEPTED = "accepted"
    APPLIED = "applied"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class PromptStatus:
    """The newest prompt. ``chunk`` is the first chunk on show that follows it, once there is one."""

    text: str
    stage: Stage
    event_id: int | None = None
    chunk: int | None = None


@dataclass(frozen=True, slots=True)
class RecordingStatus:
    path: str
    frames: int = 0
    dropped: int = 0
    finishing: bool = False


@dataclass(frozen=True, slots=True)
class World:
    """What is known of the world that runs. ``chunk`` and ``prompt`` are those on show, not those made."""

    session_id: int
    card: ModelCard
    scene: SceneSpec
    seed: int
    chunk: int | None = None
    prompt: str | None = None
    fade: float | None = None
    """How far the picture on show has come to its prompt from the one before; None where it is not on its way."""
    window: WindowReport | None = None
    ms: ChunkTimings | None = None
    remote: RemoteShares | None = None
    """How the newest chunk came, where the model runs elsewhere; its shares of a delay are those of the last answer."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Raw stamps, newest last and few, from which the details panel computes its rates."""

    made: tuple[tuple[float, int], ...] = ()
    """(made_at, frames) of the latest chunks."""
    shown: tuple[float, ...] = ()
    """When the latest frames came on screen."""
    latencies: tuple[float, ...] = ()
    """Seconds from a key, motion or prompt to the first frame that answers it, of the latest events."""


@dataclass(frozen=True, slots=True)
class Toast:
    text: str
    bad: bool
    shown_at: float

    @property
    def gone_at(self) -> float:
        least = BAD_TOAST_SECONDS if self.bad else TOAST_SECONDS
        return self.shown_at + max(least, len(self.text) / READ_CHARACTERS_PER_SECOND)
