"""What F3 shows, as lines of text. What is not known is said to be unknown. Pure."""

from __future__ import annotations

import math

from app.values import AppState
from app.words import scenes
from app.words.sentences import spoken
from engine.protocol import RemoteShares

Line = tuple[str, str]


def lines(state: AppState) -> list[Line]:
    """(name, value) of everything that can be told about the walk; a name of "" begins a new group."""
    return [*_pace(state), ("", ""), *_world(state), ("", ""), *_stages(state), ("", ""), *_machine(state)]


def unknown(state: AppState) -> str:
    return state.say("unknown")


def prompt_state(state: AppState) -> str:
    """Where the newest prompt is on its way."""
    if state.prompt is None:
        return unknown(state)
    chunk = state.prompt.chunk if state.prompt.chunk is not None else 0
    return state.say(f"prompt.{state.prompt.stage}", chunk=chunk)


def _prompt(state: AppState) -> str:
    """How far the newest prompt has come, and what it is."""
    fade = None if state.world is None else state.world.fade
    way = () if fade is None else (state.say("prompt.fades", share=f"{fade:.0%}"),)
    words = () if state.prompt is None else (scenes.prompt(state.language, state.prompt.text),)
    return " · ".join((prompt_state(state), *way, *words))


def percentile(values: tuple[float, ...], percent: float) -> float | None:
    """The nearest-rank percentile; None of nothing."""
    if not values:
        return None
    return sorted(values)[max(0, math.ceil(len(values) * percent / 100) - 1)]


def shown_fps(state: AppState) -> float | None:
    times = state.measured.shown
    return (len(times) - 1) / (times[-1] - times[0]) if len(times) > 2 and times[-1] > times[0] else None


def generated_fps(state: AppState) -> float | None:
    made = state.measured.made
    if len(made) < 3 or made[-1][0] <= made[0][0]:
        return None
    return sum(frames for _, frames in made[1:]) / (made[-1][0] - made[0][0])


def _pace(state: AppState) -> list[Line]:
    say = state.say
    window = queue = unknown(state)
    yaw, pitch = state.instant.turn or (0.0, 0.0)
    pace = state.pace
    if pace is not None:
        window = say("details.window_frame_value", p50=f"{pace.p50_ms:.1f}", p99=f"{pace.p99_ms:.1f}")
        queue = say("details.queue", waiting=pace.waiting_frames, dropped=pace.dropped_frames, gaps=pace.underruns)
    return [
        (say("details.shown"), _fps(state, shown_fps(state))),
        (say("details.generated"), _fps(state, generated_fps(state))),
        (say("details.key_to_picture"), _delay(state, state.measured.latencies)),
        (say("details.key_to_motion"), _delay(state, state.instant.latencies)),
        (say("details.turned"), f"{yaw:+.1f}° {pitch:+.1f}°"),
        (say("details.window_frame"), window),
        (say("details.frames"), queue),
    ]


def _world(state: AppState) -> list[Line]:
    say, world = state.say, state.world
    window = world.window if world else None
    sees = unknown(state)
    if window is not None:
        recent = say("details.all") if window.recent_latent_frames is None else window.recent_latent_frames
        sees = say(
            "details.sees",
            mode=spoken(state.language, window.mode),
            visible=window.visible_latent_frames,
            recent=recent,
        )
    if world is not None and world.remote is not None:
        sees = say("details.of_the_server")
    return [
        (say("details.chunk"), unknown(state) if world is None or world.chunk is None else str(world.chunk)),
        (say("details.memory"), sees),
        (say("details.prompt"), _prompt(state)),
        (say("details.held"), _keys(state, state.steering.actions)),
        (say("details.accepted"), _keys(state, state.accepted)),
        (say("details.applied"), _keys(state, state.applied)),
    ]


def _stages(state: AppState) -> list[Line]:
    if state.world is not None and state.world.remote is not None:
        return _remote(state, state.world.remote)
    ms = state.world.ms if state.world else None
    names = ("text", "condition", "denoise", "commit", "decode", "total")
    labels = [state.say(f"details.ms_{name}") for name in names]
    if ms is None:
        return [(label, unknown(state)) for label in labels]
    values = (ms.text, ms.condition, ms.denoise, ms.commit, ms.decode, ms.total)
    return [(label, f"{value:.1f} ms") for label, value in zip(labels, values, strict=True)]


def _remote(state: AppState, remote: RemoteShares) -> list[Line]:
    """Where the time goes of a world that another computer makes."""
    say, nothing = state.say, unknown(state)

    def number(value: float | None, digits: int = 0) -> str:
        return nothing if value is None else f"{value:.{digits}f}"

    rate = None if remote.bytes_per_second is None else remote.bytes_per_second / 1e6
    server, network = number(remote.server_ms), number(remote.network_ms)
    forward, held_back = number(remote.forward_ms), number(remote.held_back_ms)
    line = say("details.line_value", rate=number(rate, 1), round_trip=number(remote.round_trip_ms, 1))
    kilobytes = number(remote.payload_bytes / 1000)
    return [
        (say("details.answer"), say("details.answer_value", server=server, network=network)),
        (say("details.server_model"), say("details.server_model_value", forward=forward, held_back=held_back)),
        (say("details.line"), line),
        (say("details.travels"), say("details.travels_value", encoding=remote.encoding, kilobytes=kilobytes)),
        (say("details.dropped_chunks"), str(remote.dropped_chunks)),
    ]


def _machine(state: AppState) -> list[Line]:
    say, size = state.say, f"{state.width} × {state.height}"
    if state.world is None:
        nothing = unknown(state)
        return [(say("details.model"), nothing), (say("details.device"), nothing), (say("details.window"), size)]
    card = state.world.card
    device = card.device
    if card.threads:  # another computer does not tell
        device = say("details.device_value", device=card.device, dtype=card.dtype, threads=card.threads)
    sizes = say("details.picture_value", width=card.width, height=card.height, fps=f"{card.fps_nominal:g}")
    return [
        (say("details.model"), f"{spoken(state.language, card.model)} ({card.model_sha256[:8] or unknown(state)})"),
        (say("details.device"), device),
        (say("details.picture"), sizes),
        (say("details.window"), size),
        (say("details.seed"), str(state.world.seed)),
    ]


def _delay(state: AppState, seconds: tuple[float, ...]) -> str:
    p50, p95 = percentile(seconds, 50), percentile(seconds, 95)
    if p50 is None or p95 is None:
        return unknown(state)
    return state.say("details.delay", p50=f"{p50 * 1000:.0f}", p95=f"{p95 * 1000:.0f}", count=len(seconds))


def _fps(state: AppState, value: float | None) -> str:
    if state.standing:
        return state.say("details.standing")
    return unknown(state) if value is None else state.say("details.fps", fps=f"{value:.1f}")


def _keys(state: AppState, actions: tuple[str, ...]) -> str:
    return " ".join(action.upper() for action in actions) or state.say("details.none")
