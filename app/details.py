"""What F3 shows, as lines of text. What is not known is said to be unknown. Pure."""

from __future__ import annotations

import math

from app.values import AppState

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
    say, latencies = state.say, state.measured.latencies
    p50, p95 = percentile(latencies, 50), percentile(latencies, 95)
    delay = window = queue = unknown(state)
    if p50 is not None and p95 is not None:
        delay = say("details.delay", p50=f"{p50 * 1000:.0f}", p95=f"{p95 * 1000:.0f}", count=len(latencies))
    pace = state.pace
    if pace is not None:
        window = say("details.window_frame_value", p50=f"{pace.p50_ms:.1f}", p99=f"{pace.p99_ms:.1f}")
        queue = say("details.queue", waiting=pace.waiting_frames, dropped=pace.dropped_frames, gaps=pace.underruns)
    return [
        (say("details.shown"), _fps(state, shown_fps(state))),
        (say("details.generated"), _fps(state, generated_fps(state))),
        (say("details.key_to_picture"), delay),
        (say("details.window_frame"), window),
        (say("details.frames"), queue),
    ]


def _world(state: AppState) -> list[Line]:
    say, world = state.say, state.world
    window = world.window if world else None
    sees = unknown(state)
    if window is not None:
        recent = say("details.all") if window.recent_latent_frames is None else window.recent_latent_frames
        sees = say("details.sees", mode=window.mode, visible=window.visible_latent_frames, recent=recent)
    return [
        (say("details.chunk"), unknown(state) if world is None or world.chunk is None else str(world.chunk)),
        (say("details.memory"), sees),
        (say("details.prompt"), prompt_state(state)),
        (say("details.held"), _keys(state, state.steering.actions)),
        (say("details.accepted"), _keys(state, state.accepted)),
        (say("details.applied"), _keys(state, state.applied)),
    ]


def _stages(state: AppState) -> list[Line]:
    ms = state.world.ms if state.world else None
    names = ("text", "condition", "denoise", "commit", "decode", "total")
    labels = [state.say(f"details.ms_{name}") for name in names]
    if ms is None:
        return [(label, unknown(state)) for label in labels]
    values = (ms.text, ms.condition, ms.denoise, ms.commit, ms.decode, ms.total)
    return [(label, f"{value:.1f} ms") for label, value in zip(labels, values, strict=True)]


def _machine(state: AppState) -> list[Line]:
    say, size = state.say, f"{state.width} × {state.height}"
    if state.world is None:
        nothing = unknown(state)
        return [(say("details.model"), nothing), (say("details.device"), nothing), (say("details.window"), size)]
    card = state.world.card
    device = say("details.device_value", device=card.device, dtype=card.dtype, threads=card.threads)
    sizes = say("details.picture_value", width=card.width, height=card.height, fps=f"{card.fps_nominal:g}")
    return [
        (say("details.model"), f"{card.model} ({card.model_sha256[:8] or unknown(state)})"),
        (say("details.device"), device),
        (say("details.picture"), sizes),
        (say("details.window"), size),
        (say("details.seed"), str(state.world.seed)),
    ]


def _fps(state: AppState, value: float | None) -> str:
    if state.standing:
        return state.say("details.standing")
    return unknown(state) if value is None else state.say("details.fps", fps=f"{value:.1f}")


def _keys(state: AppState, actions: tuple[str, ...]) -> str:
    return " ".join(action.upper() for action in actions) or state.say("details.none")
