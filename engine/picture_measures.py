"""What is measured of a picture to find the world that is most like it: colours, contrast, texture from top to foot.

Nothing here is learned. Everything is batched over V pictures [V, 3, 56, 96] in [0, 1].
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

WIDTH_PX, HEIGHT_PX = 96, 56
_BANDS = 7
_SKY, _GROUND = slice(0, 24), slice(32, HEIGHT_PX)
"""Rows that are mostly sky, and mostly ground."""
_HIGHEST_LINE, _LOWEST_LINE = 0.33, 0.67
_TO_LMS = torch.tensor(
    [[0.4122, 0.5363, 0.0514], [0.2119, 0.6807, 0.1074], [0.0883, 0.2817, 0.6300]]
)  # Oklab (Ottosson 2020)
_TO_LAB = torch.tensor([[0.2105, 0.7936, -0.0041], [1.9780, -2.4286, 0.4506], [0.0259, 0.7828, -0.8087]])
_LIGHT, _GREEN_RED, _BLUE_YELLOW = (
    torch.linspace(0.10, 0.95, 6),
    torch.linspace(-0.12, 0.12, 7),
    torch.linspace(-0.14, 0.14, 7),
)
"""Where the bins of the histograms have their middles."""


def oklab(pictures: Tensor) -> Tensor:
    """sRGB [V, 3, H, W] in [0, 1] -> lightness 0..1, green to red, blue to yellow."""
    linear = torch.where(pictures <= 0.04045, pictures / 12.92, ((pictures + 0.055) / 1.055) ** 2.4)
    lms = torch.einsum("ij,vjhw->vihw", _TO_LMS, linear).clamp(min=0) ** (1 / 3)
    return torch.einsum("ij,vjhw->vihw", _TO_LAB, lms)


def measure(pictures: Tensor) -> Tensor:
    """Measurements [V, M] of pictures [V, 3, 56, 96]."""
    assert pictures.shape[1:] == (3, HEIGHT_PX, WIDTH_PX), pictures.shape
    lab = oklab(pictures)
    mean, square = _banded(lab), _banded(lab**2)
    spread = (square - mean**2).clamp(min=1e-6)
    local = functional.avg_pool2d(lab[:, :1], 5, 1, 2, count_include_pad=False)
    parts = [
        mean,
        mean[:, 1:] / (mean[:, :1] + 0.15),  # colour, whatever the exposure
        spread[:, :1].sqrt(),
        spread[:, 1:].sum(1, keepdim=True).sqrt(),
        _banded(_texture(lab)),
        4 * _banded((lab[:, :1] - local - 0.05).clamp(min=0)),  # sparks: stars
        4 * _banded((local - lab[:, :1] - 0.05).clamp(min=0)),
        _banded(_shares(lab)),
        torch.quantile(lab[:, 0].flatten(1), torch.tensor([0.02, 0.1, 0.5, 0.9, 0.98]), 1).T,
        _histograms(lab[:, :, _SKY]),
        _histograms(lab[:, :, _GROUND]),
        torch.unflatten(lab.mean(3), 2, (-1, 2)).mean(3),  # every second row
    ]
    return torch.cat([part.flatten(1) for part in parts], 1)


def horizon(pictures: Tensor) -> tuple[Tensor, Tensor]:
    """The clearest level line of each picture [V, 3, 56, 96], as a share of the height from the top [V], and how clear
    it is [V]: the step of colour from the two rows above to the two below, the more the more all columns agree in it.

    Of the simulator's own pictures with over 0.08 the line is half as far from the true horizon as the middle is.
    """
    lab = oklab(pictures) * torch.tensor([1.0, 2.0, 2.0])[:, None, None]
    pairs = (lab[:, :, 1:] + lab[:, :, :-1]) / 2
    step = pairs[:, :, 2:] - pairs[:, :, :-2]  # [V, 3, H - 3, W]
    clear = step.mean(3).norm(dim=1) ** 2 / (step.norm(dim=1).mean(2) + 0.01)
    line = (torch.arange(clear.shape[1]) + 2) / lab.shape[2]
    best, row = (clear * ((line > _HIGHEST_LINE) & (line < _LOWEST_LINE))).max(1)
    return line[row], best


def _banded(x: Tensor) -> Tensor:
    """Means of bands of rows: [V, C, H, W] -> [V, C, 7]."""
    return torch.unflatten(x.mean(3), 2, (_BANDS, -1)).mean(3)


def _texture(lab: Tensor) -> Tensor:
    """How much the lightness changes from pixel to pixel [V, 1, H, W]."""
    light = lab[:, :1]
    across = functional.pad((light[..., 1:] - light[..., :-1]).abs(), (0, 1))
    down = functional.pad((light[..., 1:, :] - light[..., :-1, :]).abs(), (0, 0, 0, 1))
    return across + down


def _shares(lab: Tensor) -> Tensor:
    """[V, 4, H, W]: how green, red or orange, blue, and white each pixel is, 0 to 1."""
    light, a, b = lab.unbind(1)
    chroma = (a * a + b * b).sqrt()
    green = torch.sigmoid((-a - 0.035) * 120) * torch.sigmoid(b * 120)
    red = torch.sigmoid((a - 0.03) * 120) * torch.sigmoid((b - 0.03) * 120)
    blue = torch.sigmoid((-b - 0.025) * 120)
    white = torch.sigmoid((light - 0.72) * 30) * torch.sigmoid((0.05 - chroma) * 120)
    return torch.stack([green, red, blue, white], 1)


def _histograms(lab: Tensor) -> Tensor:
    """Soft joint histograms [V, 133] of each pair of lightness and colours; square roots even out rare and common."""
    light, a, b = (_bins(lab[:, i], bins) for i, bins in enumerate((_LIGHT, _GREEN_RED, _BLUE_YELLOW)))
    pairs = [torch.einsum("vihw,vjhw->vij", *pair).flatten(1) for pair in ((a, b), (light, b), (light, a))]
    return (torch.cat(pairs, 1) / (lab.shape[2] * lab.shape[3])).clamp(min=0).sqrt()


def _bins(values: Tensor, middles: Tensor) -> Tensor:
    """Membership [V, n, H, W] of values [V, H, W] in n bins, each value shared by the two next to it."""
    held = values.clamp(float(middles[0]), float(middles[-1]))
    return (1 - (held[:, None] - middles[:, None, None]).abs() / (middles[1] - middles[0])).clamp(0, 1)
