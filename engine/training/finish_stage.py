"""The last stage: the decoder, on latents as painter and transformer make them, whose softness is its to mend."""

from __future__ import annotations

from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch import Tensor

from engine.models.autoencoder import Autoencoder
from engine.models.dit import CausalDiT
from engine.models.painter import Painter
from engine.models.text import PromptEncoder
from engine.training.autoencoder_stage import (
    TEXTURE,
    VALIDATION_SEED,
    psnr,
    reconstruction_loss,
    texture_loss,
)
from engine.training.cache import encoded_walks
from engine.training.data import Rendered
from engine.training.loop import Budget, StageRun
from engine.training.optimizer import Muon
from engine.training.transformer_stage import ResidualData, predict_clip
from engine.worldmap import WorldMap

LATENT_FRAMES = 3
"""Of each walk: the first picture, which is known, and the two that are made from it."""


def train_finish(
    folder: Path,
    *,
    budget: Budget,
    seed: int,
    batch: int,
    resume: bool,
    autoencoder: Autoencoder,
    painter: Painter,
    dit: CausalDiT,
    reader: PromptEncoder,
    tokenizer: Tokenizer,
) -> Autoencoder:
    """Train the decoder alone; the encoder, and so every latent, stays as it is."""
    torch.manual_seed(seed)
    land = WorldMap()
    decoder = autoencoder.decoder.requires_grad_(True).train()
    run = StageRun("finish", decoder, Muon(decoder, muon_lr=0.003, adam_lr=6e-4), folder, ema=0.98)
    if resume:
        run.resume()

    def made(step: int, seed: int) -> tuple[Tensor, Rendered]:
        """Latents [B * (F - 1), 16, h, w], ready to decode, and what they should become."""
        generator = torch.Generator().manual_seed(seed * 19_000_003 + step)
        clips, rendered = encoded_walks(generator, batch, autoencoder, land, LATENT_FRAMES)
        data = ResidualData(clips, painter, reader, tokenizer)
        latents = made_latents(dit, data, generator, step)[:, 1:]
        normal = latents.flatten(0, 1) * deviation + mean
        return normal, Rendered(rendered.frames[:, 1:].flatten(0, 1), rendered.guides[:, 1:].flatten(0, 1))

    mean, deviation = (autoencoder.get_buffer(n)[:, None, None] for n in ("latent_mean", "latent_std"))

    def loss_of(step: int) -> Tensor:
        latents, truth = made(step, seed)
        frames = decoder(latents, truth.guides)
        return reconstruction_loss(frames, truth.frames) + TEXTURE * texture_loss(frames, truth.frames)

    held_out = made(0, VALIDATION_SEED)

    @torch.no_grad()
    def validate() -> dict[str, float]:
        latents, truth = held_out
        frames = decoder(latents, truth.guides).clamp(-1, 1)
        return {"psnr_db": psnr(frames, truth.frames), "texture": float(texture_loss(frames, truth.frames))}

    run.run(budget, loss_of, validate)
    run.averaged()
    return autoencoder


@torch.no_grad()
def made_latents(dit: CausalDiT, data: ResidualData, generator: torch.Generator, words: int) -> Tensor:
    """All clips as the model makes them [N, F, 16, h, w]: in one pass from noise, each from the first picture alone."""
    b = data.chosen(torch.arange(len(data.clips)), generator, words)
    sigmas = torch.ones(b.residual.shape[0], b.residual.shape[2])
    sigmas[:, 0] = 0
    noisy = torch.randn(b.residual.shape, generator=generator)
    noisy[:, :, 0] = b.residual[:, :, 0]
    residual = predict_clip(dit, b, noisy, sigmas, 1)
    residual[:, :, 0] = b.residual[:, :, 0]
    return data.painted.float() + residual.transpose(1, 2) * data.std
