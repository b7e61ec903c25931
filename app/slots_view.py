"""The page of saved worlds on screen. Pictures, no decisions."""

from __future__ import annotations

import pygame

from app import hints, hud, slots_page
from app.pages import picture_of
from app.slots import QUICK, SlotLine
from app.slots_page import SlotsPage
from app.theme import BACKGROUND, LINE, PANEL, QUIET, Panel, Role, Theme, hint_line
from app.values import AppState


def draw(surface: pygame.Surface, theme: Theme, state: AppState, now: float) -> pygame.Rect | None:
    """The whole page. Returns the caret's place while a name is typed."""
    page, caret = state.slots, None
    assert page is not None
    surface.fill(BACKGROUND)
    first = slots_page.row_rect(page, page.first, state.room)
    assert first is not None
    surface.blit(theme.text(theme.say("worlds.title"), Role.TITLE), (first.x, theme.px(26)))
    about = theme.shortened(theme.say("worlds.subtitle"), Role.BODY, first.width)
    surface.blit(theme.text(about, Role.BODY, QUIET), (first.x, theme.px(78)))
    for row in range(page.rows):
        place = slots_page.row_rect(page, row, state.room)
        if place is None:
            continue
        rect = pygame.Rect(place.x, place.y, place.width, place.height)
        chosen = row == page.selected
        look = Panel(rect.width, rect.height, theme.px(14), PANEL, 235 if chosen else 170, _line(theme, chosen=chosen))
        surface.blit(theme.panel(look), rect)
        if row > 0:
            _draw_slot(surface, theme, page.slots[row - 1], rect)
        elif page.line is None:
            _draw_words(surface, theme, rect, theme.say("worlds.save"), theme.say("worlds.save_about"))
        else:
            caret = hud.draw_line(surface, theme, state, page.line, rect.inflate(-theme.px(48), 0), now=now)
    surface.blit(hint_line(theme, hints.worlds(state)), (first.x, surface.get_height() - theme.px(42)))
    if page.asking and page.chosen is not None:
        _draw_question(surface, theme, state, page)
    return caret


def _line(theme: Theme, *, chosen: bool) -> tuple[int, int, int]:
    return theme.accent if chosen else LINE


def _draw_slot(surface: pygame.Surface, theme: Theme, slot: SlotLine, rect: pygame.Rect) -> None:
    inset = theme.px(8)
    height = rect.height - 2 * inset
    width = height * 12 // 7
    if slot.picture is not None:
        picture = pygame.transform.smoothscale(picture_of(slot.picture), (width, height))
        surface.blit(picture, (rect.x + inset, rect.y + inset))
    beside = pygame.Rect(rect.x + width + inset, rect.y, rect.width - width - inset, rect.height)
    _draw_words(surface, theme, beside, _name(theme, slot), slot.saved_at)


def _name(theme: Theme, slot: SlotLine) -> str:
    return theme.say("worlds.quick") if slot.name == QUICK else slot.name


def _draw_words(surface: pygame.Surface, theme: Theme, rect: pygame.Rect, strong: str, quiet: str) -> None:
    pad = theme.px(24)
    words = theme.text(theme.shortened(strong, Role.STRONG, rect.width - 2 * pad), Role.STRONG)
    surface.blit(words, (rect.x + pad, rect.y + theme.px(16)))
    below = theme.text(theme.shortened(quiet, Role.SMALL, rect.width - 2 * pad), Role.SMALL, QUIET)
    surface.blit(below, (rect.x + pad, rect.y + theme.px(46)))


def _draw_question(surface: pygame.Surface, theme: Theme, state: AppState, page: SlotsPage) -> None:
    assert page.chosen is not None
    place = slots_page.row_rect(page, page.selected, state.room)
    assert place is not None
    asked = theme.say("worlds.delete", name=_name(theme, page.chosen))
    words = theme.text(theme.shortened(asked, Role.STRONG, place.width // 2), Role.STRONG)
    panel = Panel(words.get_width() + theme.px(40), theme.px(44), theme.px(12), alpha=244, line=theme.bad)
    at = place.x + place.width - panel.width - theme.px(16), place.y + (place.height - panel.height) // 2
    surface.blit(theme.panel(panel), at)
    surface.blit(words, (at[0] + theme.px(20), at[1] + (panel.height - words.get_height()) // 2))
