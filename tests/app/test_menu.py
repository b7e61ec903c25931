from __future__ import annotations

from itertools import pairwise

import pytest

from app import menu
from app.menu import Gallery, Room

ROOM = Room(1280, 720)


@pytest.mark.parametrize("size", [(1280, 720), (1920, 1080), (640, 480), (3840, 2160), (320, 240)])
def test_every_card_can_be_reached_and_lies_in_the_window(size: tuple[int, int]) -> None:
    gallery = menu.select(Gallery(count=11), 0, Room(*size))
    for index in range(11):
        gallery = menu.select(gallery, index, Room(*size))
        rect = menu.card_rect(gallery, index, Room(*size))
        assert rect is not None
        assert rect.x >= 0
        assert rect.x + rect.width <= size[0]
        assert menu.card_at(gallery, rect.x + 1, rect.y + 1, Room(*size)) == index


@pytest.mark.parametrize("text_size", [1.0, 1.5, 2.0])
def test_cards_leave_the_foot_free_however_large_the_text(text_size: float) -> None:
    room = Room(1280, 720, text_size)
    rect = menu.card_rect(Gallery(count=11), 0, room)
    assert rect is not None
    assert rect.y + rect.height <= room.height - room.px(50)


@pytest.mark.parametrize("count", [1, 4, 8, 10])
def test_few_scenes_fit_without_scrolling(count: int) -> None:
    gallery = Gallery(count=count)
    assert all(menu.card_rect(gallery, index, ROOM) is not None for index in range(count))
    assert menu.rows_below(gallery, ROOM) == 0


def test_steps_stay_inside_the_gallery() -> None:
    gallery = Gallery(count=6)
    assert menu.step(gallery, -1, 0, ROOM).selected == 0
    below = menu.step(gallery, 0, 1, ROOM).selected
    assert below == menu.gallery_layout(6, ROOM).columns


def test_scrolling_stops_at_both_ends() -> None:
    gallery = Gallery(count=40)
    assert menu.scroll(gallery, -1, ROOM).first_row == 0
    assert menu.rows_below(gallery, ROOM) > 0
    end = menu.scroll(gallery, 99, ROOM)
    assert menu.rows_below(end, ROOM) == 0
    assert menu.card_rect(end, 39, ROOM) is not None


def test_menu_items_are_found_under_the_pointer_and_the_choice_goes_round() -> None:
    for index in range(len(menu.WALK_MENU.items)):
        rect = menu.menu_item_rect(menu.WALK_MENU, index, ROOM)
        assert menu.menu_item_at(menu.WALK_MENU, rect.x + 2, rect.y + 2, ROOM) == index
    assert menu.menu_item_at(menu.WALK_MENU, 0, 0, ROOM) is None
    assert menu.move(menu.WALK_MENU, -1).choice is menu.MenuItem.QUIT


@pytest.mark.parametrize("text", [0.8, 1.0, 1.5, 2.0])
@pytest.mark.parametrize(("width", "height"), [(480, 320), (1280, 720), (1920, 1080)])
def test_the_longest_menu_fits_into_every_window_and_its_items_lie_apart(width: int, height: int, text: float) -> None:
    room, longest = Room(width, height, text), menu.WALK_MENU
    panel = menu.menu_panel(longest, room)
    assert panel.y >= 0
    assert panel.y + panel.height <= height
    rects = [menu.menu_item_rect(longest, index, room) for index in range(len(longest.items))]
    assert all(above.y + above.height <= below.y for above, below in pairwise(rects))
    assert min(rect.height for rect in rects) >= 14
    assert rects[-1].y + rects[-1].height <= panel.y + panel.height
