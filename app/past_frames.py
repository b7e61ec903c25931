"""The frames that were shown, so that time can be seen going backwards: all of the last ones, fewer of those before."""

from __future__ import annotations

from dataclasses import dataclass

from app.rewind import LookedBack
from engine.protocol import Pixels
from engine.thinning import least_needed

LIMIT_BYTES = 128_000_000


@dataclass(frozen=True, slots=True)
class Glance:
    """A frame of the past. ``position``: its end in the walk in chunks, 5.0 being the end of chunk 4.

    ``chunks_back``: how far before the newest one. ``is_first``: there is none before it.
    """

    frame: Pixels
    position: float
    chunks_back: float
    is_first: bool

    def told(self, chunk_seconds: float, frame_bytes: int) -> LookedBack:
        """That it is on show, where a chunk takes so many seconds, and all frames so many bytes."""
        seconds, newest = self.chunks_back * chunk_seconds, self.position + self.chunks_back
        return LookedBack(self.position, newest, seconds, self.is_first, frame_bytes)


class PastFrames:
    """One owner, the window's thread."""

    def __init__(self, limit_bytes: int = LIMIT_BYTES) -> None:
        self._limit_bytes = limit_bytes
        self._frames: list[Pixels] = []
        self._positions: list[float] = []
        self.byte_count = 0

    def clear(self) -> None:
        """Another world has begun."""
        self._frames.clear()
        self._positions.clear()
        self.byte_count = 0

    def add(self, frame: Pixels, position: float) -> None:
        """``frame`` [H, W, 3] was shown. It is copied, as it is a part of its chunk, which would be held whole."""
        if frame.nbytes > self._limit_bytes or (self._positions and position <= self._positions[-1]):
            return
        while self.byte_count + frame.nbytes > self._limit_bytes:
            gone = least_needed(self._positions)
            del self._positions[gone]
            self.byte_count -= self._frames.pop(gone).nbytes
        self._frames.append(frame.copy())
        self._positions.append(position)
        self.byte_count += frame.nbytes

    def look(self, steps: float) -> Glance | None:
        """The frame so many kept frames before the newest one; the first one where there are no more."""
        if not self._frames:
            return None
        index = max(0, len(self._frames) - 1 - int(steps))
        position = self._positions[index]
        return Glance(self._frames[index], position, self._positions[-1] - position, index == 0)

    def forget_after(self, position: float) -> Pixels | None:
        """What was shown after ``position`` has not happened; returns the frame that is the last one now."""
        while self._positions and self._positions[-1] > position + 1e-6:
            self._positions.pop()
            self.byte_count -= self._frames.pop().nbytes
        return self._frames[-1] if self._frames else None
