"""Sticks and direction pads, as values and through the whole of ``update``."""

from __future__ import annotations

from dataclasses import replace

import pygame
import pytest

from app import bindings, errands, gamepad, gestures, hints, keymap, messages, options, pad_meaning, pad_names
from app.bindings import Bindings
from app.films import SaveClip
from app.gamepad import Gamepad
from app.gestures import (
    ActionPressed,
    Command,
    Commanded,
    Edit,
    Edited,
    Focus,
    KeyCaught,
    MenuAct,
    MenuActed,
    MenuChosen,
    PadAxisMoved,
    PadLost,
    PadOpened,
    PadPressed,
    TabMoved,
)
from app.menu import Room
from app.messages import Ticked
from app.options import Deed, SettingsPage, Tab
from app.pad_buttons import BUTTONS, PadBindings
from app.prompts import QuickListed
from app.rewind import LookedBack, RewindPressed
from app.settings import changed, check_one
from app.values import AppState
from engine.errors import BadValue
from engine.protocol import GoBack, MomentsKept, Pause, Steer
from tests.app.walks import SCENES, after, walking

TICK = 1 / 60
KEPT = MomentsKept(1, (0, 2, 4, 6), 40_000_000)


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
        state, [PadPressed("dpad_right", True, 1.0), Ticked(1.01), PadPressed("dpad_right", False, 1.02), Ticked(1.03)]
    )
    assert state.gallery.selected == 1
    state, _ = after(state, [MenuChosen(1.2)])
    assert state.scene == SCENES[1]


def test_the_direction_pad_looks_while_walking() -> None:
    state, _ = after(walking(), [PadPressed("dpad_left", True, 1.0)])
    assert state.steering.actions == ("j",)
    assert after(state, [PadPressed("dpad_left", False, 1.1)])[0].steering.actions == ()


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
        ("a", Focus.WALK, Commanded(Command.PAUSE, 1.0)),
        ("start", Focus.WALK, Commanded(Command.MENU, 1.0)),
        ("start", Focus.MENU, Commanded(Command.MENU, 1.0)),
        ("a", Focus.MENU, MenuChosen(1.0)),
        ("b", Focus.MENU, Commanded(Command.BACK, 1.0)),
        ("x", Focus.MENU, MenuActed(MenuAct.CLEAR, 1.0)),
        ("right_shoulder", Focus.MENU, TabMoved(1, 1.0)),
        ("right_shoulder", Focus.WALK, Commanded(Command.PHOTO, 1.0)),
        ("right_trigger", Focus.WALK, Commanded(Command.BRANCHES, 1.0)),
        ("right_trigger", Focus.MENU, Commanded(Command.BRANCHES, 1.0)),
        ("left_trigger", Focus.WALK, RewindPressed("pad left_trigger", 1.0)),
        ("left_trigger", Focus.MENU, None),
        ("left_shoulder", Focus.WALK, QuickListed(1.0)),
        ("left_stick", Focus.WALK, None),
        ("b", Focus.TEXT, Edited(Edit.CANCEL, 1.0)),
        ("a", Focus.TEXT, Edited(Edit.APPLY, 1.0)),
        ("b", Focus.KEY, KeyCaught(None, 1.0)),
        ("a", Focus.KEY, KeyCaught("a", 1.0, by_pad=True)),
        ("dpad_up", Focus.WALK, ActionPressed("i", "pad dpad_up", 1.0)),
        ("dpad_up", Focus.MENU, None),
    ],
)
def test_what_a_button_means_depends_on_what_is_open(
    button: str, focus: Focus, message: messages.Message | None
) -> None:
    assert pad_meaning.pressed(button, focus, 1.0, PadBindings()) == message


def test_every_default_button_has_one_meaning_and_every_name_is_one_of_sdls() -> None:
    assert bindings.conflicts(PadBindings()) == {}
    assert set(bindings.meanings(PadBindings())) <= set(BUTTONS)
    assert {*keymap.PAD_BUTTONS.values(), *gamepad.TRIGGERS} == {*BUTTONS, "b"}
    assert {*bindings.THINGS, "quick"} == set(bindings.PAD_THINGS)


def test_buttons_are_told_with_their_names_whatever_is_open() -> None:
    for kind, down in ((pygame.CONTROLLERBUTTONDOWN, True), (pygame.CONTROLLERBUTTONUP, False)):
        event = pygame.event.Event(kind, button=pygame.CONTROLLER_BUTTON_LEFTSTICK, instance_id=0)
        assert keymap.translate(event, Focus.TEXT, 1.0, Bindings()) == PadPressed("left_stick", down, 1.0)


