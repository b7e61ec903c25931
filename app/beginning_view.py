"""The line that is typed before a world begins, with what can be chosen below it. Pictures, no decisions."""

from __future__ import annotations

import pygame

from app import hints, hud, line_page
from app.line_page import Choice, Kind, LinePage, Purpose
from app.menu import Rect
from app.pages import darken
from app.theme import BACKGROUND, LINE, QUIET, TEXT, Panel, Role, Theme, hint_line
from app.values import AppState


def draw(surface: pygame.Surface, theme: Theme, state: AppState, page: LinePage, now: float) -> pygame.Rect:
    """Over whatever there is. Returns the caret's place."""
    darken(surface, 170)
    outer, inner = line_page.panel(state.room), line_page.line_rect(state.room)
    look = Panel(outer.width, outer.height, theme.px(18), alpha=250, line=LINE)
    surface.blit(theme.panel(look), (outer.x, outer.y))
    title = theme.shortened(theme.say(_title(page)), Role.STRONG, inner.width)
    surface.blit(theme.text(title, Role.STRONG), (inner.x, outer.y + theme.px(19)))
    typed = pygame.Rect(inner.x, inner.y, inner.width, inner.height)
    edge = theme.accent if page.selected is None or page.purpose is Purpose.WORDS else LINE
    surface.blit(theme.panel(Panel(typed.width, typed.height, theme.px(10), (8, 10, 14), 255, edge)), typed)
    for index, choice in enumerate(page.choices):
        rect = line_page.choice_rect(page, index, state.room)
        if rect is not None:
            _draw_choice(surface, theme, choice, rect, chosen=index == page.selected)
    _draw_more(surface, theme, state, page)
    foot = outer.y + outer.height - theme.px(38)
    surface.blit(hint_line(theme, hints.line(state), inner.width), (inner.x, foot))
    return hud.draw_line(surface, theme, state, page.line, typed.inflate(-theme.px(24), -theme.px(8)), now=now)


def _title(page: LinePage) -> str:
    if page.purpose is Purpose.WORDS:
        return "words.title"
    return "path.title" if page.dialog else "path.title_no_dialog"


def _draw_choice(surface: pygame.Surface, theme: Theme, choice: Choice, rect: Rect, *, chosen: bool) -> None:
    if chosen:
        surface.blit(theme.panel(Panel(rect.width, rect.height, theme.px(9), theme.accent, 255)), (rect.x, rect.y))
    mark, words = _named(theme, choice)
    colour = BACKGROUND if chosen else TEXT if choice.kind in (Kind.FILE, Kind.WORDS) else QUIET
    label = theme.text(theme.shortened(words, Role.BODY, rect.width - theme.px(34)), Role.BODY, colour)
    y = rect.y + (rect.height - label.get_height()) // 2
    surface.blit(label, (rect.x + theme.px(12), y))
    if mark:
        sign = theme.text(mark, Role.BODY, colour)
        surface.blit(sign, (rect.x + rect.width - sign.get_width() - theme.px(12), y))


def _named(theme: Theme, choice: Choice) -> tuple[str, str]:
    """(sign at the line's end, words of a choice)."""
    match choice.kind:
        case Kind.BROWSE:
            return "Ctrl+O", theme.say("path.browse")
        case Kind.UP:
            return "", theme.say("path.up")
        case Kind.FOLDER:
            return "", f"{choice.text}/"
    return "", choice.text


def _draw_more(surface: pygame.Surface, theme: Theme, state: AppState, page: LinePage) -> None:
    """How far the list goes on, as a thin bar beside it."""
    shown, count = line_page.rows_shown(page, state.room), len(page.choices)
    first = line_page.choice_rect(page, page.first, state.room)
    if count <= shown or first is None:
        return
    height = shown * first.height
    length = max(theme.px(16), height * shown // count)
    y = first.y + (height - length) * page.first // (count - shown)
    bar = Panel(theme.px(4), length, theme.px(2), QUIET, 160)
    surface.blit(theme.panel(bar), (first.x + first.width + theme.px(4), y))
