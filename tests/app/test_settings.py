"""Settings from file, option and environment: strict, with the place and the cure of every mistake."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from app.bindings import PAD_THINGS, THINGS
from app.settings import APP_SETTINGS, AppSettings, load
from engine import config as engine_config
from engine.config import ENGINE_SETTINGS, EngineConfig
from engine.errors import BadValue, FileProblem

SHIPPED = Path(__file__).resolve().parents[2] / "settings.yaml"


def written(folder: Path, text: str) -> Path:
    path = folder / "settings.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_without_a_file_everything_has_its_default() -> None:
    settings = load(None, (), {})
    assert settings.app == AppSettings()
    assert settings.engine == EngineConfig()
    assert not settings.engine.window.interactive


def test_the_shipped_file_names_every_setting_and_turns_the_window_on() -> None:
    settings = load(SHIPPED, (), {})
    text = SHIPPED.read_text("utf-8")
    assert settings.engine.window.interactive
    assert settings.app == AppSettings()
    for name in (name.rpartition(".")[2] for name in (*APP_SETTINGS, *ENGINE_SETTINGS)):
        assert f" {name}: " in text


def test_every_line_of_the_shipped_file_says_what_it_does() -> None:
    lines = [line for line in SHIPPED.read_text("utf-8").splitlines() if line and not line.startswith("#")]
    bare = [line for line in lines if "#" not in line]
    sections = ["app", "engine", "device", "camera", "window", "prompt", "image", "lingbot", "remote"]
    assert [line.strip(" :") for line in bare] == sections


def test_each_field_has_a_rule_and_each_rule_a_field() -> None:
    own = [field.name for field in fields(AppSettings) if field.name not in ("keys", "pad")]
    bound = [*(f"keys.{thing}" for thing in THINGS), *(f"pad.{thing}" for thing in PAD_THINGS)]
    assert [*own, *bound] == list(APP_SETTINGS)
    assert list(engine_config.to_dict(EngineConfig())) == list(ENGINE_SETTINGS)


def test_the_file_is_overridden_by_set_and_that_by_the_environment(tmp_path: Path) -> None:
    path = written(tmp_path, "engine:\n  window:\n    interactive: false\n    still_chunks: 5\n  steps: 4\n")
    sets = ["engine.window.still_chunks=7", "engine.window.interactive=false"]
    config = load(path, sets, {"WORLDWALK_ENABLE_INTERACTIVE_KV_WINDOW": "true"}).engine
    assert (config.steps, config.window.still_chunks, config.window.interactive) == (4, 7, True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "engine:\n  steps: many",
            "settings.yaml:2: engine.steps: got the text 'many', expected a whole number from 1",
        ),
        ("engine:\n  stepps: 4", "settings.yaml:2: engine.stepps: .*Did you mean engine.steps?"),
        ("engine:\n  window:\n    interactve: true", "settings.yaml:3.*Did you mean engine.window.interactive?"),
        ("engine:\n  still_chunks: 2", "Did you mean engine.window.still_chunks?"),
        ("engine:\n  window: true", "settings.yaml:2: engine.window: got true, expected a section with interactive"),
        ("enginee:\n  steps: 4", "settings.yaml:1: got the unknown section.*Did you mean engine?"),
        ("app:\n  fullscreen: no", "settings.yaml:2.*got no, which some read"),
        ("app:\n  fullscreen: 1", "app.fullscreen: got the whole number 1, expected true or false"),
        ("app:\n  seed: -1", "settings.yaml:2: app.seed: got the whole number -1, expected a whole number from 0"),
        ("app:\n  seed: 1.5", "app.seed: got the number 1.5, expected a whole number"),
        ("app:\n  seed: " + "9" * 90, "app.seed: got the whole number of about 90 digits"),
        ("app:\n  mouse_degrees_per_100_px: .nan", "mouse_degrees_per_100_px: got the number nan"),
        ("app:\n  scene: ''", "app.scene: got the text ''"),
        ("app:\n\tseed: 1", "settings.yaml:2: got a tab"),
        ("app:\n  seed: 1\n  seed: 2", "settings.yaml:3: got the key 'seed' again"),
        ("app.seed: 1", "settings.yaml:1: got the key 'app.seed'"),
        ("- app", "settings.yaml:1: got the list"),
        ("app: 5", "settings.yaml:1: got the whole number 5"),
        ("engine:\n  backend: llama", "expected one of bundled, test_card, lingbot, sglang"),
    ],
)
def test_a_mistake_names_the_line_the_value_and_the_cure(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(BadValue, match=said) as caught:
        load(written(tmp_path, text), (), {})
    assert caught.value.exit_code == 2
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("app.fullscreen=on", "--set app.fullscreen: got on, which some read"),
        ("app.fullscren=true", "--set app.fullscren: .*Did you mean app.fullscreen?"),
        ("fullscreen=true", "--set: got the text 'fullscreen=true', expected NAME=VALUE"),
        ("app.fullscreen", "--set: got the text 'app.fullscreen', expected NAME=VALUE"),
        ("ap.fullscreen=true", "--set ap.fullscreen: got the unknown section 'ap'|Did you mean app?"),
        ("engine.steps=[", "--set engine.steps: got"),
        ("engine.steps=", "null"),
    ],
)
def test_a_wrong_set_option_names_itself(text: str, said: str) -> None:
    if said == "null":
        assert load(None, [text], {}).engine.steps is None
        return
    with pytest.raises(BadValue, match=said):
        load(None, [text], {})


def test_a_whole_section_can_be_set_at_once() -> None:
    config = load(None, ["engine.window={interactive: true, still_chunks: 3}"], {}).engine
    assert (config.window.interactive, config.window.still_chunks) == (True, 3)


def test_an_empty_file_and_empty_sections_are_defaults(tmp_path: Path) -> None:
    assert load(written(tmp_path, ""), (), {}) == load(None, (), {})
    assert load(written(tmp_path, "app:\nengine:\n"), (), {}) == load(None, (), {})


def test_a_missing_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(FileProblem, match="no such file"):
        load(tmp_path / "absent.yaml", (), {})
