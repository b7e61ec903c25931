"""One look for everything: colours, type, panels. Text and panels are rendered once and kept."""

from __future__ import annotations

import math
import unicodedata
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import pygame
import pygame.freetype

from app.words import scenes, sentences, table

Colour = tuple[int, int, int]

BACKGROUND: Colour = (12, 14, 19)
PANEL: Colour = (18, 21, 28)
LINE: Colour = (58, 65, 80)
TEXT: Colour = (236, 239, 244)
QUIET: Colour = (160, 168, 182)


@dataclass(frozen=True, slots=True)
class Palette:
    """``accent`` marks what is chosen, accepted or applied, ``bad`` what went wrong or is being recorded."""

    accent: Colour = (244, 199, 130)
    bad: Colour = (240, 98, 92)


PALETTES = {"standard": Palette(), "safe": Palette(accent=(116, 196, 255), bad=(255, 156, 64))}
"""``safe``: blue and orange, which people with any of the common colour deficiencies tell apart."""

FONTS = Path(__file__).resolve().parents[1] / "assets" / "fonts"
BUNDLED = (FONTS / "Inter-Regular.otf", FONTS / "NotoSansSC-Words.otf")
"""The second has just the signs of the Chinese table of words; ATTRIBUTION.md says how it is made."""
FALLBACK_FONTS = (
    "notosanscjksc",
    "notosanscjkjp",
    "notosanssc",
    "sourcehansanssc",
    "microsoftyahei",
    "pingfangsc",
    "hiraginosansgb",
    "wenquanyizenhei",
    "wenquanyimicrohei",
    "droidsansfallback",
    "simhei",
    "applesdgothicneo",
    "malgungothic",
    "notosans",
    "dejavusans",
    "arialunicodems",
    "segoeuisymbol",
)
"""System fonts that are asked for signs which the bundled one lacks, best first. None of them need exist."""

MOST_KEPT = 600
_SAMPLES = 4
"""Edges of panels are drawn this many times larger and shrunk, as pygame's rounded rectangles are not smooth."""


class Role(Enum):
    """(size in pixels at scale 1, weight)"""

    TITLE = (44, "SemiBold")
    HEADING = (25, "SemiBold")
    STRONG = (17, "SemiBold")
    BODY = (17, "Regular")
    SMALL_STRONG = (14, "SemiBold")
    SMALL = (14, "Regular")


@dataclass(frozen=True, slots=True)
class Panel:
    """A rounded rectangle. ``alpha`` 0 to 255; ``line`` is its outline, if any."""

    width: int
    height: int
    radius: int
    fill: Colour = PANEL
    alpha: int = 225
    line: Colour | None = None
    line_alpha: int = 255


class Glyphs:
    """Which font has which character. One for all sizes; system fonts are looked for only when one is needed."""

    def __init__(self) -> None:
        pygame.freetype.init()
        self._paths: list[Path] = list(BUNDLED)
        self._faces: list[pygame.freetype.Font] = []
        self._candidates = iter(FALLBACK_FONTS)
        self._known: dict[str, int] = {}

    def path(self, index: int) -> Path:
        return self._paths[index]

    def runs(self, text: str) -> Iterator[tuple[int, str]]:
        """(font index, piece) of the text; index 0 is the bundled font. What none can draw becomes "?"."""
        if not text.isascii():
            text = text.encode("utf-8", errors="replace").decode()  # lone surrogates, as file names may hold them
        text = text.replace("\0", "?")
        start, current = 0, 0
        for place, character in enumerate(text):
            if character.isascii():
                index = 0
            elif place and unicodedata.category(character) in ("Mn", "Me", "Cf"):
                index = current  # marks and joiners stay with the sign before them
            else:
                index = self._index(character)
            if place and index != current:
                yield current, text[start:place]
                start = place
            current = index
        if text:
            yield current, text[start:]

    def _index(self, character: str) -> int:
        if character not in self._known:
            self._known[character] = self._find(character)
        return self._known[character]

    def _find(self, character: str) -> int:
        if not self._faces:
            self._faces.extend(pygame.freetype.Font(str(path), 16) for path in BUNDLED)
        for index, face in enumerate(self._faces):
            if face.get_metrics(character)[0] is not None:
                return index
        for name in self._candidates:
            found = pygame.font.match_font(name)
            if found is None or Path(found) in self._paths:
                continue
            self._paths.append(Path(found))
            self._faces.append(pygame.freetype.Font(found, 16))
            if self._faces[-1].get_metrics(character)[0] is not None:
                return len(self._faces) - 1
        return 0


