"""The two pickles that are read, and everything that only looks like one of them."""

from __future__ import annotations

import os
import zipfile

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from engine.byte_progress import ByteProgress
from engine.errors import WeightsProblem
from engine.lingbot.asset_files import AssetFiles, file_bytes, sampled_sha256
from engine.weights import VAE_NAMES

NAME = "Wan2.1_VAE.pth"
TENSORS = {"conv1.weight": torch.randn(2, 3), "conv1.bias": torch.randn(2)}


class _Shell:
    """What a hostile pickle looks like: it names a function and its arguments."""

    def __reduce__(self):
        return os.system, ("echo this must never run > ran.txt",)


def opened(path):
    with AssetFiles((path,), VAE_NAMES) as files:
        return {name: stored.read().clone() for name, stored in files.tensors.items()}


def test_a_published_file_is_read_under_the_modules_names(tmp_path):
    torch.save(TENSORS, tmp_path / NAME)
    got = opened(tmp_path / NAME)
    assert set(got) == {"quant_conv.weight", "quant_conv.bias"}
    assert torch.equal(got["quant_conv.weight"], TENSORS["conv1.weight"])


def test_any_other_pickle_is_refused_unread(tmp_path):
    torch.save(TENSORS, tmp_path / "my_vae.pth")
    with pytest.raises(WeightsProblem, match="pickle checkpoint"):
        opened(tmp_path / "my_vae.pth")


def test_a_program_in_a_pickle_does_not_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    torch.save({**TENSORS, "x": _Shell()}, NAME)
    with pytest.raises(WeightsProblem, match="not a plain file of tensors"):
        opened(tmp_path / NAME)
    assert [path.name for path in tmp_path.iterdir()] == [NAME]


@pytest.mark.parametrize("kept", [0, 3, 100, -1, -200])
def test_a_truncated_file_is_one_sentence(tmp_path, kept):
    torch.save(TENSORS, tmp_path / NAME)
    (tmp_path / NAME).write_bytes((tmp_path / NAME).read_bytes()[:kept])
    with pytest.raises(WeightsProblem, match=r"Wan2\.1_VAE\.pth.*Download it again"):
        opened(tmp_path / NAME)


def test_a_file_that_is_too_big_is_refused_by_its_size(tmp_path):
    with (tmp_path / NAME).open("wb") as file:
        file.truncate(1_200_000_000)  # sparse: takes no room
    with pytest.raises(WeightsProblem, match="is too big: 1200000000 bytes"):
        opened(tmp_path / NAME)


def rewritten(path, compression=zipfile.ZIP_STORED, **more):
    """The same records in another zip, with further ones."""
    with zipfile.ZipFile(path) as archive:
        records = {record.filename: archive.read(record) for record in archive.infolist()}
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, data in {**records, **more}.items():
            archive.writestr(name, data)


@pytest.mark.parametrize(
    ("compression", "more"),
    [
        (zipfile.ZIP_DEFLATED, {"Wan2.1_VAE/data/9": bytes(10_000_000)}),  # small on disk, large in memory
        (zipfile.ZIP_STORED, {"Wan2.1_VAE/data.pkl": b"N" * (17 * 1024**2)}),
        (zipfile.ZIP_STORED, {"other/data.pkl": b"N."}),
        (zipfile.ZIP_STORED, {f"Wan2.1_VAE/data/x{i}": b"" for i in range(5000)}),
    ],
)
def test_a_zip_that_torch_does_not_write_is_refused_before_its_pickle_is_read(tmp_path, compression, more):
    torch.save(TENSORS, tmp_path / NAME)
    rewritten(tmp_path / NAME, compression, **more)
    with pytest.raises(WeightsProblem, match="not a zip as torch writes it"):
        opened(tmp_path / NAME)


@pytest.mark.parametrize("content", [[1], {}, {"a": 1}, {1: torch.zeros(1)}, {"a": torch.zeros(3, 3).to_sparse()}])
def test_something_else_than_tensors_by_name_is_refused(tmp_path, content):
    torch.save(content, tmp_path / NAME)
    with pytest.raises(WeightsProblem, match="tensors"):
        opened(tmp_path / NAME)


def test_a_tensor_that_only_claims_to_be_large_costs_nothing(tmp_path):
    torch.save({"conv1.weight": torch.zeros(1).expand(1 << 20, 1 << 20), "conv1.bias": torch.zeros(2)}, tmp_path / NAME)
    with torch.device("meta"):
        module = nn.ModuleDict({"quant_conv": nn.Linear(3, 2)})
    report = ByteProgress("", 1, lambda stage, fraction: None)
    with AssetFiles((tmp_path / NAME,), VAE_NAMES) as files, pytest.raises(WeightsProblem, match="of the wrong shape"):
        files.fill(module, dtype=lambda _: torch.float32, device=torch.device("cpu"), report=report)


def test_files_are_named_by_their_content_and_not_by_their_names(tmp_path):
    numbers = torch.randn(300_000)
    save_file({"a": numbers}, tmp_path / "a.safetensors")
    save_file({"a": numbers}, tmp_path / "b.safetensors")
    save_file({"a": numbers + 1}, tmp_path / "c.safetensors")
    names = [sampled_sha256((tmp_path / f"{name}.safetensors",)) for name in "abc"]
    assert names[0] == names[1] != names[2]
    assert file_bytes((tmp_path / "a.safetensors", tmp_path / "b.safetensors")) > 2_400_000
    with pytest.raises(WeightsProblem, match="cannot be read"):
        sampled_sha256((tmp_path / "d.safetensors",))
