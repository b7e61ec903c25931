"""Numbers for pictures: uint8 [T, H, W, 3] made and true, and which pixels count, bool [T, H, W]."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from engine.protocol import Pixels

Mask = NDArray[np.bool_]


def psnr_db(made: Pixels, true: Pixels, counted: Mask | None = None) -> float:
    """Peak signal to noise in dB over the counted pixels; the mean is taken over squares, not over frames."""
    squares = np.square(made.astype(np.float32) - true.astype(np.float32)).mean(-1)
    error = float(squares[counted].mean() if counted is not None and counted.any() else squares.mean())
    return 10 * math.log10(255.0**2 / max(error, 1e-6))


def sharpness(frames: Pixels) -> float:
    """Variance of the Laplacian of the grey picture (in [0, 1]), the mean over the frames."""
    grey = frames.astype(np.float32).mean(-1) / 255
    inner = grey[:, 1:-1, 1:-1]
    laplacian = grey[:, :-2, 1:-1] + grey[:, 2:, 1:-1] + grey[:, 1:-1, :-2] + grey[:, 1:-1, 2:] - 4 * inner
    return float(laplacian.var(axis=(1, 2)).mean())


def colour_shift(made: Pixels, true: Pixels) -> float:
    """Largest difference of the mean colours (in [0, 1]) among red, green and blue."""
    return float(np.abs(made.mean((0, 1, 2)) - true.mean((0, 1, 2))).max()) / 255


def flicker(frames: Pixels) -> float:
    """Mean change between neighbouring frames, in [0, 1]."""
    return float(np.abs(np.diff(frames.astype(np.float32), axis=0)).mean()) / 255


def agreement(made: Pixels, true: Pixels, others: list[Pixels]) -> float:
    """How far pictures of one shape hold what is hidden of their world, 0 to 1.

    The share of the way from the mean of other worlds on the same land (0) to the truth (1), by least squares: faults
    that have nothing to do with what is hidden do not count.
    """
    mean = np.stack([other.astype(np.float32) for other in others]).mean(0)
    way, gone = true.astype(np.float32) - mean, made.astype(np.float32) - mean
    length = float(np.square(way).sum())
    return float(np.clip((way * gone).sum() / length, 0, 1)) if length else 1.0
