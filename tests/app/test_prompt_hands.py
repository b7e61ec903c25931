"""Prompts by synthetic events: the box with one line or two, its slider, prepared ones, what is remembered."""

from dataclasses import replace

import pytest

from app import prompts
from app.beginnings import CompletionAsked
from app.errands import Remember
from app.facts import Stage
from app.gestures import (
    ActionReleased,
    Command,
    Commanded,
    Edit,
    Edited,
    Focus,
    FocusLost,
    MenuChosen,
    MenuMoved,
    MouseClicked,
    MouseMoved,
    Scrolled,
    TextTyped,
)
from app.messages import ChunkShown, Ticked
from app.prompts import ControlHeld, Place, QuickAsked, QuickListed
from app.remembered import Remembered
from app.settings import changed
from engine.protocol import EventRejected, Failed, OpenWorld, PromptMix, Steer, WentBack
from tests.app.walks import CARD, MEADOW, after, opened, walking

FIRST, SECOND = MEADOW.prompt, "a snowstorm"


def asked(asks):
    """The prompts of the events that were sent."""
    return [ask.wire["prompt"] for ask in asks if isinstance(ask, Steer) and "prompt" in ask.wire]


def mix(share, first=FIRST, second=SECOND):
    return {"text": first, "mixed_with": second, "share": share}


def edited(edit, at=1.0):
    return Edited(edit, at)


OPENED = [Commanded(Command.PROMPT, 1.0), Ticked(1.02)]
ON_SLIDER = [*OPENED, CompletionAsked(1.1), TextTyped(SECOND, 1.2), CompletionAsked(1.3), Ticked(1.32)]


# ---- two prompts -------------------------------------------------------------------------------------------------


def test_a_second_line_is_mixed_with_the_prompt_in_force_where_the_first_is_empty() -> None:
    state, _ = after(walking(), [*OPENED, CompletionAsked(1.1)])
    assert state.prompt_box is not None
    assert state.prompts.mixing is not None
    assert (state.prompt_box.text, state.prompts.mixing.place) == (FIRST, Place.SECOND)
    assert state.focus is Focus.TEXT


def test_the_world_follows_as_soon_as_the_slider_is_reached_half_and_half() -> None:
    state, asks = after(walking(), ON_SLIDER)
    assert asked(asks) == [mix(0.5)]
    assert state.prompt is not None
    assert (state.prompt.text, state.prompt.stage) == (f"{FIRST} 50% + {SECOND} 50%", Stage.TYPED)


def test_arrows_move_the_slider_by_5_percent_and_the_world_follows_while_it_moves() -> None:
    keys = [edited(Edit.RIGHT), Ticked(1.4), edited(Edit.RIGHT), Ticked(1.42), edited(Edit.HOME), Ticked(1.44)]
    _, asks = after(walking(), [*ON_SLIDER, *keys])
    assert asked(asks)[1:] == [mix(0.55), mix(0.6), mix(0.0)]


def test_however_fast_the_slider_moves_a_tick_sends_one_event() -> None:
    _, asks = after(walking(), [*ON_SLIDER, *[edited(Edit.RIGHT)] * 7, Ticked(1.4), Ticked(1.42)])
    assert asked(asks)[1:] == [mix(0.85)]


def test_the_slider_stops_at_its_ends_and_says_nothing_twice() -> None:
    _, asks = after(walking(), [*ON_SLIDER, edited(Edit.END), Ticked(1.4), edited(Edit.RIGHT), Ticked(1.42)])
    assert asked(asks)[1:] == [mix(1.0)]


