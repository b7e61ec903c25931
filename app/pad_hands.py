"""What gamepads do. Part of ``state.update``; pure."""

from __future__ import annotations

from dataclasses import replace

from app import gamepad, gestures, pad_meaning, steering
from app.gamepad import TRIGGERS, Gamepad
from app.gestures import ActionReleased, Focus
from app.messages import Message
from app.pad_buttons import DPAD
from app.steps import tell
from app.values import AppState

_STICK = "stick "
"""What sources of actions begin with that the left stick holds."""

Touch = gestures.PadAxisMoved | gestures.PadPressed


def handle(state: AppState, message: gestures.PadOpened | gestures.PadLost) -> AppState:
    """Pads come and go."""
    match message:
        case gestures.PadOpened(pad, name, at):
            names = (*(known for known in state.gamepad.names if known[0] != pad), (pad, name))
            state = replace(state, gamepad=replace(state.gamepad, names=names))
            return tell(state, state.say("told.pad_found", name=name), at)
        case gestures.PadLost(pad, at):
            lost = [name for number, name in state.gamepad.names if number == pad]
            names = tuple(known for known in state.gamepad.names if known[0] != pad)
            state = _held(replace(state, gamepad=Gamepad(names=names)), at)
            held = state.steering
            for source in [source for source, _ in held.held if source.startswith(pad_meaning.SOURCE)]:
                held = steering.release(held, source, at)
            state = state if held is state.steering else replace(state, steering=held)
            return tell(state, state.say("told.pad_lost", name=lost[0]), at) if lost else state


def read(state: AppState, touch: Touch) -> tuple[AppState, Message | None]:
    """A stick, a trigger or a button moved: what is known of the pad by now, and what a button means."""
    match touch:
        case gestures.PadAxisMoved(axis, value, at) if axis in TRIGGERS:
            pulled = gamepad.pull(state.gamepad, axis, value)
            if pulled is state.gamepad:
                return state, None
            return _meaning(replace(state, gamepad=pulled), axis, axis in pulled.pulled, at)
        case gestures.PadAxisMoved(axis, value, at):
            zone = state.settings.app.pad_dead_zone
            return _held(replace(state, gamepad=gamepad.push(state.gamepad, axis, value, zone=zone, at=at)), at), None
        case gestures.PadPressed(button, down, at):
            if button.startswith(DPAD):
                pushed = gamepad.press_dpad(state.gamepad, button.removeprefix(DPAD), down=down)
                state = replace(state, gamepad=pushed)
            return _meaning(state, button, down, at)


def _meaning(state: AppState, button: str, down: bool, at: float) -> tuple[AppState, Message | None]:
    if not down:
        return state, ActionReleased(pad_meaning.source(button), at)
    return state, pad_meaning.pressed(button, state.focus, at, state.settings.app.pad)


def turn(state: AppState, now: float) -> AppState:
    """A tick has passed: the right stick turns the view."""
    if state.gamepad.turned_at is None:
        return state
    app = state.settings.app
    pad, yaw, pitch = gamepad.turn(
        state.gamepad, now, zone=app.pad_dead_zone, degrees_per_second=app.pad_degrees_per_second
    )
    state = replace(state, gamepad=pad)
    if state.focus is not Focus.WALK or state.standing:
        return state
    pitch = -pitch if app.invert_y else pitch
    turned = steering.turn_degrees(state.steering, yaw, pitch, now)
    return state if turned is state.steering else replace(state, steering=turned, touched_at=now)


def lead(state: AppState, now: float) -> tuple[AppState, gestures.MenuMoved | None]:
    """A tick has passed: the step that stick or direction pad takes in a menu."""
    pad, step = gamepad.lead(state.gamepad, now)
    if state.focus is not Focus.MENU and state.line_page is None and (state.crop is None or state.crop.line is None):
        return state, None
    state = state if pad is state.gamepad else replace(state, gamepad=pad)
    return state, None if step is None else gestures.MenuMoved(*step, now)


def _held(state: AppState, at: float) -> AppState:
    """Press and let go in the steering what the stick holds; pressed only while walking, let go always."""
    pad = state.gamepad
    wanted = {f"{_STICK}{action}": action for action in pad.held} if state.focus is Focus.WALK else {}
    after = state.steering
    for source, _ in state.steering.held:
        if source.startswith(_STICK) and source not in wanted:
            after = steering.release(after, source, at)
    for source, action in wanted.items():
        after = steering.press(after, action, source, at)
    return state if after is state.steering else replace(state, steering=after, touched_at=at)
