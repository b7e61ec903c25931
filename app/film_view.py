"""Films on screen: the page of all, and what lies over one that is watched. Pictures, no decisions."""

from __future__ import annotations

import pygame

from app import film_pages, hints, hud
from app.film_pages import FilmPage, FilmsPage
from app.films import FilmCard
from app.pages import Prints, darken
from app.theme import (
    BACKGROUND,
    LINE,
    PANEL,
    QUIET,
    TEXT,
    Colour,
    Hints,
    Panel,
    Role,
    Theme,
    faded,
    hint_line,
)
from app.values import AppState


def draw_films(
    surface: pygame.Surface, theme: Theme, prints: Prints, state: AppState, now: float
) -> pygame.Rect | None:
    """The page of films. Returns the caret's place while a name is typed."""
    page, room = state.films, state.room
    assert page is not None
    width, height = surface.get_size()
    surface.fill(BACKGROUND)
    left = theme.px(film_pages.MARGIN)
    surface.blit(theme.text(theme.say("films.title"), Role.TITLE), (left, theme.px(26)))
    words = theme.say("films.subtitle")
    if page.listed and not page.films:
        words = theme.say("films.none", record=hints.key_of(state, "record"), clip=hints.key_of(state, "clip"))
    words = theme.shortened(words, Role.BODY, width - 2 * left)
    surface.blit(theme.text(words, Role.BODY, QUIET), (left, theme.px(78)))
    for index, card in enumerate(page.films):
        rect = film_pages.film_rect(page, index, room)
        if rect is not None:
            box = pygame.Rect(rect.x, rect.y, rect.width, rect.height)
            _draw_card(surface, theme, prints, card, box, chosen=index == page.selected)
    if film_pages.rows_below(page, room):
        more = theme.text(theme.say("gallery.more"), Role.SMALL, theme.accent)
        surface.blit(more, (width - left - more.get_width(), theme.px(50)))
    surface.blit(hint_line(theme, hints.films(state)), (left, height - theme.px(42)))
    if page.asking and page.card is not None:
        _draw_question(surface, theme, page.card, hints.question(state))
    return None if page.line is None else _draw_name(surface, theme, state, page, now)


