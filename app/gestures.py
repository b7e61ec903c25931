"""What the user does, as messages in the past tense, and what single keys stand for; times are of the one clock."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Focus(StrEnum):
    """Who gets the keyboard: the same key means different things to each."""

    WALK = "walk"
    TEXT = "text"
    MENU = "menu"
    KEY = "key"
    """The next key that is pressed is caught, whatever it stands for."""


class Command(StrEnum):
    """What single keys ask for. BACK is Escape, whatever it closes."""

    PROMPT = "prompt"
    PAUSE = "pause"
    RESET = "reset"
    HELP = "help"
    SNAPSHOT = "snapshot"
    DETAILS = "details"
    INPUTS = "inputs"
    RECORD = "record"
    CLIP = "clip"
    BRANCHES = "branches"
    PHOTO = "photo"
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
    """``space``: by the space bar, which plays and stops what is watched."""

    at: float
    space: bool = False


class MenuAct(StrEnum):
    """What single keys do to what is chosen in a menu."""

    CLEAR = "clear"
    PIN = "pin"
    RENAME = "rename"
    FOLDER = "folder"


@dataclass(frozen=True, slots=True)
class MenuActed:
    act: MenuAct
    at: float


@dataclass(frozen=True, slots=True)
class TabMoved:
    """To the next page (1) or the one before (-1)."""

    step: int
    at: float


@dataclass(frozen=True, slots=True)
class KeyCaught:
    """The key that was waited for; None where it was Escape or a key without a name. ``by_pad``: a gamepad's button."""

    key: str | None
    at: float
    by_pad: bool = False


@dataclass(frozen=True, slots=True)
class PadOpened:
    """A gamepad was plugged in and is listened to."""

    pad: int
    name: str
    at: float


@dataclass(frozen=True, slots=True)
class PadLost:
    pad: int
    at: float


@dataclass(frozen=True, slots=True)
class PadAxisMoved:
    """``axis``: left_x, left_y, right_x or right_y; ``value`` -1 to 1, right and down positive.

    Or left_trigger or right_trigger, 0 to 1.
    """

    axis: str
    value: float
    at: float


@dataclass(frozen=True, slots=True)
class PadPressed:
    """A button of ``pad_buttons.BUTTONS``, or B, went down, or up."""

    button: str
    down: bool
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
    pressed: bool = False
    """Whether the left button is held."""


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
class FileDropped:
    """A file was dropped on the window, or its path was typed."""

    path: str
    at: float


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


Gesture = (
    ActionPressed
    | ActionReleased
    | Commanded
    | MenuMoved
    | MenuChosen
    | MenuActed
    | TabMoved
    | KeyCaught
    | PadOpened
    | PadLost
    | PadAxisMoved
    | PadPressed
    | Scrolled
    | MouseMoved
    | MouseClicked
    | TextTyped
    | TextComposed
    | Edited
    | Pasted
    | FileDropped
    | FocusLost
    | WindowResized
    | WindowExposed
    | CloseAsked
)

Pointed = MenuMoved | MenuChosen | MenuActed | TabMoved | Scrolled | MouseMoved | MouseClicked
"""What points at something on a page or chooses it."""
