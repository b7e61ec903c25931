"""A large model as its owner meets it: every published layout, at a tiny size, from its files to a film and back."""

from __future__ import annotations

import json
from pathlib import Path

import imageio.v3 as iio
import numpy as np
import pytest

from main import main
from tests.app.test_recorder import read
from tests.lingbot_checkpoints import LAYOUTS, Made, write

WALK = """
- {hold: [w, l], look: {yaw_degrees: 10}, chunks: 1}
- {prompt: "snow at night"}
- {wait: 1}
"""
CHUNK = {"v2-1.3b": 4}
"""Latent frames made together; 3 where nothing else is said."""
FAMILY = {"v1-fast": ("--set", "engine.lingbot.family=v1-fast")}
"""Of a model whose files do not tell."""
STEPS = {"v1-fast": "999, 978, 947, 825; camera as lingbot"}
SIZE = ("--set", "engine.lingbot.width_px=48", "--set", "engine.lingbot.height_px=32")
PLACE = (
    "--set",
    "engine.device.device=cpu",
    "--set",
    "engine.device.dtype=float32",
    "--set",
    "engine.device.threads=1",
)
QUICK = (
    "--set",
    "engine.image.lazy_vae_encode_black_frames=4",
    "--set",
    "engine.lingbot.position_limit_latent_frames=32",
)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def options(made: Made) -> list[str]:
    assets = [] if made.assets is None else ["--assets", str(made.assets)]
    return ["--backend", "lingbot", "--model", str(made.path), *assets]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_published_layout_becomes_a_film_that_replays_byte_for_byte(
    layout: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = write(tmp_path / "model", layout)
    picture = tmp_path / "picture.png"
    iio.imwrite(picture, np.random.default_rng(1).integers(0, 256, (60, 90, 3), dtype=np.uint8))
    (tmp_path / "walk.yaml").write_text(WALK, encoding="utf-8")
    film, report, again = tmp_path / "walk.mp4", tmp_path / "report.json", tmp_path / "again.json"
    words = ["render", *options(made), "--script", str(tmp_path / "walk.yaml"), "--image", str(picture)]
    words += ["--prompt", "a forest", "--chunks", "3", "--seed", "5", "--out", str(film), "--report", str(report)]
    assert main([*words, *FAMILY.get(layout, ()), *SIZE, *PLACE, *QUICK]) == 0
    told, chunk = json.loads(report.read_text("utf-8")), CHUNK.get(layout, 3)
    frames = 4 * 3 * chunk - 3  # the first latent frame of a world is a single picture
    assert (told["backend"], told["chunks"], told["frames"], told["seed"]) == ("lingbot", 3, frames, 5)
    assert (told["prompt_updates"], told["text_encodes"], told["cross_attention_resets"]) == (1, 2, 1)
    assert read(film).shape == (frames, 32, 48, 3)
    said = capsys.readouterr().err
    assert "Reading the transformer" in said
    assert f"chunk {chunk}, window 18" in said
    assert STEPS.get(layout, "999, 937, 833, 624; camera as sglang") in said
    session = film.with_suffix(".worldwalk.jsonl")
    assert main(["replay", str(session), "--report", str(again), *PLACE]) == 0
    assert json.loads(again.read_text("utf-8"))["frames_sha256"] == told["frames_sha256"]


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["bench", "e2e", "--chunks", "1", *words, *PLACE]) == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert "Traceback" not in said
    return said


def test_without_a_model_one_sentence_says_what_to_give(capsys: pytest.CaptureFixture[str]) -> None:
    assert "--model PATH" in refused(capsys, "--backend", "lingbot")


def test_a_model_without_its_companions_one_sentence_says_what_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = write(tmp_path, "v2-1.3b")
    said = refused(capsys, "--backend", "lingbot", "--model", str(made.path))
    assert "assets" in said
    assert "text encoder" in said
