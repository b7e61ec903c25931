"""Few-step flow-matching schedules: which timesteps the network is asked at, and which sigmas belong to them.

x_t = (1 - sigma) x0 + sigma noise. The published code has two constructions of the same idea, which differ by less
than 0.1 % and give different pictures: LingBot-World's own ("official") and SGLang-Diffusion's ("sglang").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeVar

from torch import Tensor

TABLE_STEPS = 1000
Sigma = TypeVar("Sigma", float, Tensor)


class Prediction(Enum):
    """What the network's output is."""

    VELOCITY = "velocity"
    """v = noise - x0, so x0 = x_t - sigma v."""
    RESIDUAL = "residual"
    """F of x0 = K x_t + (1 - K (1 - sigma)) F, for x0 of zero mean and unit variance (see ``residual_weights``)."""


@dataclass(frozen=True, slots=True)
class DenoiseSchedule:
    """One entry a denoising pass. Step i ends in x0; then noise comes back at ``renoise_sigmas[i + 1]``.

    ``x0_sigmas`` and ``renoise_sigmas`` differ only in the official construction. After the last step the clean chunk
    is committed at ``commit_timestep``.
    """

    timesteps: tuple[float, ...]
    x0_sigmas: tuple[float, ...]
    renoise_sigmas: tuple[float, ...]
    prediction: Prediction = Prediction.VELOCITY
    commit_timestep: float = 0.0

    def __post_init__(self) -> None:
        steps = len(self.timesteps)
        if steps == 0 or len(self.x0_sigmas) != steps or len(self.renoise_sigmas) != steps:
            raise ValueError(f"a schedule needs one sigma of each kind for each of its {steps} timesteps")
        if not all(0 < sigma <= 1 for sigma in (*self.x0_sigmas, *self.renoise_sigmas)):
            raise ValueError(f"sigmas must lie in (0, 1], got {self.x0_sigmas} and {self.renoise_sigmas}")

    @property
    def steps(self) -> int:
        return len(self.timesteps)


def shifted(sigma: float, shift: float) -> float:
    """Move a sigma towards noise: s u / (1 + (s - 1) u) (Stable Diffusion 3, arXiv 2403.03206)."""
    return shift * sigma / (1 + (shift - 1) * sigma)


def official_table(shift: float) -> tuple[list[float], list[int]]:
    """1000 sigmas from 0.999 down and their timesteps, cut to integers (UniPC as LingBot-World sets it up)."""
    first = 1 - 1 / TABLE_STEPS
    sigmas = [shifted(first * (TABLE_STEPS - i) / TABLE_STEPS, shift) for i in range(TABLE_STEPS)]
    return sigmas, [int(TABLE_STEPS * sigma) for sigma in sigmas]


def official(indices: Sequence[int], shift: float) -> DenoiseSchedule:
    """LingBot-World: steps are picked by table index, e.g. 0, 250, 500, 750 with shift 5 (v2).

    Cutting makes neighbours of the table equal near the noisy end. The original looks sigmas up by timestep, and finds
    the first of two equals for x0 and the second for the re-noising.
    """
    sigmas, table = official_table(shift)
    timesteps = [table[index] for index in indices]
    firsts = [table.index(timestep) for timestep in timesteps]
    seconds = [i + 1 if table[i : i + 2].count(table[i]) == 2 else i for i in firsts]
    return DenoiseSchedule(
        tuple(float(timestep) for timestep in timesteps),
        tuple(sigmas[i] for i in firsts),
        tuple(sigmas[i] for i in seconds),
    )


def sglang_table(shift: float) -> list[float]:
    """1000 sigmas 1, 0.999, ..., 0.001 after the shift; the timesteps are 1000 times these."""
    return [shifted((TABLE_STEPS - i) / TABLE_STEPS, shift) for i in range(TABLE_STEPS)]


def sglang(listed_steps: Sequence[int], shift: float, *, warp: bool = True) -> DenoiseSchedule:
    """SGLang-Diffusion: listed steps, e.g. 1000, 750, 500, 250 with shift 5 (v2), 10 with 1000, 821, 642, 321 (v1).

    ``warp`` turns a listed step t into the timestep of table entry 1000 - t; without it t is the timestep itself.
    Sigmas are those of the nearest table entry.
    """
    table = sglang_table(shift)
    timesteps = [TABLE_STEPS * table[TABLE_STEPS - step] if warp else float(step) for step in listed_steps]
    sigmas = tuple(_nearest(table, timestep / TABLE_STEPS) for timestep in timesteps)
    return DenoiseSchedule(tuple(timesteps), sigmas, sigmas)


def _nearest(table: Sequence[float], wanted: float) -> float:
    return min(table, key=lambda sigma: abs(sigma - wanted))


def explicit(sigmas: Sequence[float], prediction: Prediction = Prediction.VELOCITY) -> DenoiseSchedule:
    """A schedule of these sigmas in (0, 1], noisiest first; timestep = 1000 sigma."""
    chosen = tuple(float(sigma) for sigma in sigmas)
    return DenoiseSchedule(tuple(TABLE_STEPS * sigma for sigma in chosen), chosen, chosen, prediction)


def residual_weights(sigma: Sigma) -> tuple[Sigma, Sigma]:
    """Weights (a, b) of x0 = a x_t + b F with the Gaussian prior of unit variance: a = K, b = 1 - K (1 - sigma).

    K = (1 - s) / ((1 - s)^2 + s^2) is the regression of x0 on x_t, so F only has to say what the prior cannot.
    """
    signal = 1 - sigma
    k = signal / (signal**2 + sigma**2)
    return k, 1 - k * signal
