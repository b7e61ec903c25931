from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pygame
import pytest

from app import menu, messages
from app.crop import CropPage
from app.facts import RecordingStatus, Screen, Toast
from app.line_page import Choice, Kind, LinePage, Purpose, of_words
from app.menu import Gallery
from app.options import SettingsPage, Tab
from app.prompt_box import PromptBox
from app.remembered import ModelLine, Remembered
from app.values import AppState
from app.view import View, fitted
from engine.protocol import Failed, Loading
from tests.app.walks import MEADOW, SCENES, walking

GREY = np.full((16, 32, 3), 90, np.uint8)


@pytest.fixture
def surface() -> Iterator[pygame.Surface]:
    pygame.display.init()
    pygame.font.init()
    yield pygame.display.set_mode((640, 400))
    pygame.display.quit()


LONG = "x" * 1990
CHOICES = (
    Choice(Kind.BROWSE),
    Choice(Kind.UP),
    Choice(Kind.FOLDER, "b"),
    *(Choice(Kind.FILE, f"{i}") for i in range(9)),
)
PATHS = LinePage(Purpose.PATH, PromptBox("/a/", 3, 3), CHOICES, selected=2, folder="/a/")
STATES = {
    "starting": AppState(),
    "loading": AppState(screen=Screen.LOADING, scene=MEADOW, loading=Loading("Reading the model", 0.4)),
    "loading, nobody knows how far": AppState(screen=Screen.LOADING, loading=Loading("Reading the model")),
    "gallery": AppState(screen=Screen.SCENES, scenes=SCENES, gallery=Gallery(count=len(SCENES))),
    "gallery without scenes": AppState(screen=Screen.SCENES),
    "walk": walking(),
    "details": replace(walking(), details=True, pace=messages.LoopMeasured(16.6, 17.0, 1, 0, 0)),
    "menu": replace(walking(), menu=menu.WALK_MENU),
    "gallery, words": AppState(screen=Screen.SCENES, scenes=SCENES, gallery=Gallery(8, 6)),
    "gallery, a picture of one's own": AppState(screen=Screen.SCENES, scenes=SCENES, gallery=Gallery(8, 7)),
    "gallery, by gamepad": AppState(screen=Screen.SCENES, scenes=SCENES, gallery=Gallery(8, 2), by_pad=True),
    "a path is typed": AppState(screen=Screen.SCENES, scenes=SCENES, line_page=PATHS),
    "a path without a dialog": AppState(screen=Screen.SCENES, line_page=replace(PATHS, dialog=False, selected=9)),
    "words are typed": AppState(screen=Screen.SCENES, line_page=of_words(("dusk", LONG)), by_pad=True),
    "a picture": replace(walking(), crop=CropPage("a.png", np.full((60, 90, 3), 90, np.uint8), (24, 14), "dusk")),
    "a picture's prompt": replace(walking(), crop=CropPage("a", GREY, (24, 14), "dusk", 0.4, PromptBox("x"))),
    "models": replace(walking(), picker=1, models=(ModelLine("bundled", None, "small", (LONG, "b", "c")),) * 6),
    "first keys": replace(walking(), remembered=Remembered()),
    "inputs": replace(walking(), inputs=True, accepted=("w",), applied=("w", "l")),
    **{f"settings, {tab}": replace(walking(), page=SettingsPage(tab, selected=3)) for tab in Tab},
    "a key is waited for": replace(walking(), page=SettingsPage(Tab.KEYS, selected=3, catching=True)),
    "a value is typed": replace(walking(), page=SettingsPage(Tab.WORLD, selected=1, line=PromptBox("12", 2, 0))),
    "a value is wrong": replace(walking(), page=SettingsPage(Tab.WORLD, 1, line=PromptBox("x"), problem="a number")),
    "the mouse is tried": replace(walking(), page=SettingsPage(Tab.CONTROLS, trying=True, tried_yaw=87.0)),
    "help": replace(walking(), help=True),
    "paused": replace(walking(), paused=True),
    "recording": replace(walking(), recording=RecordingStatus("a.mp4", frames=1200, dropped=3)),
    "typing": replace(walking(), prompt_box=PromptBox()),
    "typing much": replace(walking(), prompt_box=PromptBox(text=LONG, caret=1990, anchor=1500)),
    "composing": replace(walking(), prompt_box=PromptBox("雪 and", 1, 1, composition="shan", composition_caret=4)),
    "toasts": replace(walking(), toasts=(Toast("Saved.", False, 0.0), Toast(f"{LONG} 雪 é 👩‍🚀", True, 0.0))),
    "lost": replace(walking(), failure=Failed("The engine's process ended. " * 9, "Press R.", engine_lost=True)),
    "failed while loading": AppState(screen=Screen.LOADING, scene=MEADOW, failure=Failed("No weights.", "Fetch them.")),
}


