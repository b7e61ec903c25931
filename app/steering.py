"""Held keys, mouse motion and a submitted prompt -> one composite event a tick, or none. Pure; time is an argument."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from engine.protocol import ACTIONS, ActionState, CompositeEvent, Look, Transition

MOUSE_DEGREES_PER_PX = 0.12

MOST_TRANSITIONS = 512
"""The engine refuses longer lists; older taps of one tick give way."""
MOST_YAW_DEGREES, MOST_PITCH_DEGREES = 180.0, 90.0
"""The most that one event may turn; the rest goes into the next."""


@dataclass(frozen=True, slots=True)
class Steering:
    """What the hands do, and what of it has been sent."""

    held: tuple[tuple[str, str], ...] = ()
    """(key, action) of every key that is down, in the order of pressing."""
    sent: tuple[str, ...] = ()
    """The actions of the last event; what the engine believes to be held."""
    transitions: tuple[Transition, ...] = ()
    look: Look = field(default_factory=Look)
    prompt: str | None = None
    pressed_at: float | None = None
    """When the first hand movement of this tick happened."""
    next_event_id: int = 1

    @property
    def actions(self) -> tuple[str, ...]:
        """The held actions, each once, in the protocol's order."""
        held = {action for _, action in self.held}
        return tuple(action for action in ACTIONS if action in held)


def press(steering: Steering, action: str, source: str, at: float) -> Steering:
    """A key went down; a key that is down already (key repeat) changes nothing."""
    if any(key == source for key, _ in steering.held):
        return steering
    return _changed(steering, replace(steering, held=(*steering.held, (source, action))), at)


def release(steering: Steering, source: str, at: float) -> Steering:
    held = tuple(pair for pair in steering.held if pair[0] != source)
    return steering if held == steering.held else _changed(steering, replace(steering, held=held), at)


def release_all(steering: Steering, at: float) -> Steering:
    return _changed(steering, replace(steering, held=()), at)


def turn(steering: Steering, dx_px: int, dy_px: int, at: float, degrees_per_px: float) -> Steering:
    """Mouse motion in window pixels: right is positive yaw, up (negative dy) is positive pitch."""
    if not dx_px and not dy_px:
        return steering
    look = Look(
        steering.look.yaw_degrees + dx_px * degrees_per_px, steering.look.pitch_degrees - dy_px * degrees_per_px
    )
    return replace(steering, look=look, pressed_at=_first(steering, at))


def submit(steering: Steering, prompt: str, at: float) -> Steering:
    """A prompt for the next event; of two in one tick the newer wins."""
    return replace(steering, prompt=prompt, pressed_at=_first(steering, at))


def forget_sent(steering: Steering) -> Steering:
    """A new world knows of no key: what is held will be sent again, what was moved before it is gone."""
    return replace(steering, sent=(), transitions=(), look=Look(), pressed_at=None, prompt=None)


def compose(steering: Steering, now: float, *, standing: bool = False) -> tuple[Steering, CompositeEvent | None]:
    """The one event of this tick, or None where nothing changed.

    ``standing``: the world is paused. A prompt still goes, camera input waits: motion is forgotten, and keys that are
    held when the world goes on are sent then, so that a pause leaves no drift behind.
    """
    if standing:
        transitions: tuple[Transition, ...] = ()
        look, rest = Look(), Look()
    else:
        transitions = steering.transitions[-MOST_TRANSITIONS:]
        if not transitions and steering.actions != steering.sent:
            transitions = (Transition(steering.actions, _milliseconds(now)),)
        look, rest = _split(steering.look)
    types = tuple(
        name
        for name, present in (
            ("camera_actions", bool(transitions)),
            ("look", look != Look()),
            ("prompt", steering.prompt is not None),
        )
        if present
    )
    after = replace(
        steering,
        sent=transitions[-1].actions if transitions else steering.sent,
        transitions=(),
        look=rest,
        prompt=None,
        pressed_at=None if rest == Look() else now,
    )
    if not types:
        return (after if after != steering else steering), None
    event = CompositeEvent(
        event_id=steering.next_event_id,
        input_types=types,
        camera_actions=ActionState(transitions) if transitions else None,
        look=look if "look" in types else None,
        prompt=steering.prompt,
        pressed_at=now if steering.pressed_at is None else steering.pressed_at,
    )
    return replace(after, next_event_id=steering.next_event_id + 1), event


def _changed(before: Steering, after: Steering, at: float) -> Steering:
    """Note the transition when the set of actions, not only of keys, is another one."""
    if after.actions == before.actions:
        return after
    transition = Transition(after.actions, _milliseconds(at))
    return replace(after, transitions=(*after.transitions, transition), pressed_at=_first(before, at))


def _first(steering: Steering, at: float) -> float:
    return at if steering.pressed_at is None else min(at, steering.pressed_at)


def _milliseconds(at: float) -> int:
    return int(at * 1000)


def _split(look: Look) -> tuple[Look, Look]:
    """What one event may carry, and the rest."""
    yaw = max(-MOST_YAW_DEGREES, min(MOST_YAW_DEGREES, look.yaw_degrees))
    pitch = max(-MOST_PITCH_DEGREES, min(MOST_PITCH_DEGREES, look.pitch_degrees))
    return Look(yaw, pitch), Look(look.yaw_degrees - yaw, look.pitch_degrees - pitch)
