"""The golden tiny model and its data, loaded once for all tests that need it."""

import json
from functools import lru_cache
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor

from engine.models.dit import CausalDiT, DiTConfig
from engine.models.kv_cache import CacheShape, CausalKVCache

GOLDEN = Path(__file__).parents[1] / "golden"
CONFIG = DiTConfig(dim=128, heads=4, layers=3, ffn_dim=224, text_length=16, text_dim=64)
TOKENS_PER_FRAME = 6
CHUNK = 3


@lru_cache
def golden(name: str) -> dict[str, Tensor]:
    return load_file(GOLDEN / f"{name}.safetensors")


@lru_cache
def golden_json(name: str) -> dict:
    return json.loads((GOLDEN / f"{name}.json").read_text())


@lru_cache
def tiny_dit() -> CausalDiT:
    model = CausalDiT(CONFIG)
    model.load_state_dict({name: tensor.float() for name, tensor in golden("dit_tiny").items()})
    return model.requires_grad_(False)


def tiny_cache(cache_frames: int, sink_frames: int = 0, window_frames: int | None = None) -> CausalKVCache:
    window = None if window_frames is None else window_frames * TOKENS_PER_FRAME
    shape = CacheShape(3, 4, 32, cache_frames * TOKENS_PER_FRAME, sink_frames * TOKENS_PER_FRAME, window)
    return CausalKVCache(shape, dtype=torch.float32, device="cpu")


def chunk_frames(chunk: int) -> slice:
    return slice(CHUNK * chunk, CHUNK * chunk + CHUNK)


def difference(a: Tensor, b: Tensor) -> float:
    assert a.shape == b.shape
    return (a - b).abs().max().item()
