"""What passes between the window's process and the engine's: messages over a pipe, pictures through shared memory.

Requests and reports travel as they are. The frames of a chunk are taken out of its report, laid into a slot of the
ring and put back on the other side, which then tells when the window has fetched the chunk; so at most ``SLOTS`` chunks
are under way. The window's side owns the ring: it makes it when asked and removes it, however the engine ended.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from multiprocessing.shared_memory import SharedMemory

import numpy as np

from engine.protocol import FrameChunk, Pixels, Report, Request

SLOTS = 2


@dataclass(frozen=True, slots=True)
class RingWanted:
    """The engine needs slots of so many bytes; a ring that was there before is not used any more."""

    slot_bytes: int


@dataclass(frozen=True, slots=True)
class RingReady:
    """``name`` is None where there is no memory for it; ``problem`` says why."""

    name: str | None
    slot_bytes: int
    problem: str = ""


@dataclass(frozen=True, slots=True)
class SlottedChunk:
    """``chunk`` without its frames, which lie in ``slot`` with this shape [T, H, W, 3]."""

    chunk: FrameChunk
    slot: int
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ChunkTaken:
    """The window has fetched one more chunk."""


@dataclass(frozen=True, slots=True)
class Shutdown:
    pass


ToEngine = Request | RingReady | ChunkTaken | Shutdown
ToWindow = Report | RingWanted | SlottedChunk

NO_FRAMES: Pixels = np.empty((0, 0, 0, 3), np.uint8)


class FrameRing:
    """``SLOTS`` places for the frames of a chunk in memory that both processes see."""

    def __init__(self, memory: SharedMemory, slot_bytes: int) -> None:
        self._memory, self.slot_bytes = memory, slot_bytes

    @classmethod
    def create(cls, slot_bytes: int) -> FrameRing:
        """Raises OSError."""
        return cls(SharedMemory(create=True, size=SLOTS * slot_bytes), slot_bytes)

    @classmethod
    def attach(cls, name: str, slot_bytes: int) -> FrameRing:
        """Raises OSError where it has been removed."""
        return cls(SharedMemory(name=name), slot_bytes)

    @property
    def name(self) -> str:
        return self._memory.name

    def write(self, slot: int, frames: Pixels) -> None:
        """Frames [T, H, W, 3] into a slot that nobody reads."""
        self._view(slot, frames.shape)[...] = frames

    def read(self, slot: int, shape: tuple[int, ...]) -> Pixels:
        """A copy of the frames in ``slot``."""
        return self._view(slot, shape).copy()

    def close(self) -> None:
        self._memory.close()

    def remove(self) -> None:
        """Close it and give the memory back; for the side that made it."""
        self._memory.close()
        self._memory.unlink()

    def _view(self, slot: int, shape: tuple[int, ...]) -> Pixels:
        assert 0 <= slot < SLOTS, slot
        assert prod(shape) <= self.slot_bytes, (shape, self.slot_bytes)
        return np.ndarray(shape, np.uint8, buffer=self._memory.buf, offset=slot * self.slot_bytes)
