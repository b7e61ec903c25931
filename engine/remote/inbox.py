"""Chunks between the thread that receives them and the one that hands them on. Bounded, whoever is the slower one."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import replace

from engine.errors import RemoteProblem
from engine.protocol import FrameChunk, SampledEvent

MOST_WAITING_SECONDS = 0.3
"""Of frames that are older than the newest chunk; the window holds up to 0.15 s besides, so 0.45 s in all."""
KEPT_CHUNKS = 4
"""Where nothing may be dropped, the sender waits from here on."""


class Inbox:
    """One sender, one taker. Chunks that are dropped leave their events to the next one."""

    def __init__(self, fps: float, made_room: Callable[[], None]) -> None:
        self._fps, self._made_room = fps, made_room
        self._changed = threading.Condition()  # guards everything below
        self._chunks: deque[FrameChunk] = deque()
        self._problem: RemoteProblem | None = None
        self._wake: Callable[[], None] | None = None
        self._paused = False
        self._owed_events: tuple[SampledEvent, ...] = ()
        self._owes_prompt = False
        self.dropped = 0

    def go_live(self, wake: Callable[[], None]) -> None:
        """From now on old chunks give way to new ones, and ``wake`` is called when there is something to take."""
        self._wake = wake

    def pause(self, paused: bool) -> None:
        """During a pause nothing is kept."""
        with self._changed:
            self._paused = paused
            while paused and self._chunks:
                self._drop()

    @property
    def has_room(self) -> bool:
        with self._changed:
            return self._wake is not None or len(self._chunks) < KEPT_CHUNKS

    @property
    def is_ready(self) -> bool:
        with self._changed:
            return bool(self._chunks) or self._problem is not None

    def put(self, chunk: FrameChunk) -> None:
        """Take a chunk from the line. One that answers to newer input overtakes those that wait."""
        with self._changed:
            self._chunks.append(chunk)
            if self._wake is not None:
                self._trim(chunk)
            self._changed.notify_all()
        if self._wake is not None:
            self._wake()

    def end(self, problem: RemoteProblem) -> None:
        """Nothing more will come. What came is taken first."""
        with self._changed:
            self._problem = problem
            self._changed.notify_all()
        if self._wake is not None:
            self._wake()

    def take(self) -> FrameChunk:
        """The next chunk, waiting for it. Raises the RemoteProblem that ended the line."""
        with self._changed:
            while not self._chunks and self._problem is None:
                self._changed.wait()
            if not self._chunks:
                assert self._problem is not None
                raise self._problem
            chunk = self._chunks.popleft()
            if self._owed_events or self._owes_prompt:
                updated = chunk.prompt_updated or self._owes_prompt
                chunk = replace(chunk, events=(*self._owed_events, *chunk.events), prompt_updated=updated)
                self._owed_events, self._owes_prompt = (), False
        self._made_room()
        return chunk

    def _trim(self, newest: FrameChunk) -> None:
        if self._paused:
            self._drop()
            return
        cuts_over = any(event.pressed_at is not None for event in newest.events)
        while len(self._chunks) > 1:
            older = sum(len(chunk.frames) for chunk in self._chunks) - len(newest.frames)
            if not cuts_over and older <= MOST_WAITING_SECONDS * self._fps:
                return
            self._drop()

    def _drop(self) -> None:
        gone = self._chunks.popleft()
        self._owed_events = (*self._owed_events, *gone.events)
        self._owes_prompt = self._owes_prompt or gone.prompt_updated
        self.dropped += 1
