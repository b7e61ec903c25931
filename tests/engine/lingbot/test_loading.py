"""Shards to network: the numbers are the file's, one shard is in memory at a time, and every misfit is told at once."""

from __future__ import annotations

import sys
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from engine.byte_progress import ByteProgress
from engine.errors import WeightsProblem
from engine.lingbot.config import config_of
from engine.lingbot.layouts import CheckpointFiles, transformer_files
from engine.lingbot.loading import fingerprint, load_dit, load_sharded
from engine.models.dit import CausalDiT
from engine.models.dit_config import DiTConfig
from engine.weights import DIT_NAMES
from tests.lingbot_checkpoints import LAYOUTS, TINY_1_3B, TINY_14B, dit_state, write


def silent(stage: str, fraction: float | None) -> None:
    pass


def load(files: CheckpointFiles, config: DiTConfig, dtype: torch.dtype = torch.float32) -> CausalDiT:
    return load_dit(files, config, dtype=dtype, device="cpu", progress=silent)


def flat(tmp_path: Path) -> CheckpointFiles:
    return transformer_files(write(tmp_path, "v2-1.3b").path)


def rewritten(shard: Path, **changes: Tensor | None) -> None:
    """Replace, add or (None) take away tensors of a file."""
    state = {**load_file(shard), **{name.replace("__", "."): tensor for name, tensor in changes.items()}}
    save_file({name: tensor for name, tensor in state.items() if tensor is not None}, shard)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_gives_the_numbers_that_were_written(tmp_path: Path, layout: str) -> None:
    made = write(tmp_path, layout, seed=3)
    files = transformer_files(made.path)
    model = load(files, config_of(files).dit)
    for name, tensor in dit_state(made.dit, 3).items():
        found = model.state_dict()[name]
        assert found.dtype == torch.float32
        assert torch.equal(found, tensor.bfloat16().float() if layout == "v2-14b" else tensor), name
    assert not model.training
    assert not any(parameter.requires_grad for parameter in model.parameters())


def test_numbers_are_cast_to_the_type_asked_for(tmp_path: Path) -> None:
    model = load(flat(tmp_path), TINY_1_3B, torch.bfloat16)
    assert {parameter.dtype for parameter in model.parameters()} == {torch.bfloat16}


def test_diffusers_names_are_read_too(tmp_path: Path) -> None:
    state = dit_state(TINY_14B, 0)
    path = tmp_path / "model.safetensors"
    save_file({DIT_NAMES.to_other(name): tensor for name, tensor in state.items()}, path)
    model = load(transformer_files(path), TINY_14B)
    assert all(torch.equal(tensor, state[name]) for name, tensor in model.state_dict().items())


@pytest.mark.skipif(sys.platform != "linux", reason="what is mapped is read from /proc")
def test_one_shard_is_in_memory_at_a_time(tmp_path: Path) -> None:
    files = flat(tmp_path)
    mapped: list[int] = []

    def look(stage: str, fraction: float | None) -> None:
        maps = Path("/proc/self/maps").read_text("utf-8")
        mapped.append(sum(path.name in maps for path in files.transformer))

    with torch.device("meta"):
        model = CausalDiT(TINY_1_3B)
    report = ByteProgress("Reading", 1 << 40, look, clock=count(step=2).__next__)
    load_sharded(model, files.transformer, files.index, DIT_NAMES, dtype=torch.float32, device="cpu", report=report)
    assert len(mapped) > len(model.state_dict()) - 1
    assert max(mapped) == 1


def test_everything_that_does_not_fit_is_told_in_one_message(tmp_path: Path) -> None:
    files = flat(tmp_path)
    shard = files.transformer[0]
    first, second = sorted(load_file(shard))[:2]
    rewritten(shard, **{first: None, second: torch.zeros(3), "extra__weight": torch.zeros(1)})
    (shard.parent / "model.safetensors.index.json").unlink()
    with pytest.raises(WeightsProblem) as caught:
        load(transformer_files(shard.parent), TINY_1_3B)
    said = str(caught.value)
    assert f"1 missing ({first})" in said
    assert "1 unexpected (extra.weight)" in said
    assert f"1 of the wrong shape ({second} is [3]" in said
    assert "a LingBot-World transformer" in said


def test_the_configuration_of_another_size_is_told(tmp_path: Path) -> None:
    with pytest.raises(WeightsProblem, match=r"of the wrong shape .* and \d+ more"):
        load(flat(tmp_path), replace(TINY_1_3B, dim=256, heads=2))


def test_all_truncated_shards_are_named(tmp_path: Path) -> None:
    files = flat(tmp_path)
    for path in files.transformer[1:3]:
        path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(WeightsProblem) as caught:
        load(files, TINY_1_3B)
    assert str(caught.value).count("is truncated") == 2
    assert all(path.name in str(caught.value) for path in files.transformer[1:3])


def test_an_index_of_another_download_is_recognised(tmp_path: Path) -> None:
    files = flat(tmp_path)
    assert files.index is not None
    text = files.index.read_text("utf-8")
    files.index.write_text(
        text.replace("00001-of-00006", "x").replace("00002-of", "00001-of").replace("x", "00002-of-00006")
    )
    with pytest.raises(WeightsProblem, match="from one and the same revision"):
        load(files, TINY_1_3B)


def test_a_tensor_in_two_shards_is_refused(tmp_path: Path) -> None:
    files = flat(tmp_path)
    name, tensor = next(iter(load_file(files.transformer[0]).items()))
    rewritten(files.transformer[1], **{name: tensor})
    with pytest.raises(WeightsProblem, match="which another shard holds too"):
        load(files, TINY_1_3B)


def test_the_fingerprint_names_the_weights_and_not_their_place(tmp_path: Path) -> None:
    one, same, other = (
        fingerprint(transformer_files(write(tmp_path / name, "v1-fast", seed).path))
        for name, seed in (("a", 0), ("b", 0), ("c", 1))
    )
    assert one == same != other
    assert len(one) == 64
