"""What F3 shows, as lines of text. What is not known is said to be unknown. Pure."""

from __future__ import annotations

import math

from app.values import AppState, PromptStatus, Stage

UNKNOWN = "unknown"

Line = tuple[str, str]


def lines(state: AppState) -> list[Line]:
    """(name, value) of everything that can be told about the walk; a name of "" begins a new group."""
    return [*_pace(state), ("", ""), *_world(state), ("", ""), *_stages(state), ("", ""), *_machine(state)]


def prompt_state(prompt: PromptStatus | None) -> str:
    """Where the newest prompt is on its way."""
    if prompt is None:
        return UNKNOWN
    match prompt.stage:
        case Stage.TYPED:
            return "typed, not yet accepted"
        case Stage.ACCEPTED:
            return "accepted, not yet applied"
        case Stage.APPLIED:
            return f"applied in chunk {prompt.chunk}"
        case Stage.REJECTED:
            return "rejected"


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
    latencies = state.measured.latencies
    p50, p95 = percentile(latencies, 50), percentile(latencies, 95)
    delay = UNKNOWN
    if p50 is not None and p95 is not None:
        delay = f"p50 {p50 * 1000:.0f} ms, p95 {p95 * 1000:.0f} ms of {len(latencies)}"
    pace = state.pace
    window = f"p50 {pace.p50_ms:.1f} ms, p99 {pace.p99_ms:.1f} ms" if pace else UNKNOWN
    queue = f"{pace.waiting_frames} waiting, {pace.dropped_frames} dropped, {pace.underruns} gaps" if pace else UNKNOWN
    shown = "standing still" if state.standing else _fps(shown_fps(state))
    return [
        ("Shown", shown),
        ("Generated", "standing still" if state.standing else _fps(generated_fps(state))),
        ("Key to picture", delay),
        ("Window frame", window),
        ("Frames", queue),
    ]


def _world(state: AppState) -> list[Line]:
    world = state.world
    window = world.window if world else None
    recent = "all" if window is None or window.recent_latent_frames is None else str(window.recent_latent_frames)
    sees = f"{window.mode}, sees {window.visible_latent_frames} latent frames ({recent} recent)" if window else UNKNOWN
    return [
        ("Chunk", UNKNOWN if world is None or world.chunk is None else str(world.chunk)),
        ("Memory window", sees),
        ("Prompt", prompt_state(state.prompt)),
        ("Held", _keys(state.steering.actions)),
        ("Accepted", _keys(state.accepted)),
        ("Applied", _keys(state.applied)),
    ]


def _stages(state: AppState) -> list[Line]:
    ms = state.world.ms if state.world else None
    names = ("text", "condition", "denoise", "commit", "decode")
    if ms is None:
        return [(name.capitalize(), UNKNOWN) for name in (*names, "chunk")]
    values = (ms.text, ms.condition, ms.denoise, ms.commit, ms.decode, ms.total)
    return [(name.capitalize(), f"{value:.1f} ms") for name, value in zip((*names, "chunk"), values, strict=True)]


def _machine(state: AppState) -> list[Line]:
    size = f"{state.width} × {state.height}"
    if state.world is None:
        return [("Model", UNKNOWN), ("Device", UNKNOWN), ("Window", size)]
    card = state.world.card
    return [
        ("Model", f"{card.model} ({card.model_sha256[:8] or UNKNOWN})"),
        ("Device", f"{card.device}, {card.dtype}, {card.threads} thread{'s' if card.threads != 1 else ''}"),
        ("Picture", f"{card.width} × {card.height}, nominal {card.fps_nominal:g} fps"),
        ("Window", size),
        ("Seed", str(state.world.seed)),
    ]


def _fps(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.1f} frames a second"


def _keys(actions: tuple[str, ...]) -> str:
    return " ".join(action.upper() for action in actions) or "none"
