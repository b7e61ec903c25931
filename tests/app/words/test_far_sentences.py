"""Sentences that are put together far from the window: the list of models, stages of loading, memory, YAML, scenes."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
import yaml

from app import scenes as shipped
from app import strict_yaml
from app.words import scenes
from app.words.sentences import known
from app.words.table import LANGUAGES, stage
from engine import catalogue, weights
from engine.bundled import MODEL_FOLDER, load_bundled_model
from engine.byte_progress import ByteProgress
from engine.errors import BadValue, NeedsHardware, RemoteProblem
from engine.failures import failed
from engine.lingbot import memory
from engine.protocol import SceneSpec
from engine.remote.wire import Picture, SizeProblem, WireProblem
from engine.window import WindowPolicy
from engine.wishes import DEFAULTS, GROUPS, asked_mix
from tests.app.words.test_sentences import PART, assigned, literals

ROOT = Path(__file__).resolve().parents[3]
OTHERS = [code for code in LANGUAGES if code != "en"]
STAGES = ("progress", "_progress", "Loading", "ByteProgress")
NOT_LOADING = ("training", "bench", "doctor.py", "download.py")
"""What only the command line waits for."""
LATIN = re.compile("[A-Za-z]{3}")


def stages() -> set[str]:
    found = set()
    for path in sorted((ROOT / "engine").rglob("*.py")):
        if set(path.relative_to(ROOT / "engine").parts).isdisjoint(NOT_LOADING):
            tree = ast.parse(path.read_text("utf-8"))
            for call in ast.walk(tree):
                if isinstance(call, ast.Call) and ast.unparse(call.func).rpartition(".")[2] in STAGES and call.args:
                    found.update(literals(call.args[0], assigned(tree)))
    return {text.replace("{}", PART) for text in found}


@pytest.mark.parametrize("code", OTHERS)
def test_every_stage_of_loading_has_words(code: str) -> None:
    told = stages()
    assert {"Loading torch", "Reading the VAE", f"Looking for the server at {PART}"} <= told
    assert not [text for text in told if stage(code, text) == text]


def test_how_far_reading_has_come_is_said() -> None:
    told: list[str] = []
    now = iter(range(100))
    report = ByteProgress("Reading the VAE", 500, lambda text, _: told.append(text), clock=lambda: float(next(now)))
    report.add(100)
    report.add(400)
    assert [stage("zh", text) for text in told] == [
        "正在读取 VAE：0 kB，共 0 kB，还剩 4 s",
        "正在读取 VAE：0 kB，共 0 kB",
    ]


@pytest.mark.parametrize("code", OTHERS)
def test_the_whole_page_of_models_has_words(code: str) -> None:
    states = {found.state for found in catalogue.listed()} | {"on disk: /m/v2", "missing: /a/model.safetensors"}
    facts = {f"{found.what}; {state}" for found in catalogue.listed() for state in states}
    facts |= {text for found in catalogue.listed() for text in (found.needs, found.licence) if text}
    assert not [fact for fact in facts if known(code, fact) is None]
    assert known(code, "test card") is not None


@pytest.mark.parametrize("code", OTHERS)
@pytest.mark.parametrize("name", sorted(memory.PUBLISHED))
@pytest.mark.parametrize("size_fixed", [False, True])
@pytest.mark.parametrize("dtype", ["auto", "float32"])
@pytest.mark.parametrize("fp8", [None, False, True])
def test_too_little_memory_is_said_with_every_cure(
    name: str, size_fixed: bool, dtype: str, fp8: bool | None, code: str
) -> None:
    wishes_ = memory.Wishes(dtype=dtype, fp8_linears=fp8, size_fixed=size_fixed)
    for room in (memory.Room(10**9, (9, 0), None), memory.Room(2**62, (9, 0), 10**9)):
        found = memory.plan(memory.PUBLISHED[name], WindowPolicy(), room, wishes_)
        if not found.fits:
            assert known(code, failed(NeedsHardware(f"{found.line}.", found.cure)).message) is not None


@pytest.mark.parametrize("code", OTHERS)
def test_foreign_weights_are_named_in_words(code: str) -> None:
    assert not [text for _, *texts in weights._FOREIGN_STARTS for text in texts if known(code, text) is None]


@pytest.mark.parametrize("code", OTHERS)
def test_every_problem_of_the_yaml_parser_has_words(code: str) -> None:
    folder, found = Path(yaml.__file__).parent, set()
    for name in ("scanner", "parser", "composer"):
        for call in ast.walk(ast.parse((folder / f"{name}.py").read_text("utf-8"))):
            if isinstance(call, ast.Call) and ast.unparse(call.func).endswith("Error") and len(call.args) > 2:
                problem = call.args[2].left if isinstance(call.args[2], ast.BinOp) else call.args[2]
                found.update(literals(problem, {}))
    assert len(found) > 25
    assert not [text for text in found if known(code, re.sub("%[rd]", "':'", text)) is None]


BROKEN = ["a: [1", "a: b: c", "a: 'x", "a: }", "a:\n- b\nc", "a: yes", "a: 007", "? [1]\n: b", "a: 1\na: 2", "a: *b"]


@pytest.mark.parametrize("text", [*BROKEN, "a: &b 1", "a: !c 1", "--- 1\n--- 2", "1: 2", "a:\n\t- b", "\x00", "a: `b"])
def test_a_broken_settings_file_is_told_without_a_word_of_english(text: str) -> None:
    with pytest.raises(BadValue) as caught:
        strict_yaml.load(text, "f.yaml")
    told = known("zh", f"Your settings were damaged: {caught.value} They are kept as b.yaml; 3 of them still hold.")
    assert told is not None
    assert not LATIN.search(re.sub("yaml|YAML|true|false|yes|b.yaml", "", told))


@pytest.mark.parametrize("code", OTHERS)
def test_what_a_server_gets_wrong_is_said_with_its_details(code: str) -> None:
    size = SizeProblem("640x360", Picture(832, 480))
    other = WireProblem("chunk_index", "the whole number 7", "a whole number from 0 to 5")
    for problem in (size, other):
        told = RemoteProblem(f"The server at ws://h:1 does not keep to the protocol: {problem}.", "Correct --server.")
        said = known(code, failed(told).message)
        assert said is not None
        assert " was " not in said


# ---- scenes ------------------------------------------------------------------------------------------------------


def spec(name: str) -> SceneSpec:
    return shipped.find_scene(ROOT / "assets", name)


NAMES = [card.name for card in shipped.list_scenes(ROOT / "assets")]


@pytest.mark.parametrize("code", OTHERS)
def test_every_scene_has_a_title_and_a_prompt(code: str) -> None:
    assert set(scenes.TITLES[code]) == set(NAMES)
    assert {spec(name).prompt for name in NAMES} <= set(scenes.PROMPTS[code])


@pytest.mark.parametrize("code", OTHERS)
def test_what_is_shown_for_a_prompt_means_the_same_world(code: str) -> None:
    """The bundled reader has the same mix from both, whatever the world was before."""
    reader = load_bundled_model(MODEL_FOLDER, lambda stage, fraction: None).reader
    for english, shown in scenes.PROMPTS[code].items():
        wishes = [reader.read(text).wish for text in (english, shown)]
        for before in (DEFAULTS, ("canyon", "night", "storm")):
            mix = tuple(float(name == chosen) for group, chosen in zip(GROUPS, before, strict=True) for name in group)
            assert asked_mix(mix, wishes[0]) == asked_mix(mix, wishes[1]), shown


def test_a_typed_prompt_stays_as_it_is() -> None:
    assert scenes.prompt("zh", "a meadow, please") == "a meadow, please"
    assert scenes.prompt("en", spec("lagoon").prompt) == spec("lagoon").prompt
    assert scenes.title("en", "lagoon") is None
    assert scenes.title("zh", "my_picture") is None