# ---- triggers, and going back in time ----------------------------------------------------------------------------


def pull(value: float, at: float, trigger: str = "left_trigger") -> PadAxisMoved:
    return PadAxisMoved(trigger, value, at)


def test_a_trigger_is_a_button_that_does_not_flicker() -> None:
    pad = gamepad.pull(Gamepad(), "left_trigger", 0.4)
    assert pad.pulled == ()
    pad = gamepad.pull(pad, "left_trigger", 0.5)
    assert pad.pulled == ("left_trigger",)
    assert gamepad.pull(pad, "left_trigger", 0.35) is pad
    assert gamepad.pull(pad, "left_trigger", 0.2).pulled == ()


def test_the_left_trigger_held_goes_back_in_time_and_let_go_walks_on_from_there() -> None:
    state, asks = after(walking(), [KEPT, pull(0.2, 0.9), pull(0.9, 1.0), Ticked(1.0), pull(1.0, 1.1), Ticked(2.0)])
    assert state.time.rewind is not None
    assert state.time.rewind.began_at == 1.0
    assert asks == [Pause(True)]
    state, asks = after(state, [LookedBack(5.2, 8.0, 1.0, False, 1000), pull(0.1, 2.1)])
    assert asks == [GoBack(1, 4)]


@pytest.mark.parametrize("ends", [PadLost(7, 2.1), gestures.FocusLost(2.1), Commanded(Command.BACK, 2.1)])
def test_going_back_ends_when_the_pad_is_pulled_out_and_its_release_means_nothing_then(ends: messages.Message) -> None:
    state, _ = after(walking(), [PadOpened(7, "Pad", 0.5), KEPT, pull(1.0, 1.0), Ticked(2.0)])
    state, asks = after(state, [LookedBack(5.2, 8.0, 1.0, False, 1000), ends])
    assert asks == ([Pause(False)] if isinstance(ends, Commanded) else [GoBack(1, 4)])
    assert after(state, [pull(0.0, 2.2)])[1] == []


def test_a_trigger_that_opened_a_page_does_not_close_it_while_it_is_pulled_on() -> None:
    state, _ = after(walking(), [KEPT, *(pull(n / 10, 1.0 + n / 100, "right_trigger") for n in range(11))])
    assert state.branches is not None
    state, _ = after(state, [pull(0.0, 1.5, "right_trigger"), pull(1.0, 1.6, "right_trigger")])
    assert state.branches is None


# ---- other buttons -----------------------------------------------------------------------------------------------


def on_row(row: str) -> AppState:
    """A walk by pad with the page of buttons open and a row chosen."""
    page = options.choose(SettingsPage(Tab.GAMEPAD), options.rows(Tab.GAMEPAD).index(row), Room(1280, 720))
    return replace(walking(), page=page, by_pad=True)


def click(button: str, at: float) -> list[messages.Message]:
    return [PadPressed(button, True, at), PadPressed(button, False, at)]


def test_a_button_is_bound_by_the_pad_alone_counts_at_once_and_is_kept() -> None:
    state, asks = after(on_row("app.pad.clip"), [*click("a", 1.0), *click("left_stick", 1.1), Ticked(3.0)])
    assert state.settings.app.pad.clip == ("left_stick",)
    assert asks[-1] == errands.KeepSettings({"app.pad.clip": ("left_stick",)})
    state, asks = after(replace(state, page=None), click("left_stick", 4.0))
    assert SaveClip() in asks


@pytest.mark.parametrize("button", ["dpad_left", "right_trigger", "start", "a"])
def test_whatever_it_means_otherwise_the_next_button_is_caught(button: str) -> None:
    touches = click(button, 1.1) if button != "right_trigger" else [pull(1.0, 1.1, button), pull(0.0, 1.2, button)]
    state, _ = after(on_row("app.pad.reset"), [*click("a", 1.0), *touches, Ticked(1.3)])
    assert state.settings.app.pad.reset == (button,)
    assert state.page is not None
    assert state.page.row == "app.pad.reset"
    assert state.focus is Focus.MENU


