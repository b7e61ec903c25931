"""What the transformer remembers: keys and values of past chunks in fixed tensors, positions as Python integers."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

LayerKV = tuple[Tensor, Tensor]


@dataclass(frozen=True, slots=True)
class CacheShape:
    """Sizes of a ``CausalKVCache``. The window defaults to the whole cache; the sink lies inside the cache."""

    layers: int
    heads: int
    head_dim: int
    cache_tokens: int
    sink_tokens: int = 0
    attention_window_tokens: int | None = None
    batch: int = 1
    allow_growth: bool = False


class CausalKVCache:
    """Keys and values of all layers, [layers, B, rows, heads, head_dim], with one pair of cursors for all of them.

    ``global_end`` counts the tokens ever written, ``local_end`` the valid rows. A pass calls ``begin`` once, which
    moves the cursors and evicts rows after the sink, then ``write`` in every layer. Writing a range again (the next
    denoising pass of the same chunk) overwrites its rows and evicts nothing. Rows stand in the order of time, so the
    visible part is a view without a copy unless the middle is left out. Rules: SGLang 0.5.23, ``tests/golden``.
    """

    def __init__(self, shape: CacheShape, *, dtype: torch.dtype, device: torch.device | str) -> None:
        self.shape = shape
        self.cache_tokens = shape.cache_tokens
        window = shape.attention_window_tokens
        self.attention_window_tokens = shape.cache_tokens if window is None else window
        self.sink_tokens = shape.sink_tokens
        size = (shape.layers, shape.batch, shape.cache_tokens, shape.heads, shape.head_dim)
        # Zeros, not empty: rows behind a skipped position must be finite numbers.
        self.keys = torch.zeros(size, dtype=dtype, device=device)
        self.values = torch.zeros(size, dtype=dtype, device=device)
        self.reset()

    def reset(self) -> None:
        """Forget everything; the tensors stay."""
        self.global_end = 0
        self.local_end = 0
        self.local_start = 0
        self._rows = slice(0, 0)
        self._visible: tuple[slice, ...] = ()

    @property
    def visible_rows(self) -> tuple[tuple[int, int], ...]:
        """Row ranges [start, stop) that the pass begun last can see, in order."""
        return tuple((part.start, part.stop) for part in self._visible)

    @property
    def visible_tokens(self) -> int:
        return sum(stop - start for start, stop in self.visible_rows)

    def begin(self, start: int, tokens: int, recent_window_tokens: int | None = None) -> None:
        """Make room for ``tokens`` at stream position ``start`` and choose what this pass can see.

        ``recent_window_tokens`` None or negative: the last ``attention_window_tokens`` rows. n >= 0: the sink, the n
        rows before this chunk, and the chunk. Raises RuntimeError if the rows would lie outside the buffer.
        """
        end = start + tokens
        appended = max(0, end - self.global_end)
        local_end = self.local_end + appended
        if local_end > self.cache_tokens and self.shape.allow_growth:
            self._grow(max(local_end, 2 * self.cache_tokens))
        evicted = max(0, local_end - self.cache_tokens)
        local_end -= evicted
        row = local_end - tokens if appended else start - (self.global_end - local_end)
        if row < 0 or row + tokens > self.cache_tokens or start < 0:
            raise RuntimeError(
                f"tokens [{start}, {end}) would lie in rows [{row}, {row + tokens}) of a cache of {self.cache_tokens}"
            )
        if evicted:
            self._evict(evicted)
        self.global_end += appended
        self.local_end = local_end
        self.local_start = row
        self._rows = slice(row, row + tokens)
        self._visible = self._choose_visible(recent_window_tokens)

    def write(self, layer: int, k: Tensor, v: Tensor) -> LayerKV:
        """Store k, v [B, N, heads, d] of the pass begun last; returns the visible keys and values [B, M, heads, d]."""
        keys, values = self.keys[layer], self.values[layer]
        keys[:, self._rows] = k
        values[:, self._rows] = v
        if len(self._visible) == 1:
            part = self._visible[0]
            return keys[:, part], values[:, part]
        return (
            torch.cat([keys[:, part] for part in self._visible], dim=1),
            torch.cat([values[:, part] for part in self._visible], dim=1),
        )

    @property
    def used_bytes(self) -> int:
        """Of the rows that are in use, which is what a ``snapshot`` holds."""
        return (self.keys.nbytes + self.values.nbytes) * self.local_end // self.cache_tokens

    def snapshot(self, device: torch.device | str | None = None) -> dict[str, Tensor | int]:
        """A copy of all that ``restore`` needs, on ``device`` (None: where it is); later passes do not touch it."""
        return {
            "keys": _copied(self.keys[:, :, : self.local_end], device),
            "values": _copied(self.values[:, :, : self.local_end], device),
            "global_end": self.global_end,
            "local_end": self.local_end,
            "cache_tokens": self.cache_tokens,
            "attention_window_tokens": self.attention_window_tokens,
        }

    def restore(self, state: dict[str, Tensor | int]) -> None:
        """Continue bit for bit from a ``snapshot`` of a cache of the same shape; ValueError if it does not fit."""
        keys, values = state["keys"], state["values"]
        ends = [state[name] for name in ("global_end", "local_end", "cache_tokens", "attention_window_tokens")]
        if not isinstance(keys, Tensor) or not isinstance(values, Tensor):
            raise ValueError("a snapshot's keys and values must be tensors")
        global_end, local_end, cache_tokens, window = (int(end) for end in ends)
        wanted = (*self.keys.shape[:2], local_end, *self.keys.shape[3:])
        if keys.shape != wanted or values.shape != wanted or keys.dtype != self.keys.dtype:
            raise ValueError(f"a snapshot of {tuple(keys.shape)} {keys.dtype} does not fit {wanted} {self.keys.dtype}")
        if cache_tokens != self.cache_tokens and not self.shape.allow_growth:
            raise ValueError(f"a snapshot of a cache of {cache_tokens} tokens does not fit {self.cache_tokens}")
        self.reset()
        if cache_tokens > self.cache_tokens:
            self._grow(cache_tokens)
        self.keys[:, :, :local_end] = keys
        self.values[:, :, :local_end] = values
        self.global_end, self.local_end, self.attention_window_tokens = global_end, local_end, window

    def _choose_visible(self, recent: int | None) -> tuple[slice, ...]:
        if recent is None or recent < 0:
            return (slice(max(0, self.local_end - self.attention_window_tokens), self.local_end),)
        sink_end = min(self.sink_tokens, self.local_end)
        recent_start = max(sink_end, self.local_start - recent)
        if recent_start == sink_end:
            return (slice(0, self.local_end),)
        parts = (slice(0, sink_end), slice(recent_start, self.local_end))
        return parts if sink_end else parts[1:]

    def _evict(self, evicted: int) -> None:
        """Move the rows after the sink down by ``evicted``; in steps that do not overlap, so without a copy aside."""
        kept_end = self.local_end - evicted
        for tensor in (self.keys, self.values):
            for row in range(self.sink_tokens, kept_end, evicted):
                stop = min(row + evicted, kept_end)
                tensor[:, :, row:stop] = tensor[:, :, row + evicted : stop + evicted]

    def _grow(self, cache_tokens: int) -> None:
        if self.attention_window_tokens == self.cache_tokens:
            self.attention_window_tokens = cache_tokens
        self.keys = self._grown(self.keys, cache_tokens)
        self.values = self._grown(self.values, cache_tokens)
        self.cache_tokens = cache_tokens

    def _grown(self, old: Tensor, cache_tokens: int) -> Tensor:
        new = old.new_zeros(*old.shape[:2], cache_tokens, *old.shape[3:])
        new[:, :, : self.local_end] = old[:, :, : self.local_end]
        return new


def _copied(rows: Tensor, device: torch.device | str | None) -> Tensor:
    """A layer at a time: from a graphics card the whole would be gathered there first, in memory that it lacks."""
    kept = torch.empty(rows.shape, dtype=rows.dtype, device=rows.device if device is None else device)
    for layer, target in zip(rows, kept, strict=True):
        target.copy_(layer)
    return kept


class CrossAttentionCache:
    """Keys and values of the prompt, a pair [B, text_length, heads, d] a layer; empty from a reset to the next pass."""

    def __init__(self) -> None:
        self._layers: tuple[LayerKV, ...] | None = None

    @property
    def filled(self) -> bool:
        return self._layers is not None

    @property
    def layers(self) -> tuple[LayerKV, ...]:
        assert self._layers is not None, "the prompt's keys and values were not computed yet"
        return self._layers

    def fill(self, layers: tuple[LayerKV, ...]) -> None:
        self._layers = layers

    def reset(self) -> None:
        """The prompt has changed: the next pass computes its keys and values anew. Self-attention is not touched."""
        self._layers = None
