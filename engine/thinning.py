"""Which of many points in time to give up when there is room for fewer: far back they may lie further apart. Pure."""

from __future__ import annotations

from collections.abc import Sequence


def least_needed(times: Sequence[float]) -> int:
    """The index of the point to give up, of rising ``times``, at least one.

    That is the one whose loss leaves the smallest gap, measured against how long ago it is. So gaps grow with age, and
    the first point stays: what is kept reaches back to it, however long the whole becomes. Of two, the older one goes.
    """
    if len(times) < 3:
        return 0
    newest = times[-1]
    gaps = [(times[i + 1] - times[i - 1]) / (newest - times[i]) for i in range(1, len(times) - 1)]
    return 1 + gaps.index(min(gaps))
