"""The table of words: complete in every language, and everything that the window draws is in it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pygame
import pygame.freetype
import pytest

from app import bindings, options
from app.menu import MenuItem
from app.options import Deed, Tab, When
from app.settings import APP_SETTINGS
from app.theme import BUNDLED
from app.words import table
from app.words.table import ENGLISH, LANGUAGES
from engine.config import ENGINE_SETTINGS

APP = Path(__file__).resolve().parents[3] / "app"
ENGINE = APP.parent / "engine"
DRAWING = ("hud", "pages", "settings_view", "input_view", "view", "hints", "details", "start_view")
DRAWING += ("beginning_view",)
DRAWING += ("rewind_view", "slots_view", "photo_view")
OTHERS = [code for code in LANGUAGES if code != "en"]
DRAWS = ("text", "shortened", "wrapped", "width")


@pytest.mark.parametrize("code", OTHERS)
def test_every_language_has_the_same_keys_in_the_same_order(code: str) -> None:
    assert list(LANGUAGES[code]) == list(ENGLISH)


@pytest.mark.parametrize("code", OTHERS)
def test_every_text_has_the_same_placeholders(code: str) -> None:
    wrong = [key for key in ENGLISH if table.placeholders(LANGUAGES[code][key]) != table.placeholders(ENGLISH[key])]
    assert not wrong


@pytest.mark.parametrize("code", LANGUAGES)
def test_no_text_is_empty_or_of_several_lines(code: str) -> None:
    assert not [key for key, text in LANGUAGES[code].items() if not text.strip() or "\n" in text]


def test_every_setting_page_row_and_menu_item_has_words() -> None:
    rows = [*options.PRESET.split(), *Deed, *(f"app.{name}" for name in APP_SETTINGS)]
    rows += [f"engine.{name}" for name in ENGINE_SETTINGS]
    wanted = [options.name_key(row) for row in rows]
    wanted += [f"about.{row}" for row in rows if not options.is_keys(row)]
    wanted += [f"tab.{tab}" for tab in Tab] + [f"when.{when}" for when in When] + [f"menu.{item}" for item in MenuItem]
    wanted += [f"preset.{name}" for name in bindings.PRESETS] + [f"value.{name}" for name in bindings.LABELS]
    assert not [key for key in wanted if not table.knows(key)]


def sources() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(APP.glob("*.py")):
        yield path.stem, ast.parse(path.read_text("utf-8"))


def calls(tree: ast.AST) -> Iterator[ast.Call]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def name_of(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def strings(node: ast.expr) -> Iterator[str]:
    """The literals that an argument may turn out to be; parts of f-strings are patterns."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield re.escape(node.value)
    elif isinstance(node, ast.JoinedStr):
        yield "".join(re.escape(part.value) if isinstance(part, ast.Constant) else ".+" for part in node.values)
    elif isinstance(node, ast.IfExp):
        yield from (*strings(node.body), *strings(node.orelse))


def test_every_key_that_is_said_is_in_the_table() -> None:
    missing = []
    for stem, tree in sources():
        for call in calls(tree):
            if name_of(call) == "say" and call.args:
                wanted = [pattern for argument in call.args[:2] for pattern in strings(argument)]
                known = [pattern for pattern in wanted if any(re.fullmatch(pattern, key) for key in ENGLISH)]
                if wanted and not known:
                    missing.append((stem, call.lineno, wanted))
    assert not missing


def test_no_words_are_drawn_that_are_not_in_the_table() -> None:
    """Signs may be drawn as they are; letters in a literal are words."""
    bare = []
    for stem, tree in sources():
        for call in calls(tree) if stem in DRAWING else ():
            if name_of(call) in DRAWS and call.args:
                found = [text for text in strings(call.args[0]) if re.search(r"[A-Za-z]{2}", text.replace(r"\ ", ""))]
                bare += [(stem, call.lineno, text) for text in found]
    assert not bare


def test_the_stages_of_loading_are_translated() -> None:
    told = set()
    for path in ("runner", "host", "bundled", "backends"):
        text = (ENGINE / f"{path}.py").read_text("utf-8")
        told |= set(re.findall(r'(?:progress|Loading)\("([^"]+)"', text))
    assert len(told) >= 5
    assert not [stage for stage in told if not table.knows(f"stage.{stage}")]
    assert table.stage("zh", "Loading torch") == "正在加载 torch"
    assert table.stage("zh", "Something new") == "Something new"


def test_the_bundled_fonts_have_every_sign_of_every_language() -> None:
    pygame.freetype.init()
    faces = [pygame.freetype.Font(str(path), 16) for path in BUNDLED]
    used = {sign for words in LANGUAGES.values() for text in words.values() for sign in text} - {" "} | set(
        table.signs()
    )
    lacking = {sign for sign in used if all(face.get_metrics(sign)[0] is None for face in faces)}
    assert not lacking, f"make the font anew, as assets/ATTRIBUTION.md says: {''.join(sorted(lacking))}"
    assert BUNDLED[1].stat().st_size < 400_000


@pytest.mark.parametrize(
    ("wanted", "system", "language"),
    [
        ("auto", "zh_CN.UTF-8", "zh"),
        ("auto", "zh-Hans", "zh"),
        ("auto", "Chinese (Simplified)_China", "zh"),
        ("auto", "en_GB", "en"),
        ("auto", "fr_FR", "en"),
        ("auto", "C", "en"),
        ("zh", "en_US", "zh"),
    ],
)
def test_the_language_is_the_one_wanted_or_the_systems(wanted: str, system: str, language: str) -> None:
    assert table.chosen(wanted, system) == language
