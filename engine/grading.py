"""The look of one world: five numbers by which all its pictures differ from another's, as if from another camera."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

GRADING = ("exposure", "warmth", "tint", "saturation", "contrast")
GRADING_SIZE = len(GRADING)
"""Standard normal numbers, one set a world."""
LARGEST_LOOK = 2.0
"""The simulator's looks go no further, so the networks know none beyond."""
_DOUBT, _PRIOR, _STEP = 0.05, 1e-4, 0.1


def _factors(grading: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Of looks [V, 5]: gains of the colours [V, 3, 1, 1], of light, of saturation and of contrast [V, 1, 1, 1]."""
    e, warm, tint, saturation, contrast = (grading[:, i, None, None, None] for i in range(GRADING_SIZE))
    gain = torch.cat([1 + 0.10 * warm, 1 + 0.05 * tint, 1 - 0.10 * warm], 1)
    return gain, 1 + 0.10 * e, 1 + 0.18 * saturation, 1 + 0.07 * contrast


def grade(picture: Tensor, grading: Tensor) -> Tensor:
    """Pictures [V, 3, H, W] in [0, 1] with the looks [V, 5]; contrast is around mid-grey."""
    gain, light, saturation, contrast = _factors(grading)
    out = picture * gain * light
    grey = out.mean(1, keepdim=True)
    out = grey + (out - grey) * saturation
    return (0.45 + (out - 0.45) * contrast).clamp(0, 1)


def ungrade(picture: Tensor, grading: Tensor) -> Tensor:
    """The pictures without their looks: what ``grade`` made them of, as far as nothing was clamped."""
    gain, light, saturation, contrast = _factors(grading)
    out = 0.45 + (picture - 0.45) / contrast
    grey = out.mean(1, keepdim=True)
    out = grey + (out - grey) / saturation
    return (out / (gain * light)).clamp(0, 1)


def look_between(plain: Tensor, graded: Tensor) -> Tensor:
    """The look [5] that makes of the picture ``plain`` [1, 3, H, W] in [0, 1] the one ``graded``, most nearly.

    Least squares over cells of 8 x 8, of which those that differ by more than colour (``_DOUBT``) count little.
    """
    plain, graded = (functional.avg_pool2d(picture, 8) for picture in (plain, graded))

    def off_of(looks: Tensor) -> Tensor:
        return (grade(plain.expand(len(looks), -1, -1, -1), looks) - graded).flatten(1)

    return nearest_look(off_of, prior=_PRIOR * plain.numel(), rounds=8, doubt=_DOUBT)


def nearest_look(
    off_of: Callable[[Tensor], Tensor], *, prior: float, rounds: int, doubt: float | None = None
) -> Tensor:
    """The look [5] for which ``off_of`` (looks [V, 5] -> how far each is off in R ways, [V, R]) is least.

    Least squares, the weight ``prior`` of the looks' own spread beside them: what no look can mend changes none. Ways
    that are off by more than ``doubt`` count little. Looks beyond ``LARGEST_LOOK`` are none.
    """
    look, directions = torch.zeros(GRADING_SIZE), torch.eye(GRADING_SIZE)
    for _ in range(rounds):  # nearly linear: it settles at once, weights a little later
        off = off_of(torch.cat([look[None], look + _STEP * directions]))
        slope = (off[1:] - off[0]) / _STEP  # [5, R]
        weighted = slope
        if doubt is not None:
            weights = 1 / (doubt**2 + off[0].square())
            weighted = slope * (weights / weights.mean())
        right = weighted @ off[0] + prior * look
        look = look - torch.linalg.solve(weighted @ slope.T + prior * directions, right)
        look = look.clamp(-LARGEST_LOOK, LARGEST_LOOK)
    return look
