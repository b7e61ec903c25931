"""From a typed sentence to what the world needs: rows for the cross-attention, and a wish for the mix of worlds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from tokenizers import Tokenizer
from torch import Tensor

from engine import chinese, phrases
from engine.models.text import PromptEncoder, pad_ids
from engine.phrases import SHIFTS, Phrase
from engine.wishes import Clause, Mix, Wish

_UNSAID = 0.3
"""A phrase speaks of a group when "unsaid" is less likely than this; 0.3 was best on the development list."""
_LEAST_PART = 0.2
"""Smaller parts of a phrase's meaning are doubt and not a mixture."""


@dataclass(frozen=True, slots=True)
class PromptReading:
    """Word vectors [1, L, D] for the cross-attention, and what is asked of the mix."""

    rows: Tensor
    wish: Wish

    @property
    def understood(self) -> bool:
        """Whether the prompt speaks of anything that the model knows."""
        return bool(self.wish)


def tokenize(tokenizer: Tokenizer, text: str, length: int) -> Tensor:
    """Ids [1, length] of a prompt in lower case, padded with -1."""
    return pad_ids(tokenizer.encode(text.lower(), add_special_tokens=False).ids, length)


class PromptReader:
    """Reads prompts, offline."""

    def __init__(self, tokenizer: Tokenizer, encoder: PromptEncoder) -> None:
        self.tokenizer, self.encoder = tokenizer, encoder

    @torch.no_grad()
    def read(self, prompt: str) -> PromptReading:
        """English, or Chinese by way of English. Raises nothing: what is not understood has an empty wish."""
        text = chinese.to_english(prompt) if chinese.has_chinese(prompt) else prompt
        rows = self.encoder.rows(tokenize(self.tokenizer, text, self.encoder.config.length))
        return PromptReading(rows, self._wish(phrases.split(text)))

    def _wish(self, found: Sequence[Phrase]) -> Wish:
        if not found:
            return ()
        meanings = self.meanings([phrase.text for phrase in found])
        asked = phrases.attach(found, [max(meaning) > 0 for meaning in meanings])
        return tuple(
            Clause(p.act, () if p.act in SHIFTS else meanings[i], p.strength)
            for i, p in asked
            if p.act in SHIFTS or max(meanings[i]) > 0
        )

    def meanings(self, texts: Sequence[str]) -> list[Mix]:
        """Per phrase the weights of the worlds that it names: each group sums to 1, or to 0 where it is unsaid."""
        rows, mask = self._rows_of(texts)
        groups = []
        for logits in self.encoder(rows, mask):
            parts = logits.softmax(-1)  # [B, n + 1]
            said = (parts[:, -1] < _UNSAID) & mask.any(1)
            kept = parts[:, :-1] * said[:, None]
            kept = kept * (kept >= torch.minimum(kept.amax(1, keepdim=True), torch.tensor(_LEAST_PART)))
            groups.append(kept / kept.sum(1, keepdim=True).clamp(min=1e-6))
        return [tuple(row) for row in torch.cat(groups, 1).tolist()]

    def _rows_of(self, texts: Sequence[str]) -> tuple[Tensor, Tensor]:
        """What the head reads of each text: rows [B, L, D] and which of them are words [B, L]."""
        length = self.encoder.config.length
        if self.encoder.config.known_words:
            ids = torch.cat([pad_ids(self.encoder.known_ids(text.split()), length) for text in texts])
            return self.encoder.known_rows(ids), ids >= 0
        ids = torch.cat([tokenize(self.tokenizer, text, length) for text in texts])
        return self.encoder.rows(ids), ids >= 0
