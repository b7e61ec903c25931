"""The page of all films and one that is watched, as values, and where their parts lie in the window.

Pure; ``film_hands`` has their rules, ``film_view`` draws them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from app.films import FilmCard, FilmFacts
from app.menu import Rect, Room
from app.prompt_box import PromptBox

MARGIN, GAP, TOP, FOOT = 64, 18, 118, 76
"""Lengths of the page's design, in its pixels at scale 1."""


@dataclass(frozen=True, slots=True)
class FilmPage:
    """A film that is watched. ``seconds``: where it is."""

    facts: FilmFacts
    seconds: float = 0.0
    playing: bool = True
    ended: bool = False
    asked: bool = False
    """The wheel was asked for; the film stands until the world is made."""


@dataclass(frozen=True, slots=True)
class FilmsPage:
    """All films of the folder. ``line``: the new name of the chosen one while it is typed."""

    films: tuple[FilmCard, ...] = ()
    listed: bool = False
    selected: int = 0
    first_row: int = 0
    asking: bool = False
    """Whether to delete the chosen one is asked."""
    line: PromptBox | None = None

    @property
    def card(self) -> FilmCard | None:
        return self.films[self.selected] if self.selected < len(self.films) else None


@dataclass(frozen=True, slots=True)
class FilmsLayout:
    columns: int
    rows_shown: int
    card_width: int
    picture_height: int
    card_height: int
    gap: int
    left: int
    top: int


def films_layout(room: Room) -> FilmsLayout:
    """Cards of four columns at the design's size; fewer where there is no room."""
    inner, gap = room.width - 2 * room.px(MARGIN), room.px(GAP)
    columns = max(1, min(5, (inner + gap) // (room.px(250) + gap)))
    card_width = max(1, (inner - (columns - 1) * gap) // columns)
    picture_height = card_width * 7 // 12
    card_height = picture_height + room.px(58)
    free = room.height - room.px(TOP) - room.px(FOOT)
    rows_shown = max(1, (free + gap) // (card_height + gap))
    return FilmsLayout(columns, rows_shown, card_width, picture_height, card_height, gap, room.px(MARGIN), room.px(TOP))


def film_rect(page: FilmsPage, index: int, room: Room) -> Rect | None:
    """Where a card lies; None while its row is not shown."""
    layout = films_layout(room)
    row, column = divmod(index, layout.columns)
    row -= page.first_row
    if not 0 <= row < layout.rows_shown:
        return None
    x = layout.left + column * (layout.card_width + layout.gap)
    return Rect(x, layout.top + row * (layout.card_height + layout.gap), layout.card_width, layout.card_height)


def film_at(page: FilmsPage, x: int, y: int, room: Room) -> int | None:
    for index in range(len(page.films)):
        rect = film_rect(page, index, room)
        if rect is not None and rect.contains(x, y):
            return index
    return None


def select(page: FilmsPage, index: int, room: Room) -> FilmsPage:
    """Choose a film and bring its row into view."""
    layout = films_layout(room)
    index = max(0, min(len(page.films) - 1, index))
    row = index // layout.columns
    first = max(row - layout.rows_shown + 1, min(page.first_row, row))
    return replace(page, selected=index, first_row=max(0, first))


def rows_below(page: FilmsPage, room: Room) -> int:
    layout = films_layout(room)
    return max(0, -(-len(page.films) // layout.columns) - layout.rows_shown - page.first_row)


def scroll(page: FilmsPage, rows: int, room: Room) -> FilmsPage:
    layout = films_layout(room)
    last = max(0, -(-len(page.films) // layout.columns) - layout.rows_shown)
    return replace(page, first_row=max(0, min(last, page.first_row + rows)))


def timeline_rect(room: Room) -> Rect:
    """The bar of a watched film on which a click chooses the moment."""
    return Rect(room.px(40), room.height - room.px(76), room.width - 2 * room.px(40), room.px(24))


def moment_at(page: FilmPage, x: int, room: Room) -> float:
    """The second of the film at a place of the timeline."""
    rect = timeline_rect(room)
    return page.facts.seconds * max(0.0, min(1.0, (x - rect.x) / max(1, rect.width)))


def clock_words(seconds: float) -> str:
    """As a clock tells it: 0:07, 12:34, 1:02:03."""
    whole = int(seconds)
    minutes = f"{whole // 60 % 60}:{whole % 60:02d}"
    return minutes if whole < 3600 else f"{whole // 3600}:{minutes:0>5}"
