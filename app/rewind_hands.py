"""Going back in time: what the key does, and what the engine answers. Part of ``state.update``; pure."""

from __future__ import annotations

from dataclasses import replace

from app import branches, gestures, messages, pad_hands, pad_meaning, steering
from app.facts import Measured, PromptStatus, Stage
from app.gestures import Command
from app.rewind import LookedBack, Rewind, RewindPressed, TimeMachine, nearest, wound
from app.steps import let_go, tell
from app.values import AppState, Change
from engine.protocol import GoBack, MomentsKept, StayedHere, WentBack

WHILE_REWINDING = (Command.PAUSE, Command.FULLSCREEN, Command.SNAPSHOT, Command.DETAILS, Command.INPUTS, Command.RECORD)
"""What other keys may do meanwhile; Escape goes back to the present."""


def handle(state: AppState, message: messages.Message) -> Change | None:
    """The change, or None where the message is not about time."""
    match message:
        case RewindPressed(source, at):
            return _press(state, source, at), ()
        case LookedBack():
            return _look(state, message), ()
        case MomentsKept(session_id):
            return (_kept(state, message) if session_id == state.session_id else state), ()
        case WentBack(session_id):
            return (_arrive(state, message) if session_id == state.session_id else state), ()
        case StayedHere(session_id, reason):
            if session_id != state.session_id:
                return state, ()
            return tell(_with(state, rewind=None), reason, state.touched_at, bad=True), ()
    rewind = state.time.rewind
    if rewind is None:
        return None
    match message:
        case gestures.ActionReleased(source, at) if source == rewind.source and rewind.asked is None:
            return _release(state, rewind, at)
        case gestures.FocusLost(at) if rewind.asked is None:
            return _release(let_go(state, at), rewind, at)
        case gestures.PadLost(_, at) if rewind.asked is None and rewind.source.startswith(pad_meaning.SOURCE):
            return _release(pad_hands.handle(state, message), rewind, at)
        case gestures.Commanded(Command.BACK, at) if rewind.asked is None:
            return replace(_with(state, rewind=None), touched_at=at), ()
        case gestures.Commanded(command, _) if command not in WHILE_REWINDING:
            return state, ()
    return None


def tick(state: AppState, now: float) -> AppState:
    """The tape runs while the key is held."""
    rewind, world = state.time.rewind, state.world
    if rewind is None or rewind.asked is not None or world is None:
        return state
    return _with(state, rewind=wound(rewind, now, world.card.fps_nominal))


def _with(state: AppState, *, rewind: Rewind | None) -> AppState:
    return replace(state, time=replace(state.time, rewind=rewind))


def _press(state: AppState, source: str, at: float) -> AppState:
    state = replace(state, touched_at=at)
    if not state.walking or state.behind or state.prompt_box is not None or state.time.rewind is not None:
        return state
    if not state.time.chunks:
        return tell(state, state.time.problem or state.say("told.nothing_back"), at, bad=True)
    return _with(replace(state, help=False), rewind=Rewind(source, at, at))


def _look(state: AppState, seen: LookedBack) -> AppState:
    rewind = state.time.rewind
    if rewind is None or rewind.asked is not None or rewind.seen == seen:
        return state
    return _with(state, rewind=replace(rewind, seen=seen))


def _release(state: AppState, rewind: Rewind, at: float) -> Change:
    """Go on from the moment that is nearest to the frame on show; a mere tap changes nothing."""
    state, seen = replace(state, touched_at=at), rewind.seen
    chunk = None if seen is None or seen.seconds <= 0.0 else nearest(state.time.chunks, seen.position)
    if chunk is None:
        return _with(state, rewind=None), ()
    return _with(state, rewind=replace(rewind, asked=chunk)), (GoBack(state.session_id, chunk),)


def _kept(state: AppState, kept: MomentsKept) -> AppState:
    time = replace(state.time, chunks=kept.chunks, byte_count=kept.byte_count, problem=kept.problem)
    return replace(state, time=time, tree=branches.told(state.tree, kept))


def _arrive(state: AppState, back: WentBack) -> AppState:
    """The world is what it was; it knows nothing of what was asked since, nor of the keys that are held now."""
    rewind, world = state.time.rewind, state.world
    if world is None:
        return state
    chunks = tuple(chunk for chunk in state.time.chunks if chunk <= back.chunk)
    if rewind is not None and rewind.seen is not None:
        state = tell(state, state.say("told.went_back", seconds=f"{rewind.seen.seconds:.1f}"), state.touched_at)
    elif rewind is not None and state.tree.chunk_seconds:
        time = branches.clock((back.chunk + 1) * state.tree.chunk_seconds)
        state = tell(state, state.say("told.went_to", time=time), state.touched_at)
    return replace(
        state,
        time=TimeMachine(chunks, state.time.byte_count, state.time.problem),
        world=replace(world, chunk=back.chunk, prompt=back.prompt),
        prompt=PromptStatus(back.prompt, Stage.APPLIED, chunk=back.chunk),
        steering=steering.say_all(state.steering),
        in_flight=(),
        accepted=(),
        applied=(),
        measured=Measured(),
        snapshot=None,
        photo=None,
    )
