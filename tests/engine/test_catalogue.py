"""What models there are, told without torch."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine import catalogue
from engine.config import BACKENDS
from engine.errors import FileProblem, MissingModelValue
from engine.lingbot.config import Family


@pytest.fixture(autouse=True)
def _own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the developer has fetched must not change what the tests see."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr("platformdirs.user_data_dir", lambda *_, **__: str(tmp_path / "data"))


def test_every_backend_is_listed() -> None:
    assert set(BACKENDS) == {model.backend for model in catalogue.listed()}
    assert all(model.name in catalogue.as_text() for model in catalogue.listed())


def test_every_published_model_has_a_licence_a_size_and_a_need() -> None:
    models = [model for model in catalogue.listed() if model.backend == "lingbot"]
    assert [model.name for model in models] == ["v2-1.3b", "v2-14b", "v1-fast"]
    assert all("GB to fetch" in model.state and "GPU memory" in model.needs and model.licence for model in models)
    for name in ("v2-1.3b", "v2-14b"):
        licence = catalogue.published(name).licence
        assert (licence.name, licence.restricts) == ("CC BY-NC-SA 4.0", True)


def test_families_are_those_that_can_be_loaded() -> None:
    assert {model.name for model in catalogue.PUBLISHED} == {family.value for family in Family}


def test_no_pickle_is_ever_fetched() -> None:
    patterns = [pattern for model in catalogue.PUBLISHED for part in model.parts for pattern in part.patterns]
    assert all(pattern.endswith((".safetensors", ".json", ".model")) for pattern in patterns)


def test_a_model_is_found_by_path_name_and_repository(tmp_path: Path) -> None:
    assert catalogue.locate(str(tmp_path)) == tmp_path
    repo = "robbyant/lingbot-world-fast-diffusers"
    for text in ("v1-fast", repo):
        with pytest.raises(FileProblem, match="models get v1-fast"):
            catalogue.locate(text)
    for text in ("someone/else", "~nobody-of-this-name/x", "x" * 5000):
        with pytest.raises(FileProblem, match=r"one of v2-1\.3b"):
            catalogue.locate(text)
    cached = tmp_path / "hub" / f"models--{repo.replace('/', '--')}" / "snapshots" / "abc"
    cached.mkdir(parents=True)
    assert catalogue.locate(repo) == catalogue.locate("v1-fast") == cached.parent.parent
    own = catalogue.published("v1-fast").folder
    own.mkdir(parents=True)
    (own / catalogue.RECORD).write_text("{}")
    assert catalogue.locate("v1-fast") == own
    assert str(own) in catalogue.as_text()


def test_the_bundled_models_size_is_that_of_its_config() -> None:
    width, height = catalogue.frame_size()
    assert width % 16 == height % 16 == 0


@pytest.mark.parametrize("text", ["{}", '{"size": 5}', '{"size": {"width_px": true, "height_px": 112}}'])
def test_a_config_without_a_size_is_an_error_that_names_it(tmp_path: Path, text: str) -> None:
    (tmp_path / "config.json").write_text(text)
    with pytest.raises(MissingModelValue, match=r"size\.width_px"):
        catalogue.frame_size(tmp_path)


@pytest.mark.parametrize("text", ["", "[]", "{"])
def test_a_config_that_is_no_map_is_one_sentence(tmp_path: Path, text: str) -> None:
    (tmp_path / "config.json").write_text(text)
    with pytest.raises(FileProblem, match=r"config\.json"):
        catalogue.frame_size(tmp_path)


def test_a_folder_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(FileProblem):
        catalogue.frame_size(tmp_path / "absent")