@pytest.mark.parametrize("name", STATES)
def test_every_screen_is_drawn_and_drawn_again_only_when_it_changes(name: str, surface: pygame.Surface) -> None:
    view, state = View(), STATES[name]
    for size in ((640, 400), (320, 240), (1280, 720)):
        canvas = pygame.Surface(size)
        state = replace(state, width=size[0], height=size[1])
        assert view.draw(canvas, state, GREY, 0.2)
        assert not view.draw(canvas, state, GREY, 0.2)
        colours = {tuple(canvas.get_at((x, y))) for x in range(0, size[0], 3) for y in range(0, size[1], 3)}
        assert len(colours) > 3, "something is to be seen"


def test_another_frame_is_drawn(surface: pygame.Surface) -> None:
    view, state = View(), walking()
    view.draw(surface, state, GREY, 60.0)
    assert view.draw(surface, state, np.full((16, 32, 3), 200, np.uint8), 60.0)
    assert surface.get_at((320, 200)) == pygame.Color(200, 200, 200)


def test_the_hud_fades_when_nothing_is_done_and_then_costs_nothing(surface: pygame.Surface) -> None:
    view, state = View(), walking(now=0.0)
    view.draw(surface, state, GREY, 60.0)
    corner = pygame.Rect(0, 340, 640, 20)
    shades = {tuple(surface.get_at((x, y))) for x in range(corner.w) for y in range(corner.y, corner.bottom)}
    assert shades == {(90, 90, 90, 255)}, "only the picture is left"
    assert not view.draw(surface, state, GREY, 90.0)


def test_the_caret_is_told_to_the_input_method(surface: pygame.Surface) -> None:
    view = View()
    width, height = surface.get_size()
    view.draw(surface, replace(STATES["typing much"], width=width, height=height), GREY, 0.0)
    assert view.caret is not None
    assert surface.get_rect().contains(view.caret)
    view.draw(surface, walking(), GREY, 0.0)
    assert view.caret is None


@pytest.mark.parametrize(
    ("room", "rect"),
    [
        ((640, 400), (0, 40, 640, 320)),
        ((640, 200), (120, 0, 400, 200)),
        ((320, 160), (0, 0, 320, 160)),
        ((1, 1), (0, 0, 1, 1)),
    ],
)
def test_the_picture_keeps_its_shape_in_any_window(room: tuple[int, int], rect: tuple[int, int, int, int]) -> None:
    assert fitted(32, 16, *room) == pygame.Rect(rect)


@pytest.mark.parametrize("page", [False, True])
def test_a_toast_lies_over_the_middle_of_a_walk_and_beside_the_heading_of_a_page(
    surface: pygame.Surface, page: bool
) -> None:
    width, height = surface.get_size()
    toast = Toast("Saved.", True, 0.0)
    state = replace(walking(), width=width, height=height, help=page)
    drawn = []
    for toasts in ((), (toast,)):
        View().draw(surface, replace(state, toasts=toasts), GREY, 0.0)
        drawn.append(pygame.surfarray.array3d(surface).astype(int))
    changed = np.abs(drawn[1] - drawn[0]).sum((1, 2)).nonzero()[0]
    assert changed.size
    assert (changed.mean() > 0.75 * width) == page
