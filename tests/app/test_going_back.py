"""A film of a walk that went back in time, and the walk made again from its session file: the same bytes."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

from app.errands import Take
from app.session_log import SUFFIX, SessionLog
from app.session_reader import read_session
from app.takes import FIRST_CHUNK, Takes
from engine.config import EngineConfig
from engine.fake import TestCardModel, TestCardWorld
from engine.protocol import Pixels, SceneSpec, SessionHeader, WorldOpened
from tests.app.stripes import KeptVideo

SCENE = SceneSpec("card", "a meadow")


def steer(event_id: int, *actions: str) -> dict[str, object]:
    held = {"mode": "state", "transitions": [{"actions": list(actions)}]}
    return {"event_id": event_id, "input_types": ["camera_actions"], "camera_actions": held}


class Walk:
    """A world, and its film with a session file, as the window keeps them."""

    def __init__(self, path: Path) -> None:
        self.path, self.video = path, KeptVideo(path)
        self.model = TestCardModel(EngineConfig(backend="test_card"))
        self.world = TestCardWorld(EngineConfig().window, SCENE, 3, 1)
        self.takes = Takes(self._take)
        self.takes.will_open(SCENE)
        self.takes.opened(WorldOpened(1, self.model.card, SCENE.name, 3, SCENE.prompt))

    def _take(self, header: SessionHeader) -> Take:
        return Take(self.video, SessionLog(self.path, header))

    def go(self, chunks: int, *wires: dict[str, object]) -> None:
        for wire in wires:
            self.world.apply(wire, None, 0.0)
        for _ in range(chunks):
            self.takes.add(self.world.step(time.monotonic), 0.0)

    def again(self) -> list[Pixels]:
        """The frames of the film, made anew."""
        session = read_session(self.path)
        first = session.header.settings[FIRST_CHUNK]
        frames: list[Pixels] = []
        for number, run in enumerate(session.runs):
            begin = first if number == 0 and isinstance(first, int) else run.first_chunk
            world = self.model.open(run.scene, run.seed, 1)
            for chunk in range(run.chunks):
                for wire in run.at(chunk):
                    world.apply(wire, None, 0.0)
                made = world.step(time.monotonic).frames
                frames.extend(made if chunk >= begin else ())
        return frames


@pytest.mark.parametrize("unseen", [0, 2])
def test_going_back_is_in_the_session_file_and_the_film_is_made_again(tmp_path: Path, unseen: int) -> None:
    walk = Walk(tmp_path / f"film{SUFFIX}")
    walk.go(4, steer(1, "w"))
    early = walk.world.keep()
    walk.go(3, steer(2, "a", "w"))
    walk.takes.start(0.0)
    walk.go(unseen, steer(3, "l"))
    early.go_back()
    walk.takes.went(early.chunk, 1, 0)
    walk.go(5, steer(4, "s"))
    late = walk.world.keep()
    walk.go(2, steer(5, "j"))
    late.go_back()
    walk.takes.went(late.chunk, 2, 1)
    walk.go(3, steer(6))
    walk.takes.request_stop()
    made = walk.again()
    assert len(made) == len(walk.video.written) == 4 * (unseen + 5 + 2 + 3)
    assert np.array_equal(made, walk.video.written)


def test_a_saved_world_goes_on_in_a_film_that_is_made_again(tmp_path: Path) -> None:
    walk = Walk(tmp_path / f"film{SUFFIX}")
    walk.go(4, steer(1, "w"))
    saved, journal = walk.world.keep(), walk.takes.history(3)[1]
    walk.go(2, steer(2, "j"))
    walk.takes.start(0.0)
    walk.go(3, steer(3, "d"))
    saved.go_back()
    walk.takes.may_resume("slot", 3, journal)
    walk.takes.will_open(SCENE, "slot")
    walk.takes.opened(WorldOpened(2, walk.model.card, SCENE.name, 3, SCENE.prompt))
    walk.go(4, steer(4, "l"))
    walk.takes.request_stop()
    made = walk.again()
    assert len(made) == len(walk.video.written) == 4 * (3 + 4)
    assert np.array_equal(made, walk.video.written)


@pytest.mark.parametrize("films_before", [True, False])
def test_a_film_that_goes_to_the_end_of_another_way_is_made_again(tmp_path: Path, films_before: bool) -> None:
    walk = Walk(tmp_path / f"film{SUFFIX}")
    walk.go(4, steer(1, "w"))
    early = walk.world.keep()
    if films_before:
        walk.takes.start(0.0)
    walk.go(3, steer(2, "a", "w"))
    end = walk.world.keep()
    early.go_back()
    walk.takes.went(early.chunk, 1, 0)
    if not films_before:
        walk.takes.start(0.0)
    walk.go(2, steer(3, "j"))
    other = walk.world.keep()
    end.go_back()
    walk.takes.went(end.chunk, 0, 0)  # the end of the first way
    walk.go(2, steer(4, "d"))
    other.go_back()
    walk.takes.went(other.chunk, 1, 1)
    walk.go(1)
    early.go_back()
    walk.takes.went(early.chunk, 2, 0)
    walk.go(2, steer(5, "s"))
    walk.takes.request_stop()
    made = walk.again()
    assert len(made) == len(walk.video.written) == 4 * (3 * films_before + 2 + 2 + 1 + 2)
    assert np.array_equal(made, walk.video.written)


def test_a_chunk_that_came_too_late_to_be_filmed_belongs_to_the_way_that_it_ends(tmp_path: Path) -> None:
    walk = Walk(tmp_path / f"film{SUFFIX}")
    walk.takes.start(0.0)
    walk.go(4, steer(1, "w"))
    early = walk.world.keep()
    walk.go(1)
    walk.world.apply(steer(2, "l"), None, 0.0)
    walk.takes.left_unseen(walk.world.step(time.monotonic))
    end = walk.world.keep()
    early.go_back()
    walk.takes.went(early.chunk, 1, 0)
    walk.go(1)
    end.go_back()
    walk.takes.went(end.chunk, 0, 0)
    walk.go(2)
    walk.takes.request_stop()
    assert np.array_equal(walk.again(), walk.video.written)
    assert [event.event_id for _, event in walk.takes.history(end.chunk)[1]] == [1, 2]
