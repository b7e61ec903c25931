"""Photo mode on screen: the grid of pictures, and two of them in turn at full size. Pictures, no decisions."""

from __future__ import annotations

import pygame

from app import hints, photo, photo_hands
from app.pages import Prints
from app.photo import Photo, Shot
from app.theme import BACKGROUND, LINE, PANEL, QUIET, TEXT, Panel, Role, Theme, hint_line
from app.values import AppState


def draw(surface: pygame.Surface, theme: Theme, prints: Prints, state: AppState, shown: Photo) -> None:
    """The whole window."""
    surface.fill(BACKGROUND)
    chosen = shown.chosen
    if shown.compare is not None and chosen is not None and chosen.picture is not None:
        _draw_compared(surface, theme, prints, state, shown.shots[0] if shown.compare.original else chosen)
        return
    left, foot = photo.cell(shown, 0, state.room).x, surface.get_height() - theme.px(40)
    subtitle, side = theme.say("photo.subtitle"), theme.px(photo.SIDE)
    if theme.width(subtitle, Role.BODY) > surface.get_width() - 2 * left:
        left = side  # large words: the pictures are narrower than they
    surface.blit(theme.text(theme.say("photo.title"), Role.HEADING), (left, theme.px(26)))
    about = theme.shortened(subtitle, Role.BODY, surface.get_width() - left - side)
    surface.blit(theme.text(about, Role.BODY, QUIET), (left, theme.px(64)))
    for place, shot in enumerate(shown.shots):
        rect = photo.cell(shown, place, state.room)
        box = pygame.Rect(rect.x, rect.y, rect.width, rect.height)
        _draw_shot(surface, theme, prints, shot, box, chosen=place == shown.selected)
        _draw_caption(surface, theme, state, shown, place, box)
    if shown.taken:
        surface.blit(theme.text(theme.say("photo.taking"), Role.SMALL, theme.accent), (left, foot))
    else:
        most_width = surface.get_width() - left - theme.px(12)
        surface.blit(hint_line(theme, hints.photo(state), most_width), (left, foot))


def _draw_shot(
    surface: pygame.Surface, theme: Theme, prints: Prints, shot: Shot, box: pygame.Rect, *, chosen: bool
) -> None:
    radius, edge = theme.px(10), max(2, theme.px(3))
    if chosen:
        frame = box.inflate(4 * edge, 4 * edge)
        surface.blit(theme.panel(Panel(frame.width, frame.height, radius + 2 * edge, theme.accent, 255)), frame)
        inner = box.inflate(2 * edge, 2 * edge)
        surface.blit(theme.panel(Panel(inner.width, inner.height, radius + edge, BACKGROUND, 255)), inner)
    if shot.picture is None:
        surface.blit(theme.panel(Panel(box.width, box.height, radius, PANEL, 255, LINE)), box)
    else:
        surface.blit(prints.scaled(shot.picture, box.width, box.height, radius), box)


def _draw_caption(
    surface: pygame.Surface, theme: Theme, state: AppState, shown: Photo, place: int, box: pygame.Rect
) -> None:
    """What the picture is, and at the right how far it is from the original, or that it is not there yet."""
    shot = shown.shots[place]
    colour = theme.accent if place == shown.selected else TEXT
    name = theme.text(photo_hands.name_of(state, shot.retake), Role.SMALL_STRONG, colour)
    y = box.bottom + theme.px(9)
    surface.blit(name, (box.x, y))
    free = box.width - name.get_width() - theme.px(12)
    told = _about(theme, shown, place)
    fitting = next((words for words in told if theme.width(words, Role.SMALL) <= free), "")
    words = theme.text(fitting, Role.SMALL, QUIET)
    surface.blit(words, (box.right - words.get_width(), y))


def _about(theme: Theme, shown: Photo, place: int) -> tuple[str, ...]:
    """In words, and in fewer where these do not fit."""
    shot = shown.shots[place]
    if shot.picture is None:
        return theme.say("photo.making" if place == shown.next_made else "photo.waiting"), "…"
    if place == 0:
        return ()
    if shot.differs <= 0.0:
        return theme.say("photo.same"), "0 %"
    percent = f"{max(0.1, shot.differs):.1f}"
    return theme.say("photo.differs", percent=percent), f"{percent} %"


def _draw_compared(surface: pygame.Surface, theme: Theme, prints: Prints, state: AppState, shot: Shot) -> None:
    """One picture as large as fits, with its name."""
    assert shot.picture is not None
    width, height = surface.get_size()
    high, wide = shot.picture.shape[:2]
    factor = min(width / wide, height / high)
    size = max(1, round(wide * factor)), max(1, round(high * factor))
    surface.blit(prints.scaled(shot.picture, *size), ((width - size[0]) // 2, (height - size[1]) // 2))
    name = theme.text(photo_hands.name_of(state, shot.retake), Role.STRONG)
    chip = theme.panel(Panel(name.get_width() + theme.px(32), theme.px(40), theme.px(13), alpha=205))
    at = theme.px(20), theme.px(20)
    surface.blit(chip, at)
    surface.blit(name, (at[0] + theme.px(16), at[1] + (chip.get_height() - name.get_height()) // 2))
