"""The last stage: the decoder, on latents as painter and transformer make them, whose softness is its to mend."""

from __future__ import annotations

from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from engine.models.autoencoder import SPATIAL_SCALE, Autoencoder
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
from engine.training.cache import encode_walks, fresh_walks
from engine.training.data import Rendered, half_lens, render_moments
from engine.training.loop import Budget, StageRun
from engine.training.optimizer import Muon
from engine.training.recipe import GUIDE
from engine.training.transformer_stage import ResidualData, made_residual
from engine.worldmap import WorldMap

LATENT_FRAMES = 3
"""Of each walk: the first picture, which is known, and the two that are made from it."""
STARS = 4.0
"""Weight of the layout's stars: they are few, and only the decoder can put them where they are."""


class MadeLatents:
    """Latents as painter and transformer make them, ready to decode, and what they should become."""

    def __init__(
        self, autoencoder: Autoencoder, painter: Painter, dit: CausalDiT, reader: PromptEncoder, tokenizer: Tokenizer
    ) -> None:
        self.autoencoder, self.painter, self.dit = autoencoder, painter, dit
        self.reader, self.tokenizer = reader, tokenizer
        self.land = WorldMap(autoencoder.get_buffer("latent_mean").device)
        self.mean, self.deviation = (autoencoder.get_buffer(n)[:, None, None] for n in ("latent_mean", "latent_std"))

    @torch.no_grad()
    def __call__(self, seed: int, step: int, batch: int) -> tuple[Tensor, Rendered]:
        """Latent frames of ``batch`` walks, as made and, the last, as encoded [B * F, ...]; their guides and smooth
        pictures. It is half of each.

        A world's first picture is an encoded one: the decoder must not forget those.
        """
        walks = fresh_walks(seed * 19_000_003 + step, batch, LATENT_FRAMES)
        clips, lens = encode_walks(walks, self.autoencoder, self.land), half_lens(step)
        data = ResidualData(clips, self.painter, self.reader, self.tokenizer)
        b = data.chosen(torch.arange(batch), torch.Generator().manual_seed(step), seed + step * 101)
        made = data.latents(made_residual(self.dit, b, seed=step))
        latents = torch.cat([made[:, 1:], clips.latents[:, -1:].float()], 1).flatten(0, 1).to(self.mean.device)
        left, right = (column // SPATIAL_SCALE for column in lens.columns)
        shown = render_moments(self.land, walks, range(1, LATENT_FRAMES), lens, smooth=True)
        frames, guides = (torch.cat([t, t[:, -1:]], 1).flatten(0, 1) for t in (shown.frames, shown.guides))
        return latents[..., left:right] * self.deviation + self.mean, Rendered(frames, guides)


def train_finish(
    folder: Path, *, budget: Budget, seed: int, batch: int, resume: bool, made: MadeLatents
) -> Autoencoder:
    """Train the decoder alone; the encoder, and so every latent, stays as it is."""
    torch.manual_seed(seed)
    decoder = made.autoencoder.decoder.requires_grad_(True).train()
    run = StageRun("finish", decoder, Muon(decoder, muon_lr=0.003, adam_lr=6e-4), folder, ema=0.98)
    if resume:
        run.resume()

    def loss_of(step: int) -> Tensor:
        latents, truth = made(seed, step, batch)
        frames = decoder(latents, truth.guides)
        stars = truth.guides[:, :, [GUIDE.index("stars")]]
        of_stars: Tensor = (stars * (frames - truth.frames).abs()).mean()
        texture = texture_loss(frames, truth.frames)
        return reconstruction_loss(frames, truth.frames) + TEXTURE * texture + STARS * of_stars

    latents, truth = made(VALIDATION_SEED, 0, batch)

    @torch.no_grad()
    def validate() -> dict[str, float]:
        frames = decoder(latents, truth.guides).clamp(-1, 1)
        return {"psnr_db": psnr(frames, truth.frames), "texture": float(texture_loss(frames, truth.frames))}

    def sheet(_: nn.Module) -> Pixels:
        return samples.pairs(truth.frames, decoder(latents, truth.guides))

    run.run(budget, loss_of, validate, sheet)
    run.averaged()
    return made.autoencoder.cpu()
