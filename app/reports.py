"""What the program itself tells: reports of the engine, time, frames, recordings. Part of ``state.update``; pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from app import errands, gestures, messages, pad_hands, page_hands, speed, steering, timing
from app.errands import Ask
from app.facts import PromptStatus, RecordingStatus, Screen, Stage, World
from app.remembered import learn
from app.steps import let_go, open_gallery, tell
from app.timing import Timing
from app.values import AppState, Change
from app.words.sentences import spoken
from engine.protocol import (
    ACTIONS,
    ActionState,
    EventAccepted,
    EventRejected,
    Failed,
    FrameChunk,
    Loading,
    Look,
    SnapshotSaved,
    Steer,
    WorldOpened,
)

TAUGHT_SECONDS = 8.0
"""How long the first walk's hint stays once somebody walks."""
SAID_BELOW = ("Press R to try once more.", "Press R to start the world again from its last snapshot.")
"""The hints below a failure say it with the key as it is bound, and from where the world would begin."""
MOST_IN_FLIGHT = 128
REMEMBERED_CHUNKS = 12
REMEMBERED_FRAMES = 48
REMEMBERED_LATENCIES = 200


def handle(state: AppState, message: messages.Message) -> Change:
    match message:
        case messages.Ticked(now):
            return _ticked(state, now)
        case messages.FrameShown(at):
            shown = (*state.measured.shown, at)[-REMEMBERED_FRAMES:]
            return replace(state, measured=replace(state.measured, shown=shown)), ()
        case messages.LoopMeasured():
            return replace(state, pace=message), ()
        case messages.ChunkShown():
            return _chunk_shown(state, message), ()
        case gestures.PadOpened() | gestures.PadLost():
            return pad_hands.handle(state, message), ()
        case messages.EngineStarted(config):
            return replace(state, engine=config), ()
        case messages.ScenesListed(scenes):
            state = replace(state, scenes=scenes)
            return (open_gallery(state) if state.screen is Screen.STARTING else state), ()
        case messages.Told(sentence, at, bad):
            return tell(state, sentence, at, bad=bad), ()
        case messages.RecordingStarted() | messages.RecordingProgressed() | messages.RecordingEnded():
            return _recording(state, message), ()
        case Loading():
            return replace(state, loading=message), ()
        case WorldOpened():
            return _world_opened(state, message)
        case EventAccepted(event_id):
            return _accepted(state, event_id), ()
        case EventRejected():
            return _rejected(state, message), ()
        case FrameChunk():
            return _frame_chunk(state, message), ()
        case SnapshotSaved(session_id, _, path):
            return (replace(state, snapshot=path) if session_id == state.session_id else state), ()
        case Failed():
            return _failed(state, message), ()
    return state, ()


def _ticked(state: AppState, now: float) -> Change:
    """Old sentences go, changed settings are kept, and what the hands did in this tick is sent as one event."""
    state, keeps = page_hands.keep_in_time(state, now)
    state, learnt = _learn(state, now)
    keeps = (*keeps, *learnt)
    if any(toast.gone_at <= now for toast in state.toasts):
        state = replace(state, toasts=tuple(toast for toast in state.toasts if toast.gone_at > now))
    if state.prompt_box is not None and state.prompt_box.swallow:
        state = replace(state, prompt_box=replace(state.prompt_box, swallow=""))
    state = pad_hands.turn(state, now)
    if state.world is None or state.failure is not None:
        return state, keeps
    after, event = steering.compose(state.steering, now, standing=state.standing, feel=state.feel)
    if after is not state.steering:
        state = replace(state, steering=after)
    turned = Look() if event is None or event.look is None else event.look
    if turned != state.turned:
        state = replace(state, turned=turned)
    if event is None:
        return state, keeps
    state = replace(state, in_flight=(*state.in_flight, event)[-MOST_IN_FLIGHT:])
    if event.prompt is not None and state.prompt is not None:
        state = replace(state, prompt=replace(state.prompt, event_id=event.event_id))
    return state, (*keeps, Steer(event.to_wire(), event.pressed_at))


