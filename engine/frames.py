"""From decoded pictures to frames: the one place where ranges and layouts change."""

from __future__ import annotations

from torch import Tensor

from engine.protocol import Pixels


def to_pixels(frames: Tensor) -> Pixels:
    """Decoded frames [T, 3, H, W] in [-1, 1] -> RGB uint8 [T, H, W, 3]; values are rounded and clamped."""
    assert frames.ndim == 4, frames.shape
    assert frames.shape[1] == 3, frames.shape
    scaled = frames.add(1).mul_(127.5).round_().clamp_(0, 255)
    pixels: Pixels = scaled.byte().permute(0, 2, 3, 1).contiguous().cpu().numpy()
    return pixels
