"""Films and pictures while turns are shown before the model has them: the whole window, its recorder on."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from pathlib import Path

import numpy as np
import pygame
import pytest
from PIL import Image

from app import instant_hands
from app.app import App
from engine.config import EngineConfig
from engine.fake import TestCardModel, TestCardWorld
from engine.protocol import OpenWorld, Pixels, Report, Request, Steer, WorldOpened
from tests.app.stripes import CHUNK_SECONDS, Clock, Stage, StripesEngine, down, post, tap, up

TURNS = [(1.6, down(pygame.K_LEFT)), (2.0, up(pygame.K_LEFT)), (2.2, tap(pygame.K_RIGHT)), (2.9, tap(pygame.K_UP))]


class CardEngine(StripesEngine):
    """The test card on the test's own clock: what it shows turns with its camera."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock)
        self._model = TestCardModel(EngineConfig(backend="test_card"))
        self._card: TestCardWorld | None = None
        self._told: deque[Report] = deque()
        self._due = 0.0

    def send(self, request: Request) -> None:
        self.requests.append(request)
        match request:
            case OpenWorld(scene, seed, session_id):
                self._card, self._due = self._model.open(scene, seed, session_id), self._clock.now
                opened = WorldOpened(session_id, self._model.card, scene.name, seed, scene.prompt)
                self._told.append(replace(opened, optics=self._model.optics))
            case Steer(wire, pressed_at) if self._card is not None:
                self._told.append(self._card.apply(wire, pressed_at, self._clock.now))

    def poll(self) -> Report | None:
        if self._card is not None and not self._told and self._clock.now >= self._due:
            self._due += CHUNK_SECONDS
            chunk = self._card.step(self._clock)
            self.made.extend(frame.copy() for frame in chunk.frames)
            self._told.append(chunk)
        return self._told.popleft() if self._told else None


class Seen:
    """What the view was given, and whether it drew it turned, pass by pass."""

    def __init__(self, app: App, monkeypatch: pytest.MonkeyPatch) -> None:
        self.turned: list[bool] = []
        show = app._show

        def watched(now: float) -> None:
            show(now)
            self.turned.append(instant_hands.warp_of(app.state) is not None)

        monkeypatch.setattr(app, "_show", watched)


def look() -> None:
    post(pygame.MOUSEMOTION, pos=(300, 200), rel=(40, -10), buttons=(0, 0, 0))


def same(some: list[Pixels], others: list[Pixels]) -> bool:
    return len(some) == len(others) and all(np.array_equal(a, b) for a, b in zip(some, others, strict=True))


def test_films_and_pictures_hold_exactly_the_models_frames_however_the_view_was_turned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = Stage(tmp_path, record=True)
    engine, seen = CardEngine(stage.clock), Seen(stage.app, monkeypatch)
    stage.engine, at_picture = engine, list[bool]()
    click = [(0.6, lambda: post(pygame.MOUSEBUTTONDOWN, pos=(300, 200), button=1)), (0.8, look)]
    mouse = [(1.0 + n / 20, look) for n in range(10)]
    picture = [(1.4, tap(pygame.K_F2)), (1.4, lambda: at_picture.append(seen.turned[-1]))]
    stage.play([*click, *mouse, *picture, *TURNS], seconds=4.0)
    assert at_picture == [True]
    assert sum(seen.turned) > 60, "turns were shown ahead of the model for a second and more"
    assert 0 < max(stage.app.state.instant.latencies) <= 0.05
    ((_, video, _),) = stage.takes
    assert len({frame.tobytes() for frame in engine.made}) > 30, "the camera turned"
    assert same(video.written, engine.made)
    (path,) = tmp_path.glob("*.png")
    with Image.open(path) as image:
        saved = np.asarray(image.convert("RGB"))
    assert any(np.array_equal(saved, frame) for frame in engine.made)
