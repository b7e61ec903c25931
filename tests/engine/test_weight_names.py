"""The name maps, against the recorded maps and against what the libraries themselves call their tensors."""

from __future__ import annotations

import re

import pytest
import torch

from engine.weights import DIT_NAMES, T5_NAMES, VAE_NAMES
from tests.engine.tiny_dit import golden_json

DIT = golden_json("dit_key_map")["original_to_diffusers_WanTransformer3DModel"]
VAE = golden_json("vae_key_map")["original_to_diffusers"]


@pytest.mark.parametrize(("original", "diffusers"), [pair for pair in DIT.items() if pair[1] is not None])
def test_every_recorded_transformer_name_is_found_both_ways(original: str, diffusers: str) -> None:
    assert (DIT_NAMES.to_other(original), DIT_NAMES.to_original(diffusers)) == (diffusers, original)
    assert DIT_NAMES.to_original(original) == original


def test_the_cameras_tensors_keep_their_names() -> None:
    camera = [name for name, diffusers in DIT.items() if diffusers is None]
    assert camera
    assert [DIT_NAMES.to_other(name) for name in camera] == camera == [DIT_NAMES.to_original(name) for name in camera]


@pytest.mark.parametrize(("original", "diffusers"), VAE.items())
def test_every_recorded_vae_name_is_found_both_ways(original: str, diffusers: str) -> None:
    assert (VAE_NAMES.to_other(original), VAE_NAMES.to_original(diffusers)) == (diffusers, original)
    assert VAE_NAMES.to_other(diffusers) == diffusers


def test_the_text_encoders_names_are_those_of_the_library() -> None:
    transformers = pytest.importorskip("transformers")
    config = transformers.UMT5Config(d_model=8, d_kv=4, d_ff=8, num_heads=2, num_layers=2, vocab_size=8)
    with torch.device("meta"):
        names = set(transformers.UMT5EncoderModel(config).state_dict()) - {"encoder.embed_tokens.weight"}
    back = {T5_NAMES.to_original(name) for name in names}
    assert {T5_NAMES.to_other(name) for name in back} == names
    parts = {re.sub(r"blocks\.[0-9]+\.", "", name) for name in back}
    attention = {f"attn.{part}.weight" for part in "qkvo"}
    rest = {"ffn.gate.0", "ffn.fc1", "ffn.fc2", "norm1", "norm2", "pos_embedding.embedding", "norm", "token_embedding"}
    assert parts == attention | {f"{part}.weight" for part in rest}
