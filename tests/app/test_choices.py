"""What options mean: which setting wins, which scene begins, where recordings go."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.choices import first_scene, scene_of, settings_of, takes_of
from app.command_line import Options
from engine.config import EngineConfig
from engine.errors import BadValue, FileProblem
from engine.protocol import ModelCard, SceneSpec, SessionHeader

ASSETS = Path(__file__).resolve().parents[2] / "assets"


def never() -> tuple[int, int]:
    raise AssertionError("the size is only needed for a picture of one's own")


def test_options_with_a_name_of_their_own_win_over_set(tmp_path: Path) -> None:
    options = Options("play", seed=4, backend="test_card", sets=("app.seed=9", "engine.backend=bundled"))
    chosen = settings_of(options, tmp_path / "absent.yaml", {})
    assert (chosen.app.seed, chosen.engine.backend) == (4, "test_card")


def test_the_shipped_file_is_read_unless_another_is_named(tmp_path: Path) -> None:
    shipped, other = tmp_path / "settings.yaml", tmp_path / "other.yaml"
    shipped.write_text("app:\n  seed: 1\n")
    other.write_text("app:\n  seed: 2\n")
    assert settings_of(Options("play"), shipped, {}).app.seed == 1
    assert settings_of(Options("play", settings=other), shipped, {}).app.seed == 2


def test_a_prompt_replaces_the_words_of_the_scene() -> None:
    name = first_scene(ASSETS)
    assert scene_of(Options("play"), None, ASSETS, never) is None
    scene = scene_of(Options("play", prompt="snow"), name, ASSETS, never)
    assert scene is not None
    assert (scene.name, scene.prompt) == (name, "snow")


def test_a_blank_prompt_is_refused() -> None:
    with pytest.raises(BadValue, match="--prompt"):
        scene_of(Options("play", prompt=" "), first_scene(ASSETS), ASSETS, never)


def test_without_scenes_the_cure_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileProblem, match="--image"):
        first_scene(tmp_path)


def test_the_first_take_goes_where_it_was_told_and_the_next_into_the_folder(tmp_path: Path) -> None:
    named, folder = tmp_path / "walk.mp4", tmp_path / "recordings"
    start = takes_of(named, folder, EngineConfig)
    card = ModelCard("test_card", "test card", "0" * 64, "cpu", "float32", 1, 32, 16, 16.0, 1)
    header = SessionHeader(SceneSpec("green", "a meadow"), 0, card)
    takes = [start(header), start(header)]
    for take in takes:
        assert take.log is not None
        take.log.close()
        take.recorder.stop()
    assert takes[0].recorder.path == named
    assert takes[1].recorder.path.parent == folder


def test_a_take_into_a_file_that_exists_is_refused_before_the_window_opens(tmp_path: Path) -> None:
    named = tmp_path / "walk.mp4"
    named.touch()
    with pytest.raises(FileProblem, match="already"):
        takes_of(named, tmp_path, EngineConfig())
