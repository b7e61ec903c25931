"""Batches of frames, in the order of their arrival, become chunks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.protocol import Pixels
from engine.remote.pictures import decode
from engine.remote.wire import Batch, Picture, WireProblem

MAX_CHUNK_FRAMES = 256


@dataclass(frozen=True, slots=True)
class WholeChunk:
    """A chunk as it came, not yet decoded. ``began_at`` and ``came_at``: its first and its last message."""

    number: int
    event_id: int | None
    frames: int
    began_at: float
    came_at: float
    payload_bytes: int
    encoding: str
    parts: tuple[tuple[Batch, bytes], ...]

    def decoded(self, picture: Picture) -> Pixels:
        """RGB uint8 [T, H, W, 3]. Raises WireProblem."""
        pieces = [decode(batch, payload, picture) for batch, payload in self.parts]
        return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)


class Assembler:
    """Takes the batches of one session. Raises WireProblem where one does not belong after the one before."""

    def __init__(self) -> None:
        self._expected_chunk = 0
        self._parts: list[tuple[Batch, bytes]] = []
        self._frames = 0
        self._began_at = 0.0

    @property
    def is_inside_a_chunk(self) -> bool:
        return bool(self._parts)

    def take(self, batch: Batch, payload: bytes, began_at: float, now: float) -> WholeChunk | None:
        """A batch whose header came at ``began_at`` and whose payload is here now; the chunk, if it is complete."""
        if batch.chunk != self._expected_chunk:
            raise WireProblem("chunk_index", str(batch.chunk), str(self._expected_chunk))
        if batch.index != len(self._parts):
            raise WireProblem("frame_batch_index", str(batch.index), str(len(self._parts)))
        first = self._parts[0][0] if self._parts else batch
        if batch.batches != first.batches:
            raise WireProblem("num_frame_batches", str(batch.batches), str(first.batches))
        if not self._parts:
            self._began_at = began_at
        self._parts.append((batch, payload))
        self._frames += batch.frames
        if self._frames > MAX_CHUNK_FRAMES:
            raise WireProblem("the frames of a chunk", str(self._frames), f"at most {MAX_CHUNK_FRAMES}")
        return self._finish(now) if batch.index == batch.batches - 1 else None

    def _finish(self, now: float) -> WholeChunk:
        last = self._parts[-1][0]
        payload_bytes = sum(len(payload) for _, payload in self._parts)
        parts, frames = tuple(self._parts), self._frames
        self._parts, self._frames = [], 0
        self._expected_chunk += 1
        return WholeChunk(last.chunk, last.event_id, frames, self._began_at, now, payload_bytes, last.encoding, parts)
