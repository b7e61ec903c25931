"""Films in the window: the page of all, one that is watched, the wheel; by synthetic messages."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pygame
import pytest

from app import errands, film_pages, films, keymap
from app.bindings import Bindings
from app.facts import Screen
from app.film_pages import FilmPage, FilmsPage
from app.films import FilmCard, FilmFacts, FilmMoved, FilmOpened, FilmsListed, Rewalking, WheelReady, WheelRefused
from app.gestures import (
    Command,
    Commanded,
    Edit,
    Edited,
    FileDropped,
    Focus,
    MenuAct,
    MenuActed,
    MenuChosen,
    MenuMoved,
    MouseClicked,
    MouseMoved,
    Scrolled,
    TextTyped,
)
from app.menu import MenuItem, Room
from app.messages import Message, Told
from app.prompt_box import PromptBox
from app.settings import AppSettings, Settings
from app.values import AppState
from app.view import View
from engine.config import EngineConfig
from engine.protocol import OpenWorld, Pause
from tests.app.stripes import Stage, post, tap
from tests.app.test_session_box import film
from tests.app.walks import MEADOW, after, walking

ROOM = Room(1280, 720)
FACTS = FilmFacts("/films/walk.mp4", 192, 112, 16.0, 20.0, walks=True)
CARDS = tuple(
    FilmCard(replace(FACTS, path=f"/films/{name}.mp4"), "2026-01-31 18:05", 10**6) for name in ("a", "b", "c")
)
EVENT = {"input_types": ["prompt"], "prompt": "snow"}
AGAIN = Rewalking(MEADOW, 9, 12, ((3, EVENT),), "stripes", "0" * 64, None)


def watching(facts: FilmFacts = FACTS, at: float = 0.0) -> AppState:
    state, _ = after(walking(), [FileDropped(facts.path, 1.0), FilmOpened(facts, 1.1), FilmMoved(at, ended=False)])
    return state


def listed() -> AppState:
    state, asked = after(walking(), [Commanded(Command.MENU, 1.0)])
    assert state.menu is not None
    place = state.menu.items.index(MenuItem.FILMS)
    state, asked = after(state, [*(MenuMoved(0, 1, 1.0) for _ in range(place)), MenuChosen(1.0)])
    assert films.ListFilms() in asked
    return after(state, [FilmsListed(CARDS, done=True)])[0]


def chosen(state: AppState) -> str:
    assert state.films is not None
    assert state.films.card is not None
    return state.films.card.facts.title


def test_a_film_that_is_dropped_is_opened_and_the_world_stands_still() -> None:
    state, asked = after(walking(), [FileDropped("/films/Ein Gang.MP4", 1.0)])
    assert asked == [films.OpenFilm("/films/Ein Gang.MP4"), Pause(True)]
    assert state.focus is Focus.MENU
    state, asked = after(watching(), [Commanded(Command.BACK, 2.0)])
    assert asked == [films.CloseFilm(), Pause(False)]
    assert state.film is None


def test_a_picture_that_is_dropped_is_no_film() -> None:
    state, asked = after(walking(), [FileDropped("/pictures/lake.png", 1.0)])
    assert state.film is None
    assert asked == [errands.ReadPicture("/pictures/lake.png")]


def test_what_cannot_be_opened_is_told_and_closed() -> None:
    state, _ = after(walking(), [FileDropped("/films/no.mp4", 1.0), Told("no film that can be shown", 1.2, bad=True)])
    assert state.film is None


def test_a_film_that_was_closed_while_it_was_opened_stays_closed() -> None:
    state, _ = after(walking(), [FileDropped(FACTS.path, 1.0), Commanded(Command.BACK, 1.1)])
    state, asked = after(state, [FilmOpened(FACTS, 1.2)])
    assert (state.film, asked) == (None, [films.CloseFilm()])


def test_space_stops_and_goes_on_and_begins_anew_at_the_end() -> None:
    state, asked = after(watching(), [MenuChosen(2.0, space=True), MenuChosen(3.0, space=True)])
    assert asked == [films.PlayFilm(False), films.PlayFilm(True)]
    state, asked = after(state, [FilmMoved(20.0, ended=True), MenuChosen(4.0, space=True)])
    assert asked == [films.SeekFilm(0.0), films.PlayFilm(True)]
    assert state.film is not None
    assert state.film.seconds == 0.0


@pytest.mark.parametrize(
    ("message", "seconds"),
    [
        (MenuMoved(1, 0, 2.0), 15.0),
        (MenuMoved(-1, 0, 2.0), 5.0),
        (MenuMoved(0, -1, 2.0), 20.0),
        (MenuMoved(0, 1, 2.0), 0.0),
        (Scrolled(-1), 5.0),
    ],
)
def test_keys_and_wheel_move_within_the_film(message: Message, seconds: float) -> None:
    state, asked = after(watching(at=10.0), [message])
    assert asked == [films.SeekFilm(seconds)]
    assert state.film is not None
    assert state.film.seconds == seconds


def test_a_click_on_the_line_of_time_goes_there_and_elsewhere_stops() -> None:
    rect = film_pages.timeline_rect(ROOM)
    _, asked = after(watching(), [MouseClicked(rect.x + rect.width // 4, rect.y + 4, 2.0)])
    assert asked == [films.SeekFilm(pytest.approx(5.0, abs=0.02))]
    assert after(watching(), [MouseClicked(400, 200, 2.0)])[1] == [films.PlayFilm(False)]


def test_the_wheel_is_taken_at_the_moment_on_show() -> None:
    state, asked = after(watching(at=7.25), [MenuChosen(2.0)])
    assert asked == [films.PlayFilm(False), films.TakeWheel(FACTS.path, 7.25, 16.0)]
    state, asked = after(state, [MenuChosen(2.1), WheelReady(AGAIN, 2.2)])
    assert (state.film, state.films, state.screen, state.seed) == (None, None, Screen.LOADING, 9)
    opened = OpenWorld(MEADOW, 9, state.session_id, 12, ((3, EVENT),), "0" * 64)
    assert asked[:2] == [films.CloseFilm(), opened]


def test_a_film_of_another_engine_switches_to_it_and_the_next_world_switches_back() -> None:
    other = EngineConfig(backend="test_card")
    state, _ = after(watching(), [MenuChosen(2.0)])
    _, asked = after(state, [WheelReady(replace(AGAIN, engine=other), 2.2)])
    assert errands.SwitchEngine(other) in asked
    assert [type(ask) for ask in asked].index(errands.SwitchEngine) < [type(ask) for ask in asked].index(OpenWorld)


def test_a_film_without_its_walk_can_only_be_watched() -> None:
    state, asked = after(watching(replace(FACTS, walks=False)), [MenuChosen(2.0)])
    assert asked == []
    assert "carries no walk" in state.toasts[-1].text


def test_a_wheel_that_cannot_be_taken_is_one_sentence_and_the_film_stays() -> None:
    state, _ = after(watching(), [MenuChosen(2.0), WheelRefused("carries a walk that is damaged.", 2.5)])
    assert state.film is not None
    assert not state.film.asked
    assert (state.toasts[-1].text, state.toasts[-1].bad) == ("carries a walk that is damaged.", True)
    assert after(state, [MenuChosen(3.0, space=True)])[1] == [films.PlayFilm(True)]


def test_a_wheel_that_nobody_waits_for_any_more_is_not_taken() -> None:
    state, asked = after(watching(), [MenuChosen(2.0), Commanded(Command.BACK, 2.1), WheelReady(AGAIN, 2.2)])
    assert state.world is not None
    assert not [ask for ask in asked if isinstance(ask, OpenWorld)]


def test_films_are_chosen_by_keys_and_mouse_and_watched() -> None:
    state, asked = after(listed(), [MenuMoved(1, 0, 2.0), MenuMoved(1, 0, 2.1), MenuMoved(1, 0, 2.2), MenuChosen(3.0)])
    assert (chosen(state), asked) == ("c", [films.OpenFilm("/films/c.mp4")])
    rect = film_pages.film_rect(FilmsPage(CARDS), 1, ROOM)
    assert rect is not None
    at = rect.x + 5, rect.y + 5
    state, asked = after(listed(), [MouseMoved(*at, 0, 0, 2.0), MouseClicked(*at, 2.1)])
    assert (chosen(state), asked) == ("b", [films.OpenFilm("/films/b.mp4")])
    state, _ = after(state, [Commanded(Command.BACK, 3.0)])
    assert (state.film, chosen(state)) == (None, "b")
    assert after(state, [Commanded(Command.BACK, 3.0)])[0].films is None


def test_deleting_asks_once() -> None:
    state, asked = after(listed(), [MenuActed(MenuAct.CLEAR, 2.0)])
    assert state.films is not None
    assert (state.films.asking, asked) == (True, [])
    assert after(state, [MenuChosen(2.5)])[1] == [films.DeleteFilm("/films/a.mp4")]
    for no in (
        Commanded(Command.BACK, 2.5),
        MenuChosen(2.5, space=True),
        MenuMoved(1, 0, 2.5),
        MouseClicked(3, 3, 2.5),
    ):
        calm, asked = after(state, [no])
        assert calm.films is not None
        assert (calm.films.asking, asked, chosen(calm)) == (False, [], "a")


def test_a_film_gets_another_name_and_stays_chosen() -> None:
    state, _ = after(listed(), [MenuMoved(1, 0, 2.0), MenuActed(MenuAct.RENAME, 2.1)])
    assert state.focus is Focus.TEXT
    keys = [Edited(Edit.ALL, 2.2), TextTyped("snow", 2.3), Edited(Edit.APPLY, 2.4)]
    state, asked = after(state, keys)
    assert asked == [films.RenameFilm("/films/b.mp4", "snow")]
    assert state.focus is Focus.MENU
    state, _ = after(state, [FilmsListed((CARDS[2], CARDS[1], CARDS[0]), done=True)])
    assert chosen(state) == "b"
    state, _ = after(state, [FilmsListed((), done=True)])
    assert state.films is not None
    assert state.films.card is None
    assert after(state, [MenuChosen(3.0), MenuActed(MenuAct.CLEAR, 3.0), MenuActed(MenuAct.RENAME, 3.0)])[1] == []


def test_a_name_is_not_given_up_halfway() -> None:
    keys = [MenuActed(MenuAct.RENAME, 2.1), TextTyped("x", 2.2), Edited(Edit.CANCEL, 2.3)]
    state, asked = after(listed(), keys)
    assert (asked, state.focus) == ([], Focus.MENU)


def test_many_films_scroll_and_the_chosen_one_is_in_view() -> None:
    many = tuple(replace(CARDS[0], facts=replace(FACTS, path=f"/f/{n}.mp4")) for n in range(40))
    page = film_pages.select(FilmsPage(many, listed=True), 39, ROOM)
    assert film_pages.film_rect(page, 39, ROOM) is not None
    assert film_pages.film_rect(page, 0, ROOM) is None
    assert film_pages.rows_below(page, ROOM) == 0
    assert film_pages.scroll(page, -99, ROOM).first_row == 0


@pytest.mark.parametrize(
    ("width", "height", "text"), [(1280, 720, 1.0), (1920, 1080, 1.0), (1280, 720, 2.0), (480, 320, 1.0)]
)
def test_cards_lie_in_the_window_and_apart(width: int, height: int, text: float) -> None:
    room = Room(width, height, text)
    rects = [film_pages.film_rect(FilmsPage(CARDS * 9), index, room) for index in range(27)]
    seen = [pygame.Rect(r.x, r.y, r.width, r.height) for r in rects if r is not None]
    assert seen
    assert all(rect.left >= 0 and rect.right <= width for rect in seen)
    assert not [1 for n, one in enumerate(seen) if one.collidelist(seen[n + 1 :]) >= 0]


def test_the_last_half_minute_is_kept_on_one_key_wherever_a_world_is_open() -> None:
    event = pygame.event.Event(pygame.KEYDOWN, key=pygame.K_F10, mod=0, unicode="", scancode=pygame.KSCAN_F10)
    message = keymap.translate(event, Focus.WALK, 2.0, Bindings())
    assert message == Commanded(Command.CLIP, 2.0)
    assert after(walking(), [Commanded(Command.CLIP, 2.0)])[1] == [films.SaveClip()]
    assert after(AppState(), [Commanded(Command.CLIP, 2.0)])[1] == []


def test_clocks_are_told_as_people_tell_them() -> None:
    assert [film_pages.clock_words(s) for s in (0.0, 7.9, 754.0, 3723.0, 36000.0)] == [
        *("0:00", "0:07", "12:34", "1:02:03", "10:00:00")
    ]


def test_a_film_page_tells_moments_by_its_width() -> None:
    rect = film_pages.timeline_rect(ROOM)
    page = FilmPage(FACTS)
    ends = [film_pages.moment_at(page, x, ROOM) for x in (-5, rect.x, rect.x + rect.width, 9999)]
    assert ends == [0.0, 0.0, 20.0, 20.0]


def test_a_film_dropped_on_the_window_plays_in_it_and_the_walk_goes_on_from_it(tmp_path: Path) -> None:
    path = film(tmp_path)
    stage = Stage(tmp_path)
    seen: list[tuple[FilmPage | None, int]] = []

    def look() -> None:
        time.sleep(0.4)  # the film is read on another thread, for which the stage's clock does not count
        shown = stage.app.state.film
        seen.append((shown, len(stage.engine.made)))

    drop = partial(post, pygame.DROPFILE, file=str(path))
    hands = [(0.5, drop), (0.7, look), (0.9, look), (1.2, look), (1.3, tap(pygame.K_ESCAPE)), (1.4, look)]
    assert stage.play(hands, 2.5) == 0
    opened, playing, closed = seen[1][0], seen[2][0], seen[3][0]
    assert opened is not None
    assert opened.facts.walks
    assert playing is not None
    assert playing.seconds > 0.0
    assert closed is None
    assert seen[1][1] == seen[2][1] < len(stage.engine.made)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("text", [1.0, 2.0])
def test_every_page_of_films_is_drawn_in_every_language(language: str, text: float) -> None:
    pygame.init()
    surface = pygame.display.set_mode((960, 600))
    settings = replace(Settings(), app=replace(AppSettings(), language=language, text_size=text))
    page = FilmsPage((replace(CARDS[0], picture=np.zeros((60, 80, 3), np.uint8)), *CARDS[1:]), listed=True)
    base = replace(AppState(settings=settings), width=960, height=600, screen=Screen.SCENES)
    film_page = FilmPage(FACTS, seconds=4.0, asked=True)
    states = [
        replace(base, films=page),
        replace(base, films=replace(page, asking=True)),
        replace(base, films=replace(page, line=PromptBox(text="snow", caret=4))),
        replace(base, films=FilmsPage(listed=True)),
        replace(base, film=film_page),
        replace(base, film=replace(film_page, ended=True)),
    ]
    view, frame, seen = View(), np.full((16, 32, 3), 90, np.uint8), set()
    for state in states:
        assert view.draw(surface, state, frame, 1.0)
        seen.add(pygame.image.tobytes(surface, "RGB"))
    assert len(seen) == len(states)
    pygame.quit()
