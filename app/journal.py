"""What was asked of the world since it opened: all that a recording needs which begins in the middle of a walk.

Kept for as long as the world lives, so it has to stay small: a mouse alone says 60 things a second. Turns of one chunk
only add up, so they are kept as one turn that is their sum, which makes the same chunk to the last bit; and all is kept
as text, some 100 bytes a chunk instead of 1 kB a turn: half a megabyte after an hour of turning, instead of 200.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter

from app.steering import MOST_PITCH_DEGREES, MOST_YAW_DEGREES
from engine.lines import FIRST, WalkLine, owner
from engine.protocol import SampledEvent

Events = Sequence[tuple[int, SampledEvent]]
"""What was asked of a world, with the chunks that it was asked before."""


class Journal:
    """The events of one world, oldest first. Of each only what was asked is kept, not when.

    What was asked along a line of the walk that was left (see ``engine.lines``) is kept as long as that line is.
    """

    def __init__(self) -> None:
        self._chunks: list[tuple[int, str]] = []
        self._lines, self._line = {FIRST.number: FIRST}, FIRST.number
        self._left: dict[int, list[tuple[int, str]]] = {}
        """All that was asked until the end of each line that was left."""

    @property
    def byte_count(self) -> int:
        return sum(len(text) for _, text in self._chunks)

    def begin(self, events: Iterable[tuple[int, SampledEvent]] = ()) -> None:
        """Another world, or one of which ``events`` were asked before."""
        self.forget_after(-1)
        for chunk, of_chunk in groupby(events, itemgetter(0)):
            self.add(chunk, folded([event for _, event in of_chunk]))

    def add(self, chunk: int, events: Iterable[SampledEvent]) -> None:
        """What was first sampled in ``chunk``, turns already folded (see ``folded``)."""
        wires = [event.wire for event in events]
        if wires:
            self._chunks.append((chunk, json.dumps(wires, separators=(",", ":"), default=dict)))

    def forget_after(self, chunk: int) -> None:
        """The world was lost and is again what it was after ``chunk``: what was asked later has not happened."""
        self._chunks = [asked for asked in self._chunks if asked[0] <= chunk]
        self._lines, self._line = {FIRST.number: FIRST}, FIRST.number
        self._left = {}

    def go(self, chunk: int, line: int, origin: int) -> bool:
        """The world is again what it was after ``chunk``, which line ``origin`` made, and goes on as ``line``.

        Returns whether that lies on the way that led here.
        """
        behind = owner(self._lines, self._line, chunk) == origin
        until = self._chunks if origin == self._line or behind else self._left[origin]
        self._left[self._line] = self._chunks
        self._chunks = [asked for asked in until if asked[0] <= chunk]
        self._lines.setdefault(line, WalkLine(line, origin, chunk, chunk))
        self._line = line
        return behind

    def keep_only(self, lines: Iterable[int]) -> None:
        """Of other lines none can be gone to any more."""
        self._left = {line: self._left[line] for line in lines if line in self._left}

    def events(self) -> Events:
        return tuple((chunk, asked(wire)) for chunk, text in self._chunks for wire in json.loads(text))


def asked(wire: Mapping[str, object]) -> SampledEvent:
    """An event of which only what was asked is known."""
    number = wire.get("event_id")
    return SampledEvent(number if isinstance(number, int) else None, wire, None, 0.0, 0.0)


def folded(events: Sequence[SampledEvent]) -> tuple[SampledEvent, ...]:
    """The events of one chunk with all their turns in the last event that had one.

    Added in the order and in the way in which the engine adds them, so that a replay hands the model the same number. A
    sum beyond what one event may carry stands in several: what is left over when a limit is taken from it is exact, and
    so is the sum of the two.
    """
    turning = [number for number, event in enumerate(events) if isinstance(event.wire.get("look"), Mapping)]
    if len(turning) < 2:
        return tuple(events)
    yaw = pitch = 0.0
    for number in turning:
        look = events[number].wire["look"]
        assert isinstance(look, Mapping)
        yaw, pitch = yaw + look.get("yaw_degrees", 0.0), pitch + look.get("pitch_degrees", 0.0)
    kept: list[SampledEvent] = []
    for number, event in enumerate(events):
        if number == turning[-1]:
            *before, last = _parts(yaw, pitch)
            kept += [asked({"input_types": ["look"], "look": look}) for look in before]
            kept.append(replace(event, wire={**event.wire, "look": last}))
        elif isinstance(event.wire.get("look"), Mapping):
            types = event.wire["input_types"]
            assert isinstance(types, Sequence)
            left = [name for name in types if name != "look"]
            if left:
                rest = {name: value for name, value in event.wire.items() if name != "look"}
                kept.append(replace(event, wire={**rest, "input_types": left}))
        else:
            kept.append(event)
    return tuple(kept)


def _parts(yaw: float, pitch: float) -> list[dict[str, float]]:
    parts = []
    while True:
        part_yaw = max(-MOST_YAW_DEGREES, min(MOST_YAW_DEGREES, yaw))
        part_pitch = max(-MOST_PITCH_DEGREES, min(MOST_PITCH_DEGREES, pitch))
        parts.append({"yaw_degrees": part_yaw, "pitch_degrees": part_pitch})
        yaw, pitch = yaw - part_yaw, pitch - part_pitch
        if yaw == 0.0 and pitch == 0.0:
            return parts
