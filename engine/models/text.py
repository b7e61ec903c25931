"""Free text, offline: word vectors of a prompt's tokens, and which biome, time and weather they ask for.

The token vectors go to the transformer's cross-attention; the reading steers the layout's mix. A group that a prompt
says nothing about (class "unsaid") is left as it is.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional


@dataclass(frozen=True, slots=True)
class TextConfig:
    vocabulary: int
    word_size: int
    group_sizes: tuple[int, ...]
    length: int = 16
    width: int = 192


class PromptEncoder(nn.Module):
    """Token ids [B, L] (-1 pads) -> word vectors [B, L, D] and, per group, logits [B, size + 1], the last "unsaid"."""

    def __init__(self, config: TextConfig) -> None:
        super().__init__()
        self.config = config
        self.register_buffer("words", torch.zeros(config.vocabulary, config.word_size))
        w, classes = config.width, sum(n + 1 for n in config.group_sizes)
        self.inner = nn.Conv1d(config.word_size, w, 3, padding=1)
        self.weight = nn.Linear(w, len(config.group_sizes))
        self.value = nn.Linear(w, w)
        self.out = nn.Linear(w * len(config.group_sizes), classes)

    def rows(self, ids: Tensor) -> Tensor:
        """Word vectors [B, L, word_size]; zero rows for padding."""
        vectors = self.get_buffer("words").float()[ids.clamp(min=0)]
        return vectors * (ids >= 0)[..., None]

    def forward(self, rows: Tensor, mask: Tensor) -> list[Tensor]:
        hidden = functional.silu(self.inner(rows.transpose(1, 2)).transpose(1, 2))  # [B, L, w]
        score = self.weight(hidden).masked_fill(~mask[..., None], -1e4).softmax(1)  # [B, L, groups]
        pooled = torch.einsum("blg,blw->bgw", score, functional.silu(self.value(hidden))).flatten(1)
        return list(self.out(pooled).split([n + 1 for n in self.config.group_sizes], -1))


def pad_ids(ids: list[int], length: int) -> Tensor:
    """The first ``length`` ids as [1, length], padded with -1."""
    kept = ids[:length]
    return torch.tensor([kept + [-1] * (length - len(kept))])
