"""What the engine and the errors about files tell, in the window's language: complete, and read out of the source."""

from __future__ import annotations

import ast
import itertools
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from app import messages
from app.settings import APP_SETTINGS
from app.theme import Glyphs, Theme
from app.values import AppState
from app.words.sentences import SENTENCES, known, spoken
from app.words.table import LANGUAGES, placeholders
from engine import own_picture
from engine.config import ENGINE_SETTINGS
from engine.errors import BadValue, EngineLost, FileProblem, MissingModelValue, NeedsLibrary, OutOfGpuMemory
from engine.protocol import EventRejected, Failed, StayedHere
from engine.runner import failed
from engine.window import Mode
from engine.wishes import unknown_notice
from engine.wording import prompt_problem, shown
from tests.app.walks import after, frame_chunk, walking

ROOT = Path(__file__).resolve().parents[3]
ENGINE = ("backends", "bundled", "bundled_world", "catalogue", "config", "device", "fake", "host", "own_picture")
ENGINE += ("rewalk", "runner", "session", "state", "weights", "controls", "events", "failures", "optimize", "wording")
COMMAND_LINE = ("command_line", "desktop", "outputs", "render", "report", "checking", "download")
"""What only the command line says, as there is no window."""
PLACES = [ROOT / "engine" / f"{name}.py" for name in ENGINE]
PLACES += [path for part in ("app", "engine/remote", "engine/lingbot") for path in sorted((ROOT / part).glob("*.py"))]
COVERED = [path for path in PLACES if path.stem not in COMMAND_LINE]

TOLD = ("BadValue", "FileProblem", "WeightsProblem", "NeedsHardware", "NeedsLibrary", "Failed", "StayedHere", "_fail")
TOLD += ("RemoteProblem", "Busy", "WireProblem", "EventRejected", "Rejection", "_bad", "_as_list", "_whole_number")
COMPOSED = ("{}: got {}, expected {}.", "{} {}", "{}:{}, png")
"""Put together from parts of errors that are in the table themselves, or the place of a value."""
OTHERS = [code for code in LANGUAGES if code != "en"]
PROGRAMS = "Close other programs."
MOST_WAYS = 64
"""In which one f-string is read."""
PART = "is empty"
"""Stands for whatever is put into a sentence: a part of one that has words."""


