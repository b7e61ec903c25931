"""Small pictures of places in a walk, for lists and trees."""

from __future__ import annotations

import numpy as np
from PIL import Image

from engine.protocol import Pixels

PICTURE_WIDTH = 192


def small(frame: Pixels) -> Pixels:
    """``frame`` [H, W, 3], no wider than ``PICTURE_WIDTH``, its shape kept."""
    height, width = frame.shape[:2]
    size = min(PICTURE_WIDTH, width), max(1, round(height * min(PICTURE_WIDTH, width) / width))
    return np.array(Image.fromarray(frame).resize(size, Image.Resampling.BOX))
