"""Stage four: reading phrases, on phrasings made from templates; tuned on a list that is in no template."""

from __future__ import annotations

import random
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional

from engine.models.text import PhraseHead, PromptEncoder, TextConfig, pad_ids
from engine.prompt_reader import PromptReader
from engine.training import phrasings, prompts
from engine.training.loop import Budget, StageRun
from engine.training.optimizer import Muon
from engine.training.word_table import WordTable

BATCH = 128
_REPLACED, _NEIGHBOURS, _NEAR = 0.3, 8, 0.6
_SHUFFLED = 0.15
"""The share of phrases whose words come in any order: people do not write as templates do."""
_FAR = 0.36
"""A word whose cosine to everything in the templates is below this is about something else."""
_SMALL = frozenset(
    ["a", "an", "the", "of", "in", "at", "on", "with", "and", "as", "is", "it", "by", "under", "no", "for"]
)


def targets_of(parts: prompts.Parts) -> list[list[float]]:
    """Per group the parts of its worlds and, last, of "unsaid"."""
    out = []
    for group, said in zip(prompts.GROUPS, parts, strict=True):
        out.append([said.get(name, 0.0) for name in group] + [0.0 if said else 1.0])
    return out


class _Phrases:
    """Batches of phrases: ids of whole words, and what they name."""

    def __init__(self, model: PromptEncoder, seed: int) -> None:
        self.model, self.seed = model, seed
        self.strangers, self.neighbours = _surroundings(model)

    def batch(self, step: int) -> tuple[Tensor, list[Tensor]]:
        """ids [B, L] and per group targets [B, n + 1]."""
        rng = random.Random(self.seed * 13_000_003 + step)
        samples = [prompts.sample(rng) for _ in range(BATCH)]
        ids = []
        for text, parts in samples:
            known = [self._or_neighbour(i, rng) for i in self.model.known_ids(text.split())]
            for _ in range(rng.choice((0, 0, 0, 1, 1, 2) if any(parts) else (0, 1, 2, 3, 4))):
                known.insert(rng.randint(0, len(known)), rng.choice(self.strangers))
            if rng.random() < _SHUFFLED:
                rng.shuffle(known)
            ids.append(known[: self.model.config.length])
        longest = max(2, *map(len, ids))
        targets = [targets_of(parts) for _, parts in samples]
        batch = torch.cat([pad_ids(known, longest) for known in ids])
        return batch, [torch.tensor(rows) for rows in zip(*targets, strict=True)]

    def _or_neighbour(self, word: int, rng: random.Random) -> int:
        near = self.neighbours.get(word)
        return rng.choice(near) if near and rng.random() < _REPLACED else word


def _surroundings(model: PromptEncoder) -> tuple[list[int], dict[int, list[int]]]:
    """Known words that are far from all words of the templates: what a prompt may also speak of. And for each word that
    is a template by itself those that mean nearly the same: no word has to be in a template to be understood."""
    lists = [text for group in prompts.GROUPS for texts in group.values() for text in texts]
    lists += [*prompts.JOINT_WORDS, *prompts.PAIR_WORDS]
    words = sorted({word for text in lists for word in text.split()} - _SMALL)
    used = model.known_ids(words)
    vectors = functional.normalize(model.get_buffer("meanings").float(), dim=1)
    closeness = vectors @ vectors[used].T  # [N, used]
    strangers = [int(i) for i in (closeness.amax(1) < _FAR).nonzero()[:, 0]]
    best = closeness.topk(_NEIGHBOURS, dim=0)
    own, alone = set(used), set(model.known_ids([text for text in lists if " " not in text]))
    neighbours = {}
    for k, word in enumerate(used):
        if word not in alone:
            continue
        pairs = zip(best.indices[:, k].tolist(), best.values[:, k].tolist(), strict=True)
        neighbours[word] = [i for i, near in pairs if near > _NEAR and i not in own]
    return strangers, neighbours


def train_text(
    folder: Path, *, budget: Budget, seed: int, words: Tensor, table: WordTable, tokenizer: Tokenizer, resume: bool
) -> PromptEncoder:
    """``words`` [vocabulary, size] and ``table`` are kept as they are; what is learnt is the reading."""
    torch.manual_seed(seed)
    config = TextConfig(
        words.shape[0],
        words.shape[1],
        tuple(len(g) for g in prompts.GROUPS),
        known_words=len(table.keys),
        known_size=table.vectors.shape[1],
    )
    model = PromptEncoder(config)
    model.get_buffer("words").copy_(words)
    model.get_buffer("keys").copy_(table.keys)
    model.get_buffer("meanings").copy_(table.vectors)
    head = PhraseHead(config)  # alone, so that checkpoints and averages do without the tables
    everything = tuple(name for name, _ in head.named_parameters())  # AdamW: fifty times faster here than Muon's steps
    run = StageRun("text", head, Muon(head, muon_lr=0.0, adam_lr=3e-3, exclude=everything), folder, ema=0.99)
    if resume:
        run.resume()
    data = _Phrases(model, seed)
    noise = 0.25 * float(table.vectors.float().std())

    def loss_of(step: int) -> Tensor:
        ids, targets = data.batch(step)
        generator = torch.Generator().manual_seed(seed * 19_000_003 + step)
        rows = model.known_rows(ids)
        kept = torch.rand(ids.shape, generator=generator) > 0.04
        rows = (rows + noise * torch.randn(rows.shape, generator=generator)) * kept[..., None]
        logits = head(rows, ids >= 0)
        return torch.stack(
            [functional.cross_entropy(x, y, label_smoothing=0.03) for x, y in zip(logits, targets, strict=True)]
        ).sum()

    def validate() -> dict[str, float]:
        model.load_state_dict(head.state_dict(), strict=False)
        return phrasings.hit_rates(PromptReader(tokenizer, model), phrasings.read(phrasings.DEVELOPMENT))

    run.run(budget, loss_of, validate)
    model.load_state_dict(run.averaged().state_dict(), strict=False)
    return model