def test_the_mouse_drags_the_slider_until_its_button_is_let_go() -> None:
    state, _ = after(walking(), ON_SLIDER[:-2])
    way = prompts.slider_rect(state.room)
    y, right = way.y + 5, way.x + way.width
    messages = [
        *(MouseClicked(way.x + way.width // 4, y, 1.4), Ticked(1.42)),
        *(MouseMoved(right, y + 90, 9, 0, 1.5, pressed=True), Ticked(1.52)),
        *(MouseMoved(way.x, y, -9, 0, 1.6), MouseMoved(way.x, y, -9, 0, 1.6, pressed=True), Ticked(1.62)),
    ]
    assert asked(after(state, messages)[1]) == [mix(0.25), mix(1.0)]


def test_a_captured_pointer_and_the_wheel_move_it_too() -> None:
    state, _ = after(replace(walking(), captured=True), ON_SLIDER)
    _, asks = after(state, [*[MouseMoved(0, 0, 12, 0, 1.4)] * 4, Ticked(1.42), Scrolled(-1), Ticked(1.5)])
    assert asked(asks) == [mix(0.6), mix(0.55)]


def test_a_second_line_that_is_blank_has_no_slider_and_enter_asks_for_the_first_alone() -> None:
    messages = [*OPENED, TextTyped("dusk", 1.05), CompletionAsked(1.1), CompletionAsked(1.2)]
    state, asks = after(walking(), [*messages, edited(Edit.APPLY), Ticked(1.4)])
    assert asked(asks) == ["dusk"]
    assert state.prompt_box is None
    assert state.prompts.mixing is None


def test_enter_keeps_the_mix_and_asks_for_nothing_that_is_in_force_already() -> None:
    state, asks = after(walking(), [*ON_SLIDER, edited(Edit.APPLY), Ticked(1.4)])
    assert asked(asks) == [mix(0.5)]
    assert state.prompts.mix == PromptMix(FIRST, SECOND, 0.5)
    assert state.history[-2:] == (SECOND, FIRST)


def test_escape_gives_the_prompt_before_back_to_a_world_that_had_followed() -> None:
    _, asks = after(walking(), [*ON_SLIDER, edited(Edit.CANCEL), Ticked(1.4)])
    assert asked(asks) == [mix(0.5), mix(0.0)]
    other = [*OPENED, TextTyped("dusk", 1.05), *ON_SLIDER[2:]]
    _, asks = after(walking(), [*other, edited(Edit.CANCEL), Ticked(1.4)])
    assert asked(asks) == [mix(0.5, first="dusk"), FIRST]


def test_escape_before_the_slider_was_reached_asks_for_nothing() -> None:
    assert not asked(after(walking(), [*ON_SLIDER[:-2], edited(Edit.CANCEL), Ticked(1.4)])[1])


def test_the_slider_of_a_mix_in_force_is_taken_again_where_it_was() -> None:
    state, _ = after(walking(), [*ON_SLIDER, edited(Edit.RIGHT), edited(Edit.APPLY), Ticked(1.4)])
    state, asks = after(state, [*OPENED, CompletionAsked(2.0), Ticked(2.02), edited(Edit.LEFT), Ticked(2.04)])
    assert state.prompts.mixing is not None
    assert (state.prompts.mixing.place, state.prompts.mixing.second.text) == (Place.SLIDER, SECOND)
    assert asked(asks) == [mix(0.5)]


def test_what_is_typed_on_the_slider_goes_nowhere() -> None:
    state, _ = after(walking(), [*ON_SLIDER, TextTyped("x", 1.4), edited(Edit.BACKSPACE)])
    assert state.prompt_box is not None
    assert state.prompt_box.text == FIRST


def test_a_server_is_not_offered_a_second_prompt() -> None:
    state = walking()
    assert state.world is not None
    state = replace(state, world=replace(state.world, card=replace(CARD, backend="sglang")))
    state, _ = after(state, [*OPENED, CompletionAsked(1.1)])
    assert state.prompts.mixing is None
    assert state.toasts[-1].bad


def test_a_mix_that_was_refused_is_not_in_force() -> None:
    state, _ = after(walking(), [*ON_SLIDER, edited(Edit.APPLY), Ticked(1.4)])
    assert state.prompt is not None
    state, _ = after(state, [EventRejected(state.prompt.event_id, "prompt", "a mix", "one")])
    assert state.prompts.mix is None


def test_a_reset_begins_with_the_first_prompt_and_goes_on_to_the_mix() -> None:
    state, _ = after(walking(), [*ON_SLIDER, edited(Edit.APPLY), Ticked(1.4)])
    state, asks = after(state, [Commanded(Command.RESET, 2.0)])
    assert [ask.scene.prompt for ask in asks if isinstance(ask, OpenWorld)] == [FIRST]
    state, asks = after(state, [opened(session_id=2), Ticked(2.1), Ticked(2.12), Ticked(2.14)])
    assert asked(asks) == [mix(0.5)]


def test_a_world_that_went_back_to_a_mix_has_its_slider_there() -> None:
    state, _ = after(walking(), [WentBack(1, 0, "words", PromptMix("a", "b", 0.25))])
    assert state.prompts.mix == PromptMix("a", "b", 0.25)


def test_the_box_is_gone_with_a_world_that_failed() -> None:
    state, _ = after(walking(), [*ON_SLIDER, Failed("It stopped.", "Again.")])
    assert (state.prompt_box, state.prompts.mixing) == (None, None)


# ---- prepared prompts --------------------------------------------------------------------------------------------


def test_a_prepared_prompt_is_asked_for_and_remembered() -> None:
    state, asks = after(walking(), [QuickAsked(3, 1.0), Ticked(1.02)])
    assert asked(asks) == ["a snowstorm at night"]
    assert state.history[-1] == "a snowstorm at night"


def test_the_users_own_stands_in_its_place_and_the_language_chooses_the_others() -> None:
    state = walking()
    state = replace(state, settings=changed(state.settings, {"app.quick_3": "purple rain", "app.language": "zh"}))
    _, asks = after(state, [QuickAsked(3, 1.0), Ticked(1.02), QuickAsked(7, 1.1), Ticked(1.12)])
    assert asked(asks) == ["purple rain", "浓雾"]


def test_they_are_shown_when_ctrl_is_held_for_a_while_and_gone_when_it_is_let_go() -> None:
    held, _ = after(walking(), [ControlHeld("key 224", 1.0), Ticked(1.3)])
    assert not held.prompts.hinted
    held, _ = after(held, [Ticked(1.41)])
    assert held.prompts.hinted
    assert not replace(held, remembered=Remembered()).teaching
    assert not after(held, [ActionReleased("key 224", 1.5)])[0].prompts.hinted
    assert not after(held, [FocusLost(1.5)])[0].prompts.hinted
    assert after(held, [ActionReleased("key 26", 1.5)])[0].prompts.hinted


@pytest.mark.parametrize("opens", [OPENED, [Commanded(Command.MENU, 1.0)]])
def test_where_something_is_typed_or_chosen_no_prepared_prompt_is_asked_for(opens) -> None:
    state, asks = after(walking(), [*opens, QuickAsked(1, 1.1), QuickListed(1.1), Ticked(1.2)])
    assert not asked(asks)
    assert state.prompts.chosen is None


def test_the_list_is_chosen_from_while_the_world_goes_on() -> None:
    state, _ = after(walking(), [QuickListed(1.0), Ticked(1.02)])
    assert (state.focus, state.standing) == (Focus.MENU, False)
    moves = [MenuMoved(0, 1, 1.1), MenuMoved(0, 1, 1.2), MenuMoved(0, 1, 1.3), MenuMoved(0, -1, 1.4)]
    state, asks = after(state, [*moves, MenuChosen(1.5), Ticked(1.52)])
    assert asked(asks) == ["a snowstorm at night"]
    assert state.focus is Focus.WALK


def test_a_click_beside_the_list_or_escape_closes_it_and_one_on_a_line_asks() -> None:
    state, _ = after(walking(), [QuickListed(1.0)])
    line = prompts.quick_line_rect(state.room, 8)
    clicked, asks = after(state, [MouseClicked(line.x + 5, line.y + 5, 1.1), Ticked(1.12)])
    assert asked(asks) == ["a clear starry night"]
    for closing in (MouseClicked(2, 2, 1.1), Commanded(Command.BACK, 1.1)):
        closed, asks = after(state, [closing, Ticked(1.12)])
        assert (closed.prompts.chosen, closed.menu, asked(asks)) == (None, None, [])
    assert clicked.prompts.chosen is None


# ---- how far a prompt has come, and what is remembered -----------------------------------------------------------


def test_the_way_to_a_new_prompt_is_that_of_the_picture_on_show() -> None:
    state, _ = after(walking(), [ChunkShown(1, 3, FIRST, False, (), 1.0, 0.25)])
    assert state.world is not None
    assert state.world.fade == 0.25
    state, _ = after(state, [ChunkShown(1, 4, FIRST, False, (), 1.1)])
    assert state.world is not None
    assert state.world.fade is None


def test_prompts_are_kept_for_the_next_run() -> None:
    state, asks = after(walking(), [QuickAsked(3, 1.0), Ticked(1.02), Ticked(1.04)])
    kept = [ask.remembered.prompts for ask in asks if isinstance(ask, Remember)]
    assert kept == [("a snowstorm at night",)]
    again = replace(walking(), remembered=state.remembered, kept=state.kept, history=state.remembered.prompts)
    again, _ = after(again, [*OPENED, edited(Edit.OLDER)])
    assert again.prompt_box is not None
    assert again.prompt_box.text == "a snowstorm at night"
