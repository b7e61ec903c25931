"""The window of the desktop: its size, the pointer, text input, the clipboard. It does what the state says."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

import pygame

from app.gestures import Focus
from app.theme import Panel, Theme
from app.values import AppState
from app.words import table
from engine.errors import NeedsHardware

SMALLEST = (480, 320)
REPEAT_DELAY_MS, REPEAT_INTERVAL_MS = 420, 34
TEXT_TYPES = ("text/plain;charset=utf-8", "UTF8_STRING", pygame.SCRAP_TEXT)


class Desktop:
    """One window. ``follow`` makes it agree with the state; nothing else changes it."""

    def __init__(self, width: int, height: int) -> None:
        """Open the window. Raises NeedsHardware where there is no display."""
        os.environ.setdefault("SDL_IME_SHOW_UI", "1")
        os.environ.setdefault("SDL_VIDEO_X11_NET_WM_BYPASS_COMPOSITOR", "0")
        if sys.platform.startswith("linux"):
            # shared memory instead of a texture: a flip at 1280x720 took 0.6 ms instead of 7 without a GPU
            os.environ.setdefault("SDL_FRAMEBUFFER_ACCELERATION", "0")
        try:
            pygame.display.init()
            self._check_driver(os.environ)
            self._windowed = _within_screen(width, height)
            pygame.display.set_mode(self._windowed, pygame.RESIZABLE)
        except pygame.error as error:
            raise no_display() from error
        pygame.font.init()
        pygame.display.set_caption(table.say("en", "name"))
        pygame.key.stop_text_input()
        pygame.key.set_repeat()
        self._captured = self._typing = self._fullscreen = False
        self._repeating = False
        self._caret: pygame.Rect | None = None
        self._clipboard_ready = False

    @property
    def surface(self) -> pygame.Surface:
        surface = pygame.display.get_surface()
        assert surface is not None
        return surface

    def set_icon(self, theme: Theme) -> None:
        """A sun over a dark plain; drawn, as it is small."""
        icon = pygame.Surface((64, 64), pygame.SRCALPHA)
        icon.blit(theme.panel(Panel(64, 64, 15, (33, 42, 60), 255)), (0, 0))
        icon.blit(theme.panel(Panel(26, 26, 13, theme.accent, 255)), (19, 17))
        icon.fill((20, 25, 36), pygame.Rect(4, 35, 56, 22))
        pygame.display.set_icon(icon)

    def follow(self, state: AppState, caret: pygame.Rect | None) -> None:
        """Pointer, text input, key repeat and size as the state has them."""
        if state.fullscreen != self._fullscreen:
            self._set_fullscreen(state.fullscreen)
        if state.captured != self._captured:
            self._captured = state.captured
            pygame.mouse.set_visible(not state.captured)
            pygame.event.set_grab(state.captured)
            pygame.mouse.get_rel()
        typing = state.focus is Focus.TEXT
        if typing != self._typing:
            self._typing = typing
            (pygame.key.start_text_input if typing else pygame.key.stop_text_input)()
        repeating = state.focus in (Focus.TEXT, Focus.MENU)
        if repeating != self._repeating:
            self._repeating = repeating
            if repeating:
                pygame.key.set_repeat(REPEAT_DELAY_MS, REPEAT_INTERVAL_MS)
            else:
                pygame.key.set_repeat()
        if typing and caret is not None and caret != self._caret:
            self._caret = caret
            pygame.key.set_text_input_rect(caret)

    def copy(self, text: str) -> bool:
        """Put text on the clipboard. False where the system has none."""
        if not self._ready_clipboard():
            return False
        for kind in TEXT_TYPES:
            try:
                pygame.scrap.put(kind, text.encode())
            except pygame.error:
                continue
            return True
        return False

    def paste(self) -> str:
        """The clipboard's text; empty where there is none."""
        if not self._ready_clipboard():
            return ""
        for kind in TEXT_TYPES:
            try:
                data = pygame.scrap.get(kind)
            except pygame.error:
                continue
            if data:
                return data.decode("utf-8", errors="replace").rstrip("\0")
        return ""

    def close(self) -> None:
        pygame.event.set_grab(False)
        pygame.display.quit()

    def _set_fullscreen(self, fullscreen: bool) -> None:
        self._fullscreen = fullscreen
        if fullscreen:
            self._windowed = self.surface.get_size()
            pygame.display.set_mode((0, 0), pygame.FULLSCREEN)
            return
        pygame.display.set_mode(self._windowed, pygame.RESIZABLE)
        if self.surface.get_size() != self._windowed:  # some drivers only leave the whole screen at the first call
            pygame.display.set_mode(self._windowed, pygame.RESIZABLE)

    def _ready_clipboard(self) -> bool:
        if not self._clipboard_ready:
            try:
                pygame.scrap.init()
                pygame.scrap.set_mode(pygame.SCRAP_CLIPBOARD)
            except pygame.error:
                return False
            self._clipboard_ready = True
        return True

    @staticmethod
    def _check_driver(environ: Mapping[str, str]) -> None:
        """SDL falls back on drivers that show nothing; unless asked for, that is no window."""
        if pygame.display.get_driver() in ("offscreen", "dummy", "evdev") and not environ.get("SDL_VIDEODRIVER"):
            pygame.display.quit()
            raise no_display()


def no_display() -> NeedsHardware:
    return NeedsHardware(
        "There is no display to open a window on.",
        "Without one, this makes a video instead: python main.py render --script walk.yaml --out walk.mp4",
    )


def _within_screen(width: int, height: int) -> tuple[int, int]:
    """The wanted size, made to fit the screen with its bars."""
    width, height = max(SMALLEST[0], width), max(SMALLEST[1], height)
    sizes = pygame.display.get_desktop_sizes()
    if not sizes or min(sizes[0]) <= 0:
        return width, height
    return min(width, sizes[0][0]), min(height, sizes[0][1])
