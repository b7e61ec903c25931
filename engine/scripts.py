"""Walk scripts: a list of steps, already decoded, becomes the events to give before each chunk.

Steps, one map each; ``chunks`` says how long a step lasts::

    - {hold: [w, l], chunks: 8}                 # held from the step's first chunk, released at its end
    - {look: {yaw_degrees: 20}, chunks: 2}      # the look is given once, with the step's first chunk
    - {prompt: "snow"}                          # in force from the next step on; takes no time of its own
    - {hold: [w], look: {pitch_degrees: 5}, prompt: "rain", chunks: 4}    # all three at once, as one event
    - {wait: 3}                                 # three chunks with nothing held
    - {event: {input_types: [prompt], prompt: "dusk"}, chunks: 2}         # given to the engine as it stands

Without ``chunks``, ``hold`` and ``look`` last one chunk, ``prompt`` and ``event`` none. Keys stay held over the border
of two steps that hold the same; a step that lasts and holds nothing releases them. A prompt or event with no step after
it gets one last chunk, so that it is seen. A prompt before the first step that lasts is in force from chunk 1 on: chunk
0 always has the scene's own prompt.

A raw event is not checked here: the engine rejects what it cannot use and the walk goes on, as with any other client.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import count

from engine.errors import BadValue
from engine.events import Rejection, check_actions, check_look, check_prompt
from engine.protocol import ActionState, CompositeEvent, Look, Prompt, Transition
from engine.wording import Path, dotted, key_part, shown

MAX_STEPS = 10_000
MAX_CHUNKS = 100_000

_STEP_KEYS = ("hold", "look", "prompt", "wait", "event", "chunks")
_A_STEP = "a map such as {hold: [w], chunks: 8}, {look: {yaw_degrees: 20}}, {prompt: snow}, {wait: 3} or {event: {...}}"

Where = Callable[[Path], str]
"""Names the place of a value in its file, e.g. ``walk.yaml:7``."""


@dataclass(frozen=True, slots=True)
class PlannedEvent:
    """An event in wire form, to be applied before ``chunk`` is made. ``place`` is where the script asks for it."""

    chunk: int
    wire: Mapping[str, object]
    place: str


@dataclass(frozen=True, slots=True)
class WalkPlan:
    """``chunks`` to make in all, and the events in the order in which they are applied."""

    chunks: int
    events: tuple[PlannedEvent, ...]

    def at(self, chunk: int) -> tuple[PlannedEvent, ...]:
        """The events to apply before this chunk."""
        first = bisect_left(self.events, chunk, key=lambda event: event.chunk)
        after = bisect_right(self.events, chunk, key=lambda event: event.chunk)
        return self.events[first:after]


@dataclass(frozen=True, slots=True)
class _Step:
    chunks: int
    hold: tuple[str, ...] = ()
    look: Look | None = None
    prompt: Prompt | None = None
    raw: Mapping[str, object] | None = None


def parse(steps: object, where: Where) -> WalkPlan:
    """The plan of a decoded script. Raises ``BadValue`` that names the place and the value of the first mistake."""
    if not isinstance(steps, list) or not steps:
        raise BadValue(where(()), "an empty list" if steps == [] else shown(steps), f"a list of steps, each {_A_STEP}")
    if len(steps) > MAX_STEPS:
        raise BadValue(where((MAX_STEPS,)), f"{len(steps)} steps", f"at most {MAX_STEPS} steps")
    planner = _Planner()
    for index, value in enumerate(steps):
        planner.add(_step(value, (index,), where), where((index,)))
        if planner.chunk > MAX_CHUNKS:
            raise BadValue(where((index,)), f"{planner.chunk} chunks up to here", f"at most {MAX_CHUNKS} in one script")
    return planner.plan()


class _Planner:
    """Goes through the steps with the keys that are held and the number of the next chunk."""

    def __init__(self) -> None:
        self.chunk = 0
        self._held: frozenset[str] | None = frozenset()
        self._own: list[PlannedEvent] = []
        self._given: list[PlannedEvent] = []
        self._place = ""

    def add(self, step: _Step, place: str) -> None:
        raw, self._place = step.raw, place
        steers_by_hand = raw is not None and "camera_actions" in raw
        hold = self._change_of_keys(step.hold) if step.chunks > 0 and not steers_by_hand else None
        self._give_own(hold, step.look, step.prompt)
        if raw is not None:
            self._given.append(PlannedEvent(self.chunk, raw, place))
        if steers_by_hand:
            self._held = None  # what is held is the script writer's own business from here on
        self.chunk += step.chunks

    def plan(self) -> WalkPlan:
        """All that was added; a release ends the last hold, for who makes more chunks than the script asks for."""
        if self._given and self._given[-1].chunk == self.chunk:
            self.chunk += 1
        self._give_own(self._change_of_keys(()), None, None)
        own = {id(event) for event in self._own}
        raw_ids = [event.wire.get("event_id") for event in self._given if id(event) not in own]
        taken = {event_id for event_id in raw_ids if isinstance(event_id, int)}
        numbers = (number for number in count(1) if number not in taken)
        return WalkPlan(
            chunks=self.chunk,
            events=tuple(
                replace(event, wire={"event_id": next(numbers), **event.wire}) if id(event) in own else event
                for event in self._given
            ),
        )

    def _change_of_keys(self, hold: tuple[str, ...]) -> tuple[str, ...] | None:
        """What to say of the keys so that exactly ``hold`` is held, or None where nothing needs saying."""
        wanted = frozenset(hold)
        if wanted == self._held or (self._held is None and not wanted):
            return None
        self._held = wanted
        return hold

    def _give_own(self, hold: tuple[str, ...] | None, look: Look | None, prompt: Prompt | None) -> None:
        parts = {"camera_actions": hold, "look": look, "prompt": prompt}
        input_types = tuple(name for name, part in parts.items() if part is not None)
        if not input_types:
            return
        camera = None if hold is None else ActionState((Transition(hold),))
        event = CompositeEvent(None, input_types, camera_actions=camera, look=look, prompt=prompt)
        self._own.append(PlannedEvent(self.chunk, event.to_wire(), self._place))
        self._given.append(self._own[-1])


def _step(value: object, path: Path, where: Where) -> _Step:
    if not isinstance(value, Mapping):
        raise _bad(path, where, shown(value), _A_STEP)
    for key in value:
        if key not in _STEP_KEYS:
            raise _bad((*path, key_part(key)), where, shown(value[key]), f"only {', '.join(_STEP_KEYS)} in a step")
    kinds = [key for key in _STEP_KEYS[:-1] if key in value]
    if not kinds:
        raise _bad(path, where, shown(value), _A_STEP)
    if ("wait" in value or "event" in value) and len(kinds) > 1:
        raise _bad(path, where, f"{' and '.join(kinds)} in one step", "wait or event in a step of its own")
    if "wait" in value:
        if "chunks" in value:
            raise _bad((*path, "chunks"), where, shown(value["chunks"]), "wait: N alone, it already says how long")
        return _Step(_chunks(value["wait"], (*path, "wait"), where))
    default = 1 if "hold" in value or "look" in value else 0
    chunks = _chunks(value["chunks"], (*path, "chunks"), where) if "chunks" in value else default
    if "event" in value:
        raw = value["event"]
        if not isinstance(raw, Mapping):
            raise _bad((*path, "event"), where, shown(raw), "an event, a map with input_types and what they name")
        return _Step(chunks, raw=raw)
    try:
        return _Step(
            chunks,
            hold=check_actions(value["hold"], (*path, "hold")) if "hold" in value else (),
            look=check_look(value["look"], (*path, "look")) if "look" in value else None,
            prompt=check_prompt(value["prompt"], (*path, "prompt")) if "prompt" in value else None,
        )
    except Rejection as bad:
        raise _bad(bad.parts, where, bad.got, bad.expected) from None


def _chunks(value: object, path: Path, where: Where) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MAX_CHUNKS:
        raise _bad(path, where, shown(value), f"a whole number of chunks from 1 to {MAX_CHUNKS}")
    return value


def _bad(path: Path, where: Where, got: str, expected: str) -> BadValue:
    step = path[0]
    assert isinstance(step, int), path
    inner = dotted(path[1:])
    return BadValue(f"{where(path)}, step {step + 1}{f', {inner}' if inner else ''}", got, expected)
