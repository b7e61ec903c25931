"""Sticks and direction pads, as values and through the whole of ``update``."""

from __future__ import annotations

from dataclasses import replace

import pygame
import pytest

from app import gamepad, gestures, keymap, messages
from app.bindings import Bindings
from app.gamepad import Gamepad
from app.gestures import (
    Command,
    Commanded,
    Edit,
    Edited,
    Focus,
    MenuAct,
    MenuActed,
    MenuChosen,
    PadAxisMoved,
    PadDirected,
    PadLost,
    PadOpened,
    TabMoved,
)
from app.messages import Ticked
from app.settings import changed
from app.values import AppState
from engine.protocol import Steer
from tests.app.walks import SCENES, after, walking

TICK = 1 / 60


def looks(asks: list[object]) -> list[object]:
    return [ask.wire["look"] for ask in asks if isinstance(ask, Steer) and "look" in ask.wire]


def test_the_dead_zone_is_round_and_what_is_beyond_begins_at_nothing() -> None:
    assert gamepad.without_dead_zone((0.1, 0.1), 0.15) == (0.0, 0.0)
    assert gamepad.without_dead_zone((0.0, 0.0), 0.0) == (0.0, 0.0)
    assert gamepad.without_dead_zone((0.0, 1.0), 0.15) == pytest.approx((0.0, 1.0))
    x, y = gamepad.without_dead_zone((0.12, 0.12), 0.15)
    assert x == y
    assert 0.0 < x < 0.02


def test_the_left_stick_holds_keys_and_does_not_flicker_at_its_threshold() -> None:
    pad = gamepad.push(Gamepad(), "left_y", -0.6, zone=0.15, at=0.0)
    assert pad.held == ("w",)
    assert gamepad.push(pad, "left_y", -0.46, zone=0.15, at=0.0).held == ("w",)
    assert gamepad.push(Gamepad(), "left_y", -0.46, zone=0.15, at=0.0).held == ()
    assert gamepad.push(pad, "left_x", 0.7, zone=0.15, at=0.0).held == ("w", "d")


def test_the_right_stick_turns_by_degrees_a_second() -> None:
    state, _ = after(walking(), [Ticked(1.0), PadAxisMoved("right_x", 1.0, 1.0)])
    state, asks = after(state, [Ticked(1.0 + n * TICK) for n in range(1, 61)])
    turned = sum(look["yaw_degrees"] for look in looks(asks))  # type: ignore[index]
    assert turned == pytest.approx(110.0, rel=1e-6)
    state, asks = after(state, [PadAxisMoved("right_x", 0.05, 2.0), Ticked(2.1), Ticked(2.2)])
    assert looks(asks) == []


def test_a_slow_frame_does_not_make_the_view_leap() -> None:
    state, _ = after(walking(), [PadAxisMoved("right_x", 1.0, 1.0)])
    _, asks = after(state, [Ticked(6.0)])
    assert looks(asks)[0]["yaw_degrees"] == pytest.approx(11.0)  # type: ignore[index]


def test_invert_y_holds_for_the_stick_too() -> None:
    state = walking()
    state, _ = after(state, [PadAxisMoved("right_y", -1.0, 1.0)])
    _, up = after(state, [Ticked(1.05)])
    inverted = changed(state.settings, {"app.invert_y": True})
    _, down = after(replace(state, settings=inverted), [Ticked(1.05)])
    assert looks(up)[0]["pitch_degrees"] == -looks(down)[0]["pitch_degrees"] > 0  # type: ignore[index]


def test_a_stick_leads_through_a_menu_once_and_then_again_while_it_is_held() -> None:
    pad = gamepad.push(Gamepad(), "left_y", 1.0, zone=0.15, at=0.0)
    steps = []
    for n in range(60):
        pad, step = gamepad.lead(pad, n * TICK)
        steps.append(step)
    taken = [n for n, step in enumerate(steps) if step is not None]
    assert taken[0] == 0
    assert taken[1] * TICK >= gamepad.MENU_DELAY_SECONDS - 1e-9
    assert len(taken) == 6


