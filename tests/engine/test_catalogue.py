"""What models there are, told without torch."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine import catalogue
from engine.config import BACKENDS
from engine.errors import FileProblem, MissingModelValue


def test_every_backend_is_listed() -> None:
    assert [model.backend for model in catalogue.listed()] == list(BACKENDS)


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