class Theme:
    """Text and panels at one scale of the window, in one language and set of colours."""

    def __init__(self, scale: float, glyphs: Glyphs, language: str = "en", palette: Palette | None = None) -> None:
        self.scale, self.language = scale, language
        self.palette = palette or Palette()
        self._glyphs = glyphs
        self._fonts: dict[tuple[Role, int], pygame.font.Font] = {}
        self._texts: OrderedDict[tuple[str, Role, Colour], pygame.Surface] = OrderedDict()
        self._widths: dict[tuple[str, Role], int] = {}
        self._panels: OrderedDict[Panel, pygame.Surface] = OrderedDict()
        self._smaller: dict[float, Theme] = {}

    def fitting(self, wanted_px: int, room_px: int) -> Theme:
        """This theme, or one so much smaller that what takes ``wanted_px`` in this one fits into ``room_px``."""
        if wanted_px <= room_px:
            return self
        part = max(0.3, math.floor(room_px / wanted_px * 20) / 20)
        if part not in self._smaller:
            self._smaller[part] = Theme(self.scale * part, self._glyphs, self.language, self.palette)
        return self._smaller[part]

    @property
    def accent(self) -> Colour:
        return self.palette.accent

    @property
    def bad(self) -> Colour:
        return self.palette.bad

    def say(self, key: str, /, **values: str | int | float) -> str:
        """Words of the window."""
        return table.say(self.language, key, **values)

    def spoken(self, english: str) -> str:
        """What the engine or an error tells, in the window's language."""
        return sentences.spoken(self.language, english)

    def prompt(self, prompt: str) -> str:
        """What is shown for a prompt: a scene's own in the window's language, any other as it was typed."""
        return scenes.prompt(self.language, prompt)

    def px(self, length: float) -> int:
        """A length of the design, at scale 1, in window pixels."""
        return round(length * self.scale)

    def text(self, text: str, role: Role, colour: Colour = TEXT) -> pygame.Surface:
        """A line of text; rendered when it is first asked for."""
        key = (text, role, colour)
        kept = self._texts.get(key)
        if kept is None:
            kept = self._texts[key] = self._render(text, role, colour)
            if len(self._texts) > MOST_KEPT:
                self._texts.popitem(last=False)
        else:
            self._texts.move_to_end(key)
        return kept

    def width(self, text: str, role: Role) -> int:
        key = (text, role)
        if key not in self._widths:
            if len(self._widths) > 4 * MOST_KEPT:
                self._widths.clear()
            runs = self._glyphs.runs(text)
            self._widths[key] = sum(self._font(role, index).size(piece)[0] for index, piece in runs)
        return self._widths[key]

    def line_height(self, role: Role) -> int:
        return self._font(role, 0).get_linesize()

    def shortened(self, text: str, role: Role, width: int) -> str:
        """The text, or as much of its beginning as fits, with an ellipsis."""
        text = " ".join(text[:300].split())
        if self.width(text, role) <= width:
            return text
        low, high = 0, len(text)
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self.width(text[:middle] + "…", role) <= width else (low, middle - 1)
        return text[:low].rstrip() + "…"

    def wrapped(self, text: str, role: Role, width: int) -> list[str]:
        """The text in lines; a word that is too long, or a script without spaces, breaks anywhere."""
        lines, line = [], ""
        for word in text.split():
            joined = f"{line} {word}" if line else word
            if self.width(joined, role) <= width:
                line = joined
                continue
            if line:
                lines.append(line)
            line = ""
            for character in word:
                if line and self.width(line + character, role) > width:
                    lines.append(line)
                    line = ""
                line += character
        return [*lines, line] if line else lines

    def panel(self, panel: Panel) -> pygame.Surface:
        """A rounded panel with smooth edges; drawn when it is first asked for."""
        kept = self._panels.get(panel)
        if kept is None:
            kept = self._panels[panel] = _draw_panel(panel)
            if len(self._panels) > 80:
                self._panels.popitem(last=False)
        else:
            self._panels.move_to_end(panel)
        return kept

    def _font(self, role: Role, index: int) -> pygame.font.Font:
        font = self._fonts.get((role, index))
        if font is None:
            size, weight = role.value
            path = FONTS / f"Inter-{weight}.otf" if index == 0 else self._glyphs.path(index)
            font = self._fonts[role, index] = pygame.font.Font(path, max(8, self.px(size)))
        return font

    def _render(self, text: str, role: Role, colour: Colour) -> pygame.Surface:
        parts = [(self._font(role, index), piece) for index, piece in self._glyphs.runs(text)]
        parts = [(font, piece) for font, piece in parts if font.size(piece)[0] > 0]  # pygame refuses to draw the others
        own = self._font(role, 0)
        if len(parts) == 1 and parts[0][0] is own:
            return own.render(parts[0][1], True, colour)
        # every line has the bundled font's height and baseline, so that scripts stand level beside each other; the
        # room that other fonts keep above their signs is cut
        drawn = [font.render(piece, True, colour) for font, piece in parts]
        ascent = own.get_ascent()
        size = max(1, sum(part.get_width() for part in drawn)), self.line_height(role)
        line = pygame.Surface(size, pygame.SRCALPHA)
        x = 0
        for (font, _), part in zip(parts, drawn, strict=True):
            line.blit(part, (x, ascent - font.get_ascent()))
            x += part.get_width()
        return line


