"""Values that the tests of the app begin with."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from app import state as core
from app.errands import Ask
from app.messages import Message
from app.remembered import Remembered
from app.values import AppState
from engine.protocol import (
    ChunkTimings,
    FrameChunk,
    ModelCard,
    SampledEvent,
    SceneSpec,
    WindowReport,
    WorldOpened,
)

CARD = ModelCard("test", "stripes", "0" * 64, "cpu", "float32", 1, 32, 16, 16.0, 1)
MEADOW = SceneSpec("meadow", "a green meadow", image=np.full((16, 32, 3), 90, np.uint8))
SCENES = tuple(
    SceneSpec(name, f"the prompt of {name}") for name in ("meadow", "dunes", "fjord", "forest", "lake", "snow")
)


KNOWN = Remembered(played=("meadow",), walked=True)
"""Nothing new is to be remembered, and nobody to be taught."""


def frame_chunk(
    index: int = 0,
    *,
    session_id: int = 1,
    made_at: float = 0.0,
    frames: int = 4,
    prompt: str = MEADOW.prompt,
    events: tuple[SampledEvent, ...] = (),
) -> FrameChunk:
    pixels = np.zeros((frames, CARD.height, CARD.width, 3), np.uint8)
    pixels[:, :, :, 0] = 10 * index % 256
    pixels[:, :, :, 1] = (40 * np.arange(frames) % 256)[:, None, None]
    return FrameChunk(
        session_id=session_id,
        chunk=index,
        frames=pixels,
        prompt=prompt,
        prompt_updated=False,
        moving=False,
        window=WindowReport("full", None, 4),
        pose=(0.0,) * 16,
        ms=ChunkTimings(denoise=100.0, decode=20.0),
        made_at=made_at,
        events=events,
    )


def opened(session_id: int = 1, prompt: str = MEADOW.prompt, notice: str | None = None) -> WorldOpened:
    return WorldOpened(session_id, CARD, "meadow", 7, prompt, notice)


def sampled(event_id: int, wire: dict[str, object], pressed_at: float | None = None) -> SampledEvent:
    return SampledEvent(event_id, wire, pressed_at, accepted_at=0.0, sampled_at=0.0)


def after(state: AppState, messages: Iterable[Message]) -> tuple[AppState, list[Ask]]:
    """The state after all messages, and everything asked for on the way."""
    asked: list[Ask] = []
    for message in messages:
        state, asks = core.update(state, message)
        asked.extend(asks)
    return state, asked


def walking(now: float = 0.0) -> AppState:
    """A world is open and its first chunk has come."""
    state, _ = core.begin(AppState(seed=7, remembered=KNOWN, kept=KNOWN), MEADOW, now)
    state, _ = after(state, [opened(), frame_chunk()])
    return state
