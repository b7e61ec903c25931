"""The sizes of a ``CausalDiT``: integers only, so that memory and work can be told before torch is loaded."""

from __future__ import annotations

from dataclasses import dataclass

RopeSplit = tuple[int, int, int]
"""Rotated pairs of a head for latent frame, row and column; 0 leaves an axis out."""


def standard_split(head_dim: int) -> RopeSplit:
    """A third of the pairs each for row and column, the rest for time: 22/21/21 for a head of 128 (Wan 2.1)."""
    pairs = head_dim // 2
    return pairs - 2 * (pairs // 3), pairs // 3, pairs // 3


@dataclass(frozen=True, slots=True)
class DiTConfig:
    """Sizes of a ``CausalDiT``. ``rope_split`` None: 22/21/21 for a head of 128 and so on; (0, h, w): no time axis."""

    dim: int
    heads: int
    layers: int
    ffn_dim: int
    text_length: int
    text_dim: int
    in_channels: int = 36
    out_channels: int = 16
    patch_px: int = 2
    freq_dim: int = 256
    camera_channels: int = 384
    eps: float = 1e-6
    rope_split: RopeSplit | None = None
    rope_turns: tuple[int, ...] | None = None
    """Positions are directions in the world, given with each chunk: each column pair's turns in a full turn of the
    camera."""

    def __post_init__(self) -> None:
        if self.dim % self.heads or self.head_dim % 2:
            raise ValueError(f"dim {self.dim} does not split into {self.heads} heads of even size")
        if sum(self.rotated_pairs) != self.head_dim // 2 or min(self.rotated_pairs) < 0:
            raise ValueError(f"rope_split {self.rope_split} must have a sum of {self.head_dim // 2} pairs")
        if self.rope_turns is not None and (self.rotated_pairs[0] or len(self.rope_turns) != self.rotated_pairs[2]):
            raise ValueError(f"rope_turns {self.rope_turns} must be one for each column pair of {self.rotated_pairs}")

    @property
    def head_dim(self) -> int:
        return self.dim // self.heads

    @property
    def rotated_pairs(self) -> RopeSplit:
        return standard_split(self.head_dim) if self.rope_split is None else self.rope_split