def literals(node: ast.expr, names: dict[str, list[ast.expr]], depth: int = 0) -> Iterator[str]:
    """The texts that an argument can be, with ``{}`` for what is put in; names are followed to what they are given, and
    functions of the module to what they return."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        parts = [inserted(part, names) for part in node.values]
        yield from ("".join(texts) for texts in itertools.islice(itertools.product(*parts), MOST_WAYS))
    elif isinstance(node, ast.IfExp):
        yield from (*literals(node.body, names, depth), *literals(node.orelse, names, depth))
    elif isinstance(node, ast.BoolOp):
        for value in node.values:
            yield from literals(value, names, depth)
    elif isinstance(node, ast.Name) and depth < 3:
        for value in names.get(node.id, []):
            yield from literals(value, names, depth + 1)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        for value in names.get(f"{node.func.id}()", []):
            yield from literals(value, {})
    elif isinstance(node, ast.Tuple):
        for value in node.elts:
            yield from literals(value, names, depth)


def inserted(part: ast.expr, names: dict[str, list[ast.expr]]) -> list[str]:
    """A piece of an f-string: ``{}``, unless it is one of the texts that a name of the module stands for."""
    if isinstance(part, ast.Constant):
        return [str(part.value)]
    assert isinstance(part, ast.FormattedValue), part
    given = names.get(part.value.id, []) if isinstance(part.value, ast.Name) else []
    texts = [list(literals(value, {})) for value in given]
    return list(dict.fromkeys(itertools.chain(*texts))) if texts and all(texts) else ["{}"]


def assigned(tree: ast.AST) -> dict[str, list[ast.expr]]:
    """Every name of a module with all that it is given anywhere in it, and every ``function()`` with its returns."""
    found: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            returned = [inner.value for inner in ast.walk(node) if isinstance(inner, ast.Return)]
            found.setdefault(f"{node.name}()", []).extend(value for value in returned if value is not None)
        if isinstance(node, ast.Assign):
            for target in node.targets:
                values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
                targets = target.elts if isinstance(target, ast.Tuple) else [target]
                for name, value in zip(targets, values, strict=False):
                    if isinstance(name, ast.Name):
                        found.setdefault(name.id, []).append(value)
    return found


def told_in(path: Path) -> Iterator[str]:
    tree = ast.parse(path.read_text("utf-8"))
    names = assigned(tree)
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and ast.unparse(call.func).rpartition(".")[2] in TOLD:
            for argument in [*call.args, *(keyword.value for keyword in call.keywords)]:
                yield from literals(argument, names)


def is_words(text: str) -> bool:
    """Neither a name of a setting or library, nor an option, nor only signs."""
    bare = text.replace("{}", "").strip(", ")
    return bool(re.search("[A-Za-z]{2}", bare)) and (" " in bare or text.endswith("."))


def sample(text: str) -> str:
    """The text with something put in; what follows a full stop is a sentence of its own."""
    return text.removesuffix("{}").replace("{}", PART) if text.endswith(".{}") else text.replace("{}", PART)


@pytest.mark.parametrize("code", OTHERS)
@pytest.mark.parametrize("path", COVERED, ids=lambda path: str(path.stem))
def test_everything_that_is_told_has_words(path: Path, code: str) -> None:
    texts = {text for text in told_in(path) if is_words(text) and text not in COMPOSED}
    assert not sorted(text for text in texts if known(code, sample(text)) is None)


@pytest.mark.parametrize("code", OTHERS)
def test_every_sentence_has_the_same_placeholders(code: str) -> None:
    assert not [key for key, said in SENTENCES[code].items() if placeholders(said) != placeholders(key)]
    assert not [key for key, said in SENTENCES[code].items() if not said.strip() or "\n" in said]


@pytest.mark.parametrize("code", OTHERS)
def test_what_every_setting_expects_has_words(code: str) -> None:
    rules = [*APP_SETTINGS.values(), *ENGINE_SETTINGS.values()]
    assert not {rule.expected() for rule in rules if known(code, rule.expected()) is None}


FAILURES = [
    FileProblem("/a/walk: b.mp4", "it cannot be written (No space left on device)", "Choose another folder."),
    BadValue("scene", shown("no"), "one of lagoon, meadow"),
    BadValue("engine.steps", shown(900), "a whole number from 1 to 50 or null", "Did you mean engine.steps?"),
    BadValue("--prompt", *(prompt_problem("x" * 3000) or ("", ""))),
    BadValue("scene", *(prompt_problem(" ") or ("", ""))),
    MissingModelValue("/m/config.json", "dim"),
    OutOfGpuMemory("CUDA out of memory"),
    NeedsLibrary("websockets", "remote", "Walking on a server needs"),
    EngineLost(None),
    EngineLost(3),
]


@pytest.mark.parametrize("error", FAILURES, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("code", OTHERS)
def test_whole_errors_are_said_as_a_sentence_and_as_a_failure(error: Exception, code: str) -> None:
    assert known(code, str(error)) is not None
    report = failed(error)
    assert known(code, report.message) is not None
    assert known(code, report.cure) is not None


@pytest.mark.parametrize("error", [MemoryError(), ImportError("no module named x"), RuntimeError("a: b. c")])
def test_failures_of_the_program_itself_are_said_too(error: Exception) -> None:
    report = failed(error)
    assert known("zh", report.message) is not None
    assert known("zh", report.cure) is not None


def test_what_the_small_model_tells_is_said_without_a_word_of_english() -> None:
    told = spoken("zh", unknown_notice("ein Satz. Noch einer"))
    assert "“ein Satz. Noch einer”" in told
    assert not re.search("[A-Za-z]{2}", told.replace("ein Satz. Noch einer", ""))
    fitted = own_picture.fit(np.full((48, 80, 3), 120, np.uint8))
    other = own_picture.fit(np.full((48, 80, 3), 250, np.uint8))
    for mix in (fitted.mix, other.mix):
        assert not re.search("[A-Za-z]", spoken("zh", own_picture.told(fitted, mix)))


def test_every_world_in_words_is_known() -> None:
    worlds = [
        f"{biome} {time} {weather}"
        for biome in own_picture._BIOME_WORDS
        for time in own_picture._TIME_WORDS
        for weather in own_picture._WEATHER_WORDS
    ]
    assert len({known("zh", world) for world in worlds} - {None}) == len(worlds) == 112


@pytest.mark.parametrize("code", OTHERS)
def test_the_window_never_waits_for_words(code: str) -> None:
    """However long a sentence is, and however many ways there are to take it apart."""
    begun = time.process_time()
    for text in (
        "word " * 200,
        "a. " * 300,
        "a: b " * 150,
        "Close other programs. " * 60,
        "at noon " * 100,
        "got is empty, expected " * 50,
    ):
        assert known(code, text) is None
    path = "/videos/lagoon 2026-11-30 01-33-22.mp4"
    told = f"{path}: the recording stopped, because the encoder failed (no space left on device). "
    assert path in (known(code, f"{told}What was recorded until then is kept.") or "")
    assert time.process_time() - begun < 1.0


def test_english_stays_as_it_is_and_so_does_what_nobody_foresaw() -> None:
    assert spoken("en", "No earlier moment of this world is kept.") == "No earlier moment of this world is kept."
    assert spoken("zh", "Something that no table knows.") == "Something that no table knows."
    assert spoken("zh", "Something new. Close other programs.") == "Something new. Close other programs."
    assert spoken("zh", "") == ""


def test_the_window_tells_in_its_language() -> None:
    settings = AppState().settings
    state = replace(walking(), settings=replace(settings, app=replace(settings.app, language="zh")))
    told = [
        messages.Told(str(FAILURES[0]), 0.0, bad=True),
        EventRejected(3, "prompt", "an empty text", "a prompt that is not blank"),
        StayedHere(1, "No earlier moment of this world is kept."),
        replace(frame_chunk(1), notice=unknown_notice("ein Satz")),
    ]
    for message in told:
        state, _ = after(state, [message])
        assert not re.search("[a-z]{3}", re.sub("walk: b.mp4|prompt|ein Satz", "", state.toasts[-1].text))


def test_a_failure_does_not_name_a_key_that_may_be_another() -> None:
    for cure, left in (
        ("Press R to try once more.", ""),
        ("Close other programs. Press R to try once more.", PROGRAMS),
    ):
        state, _ = after(walking(), [Failed("The world stopped.", cure)])
        assert state.failure == Failed("The world stopped.", left)
    state, _ = after(walking(), [failed(EngineLost(3))])
    assert state.failure is not None
    assert "Press" not in state.failure.cure


def test_a_failure_is_drawn_in_the_windows_language() -> None:
    assert Theme(1.0, Glyphs(), "zh").spoken("Press R to try once more.") == "按 R 再试一次。"


@pytest.mark.parametrize("code", OTHERS)
def test_what_is_seen_of_the_memory_has_words(code: str) -> None:
    assert all(known(code, mode) for mode in (*get_args(Mode), "server"))