def test_a_key_is_not_taken_for_a_button_nor_a_button_for_a_key_and_the_way_back_cancels() -> None:
    state, _ = after(on_row("app.pad.reset"), [*click("a", 1.0), KeyCaught("X", 1.1)])
    assert state.focus is Focus.KEY
    state, _ = after(state, click("b", 1.2))
    assert (state.focus, state.settings) == (Focus.MENU, walking().settings)
    page = options.choose(SettingsPage(Tab.KEYS), options.rows(Tab.KEYS).index("app.keys.reset"), Room(1280, 720))
    state, _ = after(replace(state, page=page), [MenuChosen(2.0), *click("x", 2.1)])
    assert (state.focus, state.settings) == (Focus.KEY, walking().settings)


def test_a_button_of_two_things_is_a_conflict_the_first_one_counts_and_a_press_takes_it_away() -> None:
    state, _ = after(on_row("app.pad.reset"), [*click("a", 1.0), *click("a", 1.1)])
    pad = state.settings.app.pad
    assert bindings.conflicts(pad) == {"a": ("pause", "reset")}
    assert bindings.meanings(pad)["a"] == "pause"
    state, _ = after(state, click("x", 1.2))
    assert state.settings.app.pad == PadBindings()


def test_the_page_is_reset_with_its_sticks_and_the_keys_are_left_alone() -> None:
    state = on_row(Deed.RESET_TAB)
    wanted = {"app.pad.reset": ("x",), "app.pad_dead_zone": 0.3, "app.keys.reset": ("U",)}
    state, _ = after(replace(state, settings=changed(state.settings, wanted)), click("a", 1.0))
    assert state.settings.own == {"app.keys.reset": ("U",)}


def test_what_is_held_by_a_bound_button_is_let_go_of() -> None:
    bound = changed(walking().settings, {"app.pad.forward": ("right_trigger",), "app.pad.branches": ()})
    state, _ = after(replace(walking(), settings=bound), [pull(1.0, 1.0, "right_trigger")])
    assert state.steering.actions == ("w",)
    assert after(state, [pull(0.0, 1.1, "right_trigger")])[0].steering.actions == ()
    assert after(state, [PadLost(7, 1.1)])[0].steering.actions == ()


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("app.pad.rewind", ["left_triger"], "the button .* Did you mean left_trigger"),
        ("app.pad.rewind", ["b"], "the button .*'b'"),
        ("app.pad.rewind", ["a", "x", "y"], "3 buttons"),
    ],
)
def test_a_name_that_is_no_buttons_is_refused(name: str, value: list[str], problem: str) -> None:
    with pytest.raises(BadValue, match=problem):
        check_one(name, value, name)


@pytest.mark.parametrize(
    ("maker", "names"),
    [
        ("Xbox Series X Controller", ("A", "LT", "RB", "left stick pressed")),
        ("PS5 Controller", ("×", "L2", "R1", "L3")),
        ("Nintendo Switch Pro Controller", ("A", "ZL", "R", "left stick pressed")),
        ("Some pad", ("A", "left trigger", "right shoulder", "left stick pressed")),
    ],
)
def test_buttons_are_called_as_their_maker_calls_them(maker: str, names: tuple[str, ...]) -> None:
    state, _ = after(walking(), [PadOpened(7, maker, 0.5)])
    assert (
        tuple(pad_names.button(state, place) for place in ("a", "left_trigger", "right_shoulder", "left_stick"))
        == names
    )
    spoken = replace(state, settings=changed(state.settings, {"app.language": "zh"}))
    assert all(pad_names.button(spoken, place) for place in BUTTONS)


def test_the_page_of_keys_names_the_buttons_as_they_are_bound() -> None:
    state = replace(walking(), by_pad=True)
    state = replace(state, settings=changed(state.settings, {"app.pad.menu": ("start", "left_stick")}))
    lines = hints.help_lines(state)
    assert ("left trigger", state.say("help.rewind")) in lines
    assert ("Start or left stick pressed", state.say("help.menu")) in lines
    assert ("Start", state.say("hint.menu")) in hints.walking(state)


def test_axes_are_read_as_parts_of_their_way() -> None:
    event = pygame.event.Event(
        pygame.CONTROLLERAXISMOTION, axis=pygame.CONTROLLER_AXIS_LEFTY, value=-32768, instance_id=0
    )
    assert keymap.translate(event, Focus.WALK, 1.0, Bindings()) == PadAxisMoved("left_y", -1.0, 1.0)
    trigger = pygame.event.Event(
        pygame.CONTROLLERAXISMOTION, axis=pygame.CONTROLLER_AXIS_TRIGGERLEFT, value=32767, instance_id=0
    )
    assert keymap.translate(trigger, Focus.WALK, 1.0, Bindings()) == PadAxisMoved("left_trigger", 1.0, 1.0)
