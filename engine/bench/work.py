"""The work of a chunk by formula: floating-point operations and the bytes that must move, part by part.

Matrix products and attention are bound by arithmetic, norms and gates between them by memory traffic; on one device
they follow one another, so a floor is the sum of both. A test holds the operations against torch's own counter.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.geometry import ChunkGeometry
from engine.models.dit_config import DiTConfig

ELEMENTWISE_BYTES = 81.0
"""Bytes per token, channel, layer and pass that fused norms, gates and rotations read and write in half precision
(117 GB for the five passes over a 1.3B chunk of four latent frames)."""
CODEC_WIDTH = 96
DECODE_BYTES_PER_PIXEL = 25_000.0
"""Bytes that a fused decoder of half precision moves for one latent frame, per pixel (10 GB at 832 x 480)."""


@dataclass(frozen=True, slots=True)
class Work:
    """``linears`` and ``attention`` in floating-point operations, ``elementwise`` and ``weights`` in bytes."""

    linears: int = 0
    attention: int = 0
    elementwise: float = 0.0
    weights: int = 0

    @property
    def flops(self) -> int:
        return self.linears + self.attention

    def __add__(self, other: Work) -> Work:
        return Work(
            self.linears + other.linears,
            self.attention + other.attention,
            self.elementwise + other.elementwise,
            self.weights + other.weights,
        )

    def times(self, count: int) -> Work:
        return Work(self.linears * count, self.attention * count, self.elementwise * count, self.weights * count)


@dataclass(frozen=True, slots=True)
class Ceilings:
    """What the device does at best, measured in the same process: operations a second and bytes a second."""

    flops: float
    bytes: float

    def floor_seconds(self, work: Work) -> float:
        """Weights are read while products run, and only count where the products are too small to hide it."""
        return max(work.flops / self.flops, work.weights / self.bytes) + work.elementwise / self.bytes


def one_pass(dit: DiTConfig, geometry: ChunkGeometry, visible_latent_frames: int, element_bytes: int = 2) -> Work:
    """A pass of the transformer over one chunk that sees ``visible_latent_frames``, itself included."""
    tokens, visible = geometry.tokens_per_chunk, visible_latent_frames * geometry.tokens_per_latent_frame
    block = tokens * (12 * dit.dim**2 + 4 * dit.dim * dit.ffn_dim)
    attention = 4 * tokens * (visible + dit.text_length) * dit.dim
    return Work(
        linears=dit.layers * block + _embeddings(dit, tokens) + 2 * tokens * dit.dim * _patch(dit, dit.out_channels),
        attention=dit.layers * attention,
        elementwise=ELEMENTWISE_BYTES / 2 * element_bytes * tokens * dit.dim * dit.layers,
        weights=dit.layers * (8 * dit.dim**2 + 2 * dit.dim * dit.ffn_dim) * element_bytes,
    )


def commit(dit: DiTConfig, geometry: ChunkGeometry, visible_latent_frames: int, element_bytes: int = 2) -> Work:
    """The clean pass: it ends after the last layer's keys and values."""
    tokens, layers = geometry.tokens_per_chunk, dit.layers
    whole = one_pass(dit, geometry, visible_latent_frames, element_bytes)
    block = tokens * (12 * dit.dim**2 + 4 * dit.dim * dit.ffn_dim) - 4 * tokens * dit.dim**2
    return Work(
        linears=whole.linears - block - 2 * tokens * dit.dim * _patch(dit, dit.out_channels),
        attention=whole.attention // layers * (layers - 1),
        elementwise=whole.elementwise / layers * (layers - 1),
        weights=whole.weights // layers * (layers - 1),
    )


def camera(dit: DiTConfig, geometry: ChunkGeometry, element_bytes: int = 2) -> Work:
    """Every block's scales and shifts of one chunk."""
    tokens = geometry.tokens_per_chunk
    products = _patch(dit, dit.camera_channels) * dit.dim + (2 + 4 * dit.layers) * dit.dim**2
    moved = 6 * element_bytes * dit.layers * tokens * dit.dim  # hidden and sum, read and written; scale and shift
    return Work(linears=2 * tokens * products, elementwise=float(moved), weights=products * element_bytes)


def text(dit: DiTConfig, element_bytes: int = 2) -> Work:
    """Every block's keys and values of one prompt."""
    products = dit.text_dim * dit.dim + dit.dim**2 + 2 * dit.layers * dit.dim**2
    return Work(linears=2 * dit.text_length * products, weights=products * element_bytes)


def decode(geometry: ChunkGeometry, counted_flops: int, element_bytes: int = 2, width: int = CODEC_WIDTH) -> Work:
    """One latent frame through the decoder of ``width`` channels, whose operations were counted by torch."""
    pixels = geometry.width_px * geometry.height_px
    moved = DECODE_BYTES_PER_PIXEL / 2 * element_bytes * pixels * width / CODEC_WIDTH
    return Work(linears=counted_flops, elementwise=moved)


def _embeddings(dit: DiTConfig, tokens: int) -> int:
    """Patches, and the time, which is one row."""
    return 2 * tokens * _patch(dit, dit.in_channels) * dit.dim + 2 * (dit.freq_dim * dit.dim + 7 * dit.dim**2)


def _patch(dit: DiTConfig, channels: int) -> int:
    return channels * dit.patch_px**2
