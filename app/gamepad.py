"""Sticks and direction pad as values: dead zone, what they hold, how far they turn the view. Pure; time is an argument.

The engine's actions are on or off, so that the left stick walks as keys do; turning is in degrees, so that the right
stick turns as far as it is pushed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

Stick = tuple[float, float]
"""(x, y) in -1 to 1; right and down are positive, as SDL has them."""

PRESSES_AT, RELEASES_AT = 0.45, 0.3
"""How far a stick or a trigger is pushed before it counts as held, and where it stops to: apart, so that it does not
flicker."""
MENU_PUSH = 0.6
MENU_DELAY_SECONDS, MENU_INTERVAL_SECONDS = 0.42, 0.13
LONGEST_TICK_SECONDS = 0.1
"""After a slow frame the view turns as if only this long had passed, so that it does not leap."""

DPAD: Mapping[str, tuple[int, int]] = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
TRIGGERS = ("left_trigger", "right_trigger")


@dataclass(frozen=True, slots=True)
class Gamepad:
    """All pads together act as one. ``names``: (number of the device, what it calls itself) of those that are there."""

    names: tuple[tuple[int, str], ...] = ()
    left: Stick = (0.0, 0.0)
    right: Stick = (0.0, 0.0)
    held: tuple[str, ...] = ()
    """The actions that the left stick holds."""
    dpad: tuple[str, ...] = ()
    pulled: tuple[str, ...] = ()
    """The triggers that count as pressed."""
    direction: tuple[int, int] = (0, 0)
    """Where stick and direction pad lead in a menu."""
    repeats_at: float | None = None
    turned_at: float | None = None
    """Up to when the right stick's turning is counted; None while it rests."""


def without_dead_zone(stick: Stick, zone: float) -> Stick:
    """The push beyond a round dead zone of radius ``zone``, so that it begins at 0 and still ends at 1."""
    length = math.hypot(*stick)
    if length <= zone or length == 0.0:
        return 0.0, 0.0
    factor = min(1.0, (length - zone) / (1.0 - zone)) / length
    return stick[0] * factor, stick[1] * factor


def push(pad: Gamepad, axis: str, value: float, *, zone: float, at: float) -> Gamepad:
    """An axis (left_x, left_y, right_x, right_y) is at ``value``; triggers and other axes change nothing."""
    side, _, way = axis.partition("_")
    if side not in ("left", "right") or way not in ("x", "y"):
        return pad
    before = pad.left if side == "left" else pad.right
    stick = (value, before[1]) if way == "x" else (before[0], value)
    if side == "left":
        return replace(pad, left=stick, held=_held(without_dead_zone(stick, zone), pad.held))
    turns = without_dead_zone(stick, zone) != (0.0, 0.0)
    turned_at = (pad.turned_at if pad.turned_at is not None else at) if turns else None
    return replace(pad, right=stick, turned_at=turned_at)


def pull(pad: Gamepad, trigger: str, value: float) -> Gamepad:
    """A trigger is at ``value``, 0 to 1; the same pad unless it is pressed or let go of by that."""
    before = trigger in pad.pulled
    if (value > (RELEASES_AT if before else PRESSES_AT)) == before:
        return pad
    others = tuple(name for name in pad.pulled if name != trigger)
    return replace(pad, pulled=others if before else (*others, trigger))


def press_dpad(pad: Gamepad, way: str, *, down: bool) -> Gamepad:
    others = tuple(name for name in pad.dpad if name != way)
    return replace(pad, dpad=(*others, way) if down else others)


def turn(pad: Gamepad, now: float, *, zone: float, degrees_per_second: float) -> tuple[Gamepad, float, float]:
    """The pad, and the degrees of yaw and pitch (up is positive) that the right stick asks for since the last call."""
    if pad.turned_at is None:
        return pad, 0.0, 0.0
    seconds = min(LONGEST_TICK_SECONDS, max(0.0, now - pad.turned_at))
    x, y = without_dead_zone(pad.right, zone)
    length = math.hypot(x, y)
    # squared: fine aim near the middle, full speed at the rim
    degrees = degrees_per_second * seconds * length
    return replace(pad, turned_at=now), x * degrees, -y * degrees


def lead(pad: Gamepad, now: float) -> tuple[Gamepad, tuple[int, int] | None]:
    """The step to take in a menu now: at once for a new direction, then again and again while it is held."""
    direction = _direction(pad)
    if direction == (0, 0):
        at_rest = pad.direction == (0, 0) and pad.repeats_at is None
        return (pad if at_rest else replace(pad, direction=(0, 0), repeats_at=None)), None
    if direction != pad.direction:
        return replace(pad, direction=direction, repeats_at=now + MENU_DELAY_SECONDS), direction
    if pad.repeats_at is not None and now >= pad.repeats_at:
        return replace(pad, repeats_at=now + MENU_INTERVAL_SECONDS), direction
    return pad, None


def rest(pad: Gamepad) -> Gamepad:
    """No stick is pushed: after focus loss, or when a menu opens; what is pushed still will be told again.

    A trigger that is pulled stays so until it is let go of, as its next small motion would press it once more.
    """
    return Gamepad(names=pad.names, pulled=pad.pulled)


def _held(stick: Stick, before: tuple[str, ...]) -> tuple[str, ...]:
    pushes = {"w": -stick[1], "s": stick[1], "a": -stick[0], "d": stick[0]}
    return tuple(
        action for action, value in pushes.items() if value > (RELEASES_AT if action in before else PRESSES_AT)
    )


def _direction(pad: Gamepad) -> tuple[int, int]:
    if pad.dpad:
        return DPAD[pad.dpad[-1]]
    x, y = pad.left
    if max(abs(x), abs(y)) < MENU_PUSH:
        return 0, 0
    return (1 if x > 0 else -1, 0) if abs(x) > abs(y) else (0, 1 if y > 0 else -1)
