"""Held keys, mouse motion and a submitted prompt -> one composite event a tick, or none. Pure; time is an argument."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from engine.protocol import ACTIONS, ActionState, CompositeEvent, Look, Prompt, Transition

MOST_TRANSITIONS = 512
"""The engine refuses longer lists; older taps of one tick give way."""
MOST_YAW_DEGREES, MOST_PITCH_DEGREES = 180.0, 90.0
"""The most that one event may turn; the rest goes into the next."""


FIRST_TICK_SECONDS, LONGEST_TICK_SECONDS = 1 / 60, 0.1
"""How long a tick counts, for smoothing and cap, when nothing turned before it, and at most."""
SETTLED_DEGREES = 0.01
"""What smoothing leaves over below this is given at once, so that it comes to an end."""


@dataclass(frozen=True, slots=True)
class LookFeel:
    """How the mouse turns the view. ``smoothing_seconds`` 0: as it moves; ``cap_degrees_per_second`` 0: any speed."""

    degrees_per_px: float = 0.12
    invert_y: bool = False
    smoothing_seconds: float = 0.0
    cap_degrees_per_second: float = 0.0


@dataclass(frozen=True, slots=True)
class Steering:
    """What the hands do, and what of it has been sent."""

    held: tuple[tuple[str, str], ...] = ()
    """(key, action) of every key that is down, in the order of pressing."""
    sent: tuple[str, ...] = ()
    """The actions of the last event; what the engine believes to be held."""
    transitions: tuple[Transition, ...] = ()
    look: Look = field(default_factory=Look)
    prompt: Prompt | None = None
    pressed_at: float | None = None
    """When the first hand movement of this tick happened."""
    next_event_id: int = 1
    turned_at: float | None = None
    """When the last event that turned the view was made."""

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


def turn(steering: Steering, dx_px: int, dy_px: int, at: float, feel: LookFeel) -> Steering:
    """Mouse motion in window pixels: right is positive yaw, up (negative dy) is positive pitch unless inverted."""
    pitch = dy_px if feel.invert_y else -dy_px
    return turn_degrees(steering, dx_px * feel.degrees_per_px, pitch * feel.degrees_per_px, at)


def turn_degrees(steering: Steering, yaw: float, pitch: float, at: float) -> Steering:
    """Turn by degrees, right and up positive, in the next event."""
    if not yaw and not pitch:
        return steering
    look = Look(steering.look.yaw_degrees + yaw, steering.look.pitch_degrees + pitch)
    return replace(steering, look=look, pressed_at=_first(steering, at))


def submit(steering: Steering, prompt: Prompt, at: float) -> Steering:
    """A prompt for the next event; of two in one tick the newer wins."""
    return replace(steering, prompt=prompt, pressed_at=_first(steering, at))


def forget_sent(steering: Steering) -> Steering:
    """A new world knows of no key: what is held will be sent again, what was moved before it is gone."""
    return replace(steering, sent=(), transitions=(), look=Look(), pressed_at=None, prompt=None)


def say_all(steering: Steering) -> Steering:
    """A world that was restored may hold keys that nobody holds now: what is held is said, even if it is nothing."""
    known = forget_sent(steering)
    return replace(known, transitions=(Transition(known.actions),))


def compose(
    steering: Steering, now: float, *, standing: bool = False, feel: LookFeel | None = None
) -> tuple[Steering, CompositeEvent | None]:
    """The one event of this tick, or None where nothing changed. ``feel`` None: neither smoothing nor cap.

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
        look, rest = _due(steering, now, feel or LookFeel())
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
        turned_at=None if look == Look() else now,
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


def _due(steering: Steering, now: float, feel: LookFeel) -> tuple[Look, Look]:
    """What of the pending turn goes into this event, and what stays for the next ones.

    Smoothing gives an exponential share (1 - exp(-dt / smoothing)) and keeps the rest. What is faster than the cap is
    dropped, as a view that goes on turning after the hand has stopped is worse than one that turned too little.
    """
    dt = FIRST_TICK_SECONDS if steering.turned_at is None else now - steering.turned_at
    dt = max(0.0, min(LONGEST_TICK_SECONDS, dt))
    look, rest = steering.look, Look()
    if feel.smoothing_seconds > 0.0:
        left = math.exp(-dt / feel.smoothing_seconds)
        if max(abs(look.yaw_degrees), abs(look.pitch_degrees)) * left > SETTLED_DEGREES:
            rest = Look(look.yaw_degrees * left, look.pitch_degrees * left)
            look = Look(look.yaw_degrees - rest.yaw_degrees, look.pitch_degrees - rest.pitch_degrees)
    if feel.cap_degrees_per_second > 0.0:
        most = feel.cap_degrees_per_second * dt
        look = Look(_clipped(look.yaw_degrees, most), _clipped(look.pitch_degrees, most))
    now_due, over = _split(look)
    return now_due, Look(rest.yaw_degrees + over.yaw_degrees, rest.pitch_degrees + over.pitch_degrees)


def _clipped(value: float, most: float) -> float:
    return max(-most, min(most, value))


def _split(look: Look) -> tuple[Look, Look]:
    """What one event may carry, and the rest."""
    yaw, pitch = _clipped(look.yaw_degrees, MOST_YAW_DEGREES), _clipped(look.pitch_degrees, MOST_PITCH_DEGREES)
    return Look(yaw, pitch), Look(look.yaw_degrees - yaw, look.pitch_degrees - pitch)
