"""The bundled world's autoencoder: four video frames to one latent frame of 16 channels at 1/8 of the size, and back.

The decoder is guided: beside the latents it sees the layout guide of each frame at full size, so edges come from the
layout and the latents carry what the layout does not tell (light, colour, weather). The first latent frame of a world
is one picture, encoded as four equal frames; its decoded last frame is that picture. Each latent frame decodes by
itself, so streaming and whole-clip decoding are the same function.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

LATENT_CHANNELS = 16
FRAMES_PER_LATENT = 4
SPATIAL_SCALE = 8


@dataclass(frozen=True, slots=True)
class AutoencoderConfig:
    guide_channels: int
    encoder_width: int = 96
    encoder_coarse_width: int = 160
    coarse_width: int = 112
    middle_width: int = 48
    fine_width: int = 32
    pixel_width: int = 16


def start_at_zero(layer: nn.Conv2d) -> None:
    for parameter in layer.parameters():
        nn.init.zeros_(parameter)


class Pointwise(nn.Conv2d):
    """A 1x1 convolution as the matrix product that it is; channels last in memory, it copies nothing.

    torch takes a detour of copies for these, which cost a fifth of a decoded chunk.
    """

    def __init__(self, channels: int, out: int) -> None:
        super().__init__(channels, out, 1)

    def forward(self, x: Tensor) -> Tensor:
        return functional.linear(x.permute(0, 2, 3, 1), self.weight.flatten(1), self.bias).permute(0, 3, 1, 2)


class ResidualBlock(nn.Module):
    """Two 3x3 convolutions; the second starts at zero, so a new block is the identity."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(width, width, 3, padding=1)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1)
        start_at_zero(self.conv2)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = x + self.conv2(functional.silu(self.conv1(functional.silu(x))))
        return out


class Encoder(nn.Module):
    """Frames [B, 4, 3, H, W] in [-1, 1] -> latents [B, 16, H/8, W/8], not normalised."""

    def __init__(self, config: AutoencoderConfig) -> None:
        super().__init__()
        c, w = config.encoder_width, config.encoder_coarse_width
        self.conv_in = nn.Conv2d(FRAMES_PER_LATENT * 3 * 16, c, 3, padding=1)
        self.block_in = ResidualBlock(c)
        self.down = Pointwise(c * 4, w)
        self.blocks = nn.Sequential(ResidualBlock(w), ResidualBlock(w))
        self.conv_out = nn.Conv2d(w, LATENT_CHANNELS, 3, padding=1)

    def forward(self, frames: Tensor) -> Tensor:
        x = functional.pixel_unshuffle(frames.flatten(1, 2), 4)
        x = self.block_in(self.conv_in(x))
        x = self.blocks(self.down(functional.pixel_unshuffle(x, 2)))
        out: Tensor = self.conv_out(functional.silu(x))
        return out


