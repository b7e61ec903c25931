"""Stage three: the causal transformer, on the painter's residual.

Latents are written x0 = c + s r, with c the painter's latent and s its residual's deviation; the transformer denoises
r.
In each clip the first n latent frames are clean history and every later one is noisy, sees the history and itself,
and nothing of the other noisy ones: what it meets at run time.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch import Tensor

from engine.bundled import lens_intrinsics
from engine.camera import pluecker_rays
from engine.conditioning import world_rope
from engine.models.dit import CausalDiT
from engine.models.painter import Painter
from engine.models.text import PromptEncoder
from engine.prompt_reader import tokenize
from engine.schedule import residual_weights
from engine.training import prompts
from engine.training.cache import Clips
from engine.training.loop import Budget, Show, StageRun
from engine.training.optimizer import Muon
from engine.training.painter_stage import painted
from engine.training.recipe import DIT, HEIGHT_PX, LENS, SIGMAS, WIDTH_PX
from engine.training.stage_files import take_weights

RESIDUAL_LIMIT = 5.0
_BY_ADAM = ("patch_embedding", "text_embedding", "time_embedding", "head")


@dataclass(frozen=True, slots=True)
class ResidualBatch:
    residual: Tensor  # [B, 16, F, h, w]
    condition: Tensor  # [B, 20, F, h, w] mask and painter's latent
    text: Tensor  # [B, 16, D]
    rays: Tensor  # [B, 384, F, h, w]
    rope: Tensor | None  # [B, F * N, D/2, 2]


class ResidualData:
    """The clips in the transformer's own space, with prompts made for them."""

    def __init__(self, clips: Clips, painter: Painter, reader: PromptEncoder, tokenizer: Tokenizer) -> None:
        self.clips, self.reader, self.tokenizer = clips, reader, tokenizer
        self.painted = painted(painter, clips).half()
        self.std = painter.get_buffer("residual_std").cpu()[:, None, None]

    def batch(self, step: int, count: int, seed: int) -> ResidualBatch:
        generator = torch.Generator().manual_seed(seed * 11_000_003 + step)
        return self.chosen(torch.randint(len(self.clips), (count,), generator=generator), generator, seed + step * 101)

    def chosen(self, pick: Tensor, generator: torch.Generator, words: int) -> ResidualBatch:
        """The clips ``pick`` [B], each with a prompt by the seed ``words``; most are told their first picture."""
        count = len(pick)
        c, z = self.painted[pick].float(), self.clips.latents[pick].float()
        residual = ((z - c) / self.std).clamp(-RESIDUAL_LIMIT, RESIDUAL_LIMIT)
        mask = torch.zeros(count, c.shape[1], 4, *c.shape[-2:])
        mask[:, 0] = (torch.rand(count, generator=generator) < 0.8).float()[:, None, None, None]
        condition = torch.cat([mask, c], 2)
        steps = self.clips.steps[pick].flatten(0, 1).double().numpy()
        rays = pluecker_rays(steps, lens_intrinsics(LENS), HEIGHT_PX, WIDTH_PX)[0]
        rays = torch.unflatten(rays, 1, (count, -1)).transpose(0, 1)
        text = torch.cat([self._text(i, random.Random(words + int(i))) for i in pick])
        rope = world_rope(DIT, LENS, *self.clips.headings[pick].unbind(-1))
        rope = None if rope is None else rope.flatten(1, 2)
        return ResidualBatch(residual.transpose(1, 2), condition.transpose(1, 2), text, rays, rope)

    def latents(self, residual: Tensor) -> Tensor:
        """All clips' latents [N, F, 16, h, w], of the painter's and a residual [N, 16, F, h, w]."""
        return self.painted.float() + self.std * residual.transpose(1, 2)

    def _text(self, clip: Tensor, rng: random.Random) -> Tensor:
        mix = self.clips.target_mixes[clip, -1]
        labels: list[str | None] = []
        for group in prompts.GROUPS:
            part, mix = mix[: len(group)], mix[len(group) :]
            labels.append(list(group)[int(part.argmax())] if rng.random() < 0.7 else None)
        text = prompts.phrase((labels[0], labels[1], labels[2]), rng)
        return self.reader.rows(tokenize(self.tokenizer, text, self.reader.config.length))


def predict_clip(model: CausalDiT, data: ResidualBatch, noisy: Tensor, sigmas: Tensor, history: int) -> Tensor:
    """x0 of the residual [B, 16, F, h, w] from noisy residuals and noise levels [B, F]; the model may be on a GPU.

    The first ``history`` latent frames are clean and causal; each later one sees them and itself.
    """
    device = model.patch_embedding.weight.device
    camera = model.prepare_camera(data.rays.to(device))
    x = torch.cat([noisy, data.condition], 1).to(device)
    text, timesteps = data.text.to(device), (sigmas * 1000).to(device)
    rope = None if data.rope is None else data.rope.to(device)
    out = model.forward_clip(x, timesteps, text, camera, history=history, rope=rope).to(noisy.device)
    s = sigmas[:, None, :, None, None]
    kept, predicted = residual_weights(s)
    return kept * noisy + predicted * out


