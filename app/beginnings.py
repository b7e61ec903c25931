"""What the user begins a world with: a picture that is pasted, found or chosen, or words. Asks and messages."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from app.remembered import OwnWords
from engine.protocol import SceneSpec

# ---- what can be asked for ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MakeFromWords:
    """Make a scene of words alone, somewhere on the map; the answer is ``WordsMade``."""

    words: str


@dataclass(frozen=True, slots=True)
class LookInClipboard:
    """See whether a picture or the path of one is in there; ``ClipboardHeld`` or ``ClipboardRefused`` answers."""

    kept: tuple[str, ...] = ()
    """Paths of the pictures that are still wanted; others that were pasted once are removed."""


@dataclass(frozen=True, slots=True)
class ListPaths:
    """List what a path that is being typed may become; the answer is ``PathsListed``."""

    text: str


@dataclass(frozen=True, slots=True)
class OpenDialog:
    """Open the system's own file dialog; ``DialogEnded`` answers when the user is done with it."""

    title: str
    text: str
    """The path typed so far: the dialog begins in its folder."""


BeginningAsk = MakeFromWords | LookInClipboard | ListPaths | OpenDialog

# ---- what happens ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WordsMade:
    """A world can begin with the user's words."""

    scene: SceneSpec
    own: OwnWords
    at: float


@dataclass(frozen=True, slots=True)
class PasteAsked:
    """Control and V where no text is typed."""

    at: float


@dataclass(frozen=True, slots=True)
class BrowseAsked:
    """Control and O, or the gamepad's X while a path is typed."""

    at: float


@dataclass(frozen=True, slots=True)
class CompletionAsked:
    """Tab while text is typed."""

    at: float


@dataclass(frozen=True, slots=True)
class HandChanged:
    """The user took up a gamepad, or went back to keyboard and mouse."""

    by_pad: bool


class Held(StrEnum):
    """What the clipboard holds."""

    PICTURE = "picture"
    """``text`` is the path of a picture, which may have been written from the clipboard for this."""
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class ClipboardHeld:
    held: Held
    text: str
    at: float


@dataclass(frozen=True, slots=True)
class ClipboardRefused:
    """There is nothing to begin with in the clipboard. ``why``: a key of the table of words."""

    why: str
    at: float


@dataclass(frozen=True, slots=True)
class PathsListed:
    """``text``: what was typed when the list was asked for; ``folder``: what is listed, with its separator at the end.

    ``dialog``: whether this system has a file dialog that can be opened.
    """

    text: str
    folder: str
    folders: tuple[str, ...]
    files: tuple[str, ...]
    dialog: bool


@dataclass(frozen=True, slots=True)
class DialogEnded:
    """``path`` is None where nothing was chosen; ``why``, a key of the table of words, where that has a reason."""

    path: str | None
    at: float
    why: str | None = None


BeginningMessage = (
    WordsMade
    | PasteAsked
    | BrowseAsked
    | CompletionAsked
    | HandChanged
    | ClipboardHeld
    | ClipboardRefused
    | PathsListed
    | DialogEnded
)
