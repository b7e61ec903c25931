"""The painter: layout guide and mix of the worlds asked for -> the condition latent of one latent frame.

It knows no chance and no history; what only those can tell is the transformer's work. Its residual against the truth
has, per channel, the deviation ``residual_std``, which scales the space in which the transformer denoises.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from engine.models.autoencoder import LATENT_CHANNELS, start_at_zero

GUIDED_FRAMES = (1, 3)
"""The video frames of a latent frame whose guides the painter sees."""


@dataclass(frozen=True, slots=True)
class PainterConfig:
    guide_channels: int
    mix_size: int
    width: int = 128
    blocks: int = 4


def painter_guide(guides: Tensor) -> Tensor:
    """Guides [B, 4, G, H, W] of a latent frame -> [B, G*2*4, H/8, W/8]: two frames, averaged 4 x 4, folded."""
    chosen = guides[:, list(GUIDED_FRAMES)].flatten(1, 2)
    return functional.pixel_unshuffle(functional.avg_pool2d(chosen, 4), 2)


class _FilmBlock(nn.Module):
    def __init__(self, width: int, condition: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(width, width, 3, padding=1)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1)
        self.film = nn.Linear(condition, 2 * width)
        start_at_zero(self.conv2)

    def forward(self, x: Tensor, condition: Tensor) -> Tensor:
        scale, shift = self.film(condition)[..., None, None].chunk(2, 1)
        h = self.conv1(functional.silu(x)) * (1 + scale) + shift
        out: Tensor = x + self.conv2(functional.silu(h))
        return out


class Painter(nn.Module):
    """``forward(guide [B, G*8, h, w], mix [B, 2, M])`` -> latents [B, 16, h, w]; the mixes are the guided frames'."""

    def __init__(self, config: PainterConfig) -> None:
        super().__init__()
        w = config.width
        self.embed = nn.Sequential(nn.Linear(2 * config.mix_size, w), nn.SiLU(), nn.Linear(w, w), nn.SiLU())
        self.conv_in = nn.Conv2d(config.guide_channels * 8, w, 3, padding=1)
        self.blocks = nn.ModuleList(_FilmBlock(w, w) for _ in range(config.blocks))
        self.conv_out = nn.Conv2d(w, LATENT_CHANNELS, 3, padding=1)
        self.register_buffer("residual_std", torch.ones(LATENT_CHANNELS))

    def forward(self, guide: Tensor, mix: Tensor) -> Tensor:
        condition = self.embed(mix.flatten(1))
        x = self.conv_in(guide)
        for block in self.blocks:
            x = block(x, condition)
        out: Tensor = self.conv_out(functional.silu(x))
        return out