def test_the_gallery_is_chosen_from_with_the_pad_alone() -> None:
    state, _ = after(AppState(), [messages.ScenesListed(SCENES)])
    state, _ = after(
        state, [PadDirected("right", True, 1.0), Ticked(1.01), PadDirected("right", False, 1.02), Ticked(1.03)]
    )
    assert state.gallery.selected == 1
    state, _ = after(state, [MenuChosen(1.2)])
    assert state.scene == SCENES[1]


def test_the_direction_pad_looks_while_walking() -> None:
    state, _ = after(walking(), [PadDirected("left", True, 1.0)])
    assert state.steering.actions == ("j",)
    assert after(state, [PadDirected("left", False, 1.1)])[0].steering.actions == ()


PUSHED = [PadOpened(7, "Pad", 0.5), PadAxisMoved("left_y", -1.0, 1.0), PadAxisMoved("right_x", 1.0, 1.0)]


@pytest.mark.parametrize("ends", [PadLost(7, 2.0), gestures.FocusLost(2.0), Commanded(Command.MENU, 2.0)])
def test_nothing_stays_held_when_the_pad_or_the_keyboard_goes(ends: messages.Message) -> None:
    state, _ = after(walking(), PUSHED)
    assert state.steering.actions == ("w",)
    state, asks = after(state, [ends, Ticked(2.1), Ticked(2.2)])
    assert state.steering.held == ()
    assert state.gamepad.turned_at is None
    assert looks(asks) == []


def test_coming_and_going_are_told() -> None:
    state, _ = after(walking(), [PadOpened(7, "Pad", 0.5), PadLost(7, 1.0), PadLost(7, 1.1)])
    assert [toast.text for toast in state.toasts] == ["Pad is connected.", "Pad is gone; nothing is held any longer."]
    assert state.gamepad.names == ()


@pytest.mark.parametrize(
    ("button", "focus", "message"),
    [
        (pygame.CONTROLLER_BUTTON_A, Focus.WALK, Commanded(Command.PAUSE, 1.0)),
        (pygame.CONTROLLER_BUTTON_START, Focus.WALK, Commanded(Command.MENU, 1.0)),
        (pygame.CONTROLLER_BUTTON_START, Focus.MENU, Commanded(Command.MENU, 1.0)),
        (pygame.CONTROLLER_BUTTON_A, Focus.MENU, MenuChosen(1.0)),
        (pygame.CONTROLLER_BUTTON_B, Focus.MENU, Commanded(Command.BACK, 1.0)),
        (pygame.CONTROLLER_BUTTON_X, Focus.MENU, MenuActed(MenuAct.CLEAR, 1.0)),
        (pygame.CONTROLLER_BUTTON_RIGHTSHOULDER, Focus.MENU, TabMoved(1, 1.0)),
        (pygame.CONTROLLER_BUTTON_B, Focus.TEXT, Edited(Edit.CANCEL, 1.0)),
        (pygame.CONTROLLER_BUTTON_A, Focus.TEXT, Edited(Edit.APPLY, 1.0)),
        (pygame.CONTROLLER_BUTTON_B, Focus.KEY, gestures.KeyCaught(None, 1.0)),
        (pygame.CONTROLLER_BUTTON_A, Focus.KEY, None),
        (pygame.CONTROLLER_BUTTON_DPAD_UP, Focus.WALK, PadDirected("up", True, 1.0)),
    ],
)
def test_what_a_button_means_depends_on_what_is_open(
    button: int, focus: Focus, message: messages.Message | None
) -> None:
    event = pygame.event.Event(pygame.CONTROLLERBUTTONDOWN, button=button, instance_id=0)
    assert keymap.translate(event, focus, 1.0, Bindings()) == message


def test_axes_are_read_as_parts_of_their_way_and_triggers_are_not() -> None:
    event = pygame.event.Event(
        pygame.CONTROLLERAXISMOTION, axis=pygame.CONTROLLER_AXIS_LEFTY, value=-32768, instance_id=0
    )
    assert keymap.translate(event, Focus.WALK, 1.0, Bindings()) == PadAxisMoved("left_y", -1.0, 1.0)
    trigger = pygame.event.Event(
        pygame.CONTROLLERAXISMOTION, axis=pygame.CONTROLLER_AXIS_TRIGGERLEFT, value=9, instance_id=0
    )
    assert keymap.translate(trigger, Focus.WALK, 1.0, Bindings()) is None
