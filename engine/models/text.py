"""Free text, offline: the rows of a prompt's tokens, and what worlds a phrase names.

The token rows go to the transformer's cross-attention. What a phrase names is read from a second table, of whole
words: the subwords of "fjord" mean nothing by themselves, the word lies near sea and cliffs. A group that a phrase
says nothing about has the class "unsaid".
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

_LONGEST_COMPOUND = 24


@dataclass(frozen=True, slots=True)
class TextConfig:
    vocabulary: int
    word_size: int
    group_sizes: tuple[int, ...]
    length: int = 16
    width: int = 192
    known_words: int = 0
    """Whole words in the second table; 0 in the weights of the first release, which read from token rows."""
    known_size: int = 0


class PhraseHead(nn.Module):
    """Rows of a phrase's words [B, L, D] -> per group logits [B, size + 1], the last "unsaid"."""

    def __init__(self, config: TextConfig) -> None:
        super().__init__()
        self.config = config
        w, classes = config.width, sum(n + 1 for n in config.group_sizes)
        self.inner = nn.Conv1d(config.known_size or config.word_size, w, 3, padding=1)
        self.weight = nn.Linear(w, len(config.group_sizes))
        self.value = nn.Linear(w, w)
        self.out = nn.Linear(w * len(config.group_sizes), classes)

    def forward(self, rows: Tensor, mask: Tensor) -> list[Tensor]:
        hidden = functional.silu(self.inner(rows.transpose(1, 2)).transpose(1, 2))  # [B, L, w]
        score = self.weight(hidden).masked_fill(~mask[..., None], -1e4).softmax(1)  # [B, L, groups]
        pooled = torch.einsum("blg,blw->bgw", score, functional.silu(self.value(hidden))).flatten(1)
        return list(self.out(pooled).split([n + 1 for n in self.config.group_sizes], -1))


class PromptEncoder(PhraseHead):
    """The head with its two tables: token ids [B, L] (-1 pads) -> rows [B, L, D], and whole words -> meanings."""

    def __init__(self, config: TextConfig) -> None:
        super().__init__(config)
        self.register_buffer("words", torch.zeros(config.vocabulary, config.word_size))
        if config.known_words:
            self.register_buffer("keys", torch.zeros(config.known_words, dtype=torch.int64))
            self.register_buffer("meanings", torch.zeros(config.known_words, config.known_size))

    def rows(self, ids: Tensor) -> Tensor:
        """Token rows [B, L, word_size]; zero for padding."""
        vectors = self.get_buffer("words").float()[ids.clamp(min=0)]
        return vectors * (ids >= 0)[..., None]

    def known_ids(self, words: Sequence[str]) -> list[int]:
        """Places in the second table of those words that are in it, in their order; a word that is not is read as two
        that are ("hayfield"), and "'s" is left out."""
        out: list[int] = []
        for word in words:
            bare = word.partition("'")[0]
            out += self._places([bare]) or self._compound(bare)
        return out

    def _places(self, words: Sequence[str]) -> list[int]:
        keys = self.get_buffer("keys")
        wanted = torch.tensor([word_key(word) for word in words], dtype=torch.int64)
        places = torch.searchsorted(keys, wanted).clamp(max=len(keys) - 1)
        return [int(i) for i in places[keys[places] == wanted]]

    def _compound(self, word: str) -> list[int]:
        cuts = range(3, len(word) - 2) if len(word) <= _LONGEST_COMPOUND else ()
        pairs = (self._places([word[:cut], word[cut:]]) for cut in cuts)
        return next((pair for pair in pairs if len(pair) == 2), [])

    def known_rows(self, ids: Tensor) -> Tensor:
        """Meanings [B, L, known_size] of whole words; zero for padding."""
        vectors = self.get_buffer("meanings").float()[ids.clamp(min=0)]
        return vectors * (ids >= 0)[..., None]


def word_key(word: str) -> int:
    """64 bits that stand for a word (signed), so that the table needs no list of words."""
    return int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "big", signed=True)


def pad_ids(ids: Sequence[int], length: int) -> Tensor:
    """The first ``length`` ids as [1, length], padded with -1."""
    kept = list(ids[:length])
    return torch.tensor([kept + [-1] * (length - len(kept))])
