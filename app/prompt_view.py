"""The prompt box with its lines and slider, the list of prepared prompts. No decisions."""

from __future__ import annotations

import pygame

from app import hints, hud, prompts
from app.menu import Rect
from app.prompt_hands import quick_text
from app.prompts import QUICK_COUNT, Mixing, Place
from app.theme import BACKGROUND, LINE, PANEL, QUIET, TEXT, Panel, Role, Theme, hint_line
from app.values import AppState


def draw(surface: pygame.Surface, theme: Theme, state: AppState, now: float) -> pygame.Rect | None:
    """What is open of it. Returns where text is being typed."""
    if state.prompt_box is not None:
        return draw_box(surface, theme, state, now)
    if state.prompts.hinted or state.prompts.chosen is not None:
        draw_quick(surface, theme, state)
    return None


def draw_box(surface: pygame.Surface, theme: Theme, state: AppState, now: float) -> pygame.Rect:
    """The line of text with caret, selection and composition; with a second one and a slider where one is mixed in.

    Returns where the caret is, for the input method.
    """
    box, mixing = state.prompt_box, state.prompts.mixing
    assert box is not None
    room, mixes = state.room, mixing is not None
    area = prompts.box_rect(room, mixing=mixes)
    surface.blit(theme.panel(Panel(area.width, area.height, theme.px(16), alpha=244, line=LINE)), (area.x, area.y))
    first = _rect(prompts.line_rect(room, 0, mixing=mixes))
    if box.room < 300:
        left = theme.text(theme.say("prompt.room", count=box.room), Role.SMALL, QUIET)
        first.width -= left.get_width() + theme.px(12)
        surface.blit(left, (first.right + theme.px(12), first.y + (first.height - left.get_height()) // 2))
    _draw_hints(surface, theme, state, area)
    if mixing is None:
        return hud.draw_line(surface, theme, state, box, first, now=now)
    second = _rect(prompts.line_rect(room, 1, mixing=True))
    surface.fill(LINE, (first.x, second.y - theme.px(5), first.width, 1))
    lines = ((Place.FIRST, box, first), (Place.SECOND, mixing.second, second))
    caret = first
    for place, line, rect in lines:
        if place is mixing.place:
            caret = hud.draw_line(surface, theme, state, line, rect, now=now, empty="prompt.second")
        else:
            words, colour = (line.text, TEXT) if line.text else (theme.say("prompt.second"), QUIET)
            drawn = theme.text(theme.shortened(words, Role.BODY, rect.width), Role.BODY, colour)
            surface.blit(drawn, (rect.x, rect.y + (rect.height - theme.line_height(Role.BODY)) // 2))
    _draw_slider(surface, theme, state, mixing)
    return caret


def _draw_hints(surface: pygame.Surface, theme: Theme, state: AppState, area: Rect) -> None:
    hint = hint_line(theme, hints.typing(state))
    backing = Panel(hint.get_width() + theme.px(28), theme.px(30), theme.px(10), alpha=170)
    middle, y = area.x + area.width // 2, area.y + area.height
    surface.blit(theme.panel(backing), (middle - backing.width // 2, y + theme.px(9)))
    surface.blit(hint, (middle - hint.get_width() // 2, y + theme.px(15)))


def _draw_slider(surface: pygame.Surface, theme: Theme, state: AppState, mixing: Mixing) -> None:
    """Shares at both sides, the way, and the knob on it; quiet until both lines say something."""
    way = prompts.slider_rect(state.room)
    ready = state.prompt_box is not None and mixing.of(state.prompt_box.text) is not None
    here = mixing.place is Place.SLIDER
    middle, thick = way.y + way.height // 2, max(2, theme.px(4))
    surface.fill(LINE, (way.x, middle - thick // 2, way.width, thick))
    x = way.x + round(way.width * mixing.share)
    if ready:
        surface.fill(theme.accent, (way.x, middle - thick // 2, x - way.x, thick))
    size = theme.px(18 if here else 14)
    knob = Panel(size, size, size // 2, theme.accent if ready else PANEL, 255, TEXT if here else LINE)
    surface.blit(theme.panel(knob), (x - size // 2, middle - size // 2))
    for share, side in ((1 - mixing.share, -1), (mixing.share, 1)):
        words = theme.text(f"{share:.0%}", Role.SMALL_STRONG, TEXT if here else QUIET)
        gap = theme.px(18)
        left = way.x - gap - words.get_width() if side < 0 else way.x + way.width + gap
        surface.blit(words, (left, middle - words.get_height() // 2))


def draw_quick(surface: pygame.Surface, theme: Theme, state: AppState) -> None:
    """The prepared prompts: a glance while Ctrl is held, or a list to choose from."""
    room, chosen = state.room, state.prompts.chosen
    area = prompts.quick_rect(room)
    surface.blit(theme.panel(Panel(area.width, area.height, theme.px(14), alpha=226, line=LINE)), (area.x, area.y))
    for index in range(QUICK_COUNT):
        line = prompts.quick_line_rect(room, index)
        middle = line.y + line.height // 2
        if index == chosen:
            mark = Panel(line.width, line.height, theme.px(9), theme.accent, 235)
            surface.blit(theme.panel(mark), (line.x, line.y))
        colours = (BACKGROUND, BACKGROUND) if index == chosen else (theme.accent, TEXT)
        number = theme.text(str(index + 1), Role.STRONG, colours[0])
        surface.blit(number, (line.x + theme.px(14), middle - number.get_height() // 2))
        words = theme.shortened(quick_text(state, index), Role.BODY, line.width - theme.px(58))
        drawn = theme.text(words, Role.BODY, colours[1])
        surface.blit(drawn, (line.x + theme.px(44), middle - drawn.get_height() // 2))
    if chosen is not None:
        _draw_choosing(surface, theme, state, area)


def _draw_choosing(surface: pygame.Surface, theme: Theme, state: AppState, area: Rect) -> None:
    hint = hint_line(theme, hints.quick(state))
    surface.blit(hint, (area.x + (area.width - hint.get_width()) // 2, area.y + area.height + theme.px(15)))


def _rect(rect: Rect) -> pygame.Rect:
    return pygame.Rect(rect.x, rect.y, rect.width, rect.height)
