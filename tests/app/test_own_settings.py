"""The user's own settings: written whole, read back, set aside when broken with the good ones kept."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from app import own_settings, settings
from app.settings import Settings
from engine.errors import FileProblem

NOW = datetime(2026, 1, 31, 18, 5, 9)
MANY = {
    "app.language": "zh",
    "app.text_size": 1.25,
    "app.scene": None,
    "app.recordings_dir": 'C:\\films\\"new" 雪: #1',
    "app.keys.forward": ("E", "\\"),
    "app.keys.menu": (),
    "engine.window.interactive": False,
    "engine.steps": 4,
}


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "config" / "worldwalk" / "settings.yaml"
    own_settings.write(path, MANY)
    own = own_settings.read(path, NOW)
    assert own.notice is None
    assert own.values == MANY
    assert settings.load(None, (), {}, own.values).app.keys.forward == ("E", "\\")
    assert [file.name for file in path.parent.iterdir()] == ["settings.yaml"], "no draft is left"


def test_every_setting_survives_the_way_through_the_file(tmp_path: Path) -> None:
    path = tmp_path / "settings.yaml"
    own_settings.write(path, settings.flat(Settings()))
    loaded = settings.load(None, (), {}, own_settings.read(path, NOW).values)
    assert (loaded.app, loaded.engine) == (Settings().app, Settings().engine)


def test_no_file_is_no_trouble(tmp_path: Path) -> None:
    assert own_settings.read(tmp_path / "absent.yaml", NOW) == own_settings.Own()


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("app:\n  seed: 5\n  text_size: 9\n  invert_y: true\n", {"app.seed": 5, "app.invert_y": True}),
        ("app:\n  seed: 5\n  colour: blue\n", {"app.seed": 5}),
        ("app:\n  seed: 5\n  scene: [lagoon\nengine:\n  steps: 3\n", {"app.seed": 5, "engine.steps": 3}),
        ("app:\n  seed: 5\n\tinvert_y: true\n", {"app.seed": 5}),
        ('app:\n  seed: 5\n  keys:\n    forward: ["Q9"]\n    back: ["X"]\n', {"app.seed": 5, "app.keys.back": ("X",)}),
        ("app:\n  seed: 5\n  fullscreen: on\n", {"app.seed": 5}),
        ("app:\n  seed: 5\n  scene: \ufffd\n", {"app.seed": 5}),
        ("\x00\x01\x02", {}),
        ("just words", {}),
        ("apps:\n  seed: 5\n", {}),
    ],
)
def test_a_broken_file_is_set_aside_and_its_good_values_are_kept(
    tmp_path: Path, text: str, kept: dict[str, object]
) -> None:
    path = tmp_path / "settings.yaml"
    path.write_bytes(text.encode().replace("\ufffd".encode(), b"\xff\xfe"))
    own = own_settings.read(path, NOW)
    assert own.values == kept
    assert own.notice is not None
    assert own.notice.count("settings broken 2026-01-31 18-05-09.yaml") == 1
    assert "\n" not in own.notice
    assert (tmp_path / "settings broken 2026-01-31 18-05-09.yaml").read_bytes().startswith(text.encode()[:3])
    again = own_settings.read(path, NOW)
    assert (again.values, again.notice) == (kept, None), "the good values are a file again"


def test_a_file_that_cannot_be_written_is_one_sentence_and_the_old_one_stays(tmp_path: Path) -> None:
    (tmp_path / "folder").write_text("a file where the folder should be")
    with pytest.raises(FileProblem, match="cannot be kept"):
        own_settings.write(tmp_path / "folder" / "settings.yaml", MANY)


def test_the_folder_can_be_named(tmp_path: Path) -> None:
    assert own_settings.default_path({"WORLDWALK_CONFIG_DIR": str(tmp_path)}) == tmp_path / "settings.yaml"
    assert own_settings.default_path({}).parts[-2:] == ("worldwalk", "settings.yaml")
