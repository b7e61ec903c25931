from __future__ import annotations

import pygame
import pytest

from app import gestures, keymap, messages
from app.bindings import Bindings
from app.gestures import ActionPressed, ActionReleased, Command, Commanded, Edit, Edited, Focus, MenuChosen, MenuMoved
from tests.app.stripes import scancode


def key(code: int, mod: int = 0, kind: int = pygame.KEYDOWN) -> pygame.event.Event:
    return pygame.event.Event(kind, key=code, mod=mod, unicode="", scancode=scancode(code))


@pytest.mark.parametrize(
    ("code", "focus", "message"),
    [
        (pygame.K_w, Focus.WALK, ActionPressed("w", f"key {pygame.KSCAN_W}", 1.0)),
        (pygame.K_UP, Focus.WALK, ActionPressed("i", f"key {pygame.KSCAN_UP}", 1.0)),
        (pygame.K_l, Focus.WALK, ActionPressed("l", f"key {pygame.KSCAN_L}", 1.0)),
        (pygame.K_t, Focus.WALK, Commanded(Command.PROMPT, 1.0)),
        (pygame.K_RETURN, Focus.WALK, Commanded(Command.PROMPT, 1.0)),
        (pygame.K_SPACE, Focus.WALK, Commanded(Command.PAUSE, 1.0)),
        (pygame.K_F9, Focus.WALK, Commanded(Command.RECORD, 1.0)),
        (pygame.K_F9, Focus.TEXT, Commanded(Command.RECORD, 1.0)),
        (pygame.K_w, Focus.TEXT, None),
        (pygame.K_q, Focus.TEXT, None),
        (pygame.K_SPACE, Focus.TEXT, None),
        (pygame.K_RETURN, Focus.TEXT, Edited(Edit.APPLY, 1.0)),
        (pygame.K_ESCAPE, Focus.TEXT, Edited(Edit.CANCEL, 1.0)),
        (pygame.K_UP, Focus.TEXT, Edited(Edit.OLDER, 1.0)),
        (pygame.K_UP, Focus.MENU, MenuMoved(0, -1, 1.0)),
        (pygame.K_RETURN, Focus.MENU, MenuChosen(1.0)),
        (pygame.K_ESCAPE, Focus.MENU, Commanded(Command.BACK, 1.0)),
        (pygame.K_t, Focus.MENU, Commanded(Command.PROMPT, 1.0)),
        (pygame.K_F7, Focus.WALK, Commanded(Command.PHOTO, 1.0)),
        (pygame.K_F12, Focus.WALK, Commanded(Command.BRANCHES, 1.0)),
        (pygame.K_INSERT, Focus.WALK, None),
    ],
)
def test_what_a_key_means_depends_on_who_has_the_keyboard(
    code: int, focus: Focus, message: messages.Message | None
) -> None:
    assert keymap.translate(key(code), focus, 1.0, Bindings()) == message


def test_editing_keys_tell_shift_and_control() -> None:
    event = key(pygame.K_LEFT, pygame.KMOD_LSHIFT | pygame.KMOD_LCTRL)
    assert keymap.translate(event, Focus.TEXT, 1.0, Bindings()) == Edited(Edit.LEFT, 1.0, selecting=True, by_word=True)
    assert keymap.translate(key(pygame.K_v, pygame.KMOD_LCTRL), Focus.TEXT, 1.0, Bindings()) == Edited(Edit.PASTE, 1.0)


@pytest.mark.parametrize("focus", list(Focus))
def test_a_release_counts_whoever_has_the_keyboard(focus: Focus) -> None:
    released = keymap.translate(key(pygame.K_w, kind=pygame.KEYUP), focus, 1.0, Bindings())
    assert released == ActionReleased(f"key {pygame.KSCAN_W}", 1.0)


def test_the_window_systems_other_events() -> None:
    moved = pygame.event.Event(pygame.MOUSEMOTION, pos=(3, 4), rel=(1, -2), buttons=(0, 0, 0))
    assert keymap.translate(moved, Focus.WALK, 1.0, Bindings()) == gestures.MouseMoved(3, 4, 1, -2, 1.0)
    right = pygame.event.Event(pygame.MOUSEBUTTONDOWN, pos=(3, 4), button=3)
    assert keymap.translate(right, Focus.WALK, 1.0, Bindings()) is None
    composed = pygame.event.Event(pygame.TEXTEDITING, text="xue", start=3, length=0)
    assert keymap.translate(composed, Focus.TEXT, 1.0, Bindings()) == gestures.TextComposed("xue", 3)
    lost = pygame.event.Event(pygame.WINDOWFOCUSLOST)
    assert keymap.translate(lost, Focus.WALK, 1.0, Bindings()) == gestures.FocusLost(1.0)
    assert keymap.translate(pygame.event.Event(pygame.QUIT), Focus.TEXT, 1.0, Bindings()) == gestures.CloseAsked()
