"""Which key stands for what: names of keys, presets, conflicts. Values only; ``keymap`` reads events with them.

A key is named by its place on the keyboard, after what a US keyboard has there (SDL's scancode, which is the number of
the USB standard), so that W A S D is under the same fingers everywhere. What is written on the user's own keyboard is
told by ``label``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import TypeVar

from app.gestures import Command
from app.pad_buttons import PadBindings

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_SIGNS = {"-": 45, "=": 46, "[": 47, "]": 48, "\\": 49, ";": 51, "'": 52, "`": 53, ",": 54, ".": 55, "/": 56, "<": 100}
_NAMED = {"Enter": 40, "Backspace": 42, "Tab": 43, "Space": 44, "Caps Lock": 57, "Insert": 73, "Home": 74, "End": 77}
_NAMED |= {"Page Up": 75, "Delete": 76, "Page Down": 78, "Right": 79, "Left": 80, "Down": 81, "Up": 82}
_NAMED |= {"Left Ctrl": 224, "Left Shift": 225, "Left Alt": 226}
_NAMED |= {"Right Ctrl": 228, "Right Shift": 229, "Right Alt": 230}
_PAD = {"Num /": 84, "Num *": 85, "Num -": 86, "Num +": 87, "Num Enter": 88, "Num .": 99, "Num 0": 98}

KEYS: Mapping[str, int] = {
    **{letter: 4 + index for index, letter in enumerate(_LETTERS)},
    **{str((index + 1) % 10): 30 + index for index in range(10)},
    **_SIGNS,
    **_NAMED,
    **{f"F{number}": 57 + number for number in range(1, 13)},
    **_PAD,
    **{f"Num {number}": 88 + number for number in range(1, 10)},
}
"""Scancode of every key that can be bound. Escape is not among them: it always leads out."""

MOUSE_BUTTONS: Mapping[str, int] = {"Mouse middle": 2, "Mouse right": 3, "Mouse 4": 6, "Mouse 5": 7}
"""pygame's numbers; the left button captures the pointer, 4 and 5 are the wheel."""

TYPES_NOTHING = frozenset(f"F{number}" for number in range(1, 13)) | frozenset(MOUSE_BUTTONS)
"""Keys that keep their meaning while text is typed."""

MOST_KEYS = 2
"""How many keys one thing may have."""


@dataclass(frozen=True, slots=True)
class Bindings:
    """Keys of each thing that has a key, the first one being the one that hints name."""

    forward: tuple[str, ...] = ("W",)
    back: tuple[str, ...] = ("S",)
    left: tuple[str, ...] = ("A",)
    right: tuple[str, ...] = ("D",)
    look_up: tuple[str, ...] = ("Up", "I")
    look_down: tuple[str, ...] = ("Down", "K")
    look_left: tuple[str, ...] = ("Left", "J")
    look_right: tuple[str, ...] = ("Right", "L")
    prompt: tuple[str, ...] = ("T", "Enter")
    pause: tuple[str, ...] = ("Space",)
    reset: tuple[str, ...] = ("R",)
    rewind: tuple[str, ...] = ("Backspace",)
    quick_save: tuple[str, ...] = ("F5",)
    quick_load: tuple[str, ...] = ("F8",)
    worlds: tuple[str, ...] = ("F6",)
    photo: tuple[str, ...] = ("F7",)
    branches: tuple[str, ...] = ("F12",)
    menu: tuple[str, ...] = ("Q",)
    help: tuple[str, ...] = ("F1",)
    snapshot: tuple[str, ...] = ("F2",)
    details: tuple[str, ...] = ("F3",)
    inputs: tuple[str, ...] = ("F4",)
    record: tuple[str, ...] = ("F9",)
    clip: tuple[str, ...] = ("F10",)
    fullscreen: tuple[str, ...] = ("F11",)


THINGS: tuple[str, ...] = tuple(field.name for field in fields(Bindings))
PAD_THINGS: tuple[str, ...] = tuple(field.name for field in fields(PadBindings))

ACTIONS: Mapping[str, str] = {
    "forward": "w",
    "back": "s",
    "left": "a",
    "right": "d",
    "look_up": "i",
    "look_down": "k",
    "look_left": "j",
    "look_right": "l",
}
"""The engine's action of each thing that is held."""

COMMANDS: Mapping[str, Command] = {
    "prompt": Command.PROMPT,
    "pause": Command.PAUSE,
    "reset": Command.RESET,
    "branches": Command.BRANCHES,
    "menu": Command.MENU,
    "help": Command.HELP,
    "snapshot": Command.SNAPSHOT,
    "details": Command.DETAILS,
    "inputs": Command.INPUTS,
    "record": Command.RECORD,
    "clip": Command.CLIP,
    "photo": Command.PHOTO,
    "fullscreen": Command.FULLSCREEN,
}