def _draw_card(
    surface: pygame.Surface, theme: Theme, prints: Prints, card: FilmCard, rect: pygame.Rect, *, chosen: bool
) -> None:
    look = Panel(rect.width, rect.height, theme.px(14), PANEL, 235 if chosen else 170, theme.accent if chosen else LINE)
    surface.blit(theme.panel(look), rect)
    inset = theme.px(6)
    width, height = rect.width - 2 * inset, (rect.width * 7 // 12) - inset
    picture = None if card.picture is None else prints.scaled(card.picture, width, height, theme.px(10))
    at = (rect.x + inset, rect.y + inset)
    if picture is None:
        picture = theme.panel(Panel(width, height, theme.px(10), (26, 30, 39), 255))
    surface.blit(picture, at)
    pad, foot = theme.px(12), at[1] + height - theme.px(6)
    if card.facts.walks:
        _draw_chip(surface, theme, theme.say("films.walks"), theme.accent, left=at[0] + theme.px(6), bottom=foot)
    length = film_pages.clock_words(card.facts.seconds)
    left = at[0] + width - theme.px(22) - theme.width(length, Role.SMALL_STRONG)
    _draw_chip(surface, theme, length, TEXT, left=left, bottom=foot)
    y = at[1] + height + theme.px(6)
    title = theme.shortened(card.facts.title, Role.SMALL_STRONG, rect.width - 2 * pad)
    surface.blit(theme.text(title, Role.SMALL_STRONG, theme.accent if chosen else TEXT), (rect.x + pad, y))
    told = theme.spoken(card.problem or "") or f"{card.made_at}  ·  {max(0.1, card.byte_count / 1e6):.1f} MB"
    colour = theme.bad if card.problem else QUIET
    line = theme.shortened(told, Role.SMALL, rect.width - 2 * pad)
    surface.blit(theme.text(line, Role.SMALL, colour), (rect.x + pad, y + theme.line_height(Role.SMALL_STRONG)))


def _draw_chip(surface: pygame.Surface, theme: Theme, text: str, colour: Colour, *, left: int, bottom: int) -> None:
    words = theme.text(text, Role.SMALL_STRONG, colour)
    chip = theme.panel(Panel(words.get_width() + theme.px(16), theme.px(24), theme.px(8), alpha=205))
    top = bottom - chip.get_height()
    surface.blit(chip, (left, top))
    surface.blit(words, (left + theme.px(8), top + (chip.get_height() - words.get_height()) // 2))


def _draw_question(surface: pygame.Surface, theme: Theme, card: FilmCard, keys: Hints) -> None:
    width, height = surface.get_size()
    darken(surface, 120)
    room = min(theme.px(620), width - theme.px(64))
    pad = theme.px(28)
    question = theme.wrapped(theme.say("films.delete", name=card.facts.title), Role.HEADING, room - 2 * pad)[:3]
    step = theme.line_height(Role.HEADING)
    panel = Panel(room, 2 * pad + step * len(question) + theme.px(44), theme.px(18), alpha=246, line=theme.bad)
    x, y = (width - panel.width) // 2, (height - panel.height) // 2
    surface.blit(theme.panel(panel), (x, y))
    for index, line in enumerate(question):
        surface.blit(theme.text(line, Role.HEADING), (x + pad, y + pad + index * step))
    surface.blit(hint_line(theme, keys), (x + pad, y + panel.height - pad - theme.px(18)))


def _draw_name(surface: pygame.Surface, theme: Theme, state: AppState, page: FilmsPage, now: float) -> pygame.Rect:
    assert page.line is not None
    width, height = surface.get_size()
    darken(surface, 150)
    panel = Panel(min(theme.px(760), width - theme.px(64)), theme.px(150), theme.px(18), alpha=246, line=LINE)
    x, y = (width - panel.width) // 2, (height - panel.height) // 2
    surface.blit(theme.panel(panel), (x, y))
    pad = theme.px(26)
    surface.blit(theme.text(theme.say("films.rename"), Role.STRONG), (x + pad, y + theme.px(20)))
    inner = pygame.Rect(x + pad, y + theme.px(52), panel.width - 2 * pad, theme.px(44))
    surface.blit(theme.panel(Panel(inner.width, inner.height, theme.px(10), (8, 10, 14), 255, theme.accent)), inner)
    surface.blit(hint_line(theme, hints.naming(state)), (x + pad, y + theme.px(112)))
    return hud.draw_line(surface, theme, state, page.line, inner.inflate(-theme.px(24), -theme.px(8)), now=now)


def draw_film(surface: pygame.Surface, theme: Theme, state: AppState, page: FilmPage, now: float) -> None:
    """Over the picture of a film: its name, the line of time, and what the keys do."""
    shown = 1.0 if not page.playing or page.ended else hud.presence(state, now)
    if shown <= 0.0:
        return
    width, height = surface.get_size()
    foot = pygame.Surface((width, theme.px(140)), pygame.SRCALPHA)
    for row in range(foot.get_height()):
        deep = row / foot.get_height()
        foot.fill((0, 0, 0, round(235 * shown * deep * (2.0 - deep))), (0, row, width, 1))
    surface.blit(foot, (0, height - foot.get_height()))
    title = theme.text(theme.shortened(page.facts.title, Role.STRONG, width - theme.px(120)), Role.STRONG)
    chip = theme.panel(Panel(title.get_width() + theme.px(32), theme.px(40), theme.px(13), alpha=190))
    at = (theme.px(20), theme.px(20))
    surface.blit(faded(chip, shown), at)
    surface.blit(faded(title, shown), (at[0] + theme.px(16), at[1] + (chip.get_height() - title.get_height()) // 2))
    _draw_time(surface, theme, state, page, shown)
    keys = hint_line(theme, hints.film(state))
    surface.blit(faded(keys, shown), (theme.px(40), height - theme.px(38)))
    if page.asked:
        words = theme.text(theme.say("film.reading"), Role.SMALL, theme.accent)
        surface.blit(words, (width - theme.px(40) - words.get_width(), height - theme.px(38)))


def _draw_time(surface: pygame.Surface, theme: Theme, state: AppState, page: FilmPage, shown: float) -> None:
    """How far the film is, as a bar that can be clicked, and in figures above its end."""
    rect = film_pages.timeline_rect(state.room)
    bar = pygame.Rect(rect.x, rect.y + rect.height // 2 - theme.px(3), rect.width, max(4, theme.px(6)))
    part = 0.0 if page.facts.seconds <= 0.0 else min(1.0, page.seconds / page.facts.seconds)
    part = 1.0 if page.ended else part
    surface.blit(faded(theme.panel(Panel(bar.width, bar.height, bar.height // 2, TEXT, 60)), shown), bar)
    lit = max(bar.height, round(bar.width * part))
    surface.blit(faded(theme.panel(Panel(lit, bar.height, bar.height // 2, theme.accent, 255)), shown), bar)
    knob = theme.px(14)
    at = (bar.x + lit - knob // 2, bar.centery - knob // 2)
    surface.blit(faded(theme.panel(Panel(knob, knob, knob // 2, TEXT, 255)), shown), at)
    length = page.facts.seconds
    now_at = length if page.ended else page.seconds
    words = theme.text(f"{film_pages.clock_words(now_at)} / {film_pages.clock_words(length)}", Role.SMALL_STRONG)
    surface.blit(faded(words, shown), (rect.x + rect.width - words.get_width(), rect.y - theme.px(20)))
