from __future__ import annotations

from collections.abc import Iterator

import pygame
import pytest

from app.theme import FONTS, Glyphs, Panel, Role, Theme


@pytest.fixture
def theme() -> Iterator[Theme]:
    pygame.font.init()
    yield Theme(1.0, Glyphs())
    pygame.font.quit()


def test_the_fonts_are_shipped_with_their_licence() -> None:
    assert {path.name for path in FONTS.iterdir()} == {
        *("Inter-Regular.otf", "Inter-SemiBold.otf", "NotoSansSC-Words.otf"),
        *("OFL.txt", "OFL-NotoSansSC.txt"),
    }
    assert sum(path.stat().st_size for path in FONTS.iterdir()) < 1_000_000


def test_a_line_of_text_is_rendered_once(theme: Theme) -> None:
    assert theme.text("snow", Role.BODY) is theme.text("snow", Role.BODY)
    assert theme.text("snow", Role.BODY) is not theme.text("snow", Role.SMALL)


def test_text_is_shortened_and_wrapped_to_what_fits(theme: Theme) -> None:
    text = "a very long sentence about a green meadow under a wide sky"
    short = theme.shortened(text, Role.BODY, 150)
    assert short.endswith("…")
    assert theme.width(short, Role.BODY) <= 150
    assert theme.shortened("short", Role.BODY, 150) == "short"
    lines = theme.wrapped(text, Role.BODY, 150)
    assert " ".join(lines) == text
    assert all(theme.width(line, Role.BODY) <= 150 for line in lines)


def test_a_word_without_spaces_is_broken(theme: Theme) -> None:
    lines = theme.wrapped("雪" * 60, Role.BODY, 150)
    assert "".join(lines) == "雪" * 60
    assert len(lines) > 1


def test_signs_that_the_bundled_font_has_come_from_it() -> None:
    glyphs = Glyphs()
    assert list(glyphs.runs("W · é ↑ …")) == [(0, "W · é ↑ …")]


def test_every_sign_is_drawn_by_some_font_and_none_is_lost(theme: Theme) -> None:
    text = "snow 雪山 é\u0301 👩\u200d🚀 \U000e0001"
    assert "".join(piece for _, piece in Glyphs().runs(text)) == text
    assert theme.text(text, Role.BODY).get_width() > theme.width("snow", Role.BODY)


@pytest.mark.parametrize("text", ["", "\u200d", "\u0301", "a\0b", "name \udcff.png", "\ufe0f", "🏔️"])
def test_no_text_can_stop_the_window(theme: Theme, text: str) -> None:
    assert theme.text(text, Role.BODY).get_height() > 0
    assert theme.width(text, Role.BODY) >= 0
    assert "".join(theme.wrapped(text, Role.BODY, 200)) is not None


@pytest.mark.parametrize("size", [(1, 1), (8, 8), (40, 8), (300, 60)])
def test_panels_have_smooth_corners_at_any_size(theme: Theme, size: tuple[int, int]) -> None:
    surface = theme.panel(Panel(*size, 14, alpha=200))
    assert surface.get_size() == size
    assert surface.get_at((size[0] // 2, size[1] // 2)).a > 120