def _learn(state: AppState, now: float) -> Change:
    """Time the stages of loading; know how long they took, and that the keys were learnt, for the next run."""
    stage = None if state.loading is None else state.loading.stage
    after = timing.follow(state.timing, stage, now)
    if after is not state.timing:
        state = replace(state, timing=after)
    known = state.remembered
    if state.walking and after.done and state.engine is not None:
        known = learn(known, state.engine.backend, after.done)
        state = replace(state, timing=Timing())
    known = speed.learn(state, known)
    if state.teaching and state.taught_at is None and state.steering.held:
        state = replace(state, taught_at=now)
    if state.taught_at is not None and not known.walked and now - state.taught_at > TAUGHT_SECONDS:
        known = replace(known, walked=True)
    if known is state.remembered and known == state.kept:
        return state, ()
    return replace(state, remembered=known, kept=known), (errands.Remember(known),)


# ---- the world ---------------------------------------------------------------------------------------------------


def _world_opened(state: AppState, opened: WorldOpened) -> Change:
    if opened.session_id != state.session_id or state.scene is None:
        return state, ()
    world = World(opened.session_id, opened.card, state.scene, opened.seed)
    prompt = PromptStatus(opened.prompt, Stage.ACCEPTED)
    says = steering.say_all if state.time.resumed else steering.forget_sent
    state = replace(state, world=world, loading=None, prompt=prompt, steering=says(state.steering))
    if opened.notice:
        state = tell(state, opened.notice, state.touched_at)
    asks: tuple[Ask, ...] = ()
    if state.recording is None and state.record_next:
        state = replace(state, record_next=False)
        asks = (errands.StartRecording(),)
    return state, asks


def _frame_chunk(state: AppState, chunk: FrameChunk) -> AppState:
    if state.world is None or chunk.session_id != state.world.session_id:
        return state
    remote, known = chunk.remote, state.world.remote
    if remote is not None and known is not None and remote.server_ms is None:
        remote = replace(remote, server_ms=known.server_ms, network_ms=known.network_ms)
    world = replace(state.world, window=chunk.window, ms=chunk.ms, remote=remote)
    if chunk.notice:
        state = tell(state, chunk.notice, state.touched_at)
    made = (*state.measured.made, (chunk.made_at, len(chunk.frames)))[-REMEMBERED_CHUNKS:]
    screen = Screen.WALK if state.screen is Screen.LOADING else state.screen
    return replace(state, screen=screen, world=world, measured=replace(state.measured, made=made))


def _chunk_shown(state: AppState, shown: messages.ChunkShown) -> AppState:
    """From here on, and not before, what the chunk answers to counts as applied."""
    if state.world is None or shown.session_id != state.world.session_id:
        return state
    ids = {event.event_id for event in shown.events}
    latencies = tuple(shown.at - event.pressed_at for event in shown.events if event.pressed_at is not None)
    measured = replace(state.measured, latencies=(*state.measured.latencies, *latencies)[-REMEMBERED_LATENCIES:])
    applied = state.applied
    for event in shown.events:
        held = held_in(event.wire)
        applied = applied if held is None else held
    prompt = state.prompt
    if prompt is not None and prompt.stage is not Stage.APPLIED:
        begins = prompt.event_id is None and prompt.stage is Stage.ACCEPTED and shown.prompt == prompt.text
        if begins or (prompt.event_id is not None and prompt.event_id in ids):
            prompt = replace(prompt, stage=Stage.APPLIED, chunk=shown.chunk)
    world = replace(state.world, chunk=shown.chunk, prompt=shown.prompt, fade=shown.fade)
    in_flight = tuple(event for event in state.in_flight if event.event_id not in ids)
    return replace(state, world=world, measured=measured, applied=applied, prompt=prompt, in_flight=in_flight)


