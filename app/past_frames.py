"""The frames that were shown, so that time can be seen going backwards: all of the last ones, fewer of those before."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from app.rewind import LookedBack
from engine.lines import FIRST, WalkLine, ends
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


@dataclass(frozen=True, slots=True, eq=False)
class _Shown:
    """``is_end``: the last frame of a line of the walk that was left."""

    line: int
    position: float
    frame: Pixels
    is_end: bool = False


class PastFrames:
    """One owner, the window's thread. What was seen along lines that were left (see ``engine.lines``) stays."""

    def __init__(self, limit_bytes: int = LIMIT_BYTES) -> None:
        self._limit_bytes = limit_bytes
        self.clear()

    def clear(self) -> None:
        """Another world has begun."""
        self._way: list[_Shown] = []
        self._beside: list[_Shown] = []
        self._lines, self._line = {FIRST.number: FIRST}, FIRST.number
        self.byte_count = 0

    def add(self, frame: Pixels, position: float) -> None:
        """``frame`` [H, W, 3] was shown. It is copied, as it is a part of its chunk, which would be held whole."""
        if frame.nbytes > self._limit_bytes or (self._way and position <= self._way[-1].position):
            return
        while self.byte_count + frame.nbytes > self._limit_bytes:
            self._drop()
        self._way.append(_Shown(self._line, position, frame.copy()))
        self.byte_count += frame.nbytes

    def leave(self, frame: Pixels, position: float) -> None:
        """What was walked until now is left, and ends with ``frame``, which need not have been shown."""
        self.add(frame, position)
        if self._way and self._way[-1].position >= position:
            self._way[-1] = replace(self._way[-1], is_end=True)

    def look(self, steps: float) -> Glance | None:
        """The frame so many kept frames before the newest one; the first one where there are no more."""
        if not self._way:
            return None
        index = max(0, len(self._way) - 1 - int(steps))
        shown, newest = self._way[index], self._way[-1]
        return Glance(shown.frame, shown.position, newest.position - shown.position, index == 0)

    def go(self, chunk: int, line: int, origin: int) -> Pixels | None:
        """The world is again what it was after ``chunk``, which line ``origin`` made, and goes on as ``line``.

        Returns the frame that is the last one now.
        """
        self._lines.setdefault(line, WalkLine(line, origin, chunk, chunk))
        self._line, last = line, ends(self._lines, line)
        known = sorted((*self._beside, *self._way), key=lambda shown: shown.position)
        self._way = [shown for shown in known if shown.position <= last.get(shown.line, -2) + 1 + 1e-6]
        way = set(self._way)
        self._beside = [shown for shown in known if shown not in way]
        return self._way[-1].frame if self._way else None

    def keep_only(self, lines: Iterable[int]) -> None:
        """Of other lines none can be gone to any more."""
        kept = {self._line, *lines}
        self._beside = [shown for shown in self._beside if shown.line in kept]
        self.byte_count = sum(shown.frame.nbytes for shown in (*self._beside, *self._way))

    def _drop(self) -> None:
        """Give one up: what lies along lines that were left, then of the way here what is needed least, then ends."""
        along = next((shown for shown in self._beside if not shown.is_end), None)
        if along is not None:
            self._beside.remove(along)
            gone = along
        elif self._way:
            gone = self._way.pop(least_needed([shown.position for shown in self._way]))
        else:
            gone = self._beside.pop(0)
        self.byte_count -= gone.frame.nbytes
