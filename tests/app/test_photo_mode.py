"""Photo mode in the whole window, and a film with a chosen moment in it, made again from its session file."""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
import pygame
from PIL import Image

from app.errands import Take
from app.session_log import SUFFIX, SessionLog
from app.session_reader import read_session
from app.takes import FIRST_CHUNK, Takes
from engine.config import EngineConfig
from engine.events import parse
from engine.fake import TestCardModel
from engine.protocol import (
    FrameChunk,
    MakeVariants,
    OpenWorld,
    Pause,
    Pixels,
    Request,
    Retake,
    SceneSpec,
    Steer,
    TakeVariant,
    VariantMade,
    WentBack,
    WorldOpened,
)
from engine.runner import Runner
from tests.app.stripes import KeptVideo, Stage, tap
from tests.engine.test_runner import HOLD_W, PaperDesk

SCENE = SceneSpec("card", "a meadow")
ROUGH = Retake(seed=41)


def requests(stage: Stage, kind: type[Request]) -> list[Request]:
    return [request for request in stage.engine.requests if isinstance(request, kind)]


def test_the_moment_on_show_is_made_again_chosen_and_saved_and_nothing_is_filmed_meanwhile(tmp_path: Path) -> None:
    stage = Stage(tmp_path, record=True)
    filmed: list[int] = []

    def count() -> None:
        filmed.append(stage.takes[0][1].frames)

    def make() -> None:
        (asked,) = requests(stage, MakeVariants)
        assert isinstance(asked, MakeVariants)
        assert stage.app.state.photo is not None
        picture = np.full_like(stage.app.state.photo.original, 200)
        chunk = int(np.ceil(asked.position)) - 1
        assert chunk == stage.app.state.world.chunk  # type: ignore[union-attr]
        stage.engine.report(VariantMade(1, chunk, 0, picture, 0.1))

    hands = [(1.0, tap(pygame.K_F7)), (1.2, make), (1.3, count), (1.4, tap(pygame.K_RIGHT)), (1.5, tap(pygame.K_F2))]
    hands += [(1.9, count), (2.0, tap(pygame.K_RETURN))]
    stage.play(hands, 2.5)
    assert filmed[0] == filmed[1]
    (taken,) = requests(stage, TakeVariant)
    assert isinstance(taken, TakeVariant)
    assert taken.variant.seed is not None
    (path,) = tmp_path.glob("*.png")
    with Image.open(path) as image:
        assert image.getpixel((3, 3)) == (200, 200, 200)
        recipe = json.loads(image.text["worldwalk"])  # type: ignore[attr-defined]
    assert recipe["retake"] == {"seed": taken.variant.seed}
    assert recipe["events"] == []


class Film:
    """A walk of the generation loop and its film with a session file, as the window keeps them."""

    def __init__(self, path: Path) -> None:
        self.desk, self.video = PaperDesk(), KeptVideo(path)
        self.model = TestCardModel(EngineConfig(backend="test_card"))
        config = EngineConfig(backend="test_card", snapshot_every_chunks=1000)
        self.runner = Runner(config, path.parent, self.desk, lambda *_: self.model, self.desk.clock)
        self.takes = Takes(lambda header: Take(self.video, SessionLog(path, header)))
        self.takes.will_open(SCENE)

    def do(self, *asked: Request, turns: int = 1) -> None:
        self.desk.asked, self.desk.told = list(asked), []
        for _ in range(turns):
            self.runner.turn()
        for report in self.desk.told:
            match report:
                case WorldOpened():
                    self.takes.opened(report)
                case WentBack():
                    self.takes.went(report.chunk, report.line, report.origin)
                case FrameChunk():
                    self.takes.add(report, 0.0)

    def choose(self, position: float, variant: Retake) -> None:
        self.do(Pause(True), MakeVariants(7, position, (variant,)), turns=4)
        self.do(TakeVariant(7, variant), Pause(False))


def test_a_film_in_which_a_moment_was_chosen_is_made_again_to_the_last_byte(tmp_path: Path) -> None:
    path = tmp_path / f"film{SUFFIX}"
    film = Film(path)
    film.do(OpenWorld(SCENE, 3, 7), Steer(HOLD_W), turns=12)
    film.takes.start(0.0)
    film.do(turns=8)
    last = film.desk.all_of(FrameChunk)[-1].chunk
    film.choose(last + 0.5, ROUGH)
    film.do(turns=6)
    film.choose(film.desk.all_of(FrameChunk)[-1].chunk + 1.0, Retake(steps=8))
    film.do(turns=6)
    film.takes.request_stop()
    session = read_session(path, lambda wire: parse(wire))
    assert [run.first_chunk for run in session.runs][1] == last
    again: list[Pixels] = []
    for number, run in enumerate(session.runs):
        first = session.header.settings[FIRST_CHUNK]
        begin = first if number == 0 and isinstance(first, int) else run.first_chunk
        world = film.model.open(run.scene, run.seed, 1)
        for chunk in range(run.chunks):
            for wire in run.at(chunk):
                world.apply(wire, None, 0.0)
            made = world.step(time.monotonic).frames
            again.extend(made if chunk >= begin else ())
    assert len(again) == len(film.video.written) > 40
    assert np.array_equal(again, film.video.written)
