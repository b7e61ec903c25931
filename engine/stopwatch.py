"""Times of the stages of a chunk. A graphics card works behind the host's back, so there its own clock is asked."""

from __future__ import annotations

from collections.abc import Callable

import torch


class Stopwatch:
    """Marks between stages. On a CUDA device they are events in its queue: taking one waits for nothing."""

    def __init__(self, clock: Callable[[], float], device: torch.device) -> None:
        self._clock = clock
        self._cuda = device.type == "cuda"
        self._times: list[float] = []
        self._events: list[torch.cuda.Event] = []
        self.mark()

    def mark(self) -> None:
        """A stage ends here and the next one begins."""
        if self._cuda:
            event = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]  # torch leaves it untyped
            event.record()
            self._events.append(event)
        else:
            self._times.append(self._clock())

    def milliseconds(self) -> list[float]:
        """Of each stage. Waits until the device has passed the last mark."""
        if self._cuda:
            self._events[-1].synchronize()
            return [a.elapsed_time(b) for a, b in zip(self._events, self._events[1:], strict=False)]
        return [(b - a) * 1000 for a, b in zip(self._times, self._times[1:], strict=False)]
