"""Photo mode is drawn in any window, and drawn again only when it would look different."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pygame
import pytest

from app.photo import Compare, Photo, Shot
from app.values import AppState
from app.view import View
from engine.protocol import Retake
from tests.app.walks import walking


@pytest.fixture(scope="module", autouse=True)
def display() -> Iterator[None]:
    pygame.init()
    pygame.display.set_mode((64, 64))
    yield
    pygame.quit()


FRAME = np.full((16, 32, 3), 140, np.uint8)
GRID = Photo(
    position=6.5,
    shots=(
        Shot(Retake(), FRAME),
        Shot(Retake(seed=8), FRAME // 2, 27.4),
        Shot(Retake(seed=9), FRAME.copy()),
        Shot(Retake(seed=10)),
        Shot(Retake(steps=4)),
        Shot(Retake(steps=8)),
    ),
    selected=1,
)
LOOKS = {
    "grid": GRID,
    "on the way": replace(GRID, taken=True),
    "the original": replace(GRID, compare=Compare(0.0)),
    "the chosen one": replace(GRID, compare=Compare(0.0, original=False)),
    "nothing yet": Photo(),
}


def state_of(shown: Photo, size: tuple[int, int], text_size: float = 1.0) -> AppState:
    state = replace(walking(), photo=shown, width=size[0], height=size[1])
    app = replace(state.settings.app, text_size=text_size)
    return replace(state, settings=replace(state.settings, app=app))


@pytest.mark.parametrize("name", LOOKS)
@pytest.mark.parametrize("size", [(1280, 720), (640, 400), (320, 240)])
def test_it_is_drawn_once_for_each_look(name: str, size: tuple[int, int]) -> None:
    view, canvas = View(), pygame.Surface(size)
    for text_size in (1.0, 2.0):
        state = state_of(LOOKS[name], size, text_size)
        assert view.draw(canvas, state, FRAME, 0.2)
        assert not view.draw(canvas, state, FRAME, 0.2)


def test_each_side_of_a_comparison_shows_its_own_picture() -> None:
    view, canvas, seen = View(), pygame.Surface((640, 400)), []
    for original in (True, False):
        view.draw(canvas, state_of(replace(GRID, compare=Compare(0.0, original)), (640, 400)), FRAME, 0.2)
        seen.append(canvas.get_at((320, 200))[:3])
    assert seen == [(140, 140, 140), (70, 70, 70)]


def test_a_picture_that_came_is_drawn_in_its_place() -> None:
    view, canvas = View(), pygame.Surface((1280, 720))
    waiting = state_of(replace(GRID, shots=(*GRID.shots[:1], Shot(Retake(seed=8)), *GRID.shots[2:])), (1280, 720))
    view.draw(canvas, waiting, FRAME, 0.2)
    before = canvas.get_at((640, 180))[:3]
    assert view.draw(canvas, state_of(GRID, (1280, 720)), FRAME, 0.2)
    assert (before != (70, 70, 70), canvas.get_at((640, 180))[:3]) == (True, (70, 70, 70))
