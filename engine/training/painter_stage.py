"""Stage two: the painter, on cached latents; then the deviation of what it cannot know, per channel."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from engine.models.painter import Painter, PainterConfig
from engine.training.cache import Clips
from engine.training.loop import Budget, Show, StageRun
from engine.training.optimizer import Muon
from engine.training.recipe import GUIDE
from engine.training.stage_files import take_weights
from engine.worldmap import MIX_SIZE


def train_painter(
    folder: Path,
    *,
    budget: Budget,
    seed: int,
    batch: int,
    resume: bool,
    further: bool = False,
    device: str,
    clips: Clips,
    held_out: Clips,
    show: Show | None = None,
) -> Painter:
    torch.manual_seed(seed)
    model = Painter(PainterConfig(len(GUIDE), MIX_SIZE)).to(device)
    if further:
        take_weights(model, folder, "painter")
    run = StageRun("painter", model, Muon(model, muon_lr=0.01, adam_lr=2e-3, exclude=("embed",)), folder, ema=0.998)
    if resume:
        run.resume()
    guides, mixes, latents = clips.guides.flatten(0, 1), clips.mixes.flatten(0, 1), clips.latents.flatten(0, 1)

    def loss_of(step: int) -> Tensor:
        generator = torch.Generator().manual_seed(seed * 7_000_003 + step)
        pick = torch.randint(len(latents), (batch,), generator=generator)
        guide = guides[pick].to(device).float()
        d = model(guide, mixes[pick].to(device)) - latents[pick].to(device).float()
        out: Tensor = d.square().mean() + 0.3 * d.abs().mean()
        return out

    @torch.no_grad()
    def validate() -> dict[str, float]:
        d = painted(model, held_out) - held_out.latents.float()
        return {"held_out_mse": float(d.square().mean())}

    run.run(budget, loss_of, validate, show)
    run.averaged()
    with torch.no_grad():
        residual = painted(model, held_out) - held_out.latents.float()
        model.get_buffer("residual_std").copy_(residual.std((0, 1, 3, 4)))
    return model


@torch.no_grad()
def painted(model: Painter, clips: Clips) -> Tensor:
    """The painter's latents for all clips [N, F, 16, h, w]."""
    device = model.get_buffer("residual_std").device
    rows = []
    for guides, mixes in zip(clips.guides, clips.mixes, strict=True):
        rows.append(model(guides.to(device).float(), mixes.to(device)).cpu())
    return torch.stack(rows)
