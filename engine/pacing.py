"""When to begin the next chunk: as late as possible, so that it answers to the newest input, and never too late.

The window shows frames at the model's nominal rate. A chunk is wanted when the frames before it have been shown, so it
is begun earlier than that by what a chunk takes. A model that is slower than its nominal rate never waits. Pure: the
clock is passed in.
"""

from __future__ import annotations

import os
from collections import deque

REMEMBERED_CHUNKS = 8
MARGIN_SECONDS = 0.012
"""Finished so much before it is wanted: one pass of the window's loop is up to 17 ms away."""
CATCH_UP_SECONDS = 0.05
"""A chunk that came late is made up for by so much; more would answer to older input for no gain."""
BUSY = 0.8
"""From this share of the nominal time on the engine does not wait for the window to fetch the chunk before."""

SPIN_COUNT = "2000"
"""How long a model's idle thread spins before it sleeps. A chunk of the bundled model on two cores, in ms, free / with
another program on one of them: 500 247 / 347, 2,000 209 / 433, 20,000 206 / 706, GNU OpenMP's own 300,000 176 / 11,000
at worst. The window shares those cores too."""


def let_idle_threads_sleep() -> None:
    """Must be called before torch is loaded, which reads the variable; one that the user has set stays."""
    os.environ.setdefault("GOMP_SPINCOUNT", SPIN_COUNT)


class Pacer:
    """One owner, the generation loop. Times are seconds of one clock."""

    def __init__(self, fps_nominal: float) -> None:
        self._fps = fps_nominal
        self._costs: deque[float] = deque(maxlen=REMEMBERED_CHUNKS)
        self._wanted_at: float | None = None
        self._is_busy = True

    @property
    def begin_at(self) -> float:
        """When the next chunk should be begun; in the past or 0 where that is now."""
        if self._wanted_at is None:
            return 0.0
        return self._wanted_at - max(self._costs, default=0.0) - MARGIN_SECONDS

    def may_begin(self, untaken: int) -> bool:
        """Whether a chunk may be begun while ``untaken`` ones wait for the window: one at most, none with time left."""
        return untaken == 0 or (untaken == 1 and self._is_busy)

    def finished(self, began: float, now: float, frames: int) -> None:
        """A chunk of ``frames`` was made from ``began`` to ``now``."""
        wanted = now if self._wanted_at is None else self._wanted_at
        self._costs.append(now - began)
        self._is_busy = max(self._costs) > BUSY * frames / self._fps
        self._wanted_at = max(wanted, now - CATCH_UP_SECONDS) + frames / self._fps

    def held_until(self, now: float) -> None:
        """The window did not fetch the chunk before until ``now``: it holds enough, so the next is wanted later."""
        if self._wanted_at is not None:
            self._wanted_at = max(self._wanted_at, now + max(self._costs, default=0.0))

    def restart(self) -> None:
        """After a pause or for another world: the next chunk is wanted at once."""
        self._wanted_at = None
