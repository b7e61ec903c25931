"""Every published layout is found; what is missing or foreign is one sentence with its cure."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from engine.errors import FileProblem, WeightsProblem
from engine.lingbot.layouts import find, transformer_files
from tests.lingbot_checkpoints import LAYOUTS, write


def names(paths: tuple[Path, ...]) -> list[str]:
    return [path.name for path in paths]


def refused(path: Path, assets: Path | None = None) -> str:
    with pytest.raises(FileProblem) as caught:
        find(path, assets)
    said = str(caught.value)
    assert "\n" not in said
    return said


def test_the_original_layout_is_found(tmp_path: Path) -> None:
    files = find(write(tmp_path, "v2-14b").path)
    assert (files.layout, files.root, files.assets_root) == ("original", tmp_path, tmp_path)
    assert names(files.transformer) == [f"diffusion_pytorch_model-0000{n}-of-00003.safetensors" for n in (1, 2, 3)]
    assert files.config == tmp_path / "transformers" / "config.json"
    assert names(files.text_encoder + files.vae) == ["models_t5_umt5-xxl-enc-bf16.pth", "Wan2.1_VAE.pth"]
    assert files.tokenizer == tmp_path / "google" / "umt5-xxl"


def test_the_diffusers_layout_is_found(tmp_path: Path) -> None:
    files = find(write(tmp_path, "v1-fast").path)
    assert files.layout == "diffusers"
    assert files.index == tmp_path / "transformer" / "diffusion_pytorch_model.safetensors.index.json"
    assert (len(files.transformer), len(files.text_encoder)) == (4, 3)
    assert files.vae == (tmp_path / "vae" / "diffusion_pytorch_model.safetensors",)
    assert files.tokenizer == tmp_path / "tokenizer"


def test_the_flat_layout_takes_its_companions_from_another_folder(tmp_path: Path) -> None:
    made = write(tmp_path / "small", "v2-1.3b")
    files = find(made.path, made.assets)
    assert (files.layout, files.config, len(files.transformer)) == ("flat", None, 6)
    assert (files.root, files.assets_root) == (made.path, made.assets)
    large = write(tmp_path / "large", "v2-14b-diffusers").path
    assert names(find(made.path, large).vae) == ["diffusion_pytorch_model.safetensors"]


def test_a_folder_of_its_own_wins_over_the_assets(tmp_path: Path) -> None:
    one, other = write(tmp_path / "1", "v1-fast").path, write(tmp_path / "2", "v2-14b").path
    (one / "vae" / "diffusion_pytorch_model.safetensors").unlink()
    files = find(one, other)
    assert names(files.vae) == ["Wan2.1_VAE.pth"]
    assert files.text_encoder[0].is_relative_to(one)


@pytest.mark.parametrize("named", [".", "transformer", "transformer/diffusion_pytorch_model.safetensors.index.json"])
def test_any_place_inside_leads_to_the_whole(tmp_path: Path, named: str) -> None:
    made = write(tmp_path, "v1-fast")
    assert transformer_files(made.path / named).transformer == find(made.path).transformer


def test_one_file_is_a_checkpoint(tmp_path: Path) -> None:
    made = write(tmp_path, "v1-fast")
    shard = made.path / "transformer" / "diffusion_pytorch_model-00001-of-00004.safetensors"
    files = find(shard)
    assert (files.transformer, files.layout, files.tokenizer) == ((shard,), "flat", tmp_path / "tokenizer")


def test_shards_are_found_without_their_index(tmp_path: Path) -> None:
    made = write(tmp_path, "v2-1.3b")
    with_index = find(made.path, made.assets)
    (made.path / "model.safetensors.index.json").unlink()
    without = find(made.path, made.assets)
    assert (without.transformer, without.index) == (with_index.transformer, None)


def test_a_snapshot_of_the_hubs_cache_is_followed(tmp_path: Path) -> None:
    cache = tmp_path / "models--robbyant--lingbot-world-fast-diffusers"
    for revision in ("aaaa", "bbbb"):
        write(cache / "snapshots" / revision, "v1-fast")
    (cache / "refs").mkdir()
    (cache / "refs" / "main").write_text("aaaa")
    assert find(cache).root == cache / "snapshots" / "aaaa"
    shutil.rmtree(cache / "refs")
    assert find(cache).root.parent == cache / "snapshots"


def test_all_companions_that_lack_are_told_at_once_with_the_setting_that_cures_it(tmp_path: Path) -> None:
    made = write(tmp_path, "v2-1.3b")
    said = refused(made.path)
    assert "the text encoder" in said
    assert "the tokenizer" in said
    assert "the VAE" in said
    assert "engine.lingbot.assets" in said
    assert "neither does" in refused(made.path, made.path)


@pytest.mark.parametrize("index", [True, False])
def test_missing_shards_are_counted_and_named(tmp_path: Path, index: bool) -> None:
    made = write(tmp_path, "v2-1.3b")
    for number in (2, 5):
        (made.path / f"model-0000{number}-of-00006.safetensors").unlink()
    if not index:
        (made.path / "model.safetensors.index.json").unlink()
    said = refused(made.path, made.assets)
    assert "lacks 2 of 6 shards (model-00002-of-00006.safetensors, model-00005-of-00006.safetensors)" in said


def test_pickled_transformers_are_refused(tmp_path: Path) -> None:
    made = write(tmp_path, "v2-14b")
    for path in (made.path / "transformers").glob("*.safetensors*"):
        path.unlink()
    (made.path / "transformers" / "model.pt").write_bytes(b"\x80")
    assert "could run any program" in refused(made.path)
    assert "could run any program" in refused(made.path / "transformers" / "model.pt")


def test_the_two_experts_of_the_base_model_are_recognised(tmp_path: Path) -> None:
    for expert in ("low_noise_model", "high_noise_model"):
        (tmp_path / expert).mkdir()
    assert "LingBot-World base" in refused(tmp_path)


def test_other_things_are_said_to_be_what_they_are(tmp_path: Path) -> None:
    assert "is not there" in refused(tmp_path / "nowhere")
    assert "it holds nothing" in refused(tmp_path)
    (tmp_path / "holiday.jpg").write_bytes(b"")
    assert "it holds holiday.jpg" in refused(tmp_path)
    (tmp_path / "model_index.json").write_text("{}")
    assert "no transformer folder" in refused(tmp_path)
    folder = tmp_path / "two"
    folder.mkdir()
    for name in ("a", "b"):
        (folder / f"{name}.safetensors").write_bytes(b"")
    assert "2 safetensors files and no index" in refused(folder)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "is not JSON"),
        ("[]", "is not a JSON map"),
        ("{}", "no 'weight_map'"),
        ('{"weight_map": {"a": "../../b.safetensors"}}', "outside its own folder"),
    ],
)
def test_a_damaged_index_is_one_sentence(tmp_path: Path, text: str, told: str) -> None:
    made = write(tmp_path, "v2-1.3b")
    (made.path / "model.safetensors.index.json").write_text(text)
    assert told in refused(made.path, made.assets)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_nothing_but_small_json_is_opened(tmp_path: Path, layout: str) -> None:
    made = write(tmp_path, layout)
    for path in [*made.path.rglob("*.safetensors"), *made.path.rglob("*.pth")]:
        path.write_bytes(b"")
    assert find(made.path, made.assets).transformer


def test_lost_weights_are_a_problem_of_weights(tmp_path: Path) -> None:
    with pytest.raises(WeightsProblem):
        find(tmp_path)
