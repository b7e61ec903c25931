"""What gamepads do. Part of ``state.update``; pure."""

from __future__ import annotations

from dataclasses import replace

from app import gamepad, gestures, steering
from app.gamepad import Gamepad
from app.gestures import Focus
from app.steps import tell
from app.values import AppState

Pad = gestures.PadOpened | gestures.PadLost | gestures.PadAxisMoved | gestures.PadDirected


def handle(state: AppState, message: Pad) -> AppState:
    match message:
        case gestures.PadOpened(pad, name, at):
            names = (*(known for known in state.gamepad.names if known[0] != pad), (pad, name))
            state = replace(state, gamepad=replace(state.gamepad, names=names))
            return tell(state, state.say("told.pad_found", name=name), at)
        case gestures.PadLost(pad, at):
            lost = [name for number, name in state.gamepad.names if number == pad]
            names = tuple(known for known in state.gamepad.names if known[0] != pad)
            state = _held(replace(state, gamepad=replace(gamepad.rest(state.gamepad), names=names)), at)
            return tell(state, state.say("told.pad_lost", name=lost[0]), at) if lost else state
        case gestures.PadAxisMoved(axis, value, at):
            zone = state.settings.app.pad_dead_zone
            return _held(replace(state, gamepad=gamepad.push(state.gamepad, axis, value, zone=zone, at=at)), at)
        case gestures.PadDirected(way, down, at):
            pushed = gamepad.press_dpad(state.gamepad, way, down=down)
            return _held(replace(state, gamepad=pushed), at)


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
    """Press and let go in the steering what the pad holds; pressed only while walking, let go always."""
    pad = state.gamepad
    wanted = {**_stick(pad), **_dpad(pad)} if state.focus is Focus.WALK else {}
    after = state.steering
    for source, _ in state.steering.held:
        if source.startswith("pad ") and source not in wanted:
            after = steering.release(after, source, at)
    for source, action in wanted.items():
        after = steering.press(after, action, source, at)
    return state if after is state.steering else replace(state, steering=after, touched_at=at)


def _stick(pad: Gamepad) -> dict[str, str]:
    return {f"pad stick {action}": action for action in pad.held}


def _dpad(pad: Gamepad) -> dict[str, str]:
    return {f"pad {way}": gamepad.DPAD_ACTIONS[way] for way in pad.dpad}
