"""Everything that can happen to the app, and everything it can ask for: frozen dataclasses.

Messages are past tense (a key was pressed, a chunk was shown), asks are imperative. Reports of the engine are messages
as they are. Times are seconds of the app's one clock.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from engine.protocol import (
    Pixels,
    Report,
    Request,
    SampledEvent,
    SceneSpec,
    SessionHeader,
)

# ---- what the user does ------------------------------------------------------------------------------------------


class Focus(StrEnum):
    """Who gets the keyboard: the same key means different things to each."""

    WALK = "walk"
    TEXT = "text"
    MENU = "menu"


class Command(StrEnum):
    """What single keys ask for. BACK is Escape, whatever it closes."""

    PROMPT = "prompt"
    PAUSE = "pause"
    RESET = "reset"
    HELP = "help"
    SNAPSHOT = "snapshot"
    DETAILS = "details"
    RECORD = "record"
    FULLSCREEN = "fullscreen"
    MENU = "menu"
    BACK = "back"


class Edit(StrEnum):
    """Editing keys of a line of text."""

    LEFT = "left"
    RIGHT = "right"
    HOME = "home"
    END = "end"
    BACKSPACE = "backspace"
    DELETE = "delete"
    OLDER = "older"
    NEWER = "newer"
    ALL = "all"
    COPY = "copy"
    CUT = "cut"
    PASTE = "paste"
    APPLY = "apply"
    CANCEL = "cancel"


@dataclass(frozen=True, slots=True)
class ActionPressed:
    """A key that stands for a camera action went down; ``source`` is the key, as two keys may mean one action."""

    action: str
    source: str
    at: float


@dataclass(frozen=True, slots=True)
class ActionReleased:
    source: str
    at: float


@dataclass(frozen=True, slots=True)
class Commanded:
    command: Command
    at: float


@dataclass(frozen=True, slots=True)
class MenuMoved:
    columns: int
    rows: int
    at: float


@dataclass(frozen=True, slots=True)
class MenuChosen:
    at: float


@dataclass(frozen=True, slots=True)
class Scrolled:
    """The wheel turned by so many notches, up positive."""

    notches: int


@dataclass(frozen=True, slots=True)
class MouseMoved:
    """The pointer is at (x, y) and came by (dx, dy), in window pixels, down positive."""

    x: int
    y: int
    dx: int
    dy: int
    at: float


@dataclass(frozen=True, slots=True)
class MouseClicked:
    x: int
    y: int
    at: float


@dataclass(frozen=True, slots=True)
class TextTyped:
    text: str
    at: float


@dataclass(frozen=True, slots=True)
class TextComposed:
    """An input method shows ``text`` before it is final, its own caret ``caret`` characters in."""

    text: str
    caret: int


@dataclass(frozen=True, slots=True)
class Edited:
    """An editing key; ``selecting``: with shift held, ``by_word``: with control held."""

    edit: Edit
    at: float
    selecting: bool = False
    by_word: bool = False


@dataclass(frozen=True, slots=True)
class Pasted:
    text: str


@dataclass(frozen=True, slots=True)
class FocusLost:
    at: float


@dataclass(frozen=True, slots=True)
class WindowResized:
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class WindowExposed:
    """What stood in the window is gone and must be drawn again."""


@dataclass(frozen=True, slots=True)
class CloseAsked:
    """The window's close button."""


# ---- what the program itself does --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Ticked:
    now: float


@dataclass(frozen=True, slots=True)
class ScenesListed:
    scenes: tuple[SceneSpec, ...]


@dataclass(frozen=True, slots=True)
class ChunkShown:
    """The first frame of a chunk came on screen."""

    session_id: int
    chunk: int
    prompt: str
    prompt_updated: bool
    events: tuple[SampledEvent, ...]
    at: float


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
    ActionPressed
    | ActionReleased
    | Commanded
    | MenuMoved
    | MenuChosen
    | Scrolled
    | MouseMoved
    | MouseClicked
    | TextTyped
    | TextComposed
    | Edited
    | Pasted
    | FocusLost
    | WindowResized
    | WindowExposed
    | CloseAsked
    | Ticked
    | ScenesListed
    | ChunkShown
    | FrameShown
    | LoopMeasured
    | RecordingStarted
    | RecordingProgressed
    | RecordingEnded
    | Told
    | Report
)


# ---- what the app asks for, besides requests to the engine -------------------------------------------------------


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


Ask = Request | SavePicture | StartRecording | StopRecording | RestartEngine | CopyText | PasteText


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

    def made(self, chunk: int) -> None: ...

    def restarted(self, scene: SceneSpec, seed: int, after_chunk: int | None) -> None: ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Take:
    """One recording: the video, and the session file beside it where one could be made."""

    recorder: RecorderLike
    log: SessionLogLike | None = None


StartTake = Callable[[SessionHeader], Take]
"""Raises WorldwalkError, in one sentence, where no recording can be made."""
