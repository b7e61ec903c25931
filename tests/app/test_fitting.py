"""Large text: what does not fit becomes as much smaller as it has to, and nothing is cut off."""

from __future__ import annotations

from dataclasses import replace

import pygame
import pytest

from app import hints, hud, options
from app.theme import Glyphs, Role, Theme
from app.values import AppState
from app.words.table import LANGUAGES
from tests.app.walks import walking

SIZES = [(1280, 720), (1920, 1080), (960, 540)]


@pytest.fixture(autouse=True)
def _fonts() -> None:
    pygame.font.init()


def at(width: int, height: int, text_size: float, language: str = "en") -> tuple[AppState, Theme]:
    settings = AppState().settings
    app = replace(settings.app, text_size=text_size, language=language)
    state = replace(walking(), width=width, height=height, settings=replace(settings, app=app), details=True)
    return state, Theme(state.room.scale, Glyphs(), language)


def test_a_theme_that_fits_stays_and_another_is_only_as_much_smaller_as_it_must() -> None:
    theme = Theme(2.0, Glyphs())
    assert theme.fitting(500, 500) is theme
    assert theme.fitting(600, 500).scale == pytest.approx(1.6)
    assert theme.fitting(600, 500) is theme.fitting(610, 500)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("text_size", [1.0, 2.0])
def test_details_and_keys_end_within_the_window(size: tuple[int, int], text_size: float) -> None:
    state, theme = at(*size, text_size)
    small = theme.fitting(hud._details_px(theme, state), size[1] - theme.px(20))
    assert hud._details_px(small, state) <= size[1]
    keys = len(hints.help_lines(state))
    small = theme.fitting(theme.px(124 + 25 * keys), size[1])
    assert small.line_height(Role.BODY) <= (size[1] - small.px(124)) / keys + 2


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("text_size", [1.0, 2.0])
def test_no_name_of_a_settings_page_is_cut_off(size: tuple[int, int], text_size: float, language: str) -> None:
    state, theme = at(*size, text_size, language)
    names = [theme.say(f"tab.{tab}") for tab in options.TABS]
    room = options.tab_rect(options.TABS[0], state.room).width - theme.px(8)
    small = theme.fitting(max(theme.width(name, Role.STRONG) for name in names), room)
    assert max(small.width(name, Role.STRONG) for name in names) <= room + 4
    assert small.scale >= 0.6 * theme.scale
