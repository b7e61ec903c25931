"""A checkpoint is described and verified from its headers alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import WeightsProblem
from engine.lingbot.checking import check
from tests.lingbot_checkpoints import LAYOUTS, Made, write


def checked(made: Made) -> list[str]:
    return check(made.path, made.assets, lambda stage, fraction: None, hashes=False)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_is_named_with_what_it_holds(tmp_path: Path, layout: str) -> None:
    said = "\n".join(checked(write(tmp_path, layout)))
    assert (
        f"in the {'flat' if layout == 'v2-1.3b' else 'original' if layout == 'v2-14b' else 'diffusers'} layout" in said
    )
    assert "numbers in" in said
    assert "GPU memory" in said
    assert ("built-in values" in said) == (layout == "v2-1.3b")
    assert "no hashes to compare" in said


def test_a_shard_of_another_size_is_told(tmp_path: Path) -> None:
    made, other = write(tmp_path / "a", "v2-14b"), write(tmp_path / "b", "v1-fast")
    text = (other.path / "transformer" / "config.json").read_text("utf-8")
    (other.path / "transformer" / "config.json").write_text(text.replace('"num_layers": 2', '"num_layers": 3'))
    with pytest.raises(WeightsProblem, match=r"missing \(blocks\.2"):
        checked(other)
    assert checked(made)


def test_a_truncated_companion_is_told(tmp_path: Path) -> None:
    made = write(tmp_path, "v1-fast")
    vae = made.path / "vae" / "diffusion_pytorch_model.safetensors"
    vae.write_bytes(vae.read_bytes()[:-1])
    with pytest.raises(WeightsProblem, match="is truncated"):
        checked(made)
