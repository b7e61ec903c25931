"""The look of one world: five numbers by which all its pictures differ from another's, as if from another camera."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

GRADING = ("exposure", "warmth", "tint", "saturation", "contrast")
GRADING_SIZE = len(GRADING)
"""Standard normal numbers, one set a world."""
LARGEST_LOOK = 2.0
"""The simulator's looks go no further, so the networks know none beyond."""
_DOUBT, _PRIOR, _STEP = 0.05, 1e-4, 0.1


def grade(picture: Tensor, grading: Tensor) -> Tensor:
    """Pictures [V, 3, H, W] in [0, 1] with the looks [V, 5]; contrast is around mid-grey."""
    e, warm, tint, saturation, contrast = (grading[:, i, None, None, None] for i in range(GRADING_SIZE))
    gain = torch.cat([1 + 0.10 * warm, 1 + 0.05 * tint, 1 - 0.10 * warm], 1)
    out = picture * gain * (1 + 0.10 * e)
    grey = out.mean(1, keepdim=True)
    out = grey + (out - grey) * (1 + 0.18 * saturation)
    return (0.45 + (out - 0.45) * (1 + 0.07 * contrast)).clamp(0, 1)


def ungrade(picture: Tensor, grading: Tensor) -> Tensor:
    """The pictures without their looks: what ``grade`` made them of, as far as nothing was clamped."""
    e, warm, tint, saturation, contrast = (grading[:, i, None, None, None] for i in range(GRADING_SIZE))
    out = 0.45 + (picture - 0.45) / (1 + 0.07 * contrast)
    grey = out.mean(1, keepdim=True)
    out = grey + (out - grey) / (1 + 0.18 * saturation)
    gain = torch.cat([1 + 0.10 * warm, 1 + 0.05 * tint, 1 - 0.10 * warm], 1)
    return (out / (gain * (1 + 0.10 * e))).clamp(0, 1)


def look_between(plain: Tensor, graded: Tensor) -> Tensor:
    """The look [5] that makes of the picture ``plain`` [1, 3, H, W] in [0, 1] the one ``graded``, most nearly.

    Least squares over cells of 8 x 8, of which those that differ by more than colour (``_DOUBT``) count little; the
    looks' own spread is the prior. Looks beyond ``LARGEST_LOOK`` are none.
    """
    plain, graded = (functional.avg_pool2d(picture, 8) for picture in (plain, graded))
    look, trials = torch.zeros(GRADING_SIZE), torch.eye(GRADING_SIZE)
    prior = _PRIOR * plain.numel() * torch.eye(GRADING_SIZE)
    for _ in range(8):  # nearly linear: it settles at once, the weights a little later
        looks = torch.cat([look[None], look + _STEP * trials])
        off = (grade(plain.expand(len(looks), -1, -1, -1), looks) - graded).flatten(1)
        weights = 1 / (_DOUBT**2 + off[0].square())
        slope = (off[1:] - off[0]) / _STEP  # [5, R]
        weighted = slope * (weights / weights.mean())
        change = torch.linalg.solve(weighted @ slope.T + prior, weighted @ off[0] + prior @ look)
        look = (look - change).clamp(-LARGEST_LOOK, LARGEST_LOOK)
    return look