class GuidedDecoder(nn.Module):
    """Latents [B, 16, h, w] and guides [B, 4, G, H, W] -> frames [B, 4, 3, H, W], roughly in [-1, 1]."""

    def __init__(self, config: AutoencoderConfig) -> None:
        super().__init__()
        g, w, m, f, p = (
            config.guide_channels,
            config.coarse_width,
            config.middle_width,
            config.fine_width,
            config.pixel_width,
        )
        t = FRAMES_PER_LATENT
        self.conv_in = nn.Conv2d(LATENT_CHANNELS, w, 3, padding=1)
        self.coarse = nn.Sequential(ResidualBlock(w), ResidualBlock(w))
        self.to_middle = Pointwise(w, m * 4)
        self.guide_middle = Pointwise(g * t, m)
        self.middle = nn.Sequential(ResidualBlock(m), ResidualBlock(m))
        self.to_fine = Pointwise(m, f * 4)
        self.guide_fine = Pointwise(g * t, f)
        self.fine = ResidualBlock(f)
        self.to_pixel = Pointwise(f, t * p * 4)
        self.guide_pixel = Pointwise(g, p)
        self.pixel = Pointwise(p, p)
        self.to_colour = Pointwise(p, 3)

    def forward(self, latents: Tensor, guides: Tensor) -> Tensor:
        half = functional.avg_pool2d(guides.flatten(0, 1), 2)  # [B*4, G, H/2, W/2]
        quarter = functional.avg_pool2d(half, 2)
        x = self.coarse(self.conv_in(latents))
        x = functional.pixel_shuffle(self.to_middle(x), 2) + _of_all_frames(self.guide_middle, quarter)
        x = self.middle(x)
        x = functional.pixel_shuffle(self.to_fine(x), 2) + _of_all_frames(self.guide_fine, half)
        return self._pixels(functional.silu(self.fine(x)), guides)

    def _pixels(self, x: Tensor, guides: Tensor) -> Tensor:
        """[B, f, H/2, W/2] and guides [B, 4, G, H, W] -> frames [B, 4, 3, H, W].

        Pixel by pixel from here on: edges are the guide's. These are the largest tensors, so each frame goes through
        all layers before the next one's turn (it stays in the cache), and every step that can be is done in place.
        Of a frame the even lines come first, then the odd ones: so two pixels side by side are one row of a product,
        and nothing is shuffled.
        """
        B, T, G, H, W = guides.shape
        f, p = x.shape[1], self.pixel.out_channels
        rows = x.permute(0, 2, 3, 1).reshape(-1, f)
        weights = self.to_pixel.weight.view(T, p, 2, 2, f).permute(0, 2, 4, 3, 1).reshape(T, 2, f, 2 * p)
        biases = _bias(self.to_pixel).view(T, p, 2, 2) + _bias(self.guide_pixel)[:, None, None]
        biases = biases.permute(0, 2, 3, 1).reshape(T, 2, 2 * p)
        onward = self.pixel.weight.flatten(1).mT + torch.eye(p, device=x.device)
        frames = []
        for frame, weight, bias in zip(guides.permute(1, 0, 3, 4, 2), weights, biases, strict=True):
            lines = []
            for odd in range(2):
                y = torch.addmm(bias[odd], rows, weight[odd]).view(-1, p)
                y = y.addmm_(frame[:, odd::2].reshape(-1, G), self.guide_pixel.weight.flatten(1).mT).relu_()
                y = torch.addmm(_bias(self.pixel), y, onward).relu_()
                y = torch.addmm(_bias(self.to_colour)[:, None], self.to_colour.weight.flatten(1), y.mT)
                lines.append(y.view(3, B, H // 2, W))
            frames.append(torch.stack(lines, 3).view(3, B, H, W))
        return torch.stack(frames).permute(2, 0, 1, 3, 4)


def _of_all_frames(layer: nn.Conv2d, guides: Tensor) -> Tensor:
    """A 1x1 convolution of the channels of all four frames together: guides [B*4, G, h, w] -> [B, C, h, w].

    Frame by frame: nothing is copied to bring their channels side by side.
    """
    weights = layer.weight.view(layer.out_channels, FRAMES_PER_LATENT, -1).permute(1, 2, 0)
    frames = torch.unflatten(guides.permute(0, 2, 3, 1), 0, (-1, FRAMES_PER_LATENT))
    out = _bias(layer)
    for frame, weight in zip(frames.unbind(1), weights, strict=True):
        out = torch.addmm(out, frame.flatten(0, 2), weight)
    return out.view(*frames.shape[:1], *frames.shape[2:4], -1).permute(0, 3, 1, 2)


def _bias(layer: nn.Conv2d) -> Tensor:
    assert layer.bias is not None
    return layer.bias


class Autoencoder(nn.Module):
    """Both halves and the latent statistics: ``encode`` gives normalised latents, ``decode`` takes them."""

    def __init__(self, config: AutoencoderConfig) -> None:
        super().__init__()
        self.encoder = Encoder(config)
        self.decoder = GuidedDecoder(config)
        self.register_buffer("latent_mean", torch.zeros(LATENT_CHANNELS))
        self.register_buffer("latent_std", torch.ones(LATENT_CHANNELS))

    def _statistics(self) -> tuple[Tensor, Tensor]:
        mean, std = self.get_buffer("latent_mean"), self.get_buffer("latent_std")
        return mean[:, None, None], std[:, None, None]

    def encode(self, frames: Tensor) -> Tensor:
        mean, std = self._statistics()
        latents: Tensor = (self.encoder(frames) - mean) / std
        return latents

    def decode(self, latents: Tensor, guides: Tensor) -> Tensor:
        mean, std = self._statistics()
        frames: Tensor = self.decoder(latents * std + mean, guides)
        return frames.clamp(-1, 1)
