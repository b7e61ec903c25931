"""From a typed sentence to what the networks need: the tokenizer and the prompt encoder together."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from tokenizers import Tokenizer
from torch import Tensor

from engine.models.text import PromptEncoder, pad_ids


@dataclass(frozen=True, slots=True)
class PromptReading:
    """Word vectors [1, L, D] for the cross-attention, and per group the label asked for (None: unsaid)."""

    rows: Tensor
    labels: tuple[int | None, ...]


def tokenize(tokenizer: Tokenizer, text: str, length: int) -> Tensor:
    """Ids [1, length] of a prompt in lower case, padded with -1."""
    return pad_ids(tokenizer.encode(text.lower(), add_special_tokens=False).ids, length)


class PromptReader:
    """Reads prompts, offline."""

    def __init__(self, tokenizer: Tokenizer, encoder: PromptEncoder) -> None:
        self.tokenizer, self.encoder = tokenizer, encoder

    @torch.no_grad()
    def read(self, prompt: str) -> PromptReading:
        ids = tokenize(self.tokenizer, prompt, self.encoder.config.length)
        rows = self.encoder.rows(ids)
        labels: list[int | None] = []
        for logits in self.encoder(rows, ids >= 0):
            choice = int(logits[0].argmax())
            labels.append(None if choice == logits.shape[-1] - 1 or not bool((ids >= 0).any()) else choice)
        return PromptReading(rows, tuple(labels))