def _draw_panel(panel: Panel) -> pygame.Surface:
    """Corners at several times the size and shrunk, middle stretched: cheap for large panels too."""
    width, height = max(1, panel.width), max(1, panel.height)
    radius = max(0, min(panel.radius, width // 2, height // 2))
    corner = radius + 2
    if width < 2 * corner or height < 2 * corner:
        return _smooth_rectangle(width, height, radius, panel)
    small = _smooth_rectangle(2 * corner, 2 * corner, radius, panel)
    surface = pygame.Surface((width, height), pygame.SRCALPHA)
    surface.fill((*panel.fill, panel.alpha))
    if panel.line is not None:
        pygame.draw.rect(surface, (*panel.line, panel.line_alpha), surface.get_rect(), 1)
    for right in (False, True):
        for bottom in (False, True):
            at = (width - corner if right else 0, height - corner if bottom else 0)
            piece = pygame.Rect(corner * right, corner * bottom, corner, corner)
            surface.fill((0, 0, 0, 0), pygame.Rect(at, (corner, corner)))
            surface.blit(small, at, piece, special_flags=pygame.BLEND_RGBA_ADD)
    return surface


def _smooth_rectangle(width: int, height: int, radius: int, panel: Panel) -> pygame.Surface:
    n = _SAMPLES
    large = pygame.Surface((width * n, height * n), pygame.SRCALPHA)
    edge = panel.fill if panel.line is None else panel.line
    large.fill((*edge, 0))  # the colour of clear pixels counts when they are averaged
    if panel.line is not None:
        pygame.draw.rect(large, (*panel.line, panel.line_alpha), large.get_rect(), border_radius=radius * n)
        inner = large.get_rect().inflate(-2 * n, -2 * n)
        pygame.draw.rect(large, (*panel.fill, panel.alpha), inner, border_radius=max(0, radius - 1) * n)
    else:
        pygame.draw.rect(large, (*panel.fill, panel.alpha), large.get_rect(), border_radius=radius * n)
    return pygame.transform.smoothscale(large, (width, height))


Hints = tuple[tuple[str, str], ...]
"""(key, what it does), as a line of advice shows them."""


def hint_line(theme: Theme, hints: Hints, most_width: int | None = None) -> pygame.Surface:
    """Keys and their meanings on one line, told apart by weight. Where it would be wider than ``most_width`` pixels,
    those before the last one go: the first ones matter most, and the last one is the way out."""
    pieces = [
        (theme.text(key, Role.SMALL_STRONG, TEXT), theme.text(meaning, Role.SMALL, QUIET)) for key, meaning in hints
    ]
    near, far = theme.px(7), theme.px(20)
    widths = [key.get_width() + near + meaning.get_width() + far for key, meaning in pieces]
    while most_width is not None and len(pieces) > 2 and sum(widths) - far > most_width:
        del pieces[-2], widths[-2]
    width = sum(widths) - far
    line = pygame.Surface((max(1, width), theme.line_height(Role.SMALL)), pygame.SRCALPHA)
    x = 0
    for key, meaning in pieces:
        line.blit(key, (x, 0))
        line.blit(meaning, (x + key.get_width() + near, 0))
        x += key.get_width() + near + meaning.get_width() + far
    return line


def faded(surface: pygame.Surface, alpha: float) -> pygame.Surface:
    """The surface at ``alpha`` 0 to 1; the same surface where that is 1."""
    if alpha >= 1.0:
        return surface
    copy = surface.copy()
    copy.fill((255, 255, 255, round(255 * max(0.0, alpha))), special_flags=pygame.BLEND_RGBA_MULT)
    return copy


def rounded(picture: pygame.Surface, radius: int) -> pygame.Surface:
    """The picture with round corners."""
    result = picture.convert_alpha()
    mask = _draw_panel(Panel(*picture.get_size(), radius, fill=(255, 255, 255), alpha=255))
    result.blit(mask, (0, 0), special_flags=pygame.BLEND_RGBA_MULT)
    return result
