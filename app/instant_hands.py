"""The instant camera's rules: when it is wanted, what was asked, what came. Part of ``state.update``; pure."""

from __future__ import annotations

from dataclasses import replace

from app import instant, messages, reports
from app.instant import FrameChosen, Instant, MotionShown
from app.turned_view import Warp
from app.values import AppState
from engine.protocol import EventRejected, FrameChunk, WentBack, WorldOpened


def follow(state: AppState, message: messages.Message) -> AppState:
    """After every other rule: what the message means for the turn that is shown at once."""
    now = state.instant
    match message:
        case messages.Ticked(at):
            now = _tick(state, at)
        case FrameChunk(session_id) if state.world is not None and session_id == state.world.session_id:
            now = _receive(state, message)
        case FrameChosen():
            now = instant.show(now, message, wanted=wanted(state))
        case MotionShown(at):
            now = instant.measure(now, at, [event.event_id for event in state.in_flight])
        case EventRejected(event_id):
            now = instant.refuse(now, event_id)
        case WorldOpened(session_id) if session_id == state.session_id:
            now = instant.begin(message.optics, state.steering.next_event_id)
        case WentBack(session_id) if session_id == state.session_id:
            now = instant.begin(now.optics, state.steering.next_event_id, now.latencies)
    return state if now == state.instant else replace(state, instant=now)


def wanted(state: AppState) -> bool:
    """Whether turns are shown before the model's frames have them."""
    app = state.settings.app
    on = app.instant_camera and not app.reduced_motion
    return on and state.walking and not state.standing and state.instant.optics is not None


def warp_of(state: AppState) -> Warp | None:
    """How the picture on show is drawn; None where it is the model's own. Films and the past are always so."""
    now = state.instant
    if now.turn is None or now.optics is None or state.film is not None or state.time.rewind is not None:
        return None
    return Warp(*now.turn, now.shown[1], now.optics.focal_widths, now.optics.shifts)


def _tick(state: AppState, at: float) -> Instant:
    now, is_wanted = state.instant, wanted(state)
    sent = [event for event in state.in_flight if (event.event_id or 0) >= now.next_event_id]
    if sent:
        now = instant.ask(now, sent, at, wanted=is_wanted)
        now = replace(now, next_event_id=state.steering.next_event_id)
    if is_wanted:
        return instant.pass_time(now, instant.keys_of(state.steering.sent), at)
    return instant.fade(replace(now, motion=None) if state.standing else now, at)


def _receive(state: AppState, chunk: FrameChunk) -> Instant:
    assert state.world is not None
    now, latents = state.instant, state.world.card.latent_frames_per_chunk
    held = [keys for keys in (reports.held_in(event.wire) for event in chunk.events) if keys is not None]
    return instant.receive(
        now,
        chunk.chunk,
        chunk.pose,
        {event.event_id for event in chunk.events},
        keys=instant.keys_of(held[-1]) if held else None,
        frames_per_latent=len(chunk.frames) / latents if chunk.chunk else now.frames_per_latent,
    )
