"""Event queues: what a chunk receives of everything asked since the chunk before it.

The rules are those of SGLang-Diffusion's LingBot adapter, with ``look`` beside the actions:

- The newest prompt wins and is kept until a chunk may take one: chunk 0 always has the scene's own prompt.
- A script of actions is consumed in order, one item per latent frame; what it cannot fill is padded with no action.
- A state is what is held: it repeats until it changes. A tap that began and ended between two chunks still moves one
  latent frame. A new script drops the state, a new state drops the script.
- Looks add up until a chunk takes them. Retakes are for the next chunk alone, the newest word counts.
- Before the first camera input (actions or look) a chunk has no actions at all, which is not the same as none held.

Events are kept as they came and are only worked off when a chunk is sampled, so that what is reported of a chunk
is exactly what made it, and a replay of the reports repeats it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.errors import BadValue
from engine.events import MAX_ID, MAX_ITEMS, MAX_PITCH_DEGREES, MAX_YAW_DEGREES, check_actions, check_prompt, parse
from engine.protocol import (
    INPUT_TYPES,
    ActionScript,
    ActionState,
    CameraActions,
    CompositeEvent,
    Look,
    Prompt,
    Retake,
    SampledEvent,
    prompt_to_wire,
)
from engine.wording import Path, dotted, shown

Actions = tuple[str, ...]

MIN_PULSE_LATENT_FRAMES = 1
MAX_WAITING_EVENTS = 512
MAX_WAITING_ITEMS = 4096
"""Script items and transitions in all events that wait for the next chunk; with the above, the bound on memory."""


@dataclass(frozen=True, slots=True)
class ChunkInputs:
    """What one chunk receives. ``actions``: one tuple per latent frame, or None before the first camera input.

    ``prompt`` is None unless one was sampled now, and may repeat the one in force. ``look`` is summed over the chunk.
    ``events`` were first sampled now, in the order of their acceptance. ``echo_id`` is the id of the signal sampled
    last: prompt, then actions (a held state counts with its old id), then look.
    """

    prompt: Prompt | None
    actions: tuple[Actions, ...] | None
    look: Look
    events: tuple[SampledEvent, ...]
    echo_id: int | None
    retake: Retake | None = None


@dataclass(frozen=True, slots=True)
class _Waiting:
    event: CompositeEvent
    wire: Mapping[str, object]
    accepted_at: float

    @property
    def items(self) -> int:
        camera = self.event.camera_actions
        if camera is None:
            return 1
        return 1 + len(camera.frames if isinstance(camera, ActionScript) else camera.transitions)


class ControlQueues:
    """The events of one world between acceptance and sampling. Not shared, not thread-safe, no clock of its own."""

    def __init__(self) -> None:
        self._waiting: deque[_Waiting] = deque()
        self._waiting_items = 0
        self._prompt: tuple[Prompt, int | None] | None = None
        self._script: deque[tuple[Actions, int | None]] = deque()
        self._held: Actions = ()
        self._held_id: int | None = None
        self._camera_received = False
        self._echo_id: int | None = None

    def apply(self, event: CompositeEvent, accepted_at: float, wire: Mapping[str, object]) -> None:
        """Take a whole event; ``wire`` is the map that it was parsed from and is copied for the reports.

        When chunks do not come for long, the oldest waiting events are folded into one (see ``_fold``).
        """
        waiting = _Waiting(event, _copy_of_map(wire), accepted_at)
        self._waiting.append(waiting)
        self._waiting_items += waiting.items
        while len(self._waiting) > 1 and (
            len(self._waiting) > MAX_WAITING_EVENTS or self._waiting_items > MAX_WAITING_ITEMS
        ):
            older, newer = self._waiting.popleft(), self._waiting.popleft()
            folded = _fold(older, newer)
            self._waiting_items += folded.items - older.items - newer.items
            self._waiting.appendleft(folded)

    def sample(self, latent_frames: int, chunk: int, now: float) -> ChunkInputs:
        """What chunk number ``chunk`` of ``latent_frames`` receives; every event is reported once."""
        assert latent_frames >= 1, latent_frames
        assert chunk >= 0, chunk
        taken = self._take_waiting(chunk)
        pending: deque[tuple[Actions, int | None]] = deque(maxlen=MAX_ITEMS)
        yaw = pitch = 0.0
        look_id: int | None = None
        retake: Retake | None = None
        for waiting in taken:
            event = waiting.event
            retake = retake if event.retake is None else event.retake.over(retake)
            if event.prompt is not None:
                self._prompt = (event.prompt, event.event_id)
            if event.camera_actions is not None:
                self._receive(event.camera_actions, event.event_id, pending)
            if event.look is not None:
                self._camera_received = True
                yaw, pitch = yaw + event.look.yaw_degrees, pitch + event.look.pitch_degrees
                look_id = event.event_id if event.event_id is not None else look_id
        prompt = self._sample_prompt(chunk)
        actions = self._sample_actions(latent_frames, pending) if self._camera_received else None
        self._echo(look_id)
        return ChunkInputs(
            prompt=prompt,
            actions=actions,
            look=Look(yaw, pitch),
            events=tuple(
                SampledEvent(w.event.event_id, w.wire, w.event.pressed_at, w.accepted_at, sampled_at=now) for w in taken
            ),
            echo_id=self._echo_id,
            retake=retake,
        )

    def _take_waiting(self, chunk: int) -> list[_Waiting]:
        """The events that this chunk works off: all, but chunk 0 leaves a last event that is nothing but a prompt.

        Such an event has its effect in chunk 1, and is reported there.
        """
        taken = list(self._waiting)
        self._waiting.clear()
        self._waiting_items = 0
        if chunk == 0:
            prompts = [waiting for waiting in taken if waiting.event.prompt is not None]
            if prompts and prompts[-1].event.input_types == ("prompt",):
                taken = [waiting for waiting in taken if waiting is not prompts[-1]]
                self._waiting.append(prompts[-1])
                self._waiting_items = prompts[-1].items
        return taken

    def _receive(self, camera: CameraActions, event_id: int | None, pending: deque[tuple[Actions, int | None]]) -> None:
        self._camera_received = True
        if isinstance(camera, ActionScript):
            pending.clear()
            self._held, self._held_id = (), None
            self._script = deque((frame, event_id) for frame in camera.frames)
        elif camera.transitions:  # no transitions say nothing of what is held: script and state stay
            self._script.clear()
            pending.extend((transition.actions, event_id) for transition in camera.transitions)

    def _sample_prompt(self, chunk: int) -> Prompt | None:
        if self._prompt is None or chunk == 0:
            return None
        prompt, event_id = self._prompt
        self._prompt = None
        self._echo(event_id)
        return prompt

    def _sample_actions(self, latent_frames: int, pending: Sequence[tuple[Actions, int | None]]) -> tuple[Actions, ...]:
        if self._script:
            consumed = [self._script.popleft() for _ in range(min(latent_frames, len(self._script)))]
            self._echo(consumed[-1][1])
            frames = tuple(actions for actions, _ in consumed)
            return frames + ((),) * (latent_frames - len(frames))
        pulse = _pulse(self._held, [actions for actions, _ in pending])
        if pending:
            self._held, self._held_id = pending[-1]
        self._echo(self._held_id)
        if pulse is None:
            return (self._held,) * latent_frames
        pulse_latent_frames = min(MIN_PULSE_LATENT_FRAMES, latent_frames)
        return (pulse,) * pulse_latent_frames + (self._held,) * (latent_frames - pulse_latent_frames)

    def _echo(self, event_id: int | None) -> None:
        if event_id is not None:
            self._echo_id = event_id

    def to_dict(self) -> dict[str, object]:
        """The whole state as plain JSON values; ``from_dict`` continues from it exactly."""
        return {
            "waiting": [
                {"wire": _copy_of_map(w.wire), "pressed_at": w.event.pressed_at, "accepted_at": w.accepted_at}
                for w in self._waiting
            ],
            "prompt": None if self._prompt is None else [prompt_to_wire(self._prompt[0]), self._prompt[1]],
            "script": [[list(actions), event_id] for actions, event_id in self._script],
            "held": list(self._held),
            "held_id": self._held_id,
            "camera_received": self._camera_received,
            "echo_id": self._echo_id,
        }

    @classmethod
    def from_dict(cls, state: object) -> ControlQueues:
        """The queues as they were at ``to_dict``. Raises ``BadValue`` when ``state`` is nothing of that kind."""
        found = _map(state, ("controls",))
        queues = cls()
        for index, item in enumerate(_list(_of(found, "waiting"), ("controls", "waiting"))):
            path: Path = ("controls", "waiting", index)
            waiting = _map(item, path)
            wire = _map(_of(waiting, "wire"), (*path, "wire"))
            event = parse(wire, pressed_at=_seconds(_of(waiting, "pressed_at"), (*path, "pressed_at")))
            accepted_at = _seconds(_of(waiting, "accepted_at"), (*path, "accepted_at"))
            if accepted_at is None:
                raise BadValue(dotted((*path, "accepted_at")), "null", "seconds")
            queues.apply(event, accepted_at, wire)
        if (prompt := _of(found, "prompt")) is not None:
            text, prompt_id = _pair(prompt, ("controls", "prompt"))
            queues._prompt = (check_prompt(text, ("controls", "prompt", 0)), _id(prompt_id, ("controls", "prompt", 1)))
        for index, item in enumerate(_list(_of(found, "script"), ("controls", "script"))):
            path = ("controls", "script", index)
            actions, event_id = _pair(item, path)
            queues._script.append((check_actions(actions, (*path, 0)), _id(event_id, (*path, 1))))
        queues._held = check_actions(_of(found, "held"), ("controls", "held"))
        queues._held_id = _id(_of(found, "held_id"), ("controls", "held_id"))
        received = _of(found, "camera_received")
        if not isinstance(received, bool):
            raise BadValue("controls.camera_received", shown(received), "true or false")
        queues._camera_received = received
        queues._echo_id = _id(_of(found, "echo_id"), ("controls", "echo_id"))
        return queues


def _pulse(held: Actions, pending: Sequence[Actions]) -> Actions | None:
    """The actions of a tap that ended before it could be sampled, or None.

    SGLang's rule: the newest pending transition that holds anything gets a pulse where it is not the final one. Beyond
    it, a key tapped while the final ones had been held all along ([w] held; [w, d], [w] pending) is a tap as well.
    """
    if not pending:
        return None
    final = frozenset(pending[-1])
    newest = next((actions for actions in reversed(pending) if actions), ())
    if newest and frozenset(newest) != final:
        return newest
    if final <= frozenset(held):
        return next((actions for actions in reversed(pending) if not frozenset(actions) <= frozenset(held)), None)
    return None


def _fold(older: _Waiting, newer: _Waiting) -> _Waiting:
    """One event that stands for two neighbours: same prompt, script, held keys; looks add up, within one event's limit.

    It bears the newer one's id and stamps. Only reached when hundreds of events wait for one chunk.
    """
    first, second = older.event, newer.event
    kinds = (*first.input_types, *second.input_types)
    look = second.look or first.look
    if first.look is not None and second.look is not None:
        look = Look(
            _clamp(first.look.yaw_degrees + second.look.yaw_degrees, MAX_YAW_DEGREES),
            _clamp(first.look.pitch_degrees + second.look.pitch_degrees, MAX_PITCH_DEGREES),
        )
    event = CompositeEvent(
        event_id=second.event_id if second.event_id is not None else first.event_id,
        input_types=tuple(name for name in INPUT_TYPES if name in kinds),
        camera_actions=_fold_camera(first.camera_actions, second.camera_actions),
        look=look,
        prompt=second.prompt if second.prompt is not None else first.prompt,
        pressed_at=second.pressed_at,
        retake=first.retake if second.retake is None else second.retake.over(first.retake),
    )
    return _Waiting(event, event.to_wire(), newer.accepted_at)


def _fold_camera(older: CameraActions | None, newer: CameraActions | None) -> CameraActions | None:
    if older is None or isinstance(newer, ActionScript):
        return newer
    if newer is None or not newer.transitions:
        return older
    if isinstance(older, ActionScript):
        return newer
    return ActionState((older.transitions + newer.transitions)[-MAX_ITEMS:])


def _clamp(value: float, limit: float) -> float:
    return max(-limit, min(limit, value))


def _copy_of_map(wire: Mapping[str, object]) -> dict[str, object]:
    return {key: _copy(value) for key, value in wire.items()}


def _copy(value: object) -> object:
    if isinstance(value, Mapping):
        return _copy_of_map(value)
    return [_copy(item) for item in value] if isinstance(value, (list, tuple)) else value


def _of(found: Mapping[str, object], name: str) -> object:
    if name not in found:
        raise BadValue(f"controls.{name}", "nothing", "the state of the control queues")
    return found[name]


def _map(value: object, path: Path) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise BadValue(dotted(path), shown(value), "a map")
    return value


def _list(value: object, path: Path) -> Sequence[object]:
    if not isinstance(value, list) or len(value) > MAX_ITEMS:
        raise BadValue(dotted(path), shown(value), f"a list of at most {MAX_ITEMS} items")
    return value


def _pair(value: object, path: Path) -> tuple[object, object]:
    if not isinstance(value, list) or len(value) != 2:
        raise BadValue(dotted(path), shown(value), "a list of two")
    return value[0], value[1]


def _id(value: object, path: Path) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_ID:
        raise BadValue(dotted(path), shown(value), "an event id or null")
    return value


def _seconds(value: object, path: Path) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise BadValue(dotted(path), shown(value), "seconds or null")
    return float(value)
