"""Keys and buttons of prompts, and prompts that are kept between runs."""

from __future__ import annotations

import json
from pathlib import Path

import pygame

from app import gestures, keymap, pad_meaning, remembered
from app.beginnings import CompletionAsked
from app.bindings import Bindings
from app.gestures import Focus
from app.pad_buttons import PadBindings
from app.prompts import ControlHeld, QuickAsked, QuickListed
from app.remembered import MOST_PROMPTS, Remembered


def pressed(key: int, mod: int = 0) -> pygame.event.Event:
    scancode = {pygame.K_3: 32, pygame.K_LCTRL: 224, pygame.K_TAB: 43}[key]
    return pygame.event.Event(pygame.KEYDOWN, key=key, mod=mod, scancode=scancode, unicode="")


def test_ctrl_with_a_digit_asks_for_a_prepared_prompt_only_while_walking() -> None:
    asks = pressed(pygame.K_3, pygame.KMOD_LCTRL)
    assert keymap.translate(asks, Focus.WALK, 1.0, Bindings()) == QuickAsked(3, 1.0)
    assert keymap.translate(asks, Focus.TEXT, 1.0, Bindings()) is None
    assert keymap.translate(pressed(pygame.K_3), Focus.WALK, 1.0, Bindings()) is None


def test_ctrl_itself_is_told_unless_it_has_a_meaning_of_its_own() -> None:
    held = pressed(pygame.K_LCTRL, pygame.KMOD_LCTRL)
    assert keymap.translate(held, Focus.WALK, 1.0, Bindings()) == ControlHeld("key 224", 1.0)
    walks = keymap.translate(held, Focus.WALK, 1.0, Bindings(forward=("Left Ctrl",)))
    assert walks == gestures.ActionPressed("w", "key 224", 1.0)


def test_the_left_shoulder_of_a_gamepad_opens_the_list_of_prepared_prompts() -> None:
    assert pad_meaning.pressed("left_shoulder", Focus.WALK, 1.0, PadBindings()) == QuickListed(1.0)
    assert pad_meaning.pressed("left_shoulder", Focus.MENU, 1.0, PadBindings()) == gestures.TabMoved(-1, 1.0)


def test_tab_goes_on_to_the_next_part_of_the_box() -> None:
    assert keymap.translate(pressed(pygame.K_TAB), Focus.TEXT, 1.0, Bindings()) == CompletionAsked(1.0)


def test_the_newest_prompts_are_read_back_and_what_is_none_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "remembered.json"
    remembered.write(path, Remembered(prompts=("雪", "dusk")))
    assert remembered.read(path).prompts == ("雪", "dusk")
    many = [*(f"prompt {n}" for n in range(MOST_PROMPTS + 5)), "", 7, "x" * 5000]
    path.write_text(json.dumps({"prompts": many}), encoding="utf-8")
    kept = remembered.read(path).prompts
    assert (len(kept), kept[-1]) == (MOST_PROMPTS, f"prompt {MOST_PROMPTS + 4}")
