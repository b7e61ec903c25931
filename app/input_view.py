"""Inputs over the world: what is held, what was sent, what the picture answers to, each for itself. A picture only."""

from __future__ import annotations

import pygame

from app import hints
from app.hud import LOOK_PAD, PAD
from app.theme import BACKGROUND, PANEL, QUIET, TEXT, Panel, Role, Theme
from app.values import AppState


def draw(surface: pygame.Surface, theme: Theme, state: AppState, room: pygame.Rect) -> None:
    """Three pads of keys beside each other at the right, and below them the turn and the sticks."""
    key, gap, pad = theme.px(24), theme.px(4), theme.px(16)
    column = 3 * key + 2 * gap
    width, height = 3 * column + 4 * pad, theme.px(74) + 4 * (key + gap) + theme.px(30)
    x, y = room.right - theme.px(20) - width, room.y + theme.px(66)
    surface.blit(theme.panel(Panel(width, height, theme.px(14), alpha=214)), (x, y))
    stages = (("held", state.steering.actions), ("sent", state.steering.sent), ("applied", state.applied))
    for place, (name, actions) in enumerate(stages):
        left, top = x + pad + place * (column + pad), y + theme.px(12)
        surface.blit(theme.text(theme.say(f"inputs.{name}"), Role.SMALL_STRONG, TEXT), (left, top))
        top += theme.px(26)
        for index, keys in enumerate((PAD, LOOK_PAD)):
            for action, thing, across, down in keys:
                at = (left + across * (key + gap), top + (down + 2 * index) * (key + gap) + index * theme.px(8))
                _draw_key(surface, theme, hints.key_of(state, thing), at, key, lit=action in actions)
    _draw_turn(surface, theme, state, pygame.Rect(x + pad, y + height - theme.px(52), width - 2 * pad, theme.px(44)))


def _draw_key(surface: pygame.Surface, theme: Theme, label: str, at: tuple[int, int], size: int, *, lit: bool) -> None:
    look = Panel(size, size, theme.px(6), theme.accent if lit else PANEL, 240 if lit else 190)
    surface.blit(theme.panel(look), at)
    words = theme.text(theme.shortened(label, Role.SMALL, size), Role.SMALL, BACKGROUND if lit else QUIET)
    surface.blit(words, (at[0] + (size - words.get_width()) // 2, at[1] + (size - words.get_height()) // 2))


def _draw_turn(surface: pygame.Surface, theme: Theme, state: AppState, area: pygame.Rect) -> None:
    turned = state.turned
    words = f"{turned.yaw_degrees:+.1f}° {turned.pitch_degrees:+.1f}°"
    names = state.gamepad.names
    pad = names[-1][1] if names else theme.say("inputs.no_pad")
    for row, (name, value) in enumerate((("look", words), ("pad", pad))):
        y = area.y + row * theme.px(21)
        label = theme.text(theme.say(f"inputs.{name}"), Role.SMALL, QUIET)
        surface.blit(label, (area.x, y))
        room = area.width - label.get_width() - theme.px(10)
        drawn = theme.text(theme.shortened(value, Role.SMALL, room), Role.SMALL, TEXT)
        surface.blit(drawn, (area.right - drawn.get_width(), y))
