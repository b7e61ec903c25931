"""Stage four: reading prompts, on phrasings made from templates; measured on phrasings that are kept apart."""

from __future__ import annotations

import random
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional

from engine.models.text import PromptEncoder, TextConfig
from engine.prompt_reader import tokenize
from engine.training import prompts
from engine.training.loop import Budget, StageRun
from engine.training.optimizer import Muon


def labels_of(labels: tuple[str | None, str | None, str | None]) -> list[int]:
    """Class numbers per group; the last class of each is "unsaid"."""
    out = []
    for group, label in zip(prompts.GROUPS, labels, strict=True):
        out.append(len(group) if label is None else list(group).index(label))
    return out


def _batch(
    rng: random.Random, tokenizer: Tokenizer, count: int, length: int, *, held_out: bool
) -> tuple[Tensor, Tensor]:
    samples = [prompts.sample(rng, held_out=held_out) for _ in range(count)]
    ids = torch.cat([tokenize(tokenizer, text, length) for text, _ in samples])
    return ids, torch.tensor([labels_of(labels) for _, labels in samples])


def train_text(
    folder: Path, *, budget: Budget, seed: int, words: Tensor, tokenizer: Tokenizer, resume: bool
) -> PromptEncoder:
    """``words`` [vocabulary, size] are kept as they are; what is learnt is the reading."""
    torch.manual_seed(seed)
    config = TextConfig(words.shape[0], words.shape[1], tuple(len(g) for g in prompts.GROUPS))
    model = PromptEncoder(config)
    model.get_buffer("words").copy_(words)
    run = StageRun("text", model, Muon(model, muon_lr=0.005, adam_lr=2e-3), folder, ema=0.99)
    if resume:
        run.resume()

    def loss_of(step: int) -> Tensor:
        rng = random.Random(seed * 13_000_003 + step)
        ids, labels = _batch(rng, tokenizer, 96, config.length, held_out=False)
        rows = model.rows(ids)
        drop = torch.rand(ids.shape, generator=torch.Generator().manual_seed(step)) < 0.05
        rows = (rows + 0.25 * rows.std() * torch.randn(rows.shape)) * ~drop[..., None]
        logits = model(rows, ids >= 0)
        return torch.stack(
            [functional.cross_entropy(x, y, label_smoothing=0.05) for x, y in zip(logits, labels.T, strict=True)]
        ).sum()

    ids, labels = _batch(random.Random(5), tokenizer, 600, config.length, held_out=True)

    @torch.no_grad()
    def validate() -> dict[str, float]:
        logits = model(model.rows(ids), ids >= 0)
        right = torch.stack([x.argmax(-1) == y for x, y in zip(logits, labels.T, strict=True)])
        names = ("biome", "time", "weather")
        return {f"held_out_{n}": float(r.float().mean()) for n, r in zip(names, right, strict=True)}

    run.run(budget, loss_of, validate)
    run.averaged()
    return model
