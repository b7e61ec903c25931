"""From noise to a clean chunk in a few passes, and the chunk into the transformer's memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from engine.device import upload
from engine.models.dit import ChunkContext
from engine.schedule import DenoiseSchedule, Prediction, residual_weights

Renoise = Callable[[int], Tensor]
"""Number of the pass that has just ended -> fresh noise shaped like the chunk."""


class Network(Protocol):
    """What the sampler needs of a ``CausalDiT``."""

    def __call__(self, x: Tensor, timestep: Tensor, context: ChunkContext) -> Tensor: ...

    def write_cache(self, x: Tensor, timestep: Tensor, context: ChunkContext) -> None: ...


@dataclass(frozen=True, slots=True)
class DenoiseStep:
    """One pass: its input, what the network said, and the clean chunk that follows; each [B, C, F, h, w]."""

    x_t: Tensor
    output: Tensor
    x0: Tensor


def denoise(
    network: Network,
    schedule: DenoiseSchedule,
    context: ChunkContext,
    *,
    condition: Tensor,
    noise: Tensor,
    renoise: Renoise,
) -> Tensor:
    """The clean chunk, float32 [B, C, F, h, w], from start ``noise`` of the same shape.

    ``condition`` [B, K, F, h, w] stands behind the noisy channels in every pass. All passes share ``context``.
    """
    passes = denoise_steps(network, schedule, context, condition=condition, noise=noise, renoise=renoise)
    return list(passes)[-1].x0


def denoise_steps(
    network: Network,
    schedule: DenoiseSchedule,
    context: ChunkContext,
    *,
    condition: Tensor,
    noise: Tensor,
    renoise: Renoise,
) -> Iterator[DenoiseStep]:
    """``denoise`` pass by pass, for those who want to look."""
    x_t = noise
    for i, timestep in enumerate(schedule.timesteps):
        output = network(torch.cat([x_t, condition], dim=1), _scalar(timestep, noise), context)
        x0 = clean(schedule.prediction, x_t, output, schedule.x0_sigmas[i])
        yield DenoiseStep(x_t, output, x0)
        if i + 1 < schedule.steps:
            x_t = noised(x0, renoise(i), schedule.renoise_sigmas[i + 1])


def commit(
    network: Network, schedule: DenoiseSchedule, context: ChunkContext, *, condition: Tensor, x0: Tensor
) -> None:
    """Replace the chunk's keys and values of the last noisy pass by those of the clean chunk."""
    network.write_cache(torch.cat([x0, condition], dim=1), _scalar(schedule.commit_timestep, x0), context)


def clean(prediction: Prediction, x_t: Tensor, output: Tensor, sigma: float) -> Tensor:
    """x0 from the network's output at noise level ``sigma``; float64 inside where the device has it, float32 out."""
    wide = torch.float32 if x_t.device.type == "mps" else torch.float64
    a, b = (1.0, -sigma) if prediction is Prediction.VELOCITY else residual_weights(sigma)
    return (a * x_t.to(wide) + b * output.to(wide)).float()


def noised(x0: Tensor, noise: Tensor, sigma: float) -> Tensor:
    """(1 - sigma) x0 + sigma noise."""
    return (1 - sigma) * x0 + sigma * noise


def fresh_noise(like: Tensor, generator: torch.Generator) -> Renoise:
    """A ``Renoise`` that draws on the generator's own device, so that a seed means the same everywhere."""

    def draw(_step: int) -> Tensor:
        return upload(torch.randn(like.shape, generator=generator, device=generator.device), like.device)

    return draw


def _scalar(timestep: float, like: Tensor) -> Tensor:
    # Filled on the device: a tensor made of a number is copied there, and the host waits for it.
    return torch.full((), timestep, dtype=torch.float32, device=like.device)
