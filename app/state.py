"""``update(state, message) -> (state, asks)``: every rule of the window, without the window. Pure."""

from __future__ import annotations

from dataclasses import replace

from app import (
    branch_hands,
    gestures,
    hands,
    instant_hands,
    messages,
    pad_hands,
    photo_hands,
    prompt_hands,
    reports,
    rewind_hands,
    slot_hands,
)
from app.steps import open_world
from app.values import AppState, Change
from engine.protocol import Pause, SceneSpec


def begin(state: AppState, scene: SceneSpec | None, now: float) -> Change:
    """The program has started: open ``scene`` at once, or wait for the scenes to choose from."""
    state = replace(state, touched_at=now)
    return (state, ()) if scene is None else open_world(state, scene, now)


def update(state: AppState, message: messages.Message) -> Change:
    """One thing happened. Returns the state after it, the same object if it meant nothing, and what to ask for."""
    if isinstance(message, gestures.PadAxisMoved | gestures.PadPressed):
        state, meant = pad_hands.read(state, message)
        return (state, ()) if meant is None else update(state, meant)
    if isinstance(message, messages.Ticked):
        state, step = pad_hands.lead(state, message.now)
        if step is not None:
            state, _ = hands.handle(state, step) or (state, ())
        state = photo_hands.tick(rewind_hands.tick(state, message.now), message.now)
    rules = (rewind_hands.handle, branch_hands.handle, slot_hands.handle, hands.handle)
    handled = next((change for rule in rules if (change := rule(state, message)) is not None), None)
    state, asks = reports.handle(state, message) if handled is None else handled
    state = prompt_hands.follow(instant_hands.follow(state, message), message)
    if state.world is not None and state.failure is None and state.standing != state.told_paused:
        # rates are not measured across a standstill
        measured = replace(state.measured, made=(), shown=())
        state = replace(state, told_paused=state.standing, measured=measured)
        asks = (*asks, Pause(state.standing))
    return state, asks
