"""Words between two prompts: on their way from one to the next, chunk by chunk, or a mix of both that stays.

What is blended are the rows that the cross-attention reads, so its keys and values are computed anew in each chunk of a
fade; of the rest of a world nothing is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn.functional import pad

from engine.protocol import Prompt, PromptMix


def between(first: Tensor, second: Tensor, share: float) -> Tensor:
    """Rows [1, L, D] with ``share`` of the second's [1, L2, D]. At 0 and 1 these are the very rows of one of them.

    The shorter ones are continued with zeros, as the transformer itself does.
    """
    if share <= 0.0 or share >= 1.0:
        return first if share <= 0.0 else second
    length = max(first.shape[1], second.shape[1])
    start, end = (pad(rows, (0, 0, 0, length - rows.shape[1])) for rows in (first, second))
    return torch.lerp(start, end, share)


@dataclass(frozen=True, slots=True)
class Crossfade:
    """Rows that go over to ``target`` within ``chunks`` chunks, of which ``done`` were made; 0 of 0: they are there."""

    target: Tensor
    source: Tensor | None = None
    chunks: int = 0
    done: int = 0

    @property
    def is_going_on(self) -> bool:
        return self.done < self.chunks

    @property
    def share(self) -> float:
        return self.done / self.chunks if self.is_going_on else 1.0

    @property
    def rows(self) -> Tensor:
        """Of the newest chunk, [1, L, D]: after the last one of a fade the target itself."""
        return self.target if self.source is None else between(self.source, self.target, self.share)

    def towards(self, target: Tensor, chunks: int) -> Crossfade:
        """A fade that begins with the next chunk, from what the rows are now; fewer than 2 chunks are a switch."""
        return Crossfade(target, self.rows, chunks) if chunks > 1 else Crossfade(target)

    def next(self) -> Crossfade:
        """As it is in the next chunk. What has ended lets go of its beginning."""
        if self.done + 1 < self.chunks:
            return replace(self, done=self.done + 1)
        return Crossfade(self.target) if self.chunks else self

    def plain(self) -> list[int]:
        """What is no tensor, for a saved state."""
        return [self.done, self.chunks]


def restored(target: Tensor, source: Tensor | None, plain: object) -> Crossfade:
    """A fade from a saved state. ValueError where it is none; files from before there were fades have no ``plain``."""
    if plain is None or source is None:
        return Crossfade(target)
    if not isinstance(plain, list) or len(plain) != 2:
        raise ValueError("a fade is told by two numbers")
    done, chunks = (int(str(number)) for number in plain)
    return Crossfade(target, source, chunks, done)


def goes_on(before: Prompt | None, after: Prompt) -> bool:
    """Whether the prompt is only mixed with something, or in other shares: what it asks is held against the same world
    as before, or each step of a slider would ask for more of "more fog"."""
    if before is None or not isinstance(after, PromptMix):
        return False
    return after.text == (before.text if isinstance(before, PromptMix) else before)


def texts_of(prompt: Prompt) -> tuple[str, ...]:
    return (prompt.text, prompt.mixed_with) if isinstance(prompt, PromptMix) else (prompt,)