def held_in(wire: Mapping[str, object]) -> tuple[str, ...] | None:
    """The actions that an event in its wire form leaves held; None where it says nothing of them."""
    camera = wire.get("camera_actions")
    if not isinstance(camera, Mapping):
        return None
    transitions = camera.get("transitions")
    if not isinstance(transitions, (list, tuple)) or not transitions:
        return None
    last = transitions[-1]
    held = last.get("actions") if isinstance(last, Mapping) else None
    return tuple(name for name in ACTIONS if name in held) if isinstance(held, (list, tuple)) else None


def _accepted(state: AppState, event_id: int | None) -> AppState:
    event = next((event for event in state.in_flight if event.event_id == event_id), None)
    if event is None:
        return state
    if isinstance(event.camera_actions, ActionState):
        state = replace(state, accepted=event.camera_actions.transitions[-1].actions)
    if state.prompt is not None and state.prompt.event_id == event_id and state.prompt.stage is Stage.TYPED:
        state = replace(state, prompt=replace(state.prompt, stage=Stage.ACCEPTED))
    return state


def _rejected(state: AppState, rejected: EventRejected) -> AppState:
    state = tell(state, _refusal(state, rejected), state.touched_at, bad=True)
    in_flight = tuple(event for event in state.in_flight if event.event_id != rejected.event_id)
    prompt = state.prompt
    if prompt is not None and prompt.event_id is not None and prompt.event_id == rejected.event_id:
        prompt = replace(prompt, stage=Stage.REJECTED)
    return replace(state, in_flight=in_flight, prompt=prompt)


def _refusal(state: AppState, rejected: EventRejected) -> str:
    where = rejected.path or state.say("told.the_event")
    number = state.say("told.no_id") if rejected.event_id is None else rejected.event_id
    got, expected = (spoken(state.language, text) for text in (rejected.got, rejected.expected))
    return state.say("told.rejected", id=number, where=where, got=got, expected=expected)


def _failed(state: AppState, failed: Failed) -> AppState:
    """The window lives on and says what happened; a recording waits for what comes next."""
    cure = failed.cure
    for sentence in SAID_BELOW:
        cure = cure.removesuffix(sentence).rstrip()
    failed = replace(failed, cure=cure)
    state = let_go(
        replace(state, failure=failed, loading=None, prompt_box=None, menu=None, photo=None, branches=None),
        state.touched_at,
    )
    if state.world is None:
        state = replace(state, snapshot=None)  # one that cannot be restored must not be tried for ever
    elif state.screen is Screen.SCENES:
        state = replace(state, screen=Screen.WALK)
    if state.scene is None:
        state = tell(state, f"{failed.message} {failed.cure}".rstrip(), state.touched_at, bad=True)
    return state


# ---- recordings --------------------------------------------------------------------------------------------------


def _recording(
    state: AppState, message: messages.RecordingStarted | messages.RecordingProgressed | messages.RecordingEnded
) -> AppState:
    match message:
        case messages.RecordingStarted(path):
            return replace(state, recording=RecordingStatus(path))
        case messages.RecordingProgressed(frames, dropped):
            recording = state.recording
            if recording is None or (recording.frames, recording.dropped) == (frames, dropped):
                return state
            return replace(state, recording=replace(recording, frames=frames, dropped=dropped))
        case messages.RecordingEnded(path, frames, dropped, error, at):
            state = replace(state, recording=None)
            return tell(state, _ending(state, path, frames, dropped, error), at, bad=bool(error))


def _ending(state: AppState, path: str | None, frames: int, dropped: int, error: str | None) -> str:
    if error:
        return error
    if path is None:
        return state.say("told.recorded_nothing")
    lost = state.say("told.recorded_lost", dropped=dropped) if dropped else ""
    return state.say("told.recorded", name=Path(path).name, frames=frames) + lost