@torch.no_grad()
def made_residual(model: CausalDiT, b: ResidualBatch, seed: int) -> Tensor:
    """The residual [B, 16, F, h, w] from noise, over the recipe's noise levels, after a clean first latent frame."""
    noise = torch.randn(b.residual.shape, generator=torch.Generator().manual_seed(seed))
    made = noise
    for sigma in SIGMAS:
        noisy = (1 - sigma) * made + sigma * noise
        noisy[:, :, :1] = b.residual[:, :, :1]
        sigmas = torch.full((noisy.shape[0], noisy.shape[2]), sigma)
        sigmas[:, 0] = 0
        made = predict_clip(model, b, noisy, sigmas, history=1)
    made[:, :, :1] = b.residual[:, :, :1]
    return made


def train_transformer(
    folder: Path,
    *,
    budget: Budget,
    seed: int,
    batch: int,
    resume: bool,
    data: ResidualData,
    held_out: ResidualData,
    history_limit: int = 7,
    further: bool = False,
    device: str = "cpu",
    show: Show | None = None,
) -> CausalDiT:
    """``history_limit``: the longest clean history, in latent frames, that a step is trained with."""
    torch.manual_seed(seed)
    model = CausalDiT(DIT)
    model.init_weights()  # on the CPU: the same start whatever the device
    if further:
        take_weights(model, folder, "dit")
    model.to(device)
    run = StageRun("transformer", model, Muon(model, muon_lr=0.006, adam_lr=1e-3, exclude=_BY_ADAM), folder, ema=0.995)
    if resume:
        run.resume()

    def loss_of(step: int) -> Tensor:
        generator = torch.Generator().manual_seed(seed * 17_000_003 + step)
        b = data.batch(step, batch, seed)
        B, _, F, _, _ = b.residual.shape
        history = int(torch.randint(0, history_limit + 1, (1,), generator=generator))
        sigmas = torch.rand(B, F, generator=generator) * 0.8 + 0.2
        sigmas[torch.rand(B, F, generator=generator) < 0.4] = 1.0
        sigmas[:, :history] = 0.0
        clean = b.residual
        if history > 1 and torch.rand(1, generator=generator) < 0.5:
            clean = _own_history(model, b, history, generator)
        noise = torch.randn(b.residual.shape, generator=generator)
        s = sigmas[:, None, :, None, None]
        noisy = (1 - s) * clean + s * noise
        made = predict_clip(model, b, noisy, sigmas, history)
        weight = 1 / (residual_weights(s)[1] + 0.05)
        return ((made - b.residual).square() * weight)[:, :, history:].mean()

    def validate() -> dict[str, float]:
        return evaluate_residual(model, held_out)

    run.run(budget, loss_of, validate, show)
    run.averaged()
    return model


@torch.no_grad()
def _own_history(model: CausalDiT, b: ResidualBatch, history: int, generator: torch.Generator) -> Tensor:
    """History after the first latent frame as the model itself makes it, so that its own faults are no surprise: the
    earlier half from the first picture, the later half from that."""
    B, _, F, _, _ = b.residual.shape
    own = b.residual.clone()
    for known in sorted({1, 1 + history // 2}):
        sigmas = torch.ones(B, F)
        sigmas[:, :known] = 0
        noisy = torch.randn(b.residual.shape, generator=generator)
        noisy[:, :, :known] = own[:, :, :known]
        own[:, :, known:history] = predict_clip(model, b, noisy, sigmas, known)[:, :, known:history]
    return own


@torch.no_grad()
def evaluate_residual(model: CausalDiT, data: ResidualData) -> dict[str, float]:
    """Share of the painter's squared error that one step from pure noise explains, by length of clean history.

    Zero is what the painter alone reaches, which is also the ablation "transformer output = 0".
    """
    out = {}
    batches = max(1, min(4, len(data.clips) // 4))
    frames = data.clips.latents.shape[1]
    for history in (0, 1, frames // 2):
        made_error = base_error = 0.0
        for i in range(batches):
            b = data.batch(i, 4, seed=900)
            B, _, F, _, _ = b.residual.shape
            sigmas = torch.ones(B, F)
            sigmas[:, :history] = 0
            noisy = torch.randn(b.residual.shape, generator=torch.Generator().manual_seed(i))
            noisy[:, :, :history] = b.residual[:, :, :history]
            made = predict_clip(model, b, noisy, sigmas, history)
            made_error += float((made - b.residual)[:, :, frames // 2 :].square().mean())
            base_error += float(b.residual[:, :, frames // 2 :].square().mean())
        out[f"explained_{history}"] = 1 - made_error / base_error
    return out
