"""The look of one world: five numbers by which all its pictures differ from another's, as if from another camera."""

from __future__ import annotations

import torch
from torch import Tensor

GRADING = ("exposure", "warmth", "tint", "saturation", "contrast")
GRADING_SIZE = len(GRADING)
"""Standard normal numbers, one set a world."""


def grade(picture: Tensor, grading: Tensor) -> Tensor:
    """Pictures [V, 3, H, W] in [0, 1] with the looks [V, 5]; contrast is around mid-grey."""
    e, warm, tint, saturation, contrast = (grading[:, i, None, None, None] for i in range(GRADING_SIZE))
    gain = torch.cat([1 + 0.10 * warm, 1 + 0.05 * tint, 1 - 0.10 * warm], 1)
    out = picture * gain * (1 + 0.10 * e)
    grey = out.mean(1, keepdim=True)
    out = grey + (out - grey) * (1 + 0.18 * saturation)
    return (0.45 + (out - 0.45) * (1 + 0.07 * contrast)).clamp(0, 1)
