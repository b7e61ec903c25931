"""Which button of a gamepad stands for what. Values only; ``pad_meaning`` says what comes of it.

A button is named by its place, as SDL has it after an Xbox pad, so that the same thumb presses it on each make. What is
written on the user's own pad is told by ``pad_names``. B is not among them: like Escape it always leads back.
"""

from __future__ import annotations

from dataclasses import dataclass

BUTTONS: tuple[str, ...] = (
    *("a", "x", "y", "start", "back", "left_shoulder", "right_shoulder", "left_trigger", "right_trigger"),
    *("left_stick", "right_stick", "dpad_up", "dpad_down", "dpad_left", "dpad_right"),
)
"""Those that can be bound; a stick is a button where it is pressed down."""

LEADS_BACK, CHOOSES = "b", "a"
DPAD = "dpad_"


@dataclass(frozen=True, slots=True)
class PadBindings:
    """Buttons of each thing that can be asked for. The sticks walk and look besides."""

    forward: tuple[str, ...] = ()
    back: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    right: tuple[str, ...] = ()
    look_up: tuple[str, ...] = ("dpad_up",)
    look_down: tuple[str, ...] = ("dpad_down",)
    look_left: tuple[str, ...] = ("dpad_left",)
    look_right: tuple[str, ...] = ("dpad_right",)
    prompt: tuple[str, ...] = ()
    quick: tuple[str, ...] = ("left_shoulder",)
    pause: tuple[str, ...] = ("a",)
    reset: tuple[str, ...] = ()
    rewind: tuple[str, ...] = ("left_trigger",)
    quick_save: tuple[str, ...] = ()
    quick_load: tuple[str, ...] = ()
    worlds: tuple[str, ...] = ()
    photo: tuple[str, ...] = ("right_shoulder",)
    branches: tuple[str, ...] = ("right_trigger",)
    menu: tuple[str, ...] = ("start",)
    help: tuple[str, ...] = ("back",)
    snapshot: tuple[str, ...] = ("x",)
    details: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ("right_stick",)
    record: tuple[str, ...] = ("y",)
    clip: tuple[str, ...] = ()
    fullscreen: tuple[str, ...] = ()
