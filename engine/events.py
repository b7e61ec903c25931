"""Composite events: parsed and checked whole, or rejected with the place of the first bad value.

Wire form (the same map in JSON, YAML or MessagePack)::

    {"event_id": 17, "input_types": ["camera_actions", "look", "prompt"],
     "camera_actions": [["w"], ["w", "l"], []],            # a script: one list of names per latent frame
     "look": {"yaw_degrees": 3.5, "pitch_degrees": -1.0},
     "prompt": "a snowstorm at night"}

``prompt`` may also be two prompts at once, ``share`` (0 to 1) of the second::

    {"text": "a forest at noon", "mixed_with": "a snowstorm at night", "share": 0.35}

``camera_actions`` may also be a state map::

    {"mode": "state", "transitions": [{"actions": ["w"], "client_ts_ms": 100}, {"actions": []}]}

``input_types`` names every payload that the map carries, in the order in which they are applied. A name that stands
twice in one list of actions counts once. One of the two angles of ``look`` may be left out and is then zero.

``"retake": {"seed": 5, "steps": 8}``, or one of the two, has the next chunk made from other noise or in other steps.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from engine.errors import BadValue
from engine.protocol import (
    ACTIONS,
    INPUT_TYPES,
    ActionScript,
    ActionState,
    CameraActions,
    CompositeEvent,
    EventRejected,
    Look,
    Prompt,
    PromptMix,
    Retake,
    Transition,
)
from engine.wording import Path, dotted, key_part, prompt_problem, shown

MAX_ITEMS = 512
"""Script items or transitions of one event, and of one queue (SGLang-Diffusion's limit)."""

MAX_NAMES = len(ACTIONS)
MAX_ID = 2**53
"""Above this a JSON reader that knows only double precision would change the number."""

MAX_YAW_DEGREES = 180.0
MAX_PITCH_DEGREES = 90.0
MAX_STEPS = 50
"""Denoising passes of one chunk; the settings allow as many."""
MAX_JSON_CHARACTERS = 1_000_000

_ACTION_NAMES = ", ".join(ACTIONS)


class Rejection(BadValue):
    """Nothing was applied: ``path`` was ``got``, not ``expected``. ``parts`` is the path in pieces."""

    def __init__(self, event_id: int | None, parts: Path, got: str, expected: str) -> None:
        self.event_id, self.parts, self.path = event_id, parts, dotted(parts)
        super().__init__(self.path or "the event", got, expected)

    def report(self) -> EventRejected:
        return EventRejected(event_id=self.event_id, path=self.path, got=self.got, expected=self.expected)


def parse(wire: object, pressed_at: float | None = None) -> CompositeEvent:
    """The event that a decoded wire map asks for; the map is not changed and not kept.

    Raises ``Rejection``, and nothing else, whatever ``wire`` is.
    """
    event_id: int | None = None
    try:
        if not isinstance(wire, Mapping):
            raise Rejection(None, (), shown(wire), "a map with input_types and what they name")
        event_id = _event_id(wire)
        input_types = _input_types(wire)
        _refuse_unknown(wire, ("event_id", "input_types", *input_types), ())
        for name in input_types:
            if name not in wire:
                raise Rejection(None, (name,), "nothing", "the value that input_types names")
        return CompositeEvent(
            event_id=event_id,
            input_types=input_types,
            camera_actions=_camera_actions(wire["camera_actions"]) if "camera_actions" in wire else None,
            look=check_look(wire["look"], ("look",)) if "look" in wire else None,
            prompt=check_prompt(wire["prompt"], ("prompt",)) if "prompt" in wire else None,
            pressed_at=pressed_at,
            retake=_retake(wire["retake"]) if "retake" in wire else None,
        )
    except Rejection as bad:
        raise Rejection(event_id, bad.parts, bad.got, bad.expected) from None


def from_json(text: str, pressed_at: float | None = None) -> CompositeEvent:
    """``parse`` for JSON text; doubled keys, NaN and Infinity are refused. Raises ``Rejection``."""
    if not isinstance(text, str) or len(text) > MAX_JSON_CHARACTERS:
        got = f"{len(text)} characters" if isinstance(text, str) else shown(text)
        raise Rejection(None, (), got, f"JSON text of at most {MAX_JSON_CHARACTERS} characters")
    try:
        wire: object = json.loads(text, object_pairs_hook=_map_without_doubles, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise Rejection(None, (), shown(text), "one JSON map with no key twice and only finite numbers") from None
    return parse(wire, pressed_at)


def _map_without_doubles(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def _refuse_unknown(found: Mapping[object, object], known: Sequence[str], path: Path) -> None:
    for key in found:
        if not isinstance(key, str) or key not in known:
            payload = not path and isinstance(key, str) and key in INPUT_TYPES
            expected = (
                "no such payload, as input_types does not name it" if payload else f"only {', '.join(known)} here"
            )
            raise Rejection(None, (*path, key_part(key)), shown(found[key]), expected)


def _as_list(value: object, path: Path, expected: str) -> Sequence[object]:
    if not isinstance(value, (list, tuple)):
        raise Rejection(None, path, shown(value), expected)
    return value


def _whole_number(value: object, path: Path, expected: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_ID:
        raise Rejection(None, path, shown(value), f"{expected} from 0 to 2**53")
    return int(value)


def _event_id(wire: Mapping[object, object]) -> int | None:
    if "event_id" not in wire:
        return None
    return _whole_number(wire["event_id"], ("event_id",), "a whole number")


def _input_types(wire: Mapping[object, object]) -> tuple[str, ...]:
    known = ", ".join(INPUT_TYPES)
    if "input_types" not in wire:
        raise Rejection(None, ("input_types",), "nothing", f"a list that names one or more of {known}")
    items = _as_list(wire["input_types"], ("input_types",), f"a list that names one or more of {known}")
    if not items:
        raise Rejection(None, ("input_types",), "an empty list", f"one or more of {known}")
    names: list[str] = []
    for index, item in enumerate(items):
        if not isinstance(item, str) or item not in INPUT_TYPES:
            raise Rejection(None, ("input_types", index), shown(item), f"one of {known}")
        if item in names:
            raise Rejection(None, ("input_types", index), f"{shown(item)} a second time", "each name once")
        names.append(item)
    return tuple(names)


def check_actions(value: object, path: Path = ()) -> tuple[str, ...]:
    """One list of action names, each once. Raises ``Rejection`` whose ``parts`` begin with ``path``."""
    items = _as_list(value, path, f"a list of action names ({_ACTION_NAMES})")
    if len(items) > MAX_NAMES:
        raise Rejection(None, path, f"a list of {len(items)} names", f"at most {MAX_NAMES} names")
    names: dict[str, None] = {}  # a dict keeps the order in which the names came
    for index, item in enumerate(items):
        if not isinstance(item, str) or item not in ACTIONS:
            raise Rejection(None, (*path, index), shown(item), f"one of {_ACTION_NAMES}")
        names[str(item)] = None
    return tuple(names)


def _camera_actions(value: object) -> CameraActions:
    path: Path = ("camera_actions",)
    if isinstance(value, Mapping):
        return _action_state(value, path)
    frames = _as_list(value, path, "a list with one list of action names per latent frame, or a state map")
    if len(frames) > MAX_ITEMS:
        raise Rejection(None, path, f"a list of {len(frames)} items", f"at most {MAX_ITEMS} items")
    return ActionScript(tuple(check_actions(frame, (*path, index)) for index, frame in enumerate(frames)))


def _action_state(value: Mapping[object, object], path: Path) -> ActionState:
    if "mode" not in value or value["mode"] != "state":
        raise Rejection(
            None, (*path, "mode"), shown(value["mode"]) if "mode" in value else "nothing", "the text 'state'"
        )
    _refuse_unknown(value, ("mode", "transitions"), path)
    path = (*path, "transitions")
    if "transitions" not in value:
        raise Rejection(None, path, "nothing", "a list of transitions")
    items = _as_list(value["transitions"], path, "a list of transitions")
    if len(items) > MAX_ITEMS:
        raise Rejection(None, path, f"a list of {len(items)} transitions", f"at most {MAX_ITEMS} transitions")
    return ActionState(tuple(_transition(item, (*path, index)) for index, item in enumerate(items)))


def _transition(value: object, path: Path) -> Transition:
    if not isinstance(value, Mapping):
        raise Rejection(None, path, shown(value), "a map with actions and, if known, client_ts_ms")
    _refuse_unknown(value, ("actions", "client_ts_ms"), path)
    if "actions" not in value:
        raise Rejection(None, (*path, "actions"), "nothing", f"a list of action names ({_ACTION_NAMES})")
    actions = check_actions(value["actions"], (*path, "actions"))
    if "client_ts_ms" not in value:
        return Transition(actions)
    return Transition(actions, _whole_number(value["client_ts_ms"], (*path, "client_ts_ms"), "whole milliseconds"))


def check_look(value: object, path: Path = ()) -> Look:
    """A look map as it stands in an event. Raises ``Rejection`` whose ``parts`` begin with ``path``."""
    if not isinstance(value, Mapping):
        raise Rejection(None, path, shown(value), "a map with yaw_degrees and pitch_degrees")
    _refuse_unknown(value, ("yaw_degrees", "pitch_degrees"), path)
    if not value:
        raise Rejection(None, path, "an empty map", "yaw_degrees, pitch_degrees, or both")
    return Look(
        yaw_degrees=_degrees(value, "yaw_degrees", MAX_YAW_DEGREES, path),
        pitch_degrees=_degrees(value, "pitch_degrees", MAX_PITCH_DEGREES, path),
    )


def _degrees(look: Mapping[object, object], name: str, limit: float, path: Path) -> float:
    value = look.get(name, 0.0)
    expected = f"degrees from -{limit:.0f} to {limit:.0f}"
    # compared before it becomes a float, as 10**400 has none; "not <=" and not ">", as NaN is neither
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) <= limit:
        raise Rejection(None, (*path, name), shown(value), expected)
    return float(value)


def _retake(value: object) -> Retake:
    path: Path = ("retake",)
    if not isinstance(value, Mapping):
        raise Rejection(None, path, shown(value), "a map with seed and steps")
    _refuse_unknown(value, ("seed", "steps"), path)
    if not value:
        raise Rejection(None, path, "an empty map", "seed, steps, or both")
    seed = _whole_number(value["seed"], (*path, "seed"), "a whole number") if "seed" in value else None
    if "steps" not in value:
        return Retake(seed)
    steps = value["steps"]
    if isinstance(steps, bool) or not isinstance(steps, int) or not 1 <= steps <= MAX_STEPS:
        raise Rejection(None, (*path, "steps"), shown(steps), f"a whole number from 1 to {MAX_STEPS}")
    return Retake(seed, int(steps))


def check_prompt(value: object, path: Path = ()) -> Prompt:
    """A prompt, or a mix of two, as it stands in an event. Raises ``Rejection`` whose ``parts`` begin with ``path``."""
    return _mix(value, path) if isinstance(value, Mapping) else check_text(value, path)


def _mix(value: Mapping[object, object], path: Path) -> PromptMix:
    _refuse_unknown(value, ("text", "mixed_with", "share"), path)
    for name in ("text", "mixed_with", "share"):
        if name not in value:
            raise Rejection(None, (*path, name), "nothing", "the map's text, mixed_with and share")
    share = value["share"]
    if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 <= share <= 1:
        raise Rejection(None, (*path, "share"), shown(share), "a number from 0 to 1")
    text, mixed_with = (check_text(value[name], (*path, name)) for name in ("text", "mixed_with"))
    return PromptMix(text, mixed_with, float(share))


def check_text(value: object, path: Path = ()) -> str:
    """One prompt. Raises ``Rejection`` whose ``parts`` begin with ``path``."""
    if not isinstance(value, str):
        raise Rejection(None, path, shown(value), "a text")
    problem = prompt_problem(value)
    if problem is not None:
        raise Rejection(None, path, *problem)
    return str(value)
