"""The tape that is seen while time goes backwards: how far, what there is to go back to, and what it costs."""

from __future__ import annotations

import pygame

from app.theme import QUIET, TEXT, Panel, Role, Theme
from app.values import AppState

WIDTH, HEIGHT = 560, 96


def draw(surface: pygame.Surface, theme: Theme, state: AppState, room: pygame.Rect) -> None:
    """A panel in the lower middle of ``room``: words, and a line of time with a mark for each moment."""
    rewind = state.time.rewind
    seen = None if rewind is None else rewind.seen
    if seen is None:
        return
    panel = Panel(min(theme.px(WIDTH), room.width - theme.px(24)), theme.px(HEIGHT), theme.px(16), alpha=222)
    x, y = room.centerx - panel.width // 2, room.bottom - theme.px(90) - panel.height
    surface.blit(theme.panel(panel), (x, y))
    pad = theme.px(22)
    back = theme.text(theme.say("hud.rewind", seconds=f"{seen.seconds:.1f}"), Role.STRONG)
    surface.blit(back, (x + pad, y + theme.px(14)))
    megabytes = round((state.time.byte_count + seen.frame_bytes) / 1e6)
    kept = theme.say("hud.rewind_kept", moments=len(state.time.chunks), megabytes=megabytes)
    words = f"{theme.say('hud.rewind_first' if seen.is_first else 'hud.rewind_hint')} · {kept}"
    free = panel.width - 2 * pad - back.get_width() - theme.px(16)
    hint = theme.text(theme.shortened(words, Role.SMALL, free), Role.SMALL, QUIET)
    surface.blit(hint, (x + panel.width - pad - hint.get_width(), y + theme.px(17)))
    _draw_line(surface, theme, state, pygame.Rect(x + pad, y + theme.px(56), panel.width - 2 * pad, theme.px(20)))


def _draw_line(surface: pygame.Surface, theme: Theme, state: AppState, area: pygame.Rect) -> None:
    """From the earliest moment at the left to now at the right."""
    rewind, chunks = state.time.rewind, state.time.chunks
    assert rewind is not None
    seen = rewind.seen
    assert seen is not None
    first = float(min([chunk + 1 for chunk in chunks] + [seen.position]))
    length = max(1e-6, seen.newest - first)

    def across(position: float) -> int:
        return area.x + round(area.width * min(1.0, max(0.0, (position - first) / length)))

    middle, thin = area.centery, max(1, theme.px(2))
    surface.fill(QUIET, (area.x, middle - thin // 2, area.width, thin))
    for chunk in chunks:
        surface.fill(TEXT, (across(chunk + 1), area.y + theme.px(5), thin, area.height - theme.px(10)))
    size = theme.px(14)
    knob = theme.panel(Panel(size, size, size // 2, theme.accent, 255))
    surface.blit(knob, (across(seen.position) - size // 2, middle - size // 2))
