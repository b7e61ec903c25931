"""draw(surface, state, frame): the whole window as one picture, drawn again only when it would look different."""

from __future__ import annotations

import pygame

from app import (
    beginning_view,
    branch_view,
    film_view,
    hud,
    input_view,
    instant_hands,
    pages,
    photo_view,
    prompt_view,
    settings_view,
    slots_view,
    start_hands,
    start_view,
)
from app.facts import Screen
from app.gestures import Focus
from app.theme import BACKGROUND, PALETTES, Glyphs, Theme
from app.turned_view import TurnedView, Warp
from app.values import AppState
from engine.protocol import Pixels


class View:
    """Keeps what was scaled and rendered. One owner, the window's thread."""

    def __init__(self) -> None:
        self._glyphs = Glyphs()
        self._theme = Theme(1.0, self._glyphs)
        self._pictures = pages.Pictures()
        self._preview = start_view.Preview()
        self._prints = pages.Prints()
        self._last: tuple[object, ...] | None = None
        self._turned_view = TurnedView()
        self._frame: Pixels | None = None
        self._warp: Warp | None = None
        self._scaled: pygame.Surface | None = None
        self.caret: pygame.Rect | None = None
        """Where text is being typed, for the input method's own window."""

    def draw(self, surface: pygame.Surface, state: AppState, frame: Pixels | None, now: float) -> bool:
        """Draw what is due. Returns False, and touches nothing, where the window would look as before.

        The state knows the surface's size: ``WindowResized`` came before.
        """
        looks = (surface.get_size(), id(frame), *self._moments(state, now))
        if self._last is not None and looks == self._last[:-1] and state is self._last[-1]:
            return False
        self._last = (*looks, state)
        palette = PALETTES[state.settings.app.colours]
        theme = state.room.scale, state.language, palette
        if theme != (self._theme.scale, self._theme.language, self._theme.palette):
            self._theme = Theme(state.room.scale, self._glyphs, state.language, palette)
        self._draw(surface, state, frame, now)
        return True

    def _moments(self, state: AppState, now: float) -> tuple[object, ...]:
        """What changes with time alone, in the steps in which it is seen to change."""
        caret = hud.caret_lit(state, now) if state.focus is Focus.TEXT else None
        waits = state.screen in (Screen.STARTING, Screen.LOADING) and state.failure is None
        unknown = state.loading is None or state.loading.fraction is None
        sways = waits and unknown and not state.settings.app.reduced_motion
        left = pages.seconds_left(state, now) if waits else None
        return hud.presence(state, now), caret, int(now * 30) if sways else None, left

    def _draw(self, surface: pygame.Surface, state: AppState, frame: Pixels | None, now: float) -> None:
        theme = self._theme
        self.caret = None
        if state.film is not None:
            surface.fill(BACKGROUND)
            if frame is not None:
                self._draw_picture(surface, frame)
            film_view.draw_film(surface, theme, state, state.film, now)
        elif state.photo is not None and state.photo.shots:
            photo_view.draw(surface, theme, self._prints, state, state.photo)
        elif state.slots is not None:
            self.caret = slots_view.draw(surface, theme, state, now)
        elif state.branches is not None:
            branch_view.draw(surface, theme, self._prints, state, state.branches, frame)
        elif state.films is not None:
            self.caret = film_view.draw_films(surface, theme, self._prints, state, now)
        elif state.screen is Screen.SCENES:
            pages.draw_gallery(surface, theme, self._pictures, state)
        elif state.screen is Screen.WALK and frame is not None:
            room = self._draw_picture(surface, frame, instant_hands.warp_of(state))
            if state.failure is None:
                hud.draw(surface, theme, state, room, now)
                if state.teaching and not (state.details or state.inputs):  # who opens those knows the keys
                    start_view.draw_first_keys(surface, theme, state, room)
                if state.inputs:
                    input_view.draw(surface, theme, state, room)
        elif state.failure is None:
            pages.draw_loading(surface, theme, self._pictures, state, now)
        else:
            surface.blit(self._pictures.backdrop(state.scene, *surface.get_size()), (0, 0))
        over = (state.films, state.slots, state.film)
        covered = state.screen is Screen.SCENES or any(page is not None for page in over)
        if state.failure is not None and not covered:
            pages.draw_failure(surface, theme, state)
        self.caret = prompt_view.draw(surface, theme, state, now) or self.caret
        if state.page is not None:
            self.caret = settings_view.draw(surface, theme, state, now)
        elif state.line_page is not None:
            self.caret = beginning_view.draw(surface, theme, state, state.line_page, now)
        elif state.crop is not None:
            self.caret = start_view.draw_crop(surface, theme, state, state.crop, self._preview, now)
        elif state.picker is not None:
            start_view.draw_models(surface, theme, state, start_hands.current_model(state))
        elif state.menu is not None:
            pages.draw_menu(surface, theme, state.menu, state.room)
        if state.help:
            hud.draw_help(surface, theme, state)
        hud.draw_toasts(surface, theme, state)

    def _draw_picture(self, surface: pygame.Surface, frame: Pixels, warp: Warp | None = None) -> pygame.Rect:
        """The frame, turned by ``warp``, as large as fits, its shape kept, dark beside it. Returns where it lies."""
        width, height = surface.get_size()
        rect = fitted(frame.shape[1], frame.shape[0], width, height)
        if self._scaled is None or self._scaled.get_size() != rect.size:
            self._scaled, self._frame = pygame.Surface(rect.size), None
        if frame is not self._frame or warp != self._warp:
            picture = pages.picture_of(frame) if warp is None else self._turned_view.picture(frame, warp)
            pygame.transform.smoothscale(picture, rect.size, self._scaled)
            self._frame, self._warp = frame, warp
        if rect.size != (width, height):
            surface.fill(BACKGROUND)
        surface.blit(self._scaled, rect)
        return rect


def fitted(width: int, height: int, room_width: int, room_height: int) -> pygame.Rect:
    """The largest rectangle of the shape width : height in the room, in its middle."""
    factor = min(room_width / width, room_height / height)
    size = max(1, round(width * factor)), max(1, round(height * factor))
    return pygame.Rect((room_width - size[0]) // 2, (room_height - size[1]) // 2, *size)
