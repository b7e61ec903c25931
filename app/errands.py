"""Everything the app can ask for besides requests to the engine: frozen dataclasses, imperative. What it is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from app.beginnings import BeginningAsk
from app.films import FilmAsk
from app.photo import PhotoAsk
from app.remembered import OwnPicture, Remembered
from app.slots import SlotAsk
from engine.config import EngineConfig
from engine.errors import FileProblem
from engine.protocol import Pixels, Request, SampledEvent, SceneSpec, SessionHeader


@dataclass(frozen=True, slots=True)
class SavePicture:
    pass


@dataclass(frozen=True, slots=True)
class StartRecording:
    pass


@dataclass(frozen=True, slots=True)
class StopRecording:
    pass


@dataclass(frozen=True, slots=True)
class RestartEngine:
    """Start the engine's process again after it was lost."""


@dataclass(frozen=True, slots=True)
class CopyText:
    text: str


@dataclass(frozen=True, slots=True)
class PasteText:
    """Read the clipboard; the answer is ``Pasted``."""


@dataclass(frozen=True, slots=True)
class SwitchEngine:
    """End the engine and start one with other settings."""

    config: EngineConfig


@dataclass(frozen=True, slots=True)
class KeepSettings:
    """Write the user's own changes of settings, by their full names."""

    values: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class ReadPicture:
    """Look at a picture of the user's; the answer is ``PictureRead``."""

    path: str


@dataclass(frozen=True, slots=True)
class MakePicture:
    """Make a scene of it; the answer is ``PictureMade``."""

    own: OwnPicture


@dataclass(frozen=True, slots=True)
class Remember:
    remembered: Remembered


Ask = (
    Request
    | SlotAsk
    | SavePicture
    | StartRecording
    | StopRecording
    | RestartEngine
    | SwitchEngine
    | CopyText
    | PasteText
    | KeepSettings
    | ReadPicture
    | MakePicture
    | Remember
    | BeginningAsk
    | FilmAsk
    | PhotoAsk
)


# ---- what the app is given ---------------------------------------------------------------------------------------


class RecordingResultLike(Protocol):
    @property
    def path(self) -> Path | None: ...

    @property
    def frames(self) -> int: ...

    @property
    def dropped(self) -> int: ...

    @property
    def error(self) -> str | None: ...


class RecorderLike(Protocol):
    """A video that is being written; none of these calls waits, except ``stop``."""

    @property
    def path(self) -> Path: ...

    @property
    def frames(self) -> int: ...

    @property
    def dropped(self) -> int: ...

    @property
    def error(self) -> str | None: ...

    @property
    def result(self) -> RecordingResultLike | None: ...

    def write(self, frames: Pixels) -> None: ...

    def note_prompt(self, prompt: str) -> None: ...

    def request_stop(self) -> None: ...

    def stop(self, timeout_seconds: float = ...) -> RecordingResultLike: ...


class SessionLogLike(Protocol):
    """The session file beside a video: what was asked, chunk by chunk. Trouble never raises; ``error`` says it."""

    @property
    def error(self) -> str | None: ...

    def write(self, chunk: int, event: SampledEvent) -> None: ...

    def made(self, chunk: int, film_frames: int | None = None) -> None: ...

    def restarted(self, scene: SceneSpec, seed: int, after_chunk: int | None) -> None: ...

    def resumed(
        self, scene: SceneSpec, seed: int, after_chunk: int, events: Sequence[tuple[int, SampledEvent]]
    ) -> None: ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Take:
    """One recording: the video, and the session file beside it where one could be made."""

    recorder: RecorderLike
    log: SessionLogLike | None = None


StartTake = Callable[[SessionHeader], Take]
"""Raises WorldwalkError, in one sentence, where no recording can be made."""


def no_picture(path: str, engine: EngineConfig) -> tuple[Pixels, tuple[int, int]]:
    raise FileProblem(path, "pictures of one's own are not looked at here", "Choose a scene.")


def no_scene(picture: OwnPicture, engine: EngineConfig) -> SceneSpec:
    raise FileProblem(picture.path, "pictures of one's own are not looked at here", "Choose a scene.")
