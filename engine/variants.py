"""The chunk on show made again in other ways, unseen, while the world waits: one piece of work a turn.

Between two pieces the world is what it was, bit for bit: each begins with a moment of now and ends by going back to it.
A chunk is made again from the newest moment before it and from what was asked of the world since then.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Mapping
from typing import Protocol, runtime_checkable

from engine.backends import StreamedWorld, World
from engine.errors import OutOfGpuMemory
from engine.moments import Moment, MomentRing, RewindableWorld
from engine.protocol import (
    EngineLog,
    EventAccepted,
    EventRejected,
    MakeVariants,
    NoVariants,
    Report,
    Retake,
    TakeVariant,
    VariantMade,
    VariantRequest,
)

Wire = Mapping[str, object]
Clock = Callable[[], float]
KNOWN_CHUNKS = 32
"""For so many chunks back it is known what was asked; to make more of them again would take too long anyway."""


@runtime_checkable
class RepeatableWorld(World, RewindableWorld, Protocol):
    """A world that makes its chunks when it is asked to, and can be set back."""


class Asked:
    """What was asked of the world that runs before each of its newest chunks, all of those after ``chunk``."""

    def __init__(self, chunk: int = -1) -> None:
        self._waiting: list[Wire] = []
        self._events: deque[tuple[int, Wire]] = deque()
        self._known_after = chunk

    def note(self, wire: Wire) -> None:
        """An event was accepted for the next chunk."""
        self._waiting.append(wire)

    def made(self, chunk: int) -> None:
        """``chunk`` was made after all that was noted before."""
        self._events.extend((chunk, wire) for wire in self._waiting)
        self._waiting.clear()
        self._known_after = max(self._known_after, chunk - KNOWN_CHUNKS)
        while self._events and self._events[0][0] <= self._known_after:
            self._events.popleft()

    def knows_after(self, chunk: int) -> bool:
        """Whether everything that was asked after ``chunk`` is known."""
        return chunk >= self._known_after

    def before(self, chunk: int) -> tuple[Wire, ...]:
        """What was asked for this chunk."""
        return tuple(wire for number, wire in self._events if number == chunk)


class Variants:
    """The work on one request."""

    def __init__(self, world: RepeatableWorld, request: MakeVariants, base: Moment, asked: Asked) -> None:
        self._world, self._request, self._asked = world, request, asked
        self.base = base
        """The state from which the next piece of work begins; at last the one before the chunk."""
        self.session_id, self._chunk = request.session_id, _chunk_at(request.position)
        self._made = 0

    @property
    def is_done(self) -> bool:
        return self._made >= len(self._request.variants)

    @property
    def is_there(self) -> bool:
        """Whether ``base`` is the state before the chunk."""
        return self.base.chunk == self._chunk - 1

    def step(self, clock: Clock) -> VariantMade | None:
        """The next variant; None where this piece of work only led nearer to the chunk. Raises OutOfGpuMemory."""
        home = self._world.keep()
        try:
            self.base.go_back()
            if self.is_there:
                return self._make(clock)
            self._approach(clock)
            return None
        finally:
            home.go_back()

    def events(self, variant: Retake) -> tuple[Wire, ...]:
        """What is to be asked for the chunk so that it becomes ``variant``."""
        wire = variant.to_wire()
        retake: tuple[Wire, ...] = ({"input_types": ["retake"], "retake": wire},) if wire else ()
        return (*self._asked.before(self._chunk), *retake)

    def _approach(self, clock: Clock) -> None:
        for wire in self._asked.before(self.base.chunk + 1):
            self._world.apply(wire, None, clock())
        self._world.step(clock)
        self.base = self._world.keep()

    def _make(self, clock: Clock) -> VariantMade:
        began, number = clock(), self._made
        for wire in self.events(self._request.variants[number]):
            self._world.apply(wire, None, began)
        frames = self._world.step(clock).frames
        self._made += 1
        place = round((self._request.position - self._chunk) * len(frames)) - 1
        picture = frames[max(0, min(place, len(frames) - 1))].copy()
        return VariantMade(self._request.session_id, self._chunk, number, picture, clock() - began)


class Retakes:
    """What the generation loop has to do with them. ``asked`` is kept for every world, whether it is needed or not."""

    def __init__(self, tell: Callable[[Report], None]) -> None:
        self._tell = tell
        self.asked = Asked()
        self._work: Variants | None = None
        self._chosen: Retake | None = None

    def begin(self, chunk: int) -> None:
        """A world is from now on what it is after ``chunk``."""
        self.asked = Asked(chunk)
        self.stop()

    def stop(self) -> None:
        self._work = self._chosen = None

    def note(self, wire: Wire, answer: EventAccepted | EventRejected) -> None:
        if isinstance(answer, EventAccepted):
            self.asked.note(wire)

    def answer(self, world: World, request: VariantRequest, moments: MomentRing) -> None:
        match request:
            case MakeVariants():
                self.stop()
                found = begin(world, request, moments, self.asked)
                if isinstance(found, NoVariants):
                    self._tell(found)
                else:
                    self._work = found
            case TakeVariant(session_id, variant):
                if self._work is None or not self._work.is_there:
                    self._tell(NoVariants(session_id, "gone"))
                else:
                    self._chosen = variant
            case _:
                self.stop()

    def has_work(self, untaken: int) -> bool:
        """``untaken``: chunks that the window has not fetched; only without any may the chosen one be told."""
        if self._work is None:
            return False
        return untaken == 0 if self._chosen is not None else not self._work.is_done

    def step(self, clock: Clock) -> tuple[Moment, tuple[Wire, ...]] | None:
        """Make one more of them; or the moment and the events with which the world goes on, where one was chosen."""
        work = self._work
        assert work is not None
        if self._chosen is not None:
            return work.base, work.events(self._chosen)
        try:
            made = work.step(clock)
        except OutOfGpuMemory as error:
            self.stop()
            self._tell(EngineLog(str(error)))
            self._tell(NoVariants(work.session_id, "memory"))
            return None
        if made is not None:
            self._tell(made)
        return None


def begin(world: World, request: MakeVariants, moments: MomentRing, asked: Asked) -> Variants | NoVariants:
    """Where the chunk can be made again, the work on it; else why not."""
    if isinstance(world, StreamedWorld) or not isinstance(world, RepeatableWorld):
        return NoVariants(request.session_id, "elsewhere")
    chunk = _chunk_at(request.position)
    if chunk < 1:
        return NoVariants(request.session_id, "first")
    base = moments.nearest(chunk - 1)
    if base is None or not asked.knows_after(base.chunk):
        return NoVariants(request.session_id, "no_moment")
    return Variants(world, request, base, asked)


def _chunk_at(position: float) -> int:
    """The chunk whose frame ends at ``position``, 5.0 being the end of chunk 4."""
    return math.ceil(position - 1e-6) - 1
