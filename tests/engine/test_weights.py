import hashlib
import json
import pickle
import zipfile
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from engine.errors import WeightsProblem
from engine.models.dit import CausalDiT
from engine.weights import MAX_HEADER_BYTES, describe, file_sha256, load_into, read_header
from tests.engine.tiny_dit import CONFIG, GOLDEN, tiny_dit


def on_meta() -> nn.Linear:
    with torch.device("meta"):
        return nn.Linear(3, 2)


def good_file(tmp_path: Path, **changes: torch.Tensor) -> Path:
    path = tmp_path / "model.safetensors"
    save_file({"weight": torch.ones(2, 3), "bias": torch.zeros(2), **changes}, path)
    return path


def written(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "model.safetensors"
    path.write_bytes(content)
    return path


def with_header(tmp_path: Path, header: object) -> Path:
    text = json.dumps(header).encode()
    return written(tmp_path, len(text).to_bytes(8, "little") + text + bytes(8))


def test_a_half_precision_checkpoint_fills_a_network_built_without_memory():
    with torch.device("meta"):
        model = CausalDiT(CONFIG)
    load_into(model, GOLDEN / "dit_tiny.safetensors", dtype=torch.float32)
    for name, tensor in model.state_dict().items():
        assert tensor.dtype == torch.float32
        assert torch.equal(tensor, tiny_dit().state_dict()[name])


def test_the_file_may_vanish_once_it_is_loaded(tmp_path):
    path, module = good_file(tmp_path), on_meta()
    load_into(module, path, dtype=torch.float32)
    path.write_bytes(b"")
    assert module.weight.sum() == 6


def zipped_pickle(tmp_path: Path) -> Path:
    path = tmp_path / "model.pth"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", b"")
    return path


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "is empty"),
        (b"abc", "truncated: 3 bytes"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 1\n", "git lfs pull"),
        (pickle.dumps({"a": 1}), "pickle checkpoint"),
        (b"GGUF" + bytes(60), "GGUF"),
        (b"\n<!DOCTYPE html><html></html>", "web page"),
        (b"just some text that is no weights file at all", "not a safetensors file"),
        ((MAX_HEADER_BYTES + 1).to_bytes(8, "little") + b"{}", "not a safetensors file"),
        ((1000).to_bytes(8, "little") + b"{}", "truncated"),
        ((2).to_bytes(8, "little") + b"{}", "no tensors"),
        ((4).to_bytes(8, "little") + b"null", "damaged safetensors header"),
        ((3).to_bytes(8, "little") + b"{x}", "damaged safetensors header"),
    ],
)
def test_what_is_no_safetensors_file_is_named_with_its_cure(tmp_path, content, told):
    path = written(tmp_path, content)
    with pytest.raises(WeightsProblem, match=told) as caught:
        read_header(path)
    assert str(path) in str(caught.value)


def test_a_pickle_in_a_zip_is_refused(tmp_path):
    with pytest.raises(WeightsProblem, match=r"could run any program.*safetensors form"):
        load_into(on_meta(), zipped_pickle(tmp_path), dtype=torch.float32)


def test_a_missing_file_and_a_folder_are_one_sentence_each(tmp_path):
    with pytest.raises(WeightsProblem, match="missing"):
        read_header(tmp_path / "none.safetensors")
    with pytest.raises(WeightsProblem, match="cannot be read"):
        read_header(tmp_path)
    with pytest.raises(WeightsProblem, match="cannot be read"):
        file_sha256(tmp_path / "none.safetensors")


def test_a_truncated_file_says_how_much_is_there(tmp_path):
    path = good_file(tmp_path)
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(WeightsProblem, match="truncated: 27 of 32 bytes"):
        read_header(path)


@pytest.mark.parametrize(
    "entry",
    [
        {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]},
        {"dtype": "F32", "shape": [-1, -2], "data_offsets": [0, 8]},
        {"dtype": "COMPLEX", "shape": [1], "data_offsets": [0, 8]},
        {"dtype": "F32", "shape": "xy", "data_offsets": [0, 8]},
        {"dtype": "F32"},
        ["F32"],
    ],
)
def test_a_header_that_contradicts_itself_is_damaged(tmp_path, entry):
    with pytest.raises(WeightsProblem, match="damaged"):
        read_header(with_header(tmp_path, {"weight": entry}))


def test_a_header_that_only_the_library_refuses_is_damaged_too(tmp_path):
    whole = {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}
    path = with_header(tmp_path, {"weight": whole, "bias": whole})
    with torch.device("meta"):
        module = nn.ParameterDict({"weight": torch.empty(1), "bias": torch.empty(1)})
    with pytest.raises(WeightsProblem, match="damaged"):
        load_into(module, path, dtype=torch.float32)


def test_everything_that_does_not_fit_is_told_at_once_and_nothing_is_assigned(tmp_path):
    path, module = good_file(tmp_path, weight=torch.ones(3, 2), extra=torch.ones(1)), on_meta()
    with pytest.raises(WeightsProblem) as caught:
        load_into(module, path, dtype=torch.float32)
    sentence = str(caught.value)
    assert "1 unexpected (extra)" in sentence
    assert "1 of the wrong shape (weight is [3, 2] and should be [2, 3])" in sentence
    assert "another model of 3 tensors" in sentence
    assert module.weight.is_meta


def test_long_lists_are_cut_and_the_file_is_recognised():
    with pytest.raises(WeightsProblem, match=r"2 missing \(weight, bias\); \d+ unexpected .* and \d+ more") as caught:
        load_into(on_meta(), GOLDEN / "dit_tiny.safetensors", dtype=torch.float32)
    assert "LingBot-World transformer" in str(caught.value)


def test_whole_numbers_in_place_of_floats_are_refused(tmp_path):
    path = good_file(tmp_path, bias=torch.zeros(2, dtype=torch.int32))
    with pytest.raises(WeightsProblem, match="bias is I32 and should be a float"):
        load_into(on_meta(), path, dtype=torch.float32)


def test_the_makers_words_and_the_hash_are_read(tmp_path):
    path = tmp_path / "m.safetensors"
    save_file({"shared.weight": torch.zeros(1)}, path, metadata={"made": "here"})
    assert read_header(path).metadata == {"made": "here"}
    assert describe(read_header(path)).startswith("a T5")
    assert file_sha256(path) == hashlib.sha256(path.read_bytes()).hexdigest()
