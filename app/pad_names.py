"""What is written on a gamepad's buttons, by their places as SDL has them. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from app import bindings
from app.values import AppState

_LETTERS: Mapping[str, str] = {"a": "A", "b": "B", "x": "X", "y": "Y", "start": "Start", "back": "Back"}
_XBOX: Mapping[str, str] = {
    **_LETTERS,
    "left_shoulder": "LB",
    "right_shoulder": "RB",
    "left_trigger": "LT",
    "right_trigger": "RT",
}
_SONY: Mapping[str, str] = {
    "a": "×",
    "b": "○",
    "x": "□",
    "y": "△",
    "start": "Options",
    "back": "Share",
    "left_shoulder": "L1",
    "right_shoulder": "R1",
    "left_trigger": "L2",
    "right_trigger": "R2",
    "left_stick": "L3",
    "right_stick": "R3",
}
_NINTENDO: Mapping[str, str] = {
    # SDL gives the letters of these by what is printed on them
    "a": "A",
    "b": "B",
    "x": "X",
    "y": "Y",
    "start": "+",
    "back": "−",
    "left_shoulder": "L",
    "right_shoulder": "R",
    "left_trigger": "ZL",
    "right_trigger": "ZR",
}
_FAMILIES: Mapping[tuple[str, ...], Mapping[str, str]] = {
    ("ps3", "ps4", "ps5", "playstation", "dualshock", "dualsense", "sony"): _SONY,
    ("nintendo", "switch", "joy-con"): _NINTENDO,
    ("xbox", "x-box", "xinput"): _XBOX,
}


def button(state: AppState, place: str) -> str:
    """What a button of ``pad_buttons.BUTTONS``, or ``b``, is called on the last pad; in words where none is printed."""
    name = state.gamepad.names[-1][1].lower() if state.gamepad.names else ""
    printed = next((signs for makers, signs in _FAMILIES.items() if any(maker in name for maker in makers)), _LETTERS)
    return printed[place] if place in printed else state.say(f"button.{place}")


def button_of(state: AppState, thing: str) -> str:
    """The first button of a thing; a dash where it has none."""
    places = bindings.keys_of(state.settings.app.pad, thing)
    return button(state, places[0]) if places else "–"
