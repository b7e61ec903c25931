"""Work that takes longer than a picture of the window: one thing after the other, on a thread of its own."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable

from app.messages import Message, Told
from engine.errors import WorldwalkError

Tell = Callable[[Message], None]
"""Hands a message to the window; from any thread."""


class Worker:
    """One owner, the window's thread. What goes wrong in a piece of work becomes a sentence; the next is done."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._asked: queue.SimpleQueue[Callable[[Tell], None] | None] = queue.SimpleQueue()
        self._told: deque[Message] = deque()
        self._thread: threading.Thread | None = None

    def ask(self, work: Callable[[Tell], None]) -> None:
        """Do this when everything asked before is done; ``work`` is given the way to tell."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="worker", daemon=True)
            self._thread.start()
        self._asked.put(work)

    def poll(self) -> Message | None:
        return self._told.popleft() if self._told else None

    def close(self, timeout_seconds: float = 1.0) -> None:
        """Take no more; wait a moment for what is being done."""
        if self._thread is not None:
            self._asked.put(None)
            self._thread.join(timeout_seconds)
            self._thread = None

    def _run(self) -> None:
        while (work := self._asked.get()) is not None:
            try:
                work(self._told.append)
            except WorldwalkError as error:
                self._told.append(Told(str(error), self._clock(), bad=True))
