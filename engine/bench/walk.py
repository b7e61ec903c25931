"""The walk that every bench takes: some steps ahead, a turn, a rest; the same for all, so that runs can be compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from engine.backends import World
from engine.protocol import FrameChunk

ROUND_CHUNKS = 16
_LEAST_WARM_CHUNKS, _MOST_WARM_CHUNKS = 4, 64


@dataclass(frozen=True, slots=True)
class TimedChunk:
    chunk: FrameChunk
    seconds: float
    """From asking for the chunk to holding its frames, events included."""


def keys_at(chunk: int) -> Mapping[str, object] | None:
    """The event before this chunk of the walk, or None: 6 chunks ahead, 4 in a curve, 6 at rest."""
    held = {0: ["w"], 6: ["w", "l"], 10: []}.get(chunk % ROUND_CHUNKS)
    if held is None:
        return None
    transitions = [{"actions": held}]
    return {"input_types": ["camera_actions"], "camera_actions": {"mode": "state", "transitions": transitions}}


def walk(world: World, chunks: int, clock: Callable[[], float]) -> Iterator[TimedChunk]:
    """Make the next ``chunks`` chunks of the walk, each timed at the consumer."""
    for number in range(chunks):
        began = clock()
        wire = keys_at(number)
        if wire is not None:
            world.apply(wire, None, began)
        chunk = world.step(clock)
        yield TimedChunk(chunk, clock() - began)


def warm_up(world: World, clock: Callable[[], float]) -> list[TimedChunk]:
    """Walk ahead until the memory is full: what a chunk sees has not grown for two chunks."""
    world.apply({**(keys_at(0) or {}), "event_id": 0}, None, clock())
    made: list[TimedChunk] = []
    unchanged = 0
    while len(made) < _LEAST_WARM_CHUNKS or (unchanged < 2 and len(made) < _MOST_WARM_CHUNKS):
        began = clock()
        chunk = world.step(clock)
        same = bool(made) and chunk.window == made[-1].chunk.window
        unchanged = unchanged + 1 if same else 0
        made.append(TimedChunk(chunk, clock() - began))
    return made
