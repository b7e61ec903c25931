"""Everything that can happen to the app: frozen dataclasses, past tense (a key was pressed, a chunk was shown).

What the user does stands in ``gestures``, what the program does here. Reports of the engine are messages as they are.
Times are seconds of the app's one clock.
"""

from __future__ import annotations

from dataclasses import dataclass

from app.beginnings import BeginningMessage
from app.films import FilmMessage
from app.gestures import Gesture
from app.instant import InstantMessage
from app.photo import Looked
from app.prompts import PromptMessage
from app.remembered import ModelLine, OwnPicture
from app.rewind import TimeMessage
from engine.config import EngineConfig
from engine.protocol import Pixels, Report, SampledEvent, SceneSpec


@dataclass(frozen=True, slots=True)
class Ticked:
    now: float


@dataclass(frozen=True, slots=True)
class EngineStarted:
    """The engine's process is there; ``config`` is what it was told."""

    config: EngineConfig


@dataclass(frozen=True, slots=True)
class ScenesListed:
    scenes: tuple[SceneSpec, ...]


@dataclass(frozen=True, slots=True)
class ModelsListed:
    models: tuple[ModelLine, ...]


@dataclass(frozen=True, slots=True)
class PictureRead:
    """The whole picture, and the (width, height) that the model wants."""

    path: str
    picture: Pixels
    size: tuple[int, int]
    at: float


@dataclass(frozen=True, slots=True)
class PictureMade:
    """A world can begin with the user's picture."""

    scene: SceneSpec
    own: OwnPicture
    at: float


@dataclass(frozen=True, slots=True)
class ChunkShown:
    """The first frame of a chunk came on screen."""

    session_id: int
    chunk: int
    prompt: str
    prompt_updated: bool
    events: tuple[SampledEvent, ...]
    at: float
    fade: float | None = None


@dataclass(frozen=True, slots=True)
class FrameShown:
    at: float


@dataclass(frozen=True, slots=True)
class LoopMeasured:
    """The window's own pace over the last seconds, and what playback did."""

    p50_ms: float
    p99_ms: float
    waiting_frames: int
    dropped_frames: int
    underruns: int


@dataclass(frozen=True, slots=True)
class RecordingStarted:
    path: str
    at: float


@dataclass(frozen=True, slots=True)
class RecordingProgressed:
    frames: int
    dropped: int


@dataclass(frozen=True, slots=True)
class RecordingEnded:
    """``path`` is None where nothing was kept; ``error`` is one sentence."""

    path: str | None
    frames: int
    dropped: int
    error: str | None
    at: float


@dataclass(frozen=True, slots=True)
class Told:
    """A sentence for the user. ``bad``: something did not work."""

    sentence: str
    at: float
    bad: bool = False


Message = (
    Gesture
    | TimeMessage
    | PromptMessage
    | Ticked
    | EngineStarted
    | ScenesListed
    | ModelsListed
    | PictureRead
    | PictureMade
    | ChunkShown
    | FrameShown
    | LoopMeasured
    | RecordingStarted
    | RecordingProgressed
    | RecordingEnded
    | Told
    | BeginningMessage
    | FilmMessage
    | Looked
    | InstantMessage
    | Report
)
