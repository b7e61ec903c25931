"""Rotary positions on three axes (Wan 2.1): adjacent pairs of a head are rotated by latent frame, row and column.

Angles are computed in float64 for exactly the positions of a chunk, so no table can run out, however long one walks.
"""

from __future__ import annotations

from functools import lru_cache

import torch
from torch import Tensor

from engine.models.dit_config import RopeSplit as RopeSplit
from engine.models.dit_config import standard_split as standard_split

THETA = 10000.0
_BLOCK_LATENT_FRAMES = 1024


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
        return _unit(torch.cat(angles, dim=1), device)


@lru_cache(maxsize=16)
def chunk_table(
    split: RopeSplit, start: int, latent_frames: int, rows: int, columns: int, device: torch.device
) -> Tensor:
    """``rope_table`` of latent frames [start, start + latent_frames) as cosine and sine, float32 [N, D/2, 2].

    Put together on the device from tables of both axes that are there already, so that the host does not wait for a
    copy in every chunk; time's table is made anew every 1024 latent frames.
    """
    with torch.inference_mode(False), torch.no_grad():
        space = _space_table(split, rows, columns, device)
        last = (start + latent_frames - 1) // _BLOCK_LATENT_FRAMES
        blocks = [_time_table(split[0], block, device) for block in range(start // _BLOCK_LATENT_FRAMES, last + 1)]
        first = start % _BLOCK_LATENT_FRAMES
        time = (blocks[0] if len(blocks) == 1 else torch.cat(blocks))[first : first + latent_frames]
        grid = (latent_frames, rows * columns, -1)
        table = torch.cat([time[:, None].expand(grid), space[None].expand(grid)], dim=-1)
        return torch.view_as_real(table.flatten(0, 1))


@lru_cache(maxsize=8)
def _time_table(pairs: int, block: int, device: torch.device) -> Tensor:
    """complex64 [1024, pairs]: the latent frames of one block."""
    first = block * _BLOCK_LATENT_FRAMES
    return _unit(_angles(torch.arange(first, first + _BLOCK_LATENT_FRAMES), pairs), device)


@lru_cache(maxsize=8)
def _space_table(split: RopeSplit, rows: int, columns: int, device: torch.device) -> Tensor:
    """complex64 [rows * columns, row pairs + column pairs]."""
    grids = torch.meshgrid(torch.arange(rows), torch.arange(columns), indexing="ij")
    angles = [_angles(grid.flatten(), pairs) for grid, pairs in zip(grids, split[1:], strict=True)]
    return _unit(torch.cat(angles, dim=1), device)


def direction_table(turns: tuple[int, ...], row_pairs: int, azimuth: Tensor, rows: Tensor) -> Tensor:
    """Positions in the world instead of the picture: cosine and sine, float32 [..., N, D/2, 2], in row, column order.

    azimuth [..., columns] radians, rows [..., rows] in patches below the horizon's place. The column pairs turn a whole
    number of times (``turns``) in a full turn of the camera, so that a key in the memory is met again, at the same
    angle, whichever way one looks back.
    """
    across = azimuth.double()[..., None] * torch.tensor(turns, dtype=torch.float64)
    down = rows.double()[..., None] * THETA ** (-torch.arange(row_pairs, dtype=torch.float64) / row_pairs)
    grid = (*azimuth.shape[:-1], rows.shape[-1], azimuth.shape[-1], -1)
    angle = torch.cat([down[..., :, None, :].expand(grid), across[..., None, :, :].expand(grid)], -1).flatten(-3, -2)
    return torch.stack([angle.cos(), angle.sin()], -1).float()


def _unit(angle: Tensor, device: torch.device) -> Tensor:
    return torch.polar(torch.ones_like(angle), angle).to(torch.complex64).to(device)


def _angles(positions: Tensor, pairs: int) -> Tensor:
    if pairs == 0:
        return torch.empty(len(positions), 0, dtype=torch.float64)
    frequencies = THETA ** (-torch.arange(pairs, dtype=torch.float64) / pairs)
    return positions.double()[:, None] * frequencies


def rotate(x: Tensor, table: Tensor) -> Tensor:
    """Rotate the adjacent pairs of x [B, N, heads, D] by ``table`` complex64 [(B,) N, D/2]; the type of x is kept."""
    pairs = torch.view_as_complex(torch.unflatten(x.float(), -1, (-1, 2)))
    return torch.view_as_real(pairs * table.unsqueeze(-2)).flatten(-2).type_as(x)


def rotate_by(x: Tensor, table: Tensor) -> Tensor:
    """``rotate`` by cosine and sine [(B,) N, D/2, 2], in a form that compiles: Inductor has no complex numbers."""
    if not torch.compiler.is_compiling():
        return rotate(x, torch.view_as_complex(table))
    a, b = torch.unflatten(x.float(), -1, (-1, 2)).unbind(-1)
    cos, sin = table.unsqueeze(-3).unbind(-1)
    return torch.stack((a * cos - b * sin, a * sin + b * cos), dim=-1).flatten(-2).type_as(x)