ANYWHERE = frozenset(("help", "snapshot", "details", "inputs", "record", "clip", "fullscreen"))
"""What works in menus too."""

PRESETS: Mapping[str, Bindings] = {
    "wasd": Bindings(),
    "left_handed": Bindings(
        forward=("I",),
        back=("K",),
        left=("J",),
        right=("L",),
        look_up=("Up", "W"),
        look_down=("Down", "S"),
        look_left=("Left", "A"),
        look_right=("Right", "D"),
        prompt=("P", "Enter"),
        reset=("U",),
        menu=("O",),
    ),
    "arrows": Bindings(
        forward=("Up",),
        back=("Down",),
        left=(",",),
        right=(".",),
        look_up=("Page Up",),
        look_down=("Page Down",),
        look_left=("Left",),
        look_right=("Right",),
    ),
    "one_hand_left": Bindings(
        forward=("W",),
        back=("S",),
        left=("Q",),
        right=("E",),
        look_up=("R",),
        look_down=("F",),
        look_left=("A",),
        look_right=("D",),
        prompt=("T",),
        reset=("Z",),
        menu=("Tab",),
    ),
    "one_hand_right": Bindings(
        forward=("Num 8", "Up"),
        back=("Num 5", "Down"),
        left=("Num 7",),
        right=("Num 9",),
        look_up=("Num +",),
        look_down=("Num Enter",),
        look_left=("Num 4", "Left"),
        look_right=("Num 6", "Right"),
        prompt=("Num *", "Enter"),
        pause=("Num 0", "Space"),
        reset=("Num /",),
        menu=("Num -",),
    ),
    "mouse": Bindings(forward=("Mouse right", "W"), back=("Mouse middle", "S")),
}
"""Whole sets of keys. AZERTY needs none of its own, as keys are named by their places; it is a matter of ``label``."""

LABELS: Mapping[str, Mapping[str, str]] = {
    "qwerty": {},
    "azerty": {"Q": "A", "A": "Q", "W": "Z", "Z": "W", ";": "M", "M": ",", ",": ";", ".": ":", "/": "!"},
    "qwertz": {"Y": "Z", "Z": "Y", "-": "ß", "=": "´", "[": "Ü", ";": "Ö", "'": "Ä", "`": "^", "/": "-"},
}
"""What stands on the keys of other keyboards, where it differs."""

_ARROWS = {"Up": "↑", "Down": "↓", "Left": "←", "Right": "→"}


Bound = Bindings | PadBindings
"""What follows serves keys and a gamepad's buttons alike."""
AnyBound = TypeVar("AnyBound", Bindings, PadBindings)


def things_of(bindings: Bound) -> tuple[str, ...]:
    """Everything that can be bound in these."""
    return THINGS if isinstance(bindings, Bindings) else PAD_THINGS


def keys_of(bindings: Bound, thing: str) -> tuple[str, ...]:
    """The keys of one of ``things_of``."""
    keys = getattr(bindings, thing)
    assert isinstance(keys, tuple), thing
    return keys


def meanings(bindings: Bound) -> dict[str, str]:
    """What each bound key stands for; of two things that share a key, the one that ``things_of`` has first."""
    found: dict[str, str] = {}
    for thing in things_of(bindings):
        for key in keys_of(bindings, thing):
            found.setdefault(key, thing)
    return found


def conflicts(bindings: Bound) -> dict[str, tuple[str, ...]]:
    """The keys that more than one thing has, with these things."""
    owners: dict[str, list[str]] = {}
    for thing in things_of(bindings):
        for key in dict.fromkeys(keys_of(bindings, thing)):
            owners.setdefault(key, []).append(thing)
    return {key: tuple(things) for key, things in owners.items() if len(things) > 1}


def bind(bindings: AnyBound, thing: str, slot: int, key: str | None) -> AnyBound:
    """``key`` in place of the key in ``slot``, or behind the last one; None takes the key away."""
    keys = list(keys_of(bindings, thing))
    if slot < len(keys):
        keys[slot : slot + 1] = [] if key is None else [key]
    elif key is not None:
        keys.append(key)
    return replace(bindings, **{thing: tuple(dict.fromkeys(keys))[:MOST_KEYS]})


def letter_of(bindings: Bindings, thing: str, layout: str) -> str:
    """What a key of the thing may type, as a small letter, into a line that it opens; empty where none types any."""
    labels = (label(key, layout) for key in keys_of(bindings, thing))
    return next((text.casefold() for text in labels if len(text) == 1), "")


def preset_of(bindings: Bindings) -> str | None:
    """The name of the preset that these are; None where the user chose for themselves."""
    return next((name for name, preset in PRESETS.items() if preset == bindings), None)


def label(key: str, layout: str) -> str:
    """What is written on the key on a keyboard of ``LABELS``."""
    return LABELS[layout].get(key) or _ARROWS.get(key, key)
