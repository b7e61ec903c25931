"""Which model a checkpoint is: its own config.json, then the table, then the user; never a name."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from engine.catalogue import RECORD
from engine.errors import BadValue, FileProblem, MissingModelValue
from engine.lingbot.config import (
    Family,
    LingBotConfig,
    ScheduleSpec,
    StreamOverrides,
    builtin,
    config_of,
    parameter_count,
)
from engine.lingbot.layouts import find, transformer_files
from engine.models.dit import CausalDiT
from engine.models.dit_config import DiTConfig
from engine.window import StreamShape
from tests.engine.tiny_dit import CONFIG
from tests.lingbot_checkpoints import TINY_1_3B, TINY_14B, write


def changed(folder: Path, layout: str, **values: object) -> Path:
    """A checkpoint whose config.json has these values; None takes one away."""
    made = write(folder, layout)
    path = next(made.path.glob("transformer*/config.json"))
    config = {**json.loads(path.read_text("utf-8")), **values}
    path.write_text(json.dumps({name: value for name, value in config.items() if value is not None}), "utf-8")
    return made.path


def read(path: Path, overrides: StreamOverrides | None = None) -> LingBotConfig:
    return config_of(transformer_files(path), overrides)


@pytest.mark.parametrize(
    ("dit", "count"),
    [
        (builtin(Family.V1_FAST).dit, 18_544_332_864),
        (builtin(Family.V2_14B).dit, 18_544_332_864),
        (builtin(Family.V2_1_3B).dit, 1_709_502_016),
        (CONFIG, None),
        (replace(CONFIG, in_channels=20, out_channels=8, freq_dim=64, camera_channels=24, layers=1), None),
    ],
)
def test_the_formula_counts_what_the_network_has(dit: DiTConfig, count: int | None) -> None:
    with torch.device("meta"):
        model = CausalDiT(dit)
    assert parameter_count(dit) == sum(parameter.numel() for parameter in model.parameters())
    assert count is None or parameter_count(dit) == count


def test_the_published_models_are_those_of_their_papers() -> None:
    v1, v2, small = (builtin(family) for family in (Family.V1_FAST, Family.V2_14B, Family.V2_1_3B))
    assert (v1.dit, v1.dit.head_dim, small.dit.head_dim) == (v2.dit, 128, 128)
    assert [model.stream for model in (v1, v2, small)] == [
        StreamShape(3, 18, 9),
        StreamShape(3, 18, 6),
        StreamShape(4, 18, 6),
    ]
    assert v1.schedule == ScheduleSpec("official", 10.0, (0, 179, 358, 679))
    assert v2.schedule == small.schedule == ScheduleSpec("official", 5.0, (0, 250, 500, 750))


@pytest.mark.parametrize(
    ("layout", "dit", "family", "stream"),
    [
        ("v1-fast", TINY_14B, Family.V2_14B, StreamShape(3, 18, 9)),
        ("v2-14b-diffusers", TINY_14B, Family.V2_14B, StreamShape(3, 18, 9)),
        ("v2-14b", TINY_14B, Family.V2_14B, StreamShape(3, 18, 6)),
        ("v2-1.3b", TINY_1_3B, Family.V2_1_3B, StreamShape(4, 18, 6)),
    ],
)
def test_each_layout_tells_its_sizes_and_how_it_streams(
    tmp_path: Path, layout: str, dit: DiTConfig, family: Family, stream: StreamShape
) -> None:
    made = write(tmp_path, layout)
    config = config_of(find(made.path, made.assets))
    assert (config.dit, config.family, config.stream) == (dit, family, stream)
    assert config.text_length == 512


def test_the_names_of_folders_say_nothing(tmp_path: Path) -> None:
    here = tmp_path / "lingbot-world-v2-1.3b" / "v1-fast"
    assert read(write(here, "v2-14b").path) == read(write(tmp_path / "x", "v2-14b").path)


def test_the_user_wins_over_the_checkpoint_value_by_value(tmp_path: Path) -> None:
    path = changed(tmp_path, "v1-fast", num_frames_per_block=5)
    assert read(path).stream == StreamShape(5, 18, 9)
    asked = StreamOverrides(Family.V1_FAST, window_latent_frames=24, sink_latent_frames=0)
    config = read(path, asked)
    assert (config.stream, config.schedule) == (StreamShape(5, 24, 0), builtin(Family.V1_FAST).schedule)


def test_the_record_of_a_download_names_the_family_and_the_user_still_wins(tmp_path: Path) -> None:
    path = write(tmp_path, "v1-fast").path
    (path / RECORD).write_text('{"family": "v1-fast"}')
    assert read(path).family is Family.V1_FAST
    assert read(path, StreamOverrides(family=Family.V2_14B)).family is Family.V2_14B
    (path / RECORD).write_text('{"family": "v9"}')
    with pytest.raises(FileProblem, match="Delete this file"):
        read(path)


def test_a_fixed_attention_window_replaces_the_sliding_one(tmp_path: Path) -> None:
    path = changed(tmp_path, "v1-fast", local_attn_size=21, sink_size=0)
    assert read(path).stream == StreamShape(3, 21, 0)


@pytest.mark.parametrize(
    ("layout", "name"),
    [("v1-fast", "num_layers"), ("v1-fast", "attention_head_dim"), ("v2-14b", "ffn_dim"), ("v2-14b", "freq_dim")],
)
def test_a_missing_value_names_itself(tmp_path: Path, layout: str, name: str) -> None:
    with pytest.raises(MissingModelValue, match=rf"config\.json lacks '{name}'"):
        read(changed(tmp_path, layout, **{name: None}))


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"num_layers": "two"}, "'num_layers' is not a whole number"),
        ({"num_layers": 0}, "'num_layers' is 0"),
        ({"eps": "small"}, "'eps' is not a number"),
        ({"num_heads": 3}, "sizes that do not fit together"),
    ],
)
def test_a_bad_value_names_itself(tmp_path: Path, values: dict[str, object], told: str) -> None:
    with pytest.raises(FileProblem, match=told):
        read(changed(tmp_path, "v2-14b", **values))


@pytest.mark.parametrize("asked", [StreamOverrides(window_latent_frames=11), StreamOverrides(chunk_latent_frames=0)])
def test_a_window_too_small_for_sink_and_chunk_is_refused(tmp_path: Path, asked: StreamOverrides) -> None:
    with pytest.raises(BadValue, match="a window that holds sink and chunk"):
        read(write(tmp_path, "v1-fast").path, asked)
