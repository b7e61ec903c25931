"""The quiet sign over a picture that is turned ahead of the model: a short line, and how far on it. A picture only."""

from __future__ import annotations

import pygame

from app.instant import MOST_AHEAD, Angles
from app.theme import TEXT, Panel, Theme

WIDTH, HEIGHT, DOT = 76, 4, 8


def draw(surface: pygame.Surface, theme: Theme, turn: Angles, room: pygame.Rect) -> None:
    """At the top of the picture in ``room``. The dot is off the line's middle by the turn's part of the most."""
    width, height, dot = theme.px(WIDTH), max(2, theme.px(HEIGHT)), theme.px(DOT)
    x, y = room.centerx - width // 2, room.y + theme.px(14)
    surface.blit(theme.panel(Panel(width, height, height // 2, TEXT, 70)), (x, y))
    across = round(turn[0] / MOST_AHEAD[0] * (width - dot) / 2)
    up = round(turn[1] / MOST_AHEAD[1] * theme.px(6))
    at = room.centerx + across - dot // 2, y + height // 2 - up - dot // 2
    surface.blit(theme.panel(Panel(dot, dot, dot // 2, theme.accent, 230)), at)
