"""Photo mode, by synthetic events."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from app import photo, photo_hands
from app.gestures import (
    ActionReleased,
    Command,
    Commanded,
    FocusLost,
    MenuAct,
    MenuActed,
    MenuChosen,
    MenuMoved,
    MouseClicked,
    MouseMoved,
    PadPressed,
    TabMoved,
)
from app.menu import MenuItem, Room
from app.messages import Ticked
from app.photo import SPACE, LookAtShow, Looked, Photo, SavePhoto
from app.rewind import RewindPressed
from app.values import AppState
from engine.config import EngineConfig
from engine.protocol import (
    Failed,
    MakeVariants,
    MomentsKept,
    NoVariants,
    Pause,
    Pixels,
    Retake,
    StopVariants,
    TakeVariant,
    VariantMade,
    WentBack,
)
from tests.app.walks import after, walking

PHOTO = Commanded(Command.PHOTO, 1.0)
ENTER, SPACE_DOWN, BACK = MenuChosen(2.0), MenuChosen(2.0, space=True), Commanded(Command.BACK, 3.0)
RIGHT = MenuMoved(1, 0, 2.0)


def picture(value: int) -> Pixels:
    return np.full((16, 32, 3), value, np.uint8)


LOOKED = Looked(picture(100), 6.5, 1.1)


def made(number: int, value: int = 110, session_id: int = 1, chunk: int = 6) -> VariantMade:
    return VariantMade(session_id, chunk, number, picture(value), 0.2)


def opened(*more: VariantMade) -> AppState:
    return after(walking(), [PHOTO, LOOKED, *more])[0]


def shown(state: AppState) -> Photo:
    assert state.photo is not None
    return state.photo


def test_the_key_stops_the_world_and_has_the_moment_on_show_made_in_other_ways() -> None:
    state, asks = after(walking(), [PHOTO])
    assert asks == [LookAtShow(), Pause(True)]
    state, asks = after(state, [LOOKED])
    seeds = tuple(Retake(seed=7 + 1 + 3 * 6 + i) for i in range(3))
    assert asks == [MakeVariants(1, 6.5, (*seeds, Retake(steps=4), Retake(steps=8)))]
    assert len(shown(state).shots) == 6
    assert shown(state).original is LOOKED.picture
    assert state.standing


def test_the_menu_leads_there_too() -> None:
    state, _ = after(walking(), [Commanded(Command.MENU, 1.0)])
    assert state.menu is not None
    place = state.menu.items.index(MenuItem.PHOTO)
    state, asks = after(replace(state, menu=replace(state.menu, selected=place)), [ENTER])
    assert (state.menu, asks) == (None, [LookAtShow()])
    assert state.photo is not None


@pytest.mark.parametrize("before", [Commanded(Command.PROMPT, 0.5), Commanded(Command.MENU, 0.5)])
def test_it_does_not_begin_while_something_else_is_open(before: Commanded) -> None:
    assert after(walking(), [before, PHOTO])[0].photo is None


def test_it_does_not_begin_while_time_goes_backwards() -> None:
    state, _ = after(walking(), [MomentsKept(1, (0, 2), 1000), RewindPressed("key 42", 0.5), PHOTO])
    assert state.photo is None


def test_without_a_picture_of_this_world_it_says_so_and_walks_on() -> None:
    state, asks = after(walking(), [PHOTO, Looked(None, 0.0, 1.1)])
    assert (state.photo, asks[-1]) == (None, Pause(False))
    assert state.toasts[-1].text == "There is no picture yet."


def test_pictures_fill_their_places_with_their_distance_from_the_original() -> None:
    state = opened(made(0, 151), made(1, 100))
    assert [shot.picture is not None for shot in shown(state).shots] == [True, True, True, False, False, False]
    assert [shot.differs for shot in shown(state).shots[:3]] == pytest.approx([0.0, 20.0, 0.0])
    assert shown(state).next_made == 3


@pytest.mark.parametrize("late", [made(0, session_id=2), made(0, chunk=5), made(7)])
def test_a_picture_of_another_world_moment_or_request_is_not_shown(late: VariantMade) -> None:
    state = opened()
    assert after(state, [late])[0].photo == state.photo or shown(after(state, [late])[0]).next_made == 1


def test_escape_goes_on_from_the_original_and_stops_the_work() -> None:
    for key in (BACK, PHOTO, Commanded(Command.MENU, 3.0)):
        state, asks = after(opened(made(0)), [RIGHT, key])
        assert (state.photo, asks) == (None, [StopVariants(1), Pause(False)])


def test_enter_goes_on_from_the_chosen_one_once_it_is_there() -> None:
    state, asks = after(opened(), [RIGHT, ENTER])
    assert asks == []  # it is not made yet
    state, asks = after(state, [made(0), ENTER])
    assert asks == [TakeVariant(1, Retake(seed=26))]
    assert state.standing  # until the engine is there
    assert after(state, [ENTER, BACK, RIGHT, SPACE_DOWN])[1] == []
    state, asks = after(state, [WentBack(1, 5, "fog")])
    assert (state.photo, asks) == (None, [Pause(False)])
    assert state.toasts[-1].text == "Went on from seed 26."


def test_enter_on_the_original_is_as_escape() -> None:
    state, asks = after(opened(made(0)), [ENTER])
    assert (state.photo, asks) == (None, [StopVariants(1), Pause(False)])


def test_a_world_that_stood_still_before_stands_still_after_escape_and_walks_on_from_a_choice() -> None:
    paused, _ = after(walking(), [Commanded(Command.PAUSE, 0.5), PHOTO, LOOKED, made(0)])
    assert after(paused, [BACK])[0].paused
    state, asks = after(paused, [RIGHT, ENTER, WentBack(1, 5, "fog")])
    assert (state.paused, asks[-1]) == (False, Pause(False))


def test_the_pointer_chooses_and_a_click_goes_on() -> None:
    state = opened(made(0))
    rect = photo.cell(shown(state), 1, state.room)
    state, _ = after(state, [MouseMoved(rect.x + 3, rect.y + 3, 1, 0, 2.0)])
    assert shown(state).selected == 1
    assert after(state, [MouseClicked(1, 1, 2.0)])[1] == []
    _, asks = after(state, [MouseClicked(rect.x + 3, rect.y + 3, 2.0)])
    assert asks == [TakeVariant(1, Retake(seed=26))]


@pytest.mark.parametrize("key", [Commanded(Command.SNAPSHOT, 2.0), MenuActed(MenuAct.PIN, 2.0)])
def test_the_chosen_picture_is_saved_with_how_it_was_made(key: Commanded | MenuActed) -> None:
    state = opened(made(0))
    assert after(state, [key])[1] == [SavePhoto(shown(state).shots[0].picture, 6, Retake())]  # type: ignore[arg-type]
    _, asks = after(state, [RIGHT, key])
    assert [type(ask) for ask in asks] == [SavePhoto]
    assert isinstance(asks[0], SavePhoto)
    assert (asks[0].chunk, asks[0].retake) == (6, Retake(seed=26))
    assert after(state, [RIGHT, RIGHT, key])[1] == []  # not made yet


def test_while_space_is_held_chosen_and_original_are_shown_in_turn() -> None:
    state, _ = after(opened(made(0)), [RIGHT, SPACE_DOWN])
    sides = []
    for now in (2.0, 2.5, 2.8, 3.5):
        state, _ = after(state, [Ticked(now)])
        compare = shown(state).compare
        assert compare is not None
        sides.append(compare.original)
    assert sides == [True, True, False, True]
    state, asks = after(state, [ActionReleased(SPACE, 3.6)])
    assert (shown(state).compare, asks) == (None, [])


def test_with_reduced_motion_each_press_shows_the_other_one() -> None:
    state = opened(made(0))
    app = replace(state.settings.app, reduced_motion=True)
    state, _ = after(replace(state, settings=replace(state.settings, app=app)), [RIGHT])
    sides = []
    for _ in range(3):
        state, _ = after(state, [SPACE_DOWN, Ticked(5.0)])
        compare = shown(state).compare
        assert compare is not None
        sides.append(compare.original)
        state, _ = after(state, [ActionReleased(SPACE, 6.0)])
    assert sides == [True, False, True]


def test_nothing_is_compared_with_what_is_not_made_and_a_lost_focus_ends_it() -> None:
    state, _ = after(opened(made(0)), [RIGHT, RIGHT, SPACE_DOWN])
    assert shown(state).compare is None
    state, _ = after(opened(made(0)), [RIGHT, SPACE_DOWN, FocusLost(2.2)])
    assert shown(state).compare is None


def test_a_gamepad_compares_with_one_press_and_ends_it_with_the_next() -> None:
    state, _ = after(opened(made(0)), [RIGHT, MenuActed(MenuAct.CLEAR, 2.0)])
    assert shown(state).compare is not None
    assert shown(after(state, [MenuActed(MenuAct.CLEAR, 2.0)])[0]).compare is None


def test_a_gamepads_direction_chooses_another_picture() -> None:
    state, _ = after(opened(made(0)), [Ticked(2.0), PadPressed("dpad_right", True, 2.1), Ticked(2.1)])
    assert shown(state).selected == 1


def test_the_next_page_has_other_seeds_and_the_same_original() -> None:
    state, asks = after(opened(made(0)), [TabMoved(1, 2.0)])
    assert isinstance(asks[0], MakeVariants)
    assert [way.seed for way in asks[0].variants] == [29, 30, 31, None, None]
    assert [shot.picture is not None for shot in shown(state).shots] == [True] + 5 * [False]
    _, asks = after(state, [TabMoved(-1, 2.0), TabMoved(-1, 2.0)])
    assert isinstance(asks[-1], MakeVariants)
    assert asks[-1].variants[0] == Retake(seed=26)


@pytest.mark.parametrize("why", ["elsewhere", "first", "no_moment", "memory", "gone"])
def test_where_it_cannot_be_one_sentence_says_why_and_the_world_goes_on(why: str) -> None:
    state, asks = after(opened(), [NoVariants(1, why)])
    assert (state.photo, asks) == (None, [Pause(False)])
    assert state.toasts[-1].bad
    assert state.toasts[-1].text == state.say(f"photo.not_{why}")
    assert after(opened(), [NoVariants(2, why)])[0].photo is not None


def test_other_keys_change_nothing_but_recording_and_the_whole_screen() -> None:
    state = opened(made(0))
    for command in (Command.PROMPT, Command.RESET, Command.PAUSE, Command.DETAILS):
        after_it, asks = after(state, [Commanded(command, 2.0)])
        assert (after_it.photo, asks) == (state.photo, [])
    assert after(state, [Commanded(Command.FULLSCREEN, 2.0)])[0].fullscreen


def test_a_failure_ends_it() -> None:
    assert after(opened(), [Failed("The engine's process ended.", "Press R.")])[0].photo is None


def test_a_large_model_takes_more_steps_than_its_own() -> None:
    ways = photo.variants(6, 7, EngineConfig(backend="lingbot"), 0)
    assert [way.steps for way in ways if way.steps] == [8, 16]
    assert [way.steps for way in photo.variants(6, 7, EngineConfig(steps=16), 0) if way.steps] == []


def test_seeds_stay_in_the_range_of_an_event() -> None:
    assert all(0 <= (way.seed or 0) <= 2**53 for way in photo.variants(9, 2**60, EngineConfig(), 3))


@pytest.mark.parametrize("room", [Room(1280, 720), Room(1920, 1080), Room(1280, 720, 2.0), Room(640, 480)])
def test_all_pictures_and_captions_lie_in_the_window(room: Room) -> None:
    grid = shown(opened())
    for place in range(6):
        rect = photo.cell(grid, place, room)
        assert rect.x >= 0
        assert rect.x + rect.width <= room.width
        assert rect.y + rect.height + room.px(photo.CAPTION) <= room.height - room.px(40)
        assert photo.cell_at(grid, rect.x + 1, rect.y + 1, room) == place


def test_a_way_is_called_by_its_seed_or_its_steps() -> None:
    names = [photo_hands.name_of(walking(), way) for way in (Retake(), Retake(seed=3), Retake(steps=8))]
    assert names == ["original", "seed 3", "8 steps"]
