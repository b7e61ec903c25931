"""The last stage: the decoder, on latents as painter and transformer make them, whose softness is its to mend."""

from __future__ import annotations

from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from engine.models.autoencoder import Autoencoder
from engine.models.dit import CausalDiT
from engine.models.painter import Painter
from engine.models.text import PromptEncoder
from engine.protocol import Pixels
from engine.training import samples
from engine.training.autoencoder_stage import (
    TEXTURE,
    VALIDATION_SEED,
    psnr,
    reconstruction_loss,
    texture_loss,
)
from engine.training.cache import encode_and_render, fresh_walks
from engine.training.data import Rendered
from engine.training.loop import Budget, StageRun
from engine.training.optimizer import Muon
from engine.training.transformer_stage import ResidualData, made_residual
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
    device: str = "cpu",
) -> Autoencoder:
    """Train the decoder alone; the encoder, and so every latent, stays as it is."""
    torch.manual_seed(seed)
    land = WorldMap(device)
    for network in (autoencoder, painter, dit):
        network.to(device)
    decoder = autoencoder.decoder.requires_grad_(True).train()
    run = StageRun("finish", decoder, Muon(decoder, muon_lr=0.003, adam_lr=6e-4), folder, ema=0.98)
    if resume:
        run.resume()

    def made(step: int, seed: int) -> tuple[Tensor, Rendered]:
        """Latents [B * (F - 1), 16, h, w] as the decoder takes them, and what they should become."""
        walks = fresh_walks(seed * 19_000_003 + step, batch, LATENT_FRAMES)
        clips, rendered = encode_and_render(walks, autoencoder, land)
        data = ResidualData(clips, painter, reader, tokenizer)
        b = data.chosen(torch.arange(batch), torch.Generator().manual_seed(step), seed + step * 101)
        latents = (data.painted.float() + data.std * made_residual(dit, b, seed=step).transpose(1, 2))[:, 1:]
        raw = latents.flatten(0, 1).to(device) * deviation + mean
        return raw, Rendered(rendered.frames[:, 1:].flatten(0, 1), rendered.guides[:, 1:].flatten(0, 1))

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

    def sheet(_: nn.Module) -> Pixels:
        latents, truth = held_out
        return samples.pairs(truth.frames, decoder(latents, truth.guides))

    run.run(budget, loss_of, validate, sheet)
    run.averaged()
    return autoencoder.cpu()
