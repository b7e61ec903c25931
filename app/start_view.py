"""What stands before a walk: the own picture with the part that is taken, its path, the list of models, first keys."""

from __future__ import annotations

import pygame

from app import crop, hints, hud, menu, speed
from app.crop import CropPage
from app.pages import picture_of
from app.remembered import ModelLine
from app.theme import BACKGROUND, LINE, PANEL, QUIET, TEXT, Panel, Role, Theme, hint_line
from app.values import AppState
from engine.protocol import Pixels


class Preview:
    """The picture at the size that is drawn, made once."""

    def __init__(self) -> None:
        self._kept: tuple[Pixels, tuple[int, int], pygame.Surface] | None = None

    def scaled(self, picture: Pixels, size: tuple[int, int]) -> pygame.Surface:
        if self._kept is None or self._kept[0] is not picture or self._kept[1] != size:
            self._kept = picture, size, pygame.transform.smoothscale(picture_of(picture), size)
        return self._kept[2]


def draw_crop(
    surface: pygame.Surface, theme: Theme, state: AppState, page: CropPage, preview: Preview, now: float
) -> pygame.Rect | None:
    """The whole picture, dark where it is cut off. Returns the caret's place while the prompt is typed."""
    width, height = surface.get_size()
    surface.fill(BACKGROUND)
    rect = crop.picture_rect(page, state.room)
    picture = preview.scaled(page.picture, (rect.width, rect.height))
    surface.blit(picture, (rect.x, rect.y))
    area = pygame.Rect(rect.x, rect.y, rect.width, rect.height)
    surface.fill((70, 70, 70), area, special_flags=pygame.BLEND_RGB_MULT)
    left, top, across, down = crop.kept(page)
    part = pygame.Rect(round(left * rect.width), round(top * rect.height), 0, 0)
    part.size = max(1, round(across * rect.width)), max(1, round(down * rect.height))
    surface.blit(picture, area.move(part.topleft), part)
    framed = pygame.Rect(rect.x + part.x, rect.y + part.y, *part.size)
    pygame.draw.rect(surface, theme.accent, framed, max(1, theme.px(2)))
    surface.blit(theme.text(theme.say("crop.title"), Role.HEADING), (theme.px(64), theme.px(22)))
    bundled = state.settings.engine.backend == "bundled"
    sizes = theme.say("crop.bundled" if bundled else "crop.size", width=page.size[0], height=page.size[1])
    lines = theme.wrapped(sizes, Role.SMALL, width - theme.px(128))
    for row, text in enumerate([*lines[:1], *([" ".join(lines[1:])] if lines[1:] else [])]):
        text = theme.shortened(text, Role.SMALL, width - theme.px(128))
        surface.blit(theme.text(text, Role.SMALL, QUIET), (theme.px(64), theme.px(57 + 19 * row)))
    panel = Panel(width - 2 * theme.px(64), theme.px(50), theme.px(12), PANEL, 235, theme.accent if page.line else LINE)
    at = (theme.px(64), height - theme.px(118))
    surface.blit(theme.panel(panel), at)
    inner = pygame.Rect(*at, panel.width, panel.height).inflate(-theme.px(36), -theme.px(8))
    surface.blit(hint_line(theme, hints.crop(state)), (theme.px(64), height - theme.px(44)))
    if page.line is not None:
        return hud.draw_line(surface, theme, state, page.line, inner, now=now)
    words = theme.text(theme.shortened(theme.prompt(page.prompt), Role.BODY, inner.width), Role.BODY)
    surface.blit(words, (inner.x, inner.centery - words.get_height() // 2))
    return None


def draw_models(surface: pygame.Surface, theme: Theme, state: AppState, in_use: int) -> None:
    """Every model there is, with what it needs and where it is, as the engine's catalogue tells it."""
    height = surface.get_height()
    surface.fill(BACKGROUND)
    first = menu.line_rect(0, state.room)
    surface.blit(theme.text(theme.say("models.title"), Role.HEADING), (first.x, theme.px(24)))
    for index, model in enumerate(state.models):
        rect = menu.line_rect(index, state.room)
        chosen = index == state.picker
        look = Panel(
            rect.width, rect.height, theme.px(12), PANEL, 255 if chosen else 130, theme.accent if chosen else LINE
        )
        surface.blit(theme.panel(look), (rect.x, rect.y))
        _draw_model(surface, theme, state, model, rect, in_use=index == in_use)
    if state.picker is not None and state.picker < len(state.models):
        _draw_facts(surface, theme, state, state.models[state.picker])
    surface.blit(hint_line(theme, hints.models(state), first.width), (first.x, height - theme.px(34)))


def _draw_model(
    surface: pygame.Surface, theme: Theme, state: AppState, model: ModelLine, rect: menu.Rect, *, in_use: bool
) -> None:
    """Its name, how fast it was here, and, where the line is high enough, what it is."""
    inner, x = rect.width - theme.px(36), rect.x + theme.px(18)
    two = rect.height >= theme.line_height(Role.STRONG) + theme.line_height(Role.SMALL) + theme.px(8)
    high = theme.line_height(Role.STRONG) + (theme.line_height(Role.SMALL) if two and model.facts else 0)
    y = rect.y + (rect.height - high) // 2
    fps = speed.of(state.remembered, model.backend, model.model)
    words = "" if fps is None else theme.say("models.speed", fps=round(fps))
    if words:
        clocked = theme.text(words, Role.SMALL, QUIET)
        surface.blit(clocked, (x + inner - clocked.get_width(), y + theme.px(3)))
        inner -= clocked.get_width() + theme.px(16)
    title = theme.spoken(model.title) + (f"  ·  {theme.say('models.in_use')}" if in_use else "")
    colour = theme.accent if in_use else TEXT
    surface.blit(theme.text(theme.shortened(title, Role.STRONG, inner), Role.STRONG, colour), (x, y))
    if two and model.facts:
        about = theme.shortened(theme.spoken(model.facts[0]), Role.SMALL, rect.width - theme.px(36))
        surface.blit(theme.text(about, Role.SMALL, QUIET), (x, y + theme.line_height(Role.STRONG)))


def _draw_facts(surface: pygame.Surface, theme: Theme, state: AppState, model: ModelLine) -> None:
    """What is to be known before this model is chosen: what it is and needs, its speed here, its licence."""
    last = menu.line_rect(max(5, len(state.models) - 1), state.room)
    fps = speed.of(state.remembered, model.backend, model.model)
    clocked = theme.say("models.speed_unknown") if fps is None else theme.say("models.speed", fps=round(fps))
    y, end = last.y + last.height + theme.px(10), surface.get_height() - theme.px(42)
    step = theme.px(19)
    for fact in (*model.facts[:2], clocked, *model.facts[2:]):
        for text in theme.wrapped(theme.spoken(fact), Role.SMALL, last.width)[:2]:
            if y + step > end:
                return
            surface.blit(theme.text(text, Role.SMALL, TEXT), (last.x, y))
            y += step


def draw_first_keys(surface: pygame.Surface, theme: Theme, state: AppState, room: pygame.Rect) -> None:
    """Six keys for somebody who walks for the first time."""
    keys = hints.first_keys(state)
    pad, step = theme.px(24), theme.px(30)
    key_width = max(theme.width(key, Role.STRONG) for key, _ in keys) + theme.px(20)
    inner = key_width + max(theme.width(meaning, Role.BODY) for _, meaning in keys)
    panel = Panel(inner + 2 * pad, 2 * pad + step * len(keys) - theme.px(8), theme.px(16), alpha=222)
    x, y = room.centerx - panel.width // 2, room.y + (room.height - panel.height) // 3
    surface.blit(theme.panel(panel), (x, y))
    for index, (key, meaning) in enumerate(keys):
        surface.blit(theme.text(key, Role.STRONG, theme.accent), (x + pad, y + pad + index * step))
        surface.blit(theme.text(meaning, Role.BODY), (x + pad + key_width, y + pad + index * step))
