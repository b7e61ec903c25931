"""Stage one: the guided autoencoder, on fresh worlds at every step."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional

from engine.models.autoencoder import Autoencoder, AutoencoderConfig
from engine.training.data import Rendered, half_lens, random_places, render
from engine.training.loop import Budget, StageRun
from engine.training.optimizer import Muon
from engine.training.recipe import GUIDE, LENS
from engine.training.samples import reconstructions
from engine.training.stage_files import take_weights
from engine.worldmap import WorldMap

LATENT_NOISE = 0.08
TEXTURE = 0.6
VALIDATION_SEED = 990_000_000
"""Worlds of this generator seed and above are never trained on."""


def psnr(a: Tensor, b: Tensor) -> float:
    """Peak signal to noise in dB of pictures in [-1, 1]."""
    return float(-10 * torch.log10(((a - b) / 2).square().mean().clamp(min=1e-12)))


def single_groups(
    seed: int, step: int, batch: int, land: WorldMap, *, crop: bool = False, smooth: bool = False
) -> Rendered:
    """A batch of latent frames' pictures; ``crop`` casts only the left, middle or right half of each."""
    generator = torch.Generator().manual_seed(seed * 1_000_003 + step)
    rendered = render(land, random_places(generator, batch), half_lens(step) if crop else LENS, smooth=smooth)
    return Rendered(rendered.frames[:, 0], rendered.guides[:, 0])


def reconstruction_loss(made: Tensor, true: Tensor) -> Tensor:
    """L1, gradient L1 and L2 of pictures [..., H, W]."""
    d = made - true
    edges = (d[..., 1:, :] - d[..., :-1, :]).abs().mean() + (d[..., 1:] - d[..., :-1]).abs().mean()
    return d.abs().mean() + 0.5 * edges + 1.5 * d.square().mean()


def texture_loss(made: Tensor, true: Tensor) -> Tensor:
    """L1 between the local strengths (RMS over 8 x 8) of the Laplacians of grey pictures [..., 3, H, W].

    It does not ask where a grain lies, only that there is as much of it as in the truth.
    """
    strengths = []
    for pictures in (made, true):
        grey = pictures.flatten(0, -4).mean(1, keepdim=True)
        inner = grey[..., 1:-1, 1:-1]
        around = grey[..., :-2, 1:-1] + grey[..., 2:, 1:-1] + grey[..., 1:-1, :-2] + grey[..., 1:-1, 2:]
        strengths.append((functional.avg_pool2d((around - 4 * inner).square(), 8, 4) + 1e-5).sqrt())
    return (strengths[0] - strengths[1]).abs().mean()


def train_autoencoder(
    folder: Path, *, budget: Budget, seed: int, batch: int, resume: bool, device: str, further: bool = False
) -> Autoencoder:
    torch.manual_seed(seed)
    land = WorldMap(device)
    model = Autoencoder(AutoencoderConfig(len(GUIDE))).to(device)
    if further:
        take_weights(model, folder, "autoencoder")
    run = StageRun("autoencoder", model, Muon(model, muon_lr=0.01, adam_lr=2e-3), folder)
    if resume:
        run.resume()

    def loss_of(step: int) -> Tensor:
        data = single_groups(seed, step, batch, land, crop=True)
        latents = model.encoder(data.frames)
        noisy = latents + LATENT_NOISE * torch.randn(latents.shape, generator=torch.Generator().manual_seed(step)).to(
            device
        )
        made = model.decoder(noisy, data.guides)
        return (
            reconstruction_loss(made, data.frames)
            + TEXTURE * texture_loss(made, data.frames)
            + 0.002 * functional.relu(latents.square() - 1).mean()
        )

    held_out = single_groups(VALIDATION_SEED, 0, min(8, batch), land)

    @torch.no_grad()
    def validate() -> dict[str, float]:
        latents = model.encoder(held_out.frames)
        made = model.decoder(latents, held_out.guides).clamp(-1, 1)
        return {"psnr_db": psnr(made, held_out.frames), "latent_rms": float(latents.square().mean().sqrt())}

    run.run(budget, loss_of, validate, lambda _: reconstructions(model, held_out))
    run.averaged()
    _measure_latents(model, land, seed, batch)
    return model


@torch.no_grad()
def _measure_latents(model: Autoencoder, land: WorldMap, seed: int, batch: int) -> None:
    """Mean and deviation of each latent channel over fresh worlds, kept in the model."""
    rows = [model.encoder(single_groups(seed + 1, i, batch, land).frames) for i in range(16)]
    latents = torch.cat(rows)
    model.get_buffer("latent_mean").copy_(latents.mean((0, 2, 3)))
    model.get_buffer("latent_std").copy_(latents.std((0, 2, 3)))
