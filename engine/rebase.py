"""Walking without end with positions that end: memory is moved back instead of the walk going on past the table.

The large models know the latent frames 0 to 1023 of a walk (64 s of chunks at 16 frames a second are 256 of them).
Keys are remembered with their position in them, as an angle, and attention only ever sees differences of angles. So
when the next chunk would pass the end, everything after the sink is turned back by one chunk: the chunk takes the last
positions once more, the recent past keeps its distance to it exactly, and the sink, which is not touched, stays as far
away as it was. From there on every chunk does this. A key is turned back at most until it is forgotten, a handful of
times, so rounding does not add up, however long the walk is. ``docs/lingbot.md`` has what else was measured.
"""

from __future__ import annotations

import torch
from torch import Tensor

from engine.geometry import ChunkGeometry
from engine.models.kv_cache import CausalKVCache
from engine.models.rope import RopeSplit, rope_table, rotate


def stay_within(
    limit_latent_frames: int, cache: CausalKVCache, latent_frame: int, geometry: ChunkGeometry, split: RopeSplit
) -> int:
    """Make room for the chunk at position ``latent_frame``; returns by how many latent frames its position moves back.

    ``split``: rotated pairs of a head for time, row and column.
    """
    beyond = latent_frame + geometry.latent_frames - limit_latent_frames
    if beyond <= 0:
        return 0
    turn_back(cache, beyond, geometry.tokens_per_latent_frame, split)
    return beyond


def turn_back(cache: CausalKVCache, latent_frames: int, tokens_per_latent_frame: int, split: RopeSplit) -> None:
    """Let all that is remembered after the sink be ``latent_frames`` earlier than it was."""
    tokens = latent_frames * tokens_per_latent_frame
    assert cache.global_end - tokens >= cache.local_end, "positions end before the memory is full"
    back = _turn(split, latent_frames, cache.keys.device)
    recent = slice(min(cache.sink_tokens, cache.local_end), cache.local_end)
    for keys in cache.keys:  # a layer at a time: the work space is a layer's
        keys[:, recent] = rotate(keys[:, recent], back)
    cache.global_end -= tokens


def _turn(split: RopeSplit, latent_frames: int, device: torch.device) -> Tensor:
    """complex64 [1, D/2]: the rotation by minus ``latent_frames`` on the axis of time, none on the others."""
    return rope_table(split, (-latent_frames,), 1, 1, device)
