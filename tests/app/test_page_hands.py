"""The settings pages by synthetic messages: what is changed, kept, refused, reset."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app import errands, gestures, messages, options, settings
from app.bindings import PRESETS
from app.gestures import (
    ActionPressed,
    ActionReleased,
    Command,
    Commanded,
    Edit,
    Edited,
    Focus,
    KeyCaught,
    MenuAct,
    MenuActed,
    MenuChosen,
    MenuMoved,
    MouseClicked,
    MouseMoved,
    Scrolled,
    TabMoved,
    TextTyped,
)
from app.menu import WALK_MENU, Menu, MenuItem, Room
from app.messages import Ticked
from app.options import PRESET, Deed, SettingsPage, Tab, When
from app.settings import Settings, every_name
from app.values import AppState
from engine.protocol import OpenWorld, Pause, Steer
from tests.app.walks import MEADOW, after, walking

ROOM = Room(1280, 720)


def on(row: str, state: AppState | None = None) -> AppState:
    """A walk with the settings open and a row chosen."""
    tab = next(tab for tab in Tab if row in options.ROWS[tab])
    index = options.rows(tab).index(row)
    return replace(state or walking(), page=options.choose(SettingsPage(tab), index, ROOM))


def typed(text: str) -> list[messages.Message]:
    return [MenuChosen(1.0), Edited(Edit.ALL, 1.0), TextTyped(text, 1.1), Edited(Edit.APPLY, 1.2)]


def test_every_setting_has_a_row_and_every_row_says_when_it_counts() -> None:
    rows = [row for tab in Tab for row in options.ROWS[tab] if options.is_setting(row)]
    assert sorted(rows) == sorted(every_name())
    assert {options.when(row) for row in rows} == set(When)


def test_the_menu_leads_to_the_settings_and_escape_back_to_the_menu() -> None:
    state, asks = after(walking(), [Commanded(Command.MENU, 1.0)])
    assert state.menu is not None
    at = state.menu.items.index(MenuItem.SETTINGS)
    state, more = after(state, [MenuMoved(0, at, 1.0), MenuChosen(1.0)])
    assert state.page is not None
    assert state.focus is Focus.MENU
    assert asks + more == [Pause(True)], "the world stands still behind them"
    state, _ = after(state, [Commanded(Command.BACK, 1.1)])
    assert state.page is None
    assert state.menu is not None


def test_a_step_changes_the_value_at_once_and_it_is_kept_when_the_hand_rests() -> None:
    state, asks = after(on("app.mouse_degrees_per_100_px"), [MenuMoved(1, 0, 1.0), Ticked(1.1), MenuMoved(1, 0, 1.2)])
    assert state.settings.app.mouse_degrees_per_100_px == 14.0
    assert state.feel.degrees_per_px == 0.14
    assert not [ask for ask in asks if isinstance(ask, errands.KeepSettings)]
    state, asks = after(state, [Ticked(2.0), Ticked(3.0)])
    assert asks == [errands.KeepSettings({"app.mouse_degrees_per_100_px": 14.0})]


def test_closing_the_window_keeps_what_was_just_changed() -> None:
    _, asks = after(on("app.invert_y"), [MenuChosen(1.0), gestures.CloseAsked()])
    assert errands.KeepSettings({"app.invert_y": True}) in asks


def test_numbers_stop_at_their_ends_and_choices_go_round() -> None:
    state, _ = after(on("app.text_size"), [MenuMoved(1, 0, 1.0)] * 20)
    assert state.settings.app.text_size == 2.0
    state, _ = after(on("app.colours"), [MenuMoved(-1, 0, 1.0)])
    assert state.settings.app.colours == "safe"
    state, _ = after(on("engine.steps"), [MenuMoved(1, 0, 1.0), MenuMoved(1, 0, 1.0), *[MenuMoved(-1, 0, 1.0)] * 5])
    assert state.settings.engine.steps is None


def test_a_value_is_typed_and_a_wrong_one_says_what_is_expected() -> None:
    state, _ = after(on("app.seed"), typed("77"))
    assert (state.settings.app.seed, state.seed) == (77, 77)
    state, _ = after(on("app.seed"), typed("many"))
    assert state.page is not None
    assert state.page.problem == "a whole number from 0 to 4294967295"
    assert state.focus is Focus.TEXT
    state, _ = after(state, [Edited(Edit.CANCEL, 1.3)])
    assert state.settings.app.seed == 0


def test_an_emptied_text_is_the_default_of_what_may_be_empty() -> None:
    state, _ = after(on("app.scene"), typed("lagoon"))
    assert state.settings.app.scene == "lagoon"
    state, _ = after(state, [MenuChosen(2.0), Edited(Edit.ALL, 2.0), Edited(Edit.DELETE, 2.0), Edited(Edit.APPLY, 2.1)])
    assert state.settings.app.scene is None


def test_letters_typed_into_a_value_move_nothing() -> None:
    state, asks = after(
        on("app.scene"), [MenuChosen(1.0), TextTyped("w", 1.1), ActionPressed("w", "key 26", 1.1), Ticked(1.2)]
    )
    assert state.steering.held == ()
    assert not [ask for ask in asks if isinstance(ask, Steer)]


def test_settings_of_the_engine_count_from_the_next_world_on() -> None:
    state = replace(on("engine.steps"), engine=Settings().engine)
    state, asks = after(state, [MenuMoved(1, 0, 1.0), MenuMoved(1, 0, 1.0), Ticked(1.1)])
    assert not [ask for ask in asks if isinstance(ask, errands.SwitchEngine)]
    state, asks = after(replace(state, page=None), [Commanded(Command.RESET, 2.0)])
    assert asks[:2] == [errands.SwitchEngine(state.settings.engine), OpenWorld(MEADOW, 7, 2)]
    assert state.settings.engine.steps == 2


# ---- keys --------------------------------------------------------------------------------------------------------


def test_a_key_is_caught_and_bound() -> None:
    state, _ = after(on("app.keys.forward"), [MenuChosen(1.0)])
    assert state.focus is Focus.KEY
    state, _ = after(state, [KeyCaught("E", 1.1)])
    assert state.settings.app.keys.forward == ("E",)
    assert state.focus is Focus.MENU


def test_escape_leaves_the_key_and_delete_takes_it_away() -> None:
    state, _ = after(on("app.keys.prompt"), [MenuChosen(1.0), KeyCaught(None, 1.1)])
    assert state.settings.app.keys.prompt == ("T", "Enter")
    state, _ = after(state, [MenuMoved(1, 0, 1.2), MenuActed(MenuAct.CLEAR, 1.3)])
    assert state.settings.app.keys.prompt == ("T",)


def test_a_preset_is_a_step_away_and_one_hand_too() -> None:
    state, _ = after(on(PRESET), [MenuMoved(1, 0, 1.0)])
    assert state.settings.app.keys == PRESETS["left_handed"]
    state, _ = after(on(Deed.ONE_HAND), [MenuChosen(1.0)])
    assert state.settings.app.keys == PRESETS["mouse"]
    assert state.feel.cap_degrees_per_second == 120.0


def test_a_key_that_is_bound_anew_while_it_is_held_does_not_stick() -> None:
    state, _ = after(walking(), [ActionPressed("w", "key 26", 0.5), Commanded(Command.MENU, 0.6)])
    state, _ = after(on("app.keys.forward", state), [MenuChosen(1.0), KeyCaught("E", 1.1)])
    state, _ = after(replace(state, page=None, menu=None), [ActionReleased("key 26", 1.2), Ticked(1.3)])
    assert state.steering.held == state.steering.sent == ()


def test_reset_of_a_row_a_page_and_everything() -> None:
    state, _ = after(on("app.text_size"), [MenuMoved(1, 0, 1.0), MenuActed(MenuAct.CLEAR, 1.1)])
    assert state.settings == Settings()
    changed = settings.changed(Settings(), {"app.text_size": 1.5, "app.invert_y": True})
    page = SettingsPage(Tab.LOOK, options.rows(Tab.LOOK).index(Deed.RESET_TAB))
    state, _ = after(replace(state, settings=changed, page=page), [MenuChosen(1.0)])
    assert dict(state.settings.own) == {"app.invert_y": True}
    page = SettingsPage(Tab.LOOK, options.rows(Tab.LOOK).index(Deed.RESET_ALL))
    state, asks = after(replace(state, page=page), [MenuChosen(1.0), Ticked(2.0)])
    assert state.settings == Settings()
    assert asks == [errands.KeepSettings({})]


# ---- mouse -------------------------------------------------------------------------------------------------------


def middle(rect: options.Rect) -> tuple[int, int]:
    return rect.x + rect.width // 2, rect.y + rect.height // 2


def test_the_mouse_opens_a_page_steps_a_value_and_scrolls() -> None:
    state = replace(walking(), page=SettingsPage())
    state, _ = after(state, [MouseClicked(*middle(options.tab_rect(Tab.CONTROLS, ROOM)), 1.0)])
    assert state.page is not None
    assert state.page.tab is Tab.CONTROLS
    rect = options.row_rect(state.page, 1, ROOM)
    assert rect is not None
    state, _ = after(state, [MouseClicked(rect.x + rect.width - 8, rect.y + 8, 1.1)])
    assert state.settings.app.mouse_degrees_per_100_px == 13.0
    state, _ = after(state, [TabMoved(1, 1.2), Scrolled(-3)])
    assert state.page is not None
    assert (state.page.tab, state.page.first) == (Tab.KEYS, 3)


@pytest.mark.parametrize("size", [(1280, 720), (1920, 1080), (640, 400), (3840, 2160)])
@pytest.mark.parametrize("text_size", [0.8, 1.0, 2.0])
def test_every_row_can_be_reached_and_lies_in_the_window(size: tuple[int, int], text_size: float) -> None:
    room = Room(*size, text_size)
    for tab in Tab:
        page = SettingsPage(tab)
        for index in range(len(options.rows(tab))):
            page = options.choose(page, index, room)
            rect = options.row_rect(page, index, room)
            assert rect is not None
            assert rect.y + rect.height <= size[1]
            assert options.row_at(page, *middle(rect), room) == index


@pytest.mark.parametrize("behind", [None, WALK_MENU])
def test_trying_the_mouse_counts_degrees_turns_nothing_and_ends_with_escape(behind: Menu | None) -> None:
    state, _ = after(
        replace(on(Deed.TRY_LOOK), menu=behind),
        [MenuChosen(1.0), MouseMoved(0, 0, 9, 9, 1.01), MouseMoved(0, 0, 300, -50, 1.2)],
    )
    assert state.captured
    assert state.page is not None
    assert (state.page.tried_yaw, state.page.tried_pitch) == pytest.approx((36.0, 6.0))
    state, asks = after(state, [MenuMoved(1, 0, 1.3), MouseMoved(0, 0, 100, 0, 1.4), Ticked(1.5)])
    assert state.page is not None
    assert state.page.tried_yaw == pytest.approx(49.0), "the sensitivity changes meanwhile"
    assert not [ask for ask in asks if isinstance(ask, Steer)]
    state, _ = after(state, [Commanded(Command.BACK, 1.6)])
    assert not state.captured
    assert state.page is not None
    assert not state.page.trying


def test_focus_loss_ends_catching_and_trying() -> None:
    for row in (Deed.TRY_LOOK, "app.keys.forward"):
        state, _ = after(on(row), [MenuChosen(1.0), gestures.FocusLost(1.1)])
        assert state.focus is Focus.MENU
        assert not state.captured
