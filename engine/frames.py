"""From decoded pictures to frames: the one place where ranges and layouts change."""

from __future__ import annotations

import torch
from torch import Tensor

from engine.protocol import Pixels


class PixelStream:
    """The frames of one chunk on their way to the host, in parts as they are decoded.

    Pictures become bytes on their device. From a GPU they are copied into pinned memory behind the work that made
    them, so the host waits once, in ``collect``, and the next latent frame is decoded meanwhile.
    """

    def __init__(self, frames: int) -> None:
        self._frames, self._filled = frames, 0
        self._host: Tensor | None = None
        self._copied: torch.Event | None = None

    def push(self, frames: Tensor) -> None:
        """Take decoded frames [T, 3, H, W] in [-1, 1]; values are rounded and clamped."""
        assert frames.ndim == 4, frames.shape
        assert frames.shape[1] == 3, frames.shape
        begin, self._filled = self._filled, self._filled + len(frames)
        assert self._filled <= self._frames, (self._filled, self._frames)
        pixels = frames.add(1).mul_(127.5).round_().clamp_(0, 255).byte().permute(0, 2, 3, 1).contiguous()
        on_gpu = pixels.device.type == "cuda"
        if self._host is None and not on_gpu and self._filled == self._frames:
            self._host = pixels.cpu()
            return
        if self._host is None:
            size = (self._frames, *pixels.shape[1:])
            self._host = torch.empty(size, dtype=torch.uint8, pin_memory=on_gpu)
        self._host[begin : self._filled].copy_(pixels, non_blocking=True)
        if on_gpu:
            self._copied = torch.Event(pixels.device, blocking=True)
            self._copied.record()

    def collect(self) -> Pixels:
        """All frames, RGB uint8 [T, H, W, 3]; waits until the last of them has arrived."""
        assert self._host is not None, "no frame was pushed"
        assert self._filled == self._frames, (self._filled, self._frames)
        if self._copied is not None:
            self._copied.synchronize()
        pixels: Pixels = self._host.numpy()
        return pixels


def to_pixels(frames: Tensor) -> Pixels:
    """Decoded frames [T, 3, H, W] in [-1, 1] -> RGB uint8 [T, H, W, 3]; values are rounded and clamped."""
    stream = PixelStream(len(frames))
    stream.push(frames)
    return stream.collect()
