"""How fast a model is on this computer, as it was measured while walking. Pure."""

from __future__ import annotations

from app.remembered import Remembered, clock_speed
from app.values import AppState
from engine.config import EngineConfig

LEAST_CHUNKS = 8
"""So many chunks in a row, without a standstill, are a measurement."""
NEWS = 0.15
"""What differs by less from what is known is no news, and not written down."""


def key(backend: str, model: str | None) -> str:
    """What a model's speed is remembered under."""
    return f"{backend}:{model or ''}"


def of(remembered: Remembered, backend: str, model: str | None) -> float | None:
    """Frames a second that the model made here the last time; None where it never walked."""
    return dict(remembered.speeds).get(key(backend, model))


def learn(state: AppState, known: Remembered) -> Remembered:
    """With what the running world shows of its model's speed, once it has shown enough."""
    made, engine = state.measured.made, state.engine
    if not state.walking or state.standing or engine is None or len(made) < LEAST_CHUNKS:
        return known
    seconds = made[-1][0] - made[0][0]
    if seconds <= 0.0:
        return known
    fps = sum(frames for _, frames in made[1:]) / seconds
    before = of(known, engine.backend, engine.model)
    if before is not None and abs(fps - before) < NEWS * before:
        return known
    return clock_speed(known, _key_of(engine), round(fps, 1))


def _key_of(engine: EngineConfig) -> str:
    return key(engine.backend, engine.model)
