"""Rotary positions on three axes (Wan 2.1): adjacent pairs of a head are rotated by latent frame, row and column.

Angles are computed in float64 for exactly the positions of a chunk, so no table can run out, however long one walks.
"""

from __future__ import annotations

from functools import lru_cache

import torch
from torch import Tensor

THETA = 10000.0

RopeSplit = tuple[int, int, int]
"""Rotated pairs of a head for latent frame, row and column; 0 leaves an axis out."""


def standard_split(head_dim: int) -> RopeSplit:
    """A third of the pairs each for row and column, the rest for time: 22/21/21 for a head of 128 (Wan 2.1)."""
    pairs = head_dim // 2
    return pairs - 2 * (pairs // 3), pairs // 3, pairs // 3


@lru_cache(maxsize=16)
def rope_table(
    split: RopeSplit, latent_frames: tuple[int, ...], rows: int, columns: int, device: torch.device
) -> Tensor:
    """Unit complex numbers complex64 [N, D/2] for tokens in frame, row, column order.

    ``latent_frames`` are absolute positions. The value depends on the arguments alone, so all sessions share it.
    """
    # Made outside inference mode: the same cached tensor may be asked for by a training step.
    with torch.inference_mode(False), torch.no_grad():
        axes = (torch.tensor(latent_frames), torch.arange(rows), torch.arange(columns))
        grids = torch.meshgrid(*axes, indexing="ij")
        angles = [_angles(grid.flatten(), pairs) for grid, pairs in zip(grids, split, strict=True)]
        angle = torch.cat(angles, dim=1)  # [N, D/2]
        return torch.polar(torch.ones_like(angle), angle).to(torch.complex64).to(device)


def _angles(positions: Tensor, pairs: int) -> Tensor:
    if pairs == 0:
        return torch.empty(len(positions), 0, dtype=torch.float64)
    frequencies = THETA ** (-torch.arange(pairs, dtype=torch.float64) / pairs)
    return positions.double()[:, None] * frequencies


def rotate(x: Tensor, table: Tensor) -> Tensor:
    """Rotate the adjacent pairs of x [B, N, heads, D] by ``table`` complex64 [N, D/2]; the type of x is kept."""
    pairs = torch.view_as_complex(torch.unflatten(x.float(), -1, (-1, 2)))
    return torch.view_as_real(pairs * table[:, None]).flatten(-2).type_as(x)
