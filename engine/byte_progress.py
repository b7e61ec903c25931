"""Sizes in words, and how far reading or fetching has come."""

from __future__ import annotations

import time
from collections.abc import Callable

_SECONDS_BETWEEN_REPORTS = 1.0


def size_text(byte_count: int) -> str:
    """With a unit of thousands, as files and disks are sold: 6.84 GB, 507 MB, 12 kB."""
    for unit, size in (("GB", 1e9), ("MB", 1e6)):
        if byte_count >= size:
            number = byte_count / size
            return f"{number:.{2 if number < 10 else 1 if number < 100 else 0}f} {unit}"
    return f"{byte_count / 1e3:.0f} kB"


def time_text(seconds: float) -> str:
    """12 s, 3 min, 2 h 5 min."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


class ByteProgress:
    """Tells how far a long job has come: "Reading the transformer: 1.2 GB of 6.84 GB, 12 s left", once a second.

    ``done`` bytes may have been there before; the time left is reckoned from the others.
    """

    def __init__(
        self,
        what: str,
        total_bytes: int,
        progress: Callable[[str, float | None], None],
        *,
        clock: Callable[[], float] = time.monotonic,
        done: int = 0,
    ) -> None:
        self.what, self.total, self.progress, self.clock = what, max(1, total_bytes), progress, clock
        self.done = self._at_first = done
        self._began, self._told = clock(), 0.0

    def add(self, byte_count: int) -> None:
        self.done = min(self.done + byte_count, self.total)
        elapsed = self.clock() - self._began
        if elapsed - self._told < _SECONDS_BETWEEN_REPORTS and self.done < self.total:
            return
        self._told = elapsed
        text = f"{self.what}: {size_text(self.done)} of {size_text(self.total)}"
        fresh = self.done - self._at_first
        if self.done < self.total and fresh > 0:
            text += f", {time_text(elapsed * (self.total - self.done) / fresh)} left"
        self.progress(text, self.done / self.total)
