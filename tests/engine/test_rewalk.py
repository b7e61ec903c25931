"""Worlds that are made again up to a moment: the same pixels as the first time, unseen, with progress."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.fake import TestCardModel
from engine.protocol import Failed, FrameChunk, Loading, OpenWorld, SnapshotSaved, Steer, WorldOpened
from engine.rewalk import STAGE
from tests.engine.test_runner import CONFIG, HOLD_W, SCENE, begun, turns

SNOW = {"event_id": 6, "input_types": ["prompt"], "prompt": "snow"}
EVENTS = ((2, HOLD_W), (5, SNOW))
MODEL = TestCardModel(CONFIG).card.model_sha256
AGAIN = OpenWorld(SCENE, 3, 8, chunks=9, events=EVENTS, model_sha256=MODEL)


def first_walk() -> list[FrameChunk]:
    world = TestCardModel(CONFIG).open(SCENE, 3, 7)
    made = []
    for chunk in range(14):
        for at, wire in EVENTS:
            if at == chunk:
                world.apply(wire, None, 0.0)
        made.append(world.step(lambda: 0.0))
    return made


def test_the_walk_goes_on_as_it_did_the_first_time(tmp_path: Path) -> None:
    runner, desk = begun(tmp_path)
    desk.asked = [AGAIN]
    turns(runner, 14)
    chunks, first = desk.all_of(FrameChunk), first_walk()
    assert [chunk.chunk for chunk in chunks] == list(range(8, 8 + len(chunks)))
    assert len(chunks) >= 4
    for chunk in chunks:
        assert np.array_equal(chunk.frames, first[chunk.chunk].frames)
        assert (chunk.session_id, chunk.prompt) == (8, "snow")
    assert desk.all_of(SnapshotSaved)[0].chunk == 8


def test_it_is_told_how_far_it_is_and_only_then_that_a_world_is_open(tmp_path: Path) -> None:
    runner, desk = begun(tmp_path)
    desk.asked = [AGAIN]
    turns(runner, 4)
    assert desk.all_of(WorldOpened) == []
    desk.asked = [Steer(HOLD_W)]  # nothing can be steered that is not there yet
    turns(runner, 5)
    told = [report.fraction for report in desk.all_of(Loading) if report.stage == STAGE]
    assert told == pytest.approx([(n + 1) / 9 for n in range(9)])
    assert [opened.session_id for opened in desk.all_of(WorldOpened)] == [8]


def test_another_world_may_be_wanted_meanwhile(tmp_path: Path) -> None:
    runner, desk = begun(tmp_path)
    desk.asked = [AGAIN]
    turns(runner, 3)
    desk.asked = [OpenWorld(SCENE, 1, 9)]
    turns(runner, 3)
    assert [opened.session_id for opened in desk.all_of(WorldOpened)] == [9]
    assert desk.all_of(FrameChunk)[0].chunk == 0


def test_the_walk_of_another_model_is_refused_in_one_sentence(tmp_path: Path) -> None:
    runner, desk = begun(tmp_path)
    desk.asked = [replace(AGAIN, model_sha256="ab" * 32)]
    turns(runner, 3)
    failed = desk.all_of(Failed)
    assert len(failed) == 1
    assert "abababababab" in failed[0].message
    assert "watched" in failed[0].cure
    assert desk.all_of(FrameChunk) == []


def test_an_event_that_no_engine_takes_ends_it(tmp_path: Path) -> None:
    runner, desk = begun(tmp_path)
    desk.asked = [replace(AGAIN, events=((1, {"input_types": "no"}),))]
    turns(runner, 4)
    assert "before chunk 1" in desk.all_of(Failed)[0].message
    assert desk.all_of(WorldOpened) == []
