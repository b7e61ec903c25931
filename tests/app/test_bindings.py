"""Keys by their places: presets, conflicts, labels."""

from __future__ import annotations

import pygame
import pytest

from app import bindings
from app.bindings import COMMANDS, KEYS, LABELS, MOUSE_BUTTONS, PRESETS, THINGS, Bindings
from app.gestures import Command
from app.slots import SLOT_KEYS


def test_names_of_keys_are_sdls_scancodes() -> None:
    for name, scancode in KEYS.items():
        if len(name) == 1 and name.isalnum():
            assert scancode == getattr(pygame, f"KSCAN_{name}")
    for name, other in {
        "Num 8": "KP_8",
        "Left Shift": "LSHIFT",
        "Page Up": "PAGEUP",
        "F11": "F11",
        "<": "NONUSBACKSLASH",
    }.items():
        assert KEYS[name] == getattr(pygame, f"KSCAN_{other}")
    assert pygame.KSCAN_ESCAPE not in KEYS.values(), "Escape always leads out"


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_names_known_keys_and_has_no_conflict(name: str) -> None:
    for thing in THINGS:
        keys = bindings.keys_of(PRESETS[name], thing)
        assert keys, f"{thing} can be reached"
        assert len(keys) <= bindings.MOST_KEYS
        assert all(key in KEYS or key in MOUSE_BUTTONS for key in keys)
    assert bindings.conflicts(PRESETS[name]) == {}
    assert bindings.preset_of(PRESETS[name]) == name


def test_a_key_with_two_meanings_is_shown_as_a_conflict_and_the_first_one_counts() -> None:
    bound = bindings.bind(Bindings(), "reset", 0, "W")
    assert bindings.conflicts(bound) == {"W": ("forward", "reset")}
    assert bindings.meanings(bound)["W"] == "forward"
    assert bindings.preset_of(bound) is None


def test_slots_are_filled_replaced_and_emptied() -> None:
    bound = bindings.bind(Bindings(), "forward", 1, "Up")
    assert bound.forward == ("W", "Up")
    assert bindings.bind(bound, "forward", 0, "E").forward == ("E", "Up")
    assert bindings.bind(bound, "forward", 0, None).forward == ("Up",)
    assert bindings.bind(bound, "forward", 0, "Up").forward == ("Up",), "a key stands in one slot only"


def test_azerty_is_the_same_places_with_other_letters() -> None:
    assert [bindings.label(key, "azerty") for key in "WASD"] == ["Z", "Q", "S", "D"]
    assert bindings.label("Left", "azerty") == "←"
    assert all(key in KEYS or key in MOUSE_BUTTONS for labels in LABELS.values() for key in labels)


def test_every_command_but_back_can_be_bound() -> None:
    assert set(COMMANDS.values()) == set(Command) - {Command.BACK}
    assert {*bindings.ACTIONS, *COMMANDS, *SLOT_KEYS, "rewind"} == set(THINGS)
