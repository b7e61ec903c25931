"""The dream mode, an experiment: the same transformer without the layout, from a first picture and its own history.

Nothing tells it of the land: the painter's latent is nothing (zero, of deviation one, so that the residual is the
latent itself), the decoder's guide is nothing, and only the first picture, the camera's rays and the prompt are given.
As the shipped decoder takes its edges from the guide, one is trained that does without; the encoder stays, and with it
the clips.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from engine.bundled_world import BundledWorldModel
from engine.camera import Poses
from engine.conditioning import MASK_CHANNELS, Blend, ChunkCondition, LayoutConditioner, Place
from engine.config import EngineConfig
from engine.models.autoencoder import Autoencoder, start_at_zero
from engine.models.dit import CausalDiT
from engine.models.painter import Painter, PainterConfig
from engine.models.text import PromptEncoder
from engine.training import samples
from engine.training.autoencoder_stage import LATENT_NOISE, VALIDATION_SEED, psnr, reconstruction_loss, single_groups
from engine.training.cache import Clips
from engine.training.loop import Budget, Show, StageRun
from engine.training.optimizer import Muon
from engine.training.recipe import GUIDE
from engine.training.transformer_stage import ResidualData, train_transformer
from engine.weights import load_into
from engine.worldmap import MIX_SIZE, WorldMap

NAME = "dream"
DECODER_SHARE = 0.25
"""Of the stage's minutes; the rest is the transformer's."""


@dataclass(frozen=True, slots=True)
class DreamPlan:
    """How both parts are trained; ``folder`` holds their checkpoints."""

    folder: Path
    budget: Budget
    seed: int
    batch: int
    resume: bool
    device: str

    def part(self, share: float) -> Budget:
        return replace(self.budget, minutes=self.budget.minutes * share)


class Unguided(LayoutConditioner):
    """The conditioner with the guide removed: where the camera is stays known, what it sees does not."""

    paints = False

    def prepare_chunk(
        self, place: Place, blend: Blend, before: Poses, after: Poses, *, picture: bool
    ) -> tuple[ChunkCondition, Blend]:
        told, blend = super().prepare_chunk(place, blend, before, after, picture=picture)
        nothing = torch.zeros_like(told.base)
        condition = torch.cat([told.condition[:, :MASK_CHANNELS], nothing], 1)
        return replace(told, condition=condition, base=nothing, guides=torch.zeros_like(told.guides)), blend


def without_guide(model: BundledWorldModel, config: EngineConfig, weights: Path) -> BundledWorldModel:
    """The same model, dreaming: its transformer and autoencoder from ``weights``, and nothing of the layout.

    WeightsProblem or FileProblem where the file is missing or does not fit. The model given is not to be used any more.
    """
    own, networks = model.model.config, model.model.networks
    with torch.device("meta"):
        dream = Dream(Autoencoder(own.autoencoder), CausalDiT(own.dit))
    load_into(dream, weights, dtype=torch.float32)
    dream.eval().requires_grad_(False)
    networks.autoencoder, networks.dit = dream.autoencoder, dream.dit
    old = model.model.conditioner
    conditioner = Unguided(
        old.land,
        old.painter,
        old.lens,
        old.guide,
        metres_per_unit=old.metres_per_unit,
        blend_latent_frames=old.blend_latent_frames,
    )
    conditioner.scale = torch.ones_like(old.scale)
    return BundledWorldModel(replace(model.model, conditioner=conditioner), config, model.card)


class Dream(nn.Module):
    """What the stage leaves behind."""

    def __init__(self, autoencoder: Autoencoder, dit: CausalDiT) -> None:
        super().__init__()
        self.autoencoder, self.dit = autoencoder, dit


def undescribed(clips: Clips, reader: PromptEncoder, tokenizer: Tokenizer) -> ResidualData:
    """The clips for a transformer that is told nothing: their residual is the latent itself."""
    painter = Painter(PainterConfig(len(GUIDE), MIX_SIZE))
    start_at_zero(painter.conv_out)
    return ResidualData(clips, painter.eval().requires_grad_(False), reader, tokenizer)


def train_decoder(plan: DreamPlan, autoencoder: Autoencoder) -> None:
    """Teach the autoencoder's decoder, from the guided one's weights on, to do without a guide; its encoder stays."""
    torch.manual_seed(plan.seed)
    autoencoder.to(plan.device).requires_grad_(False)
    decoder, land = autoencoder.decoder.requires_grad_(True), WorldMap(plan.device)
    run = StageRun("decoder", decoder, Muon(decoder, muon_lr=0.01, adam_lr=2e-3), plan.folder)
    if plan.resume:
        run.resume()

    def loss_of(step: int) -> Tensor:
        data = single_groups(plan.seed, step, plan.batch, land, crop=True)
        with torch.no_grad():
            latents = autoencoder.encoder(data.frames)
        noise = torch.randn(latents.shape, generator=torch.Generator().manual_seed(step)).to(plan.device)
        made = decoder(latents + LATENT_NOISE * noise, torch.zeros_like(data.guides))
        return reconstruction_loss(made, data.frames)

    held_out = single_groups(VALIDATION_SEED, 0, min(8, plan.batch), land)
    blank = replace(held_out, guides=torch.zeros_like(held_out.guides))

    @torch.no_grad()
    def validate() -> dict[str, float]:
        made = decoder(autoencoder.encoder(blank.frames), blank.guides).clamp(-1, 1)
        return {"psnr_db": psnr(made, blank.frames)}

    run.run(plan.part(DECODER_SHARE), loss_of, validate, lambda _: samples.reconstructions(autoencoder, blank))
    run.averaged()
    autoencoder.cpu().requires_grad_(False)


def train_dream(
    plan: DreamPlan, autoencoder: Autoencoder, *, data: ResidualData, held_out: ResidualData, show: Show
) -> Dream:
    """Train both parts; the data are ``undescribed``."""
    train_decoder(plan, autoencoder)
    dit = train_transformer(
        plan.folder,
        budget=plan.part(1 - DECODER_SHARE),
        seed=plan.seed,
        batch=plan.batch,
        resume=plan.resume,
        data=data,
        held_out=held_out,
        device=plan.device,
        show=show,
    )
    return Dream(autoencoder, dit)
