"""The test card is a world like any other."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine import backends
from engine.config import EngineConfig
from engine.errors import BadValue, FileProblem
from engine.fake import TestCardModel, TestCardWorld
from engine.protocol import EventAccepted, EventRejected, FrameChunk, SceneSpec, StartPose
from engine.window import WindowPolicy

SCENE = SceneSpec("card", "a meadow", start=StartPose(2.0, 3.0, 30.0))


def card_model() -> TestCardModel:
    return TestCardModel(EngineConfig(backend="test_card"))


def open_world(seed: int = 1) -> TestCardWorld:
    return card_model().open(SCENE, seed, 7)


def ticking() -> Callable[[], float]:
    ticks = itertools.count()
    return lambda: next(ticks) / 1000


def hold(world: TestCardWorld, *actions: str) -> None:
    camera = {"mode": "state", "transitions": [{"actions": list(actions)}]}
    told = world.apply({"event_id": 1, "input_types": ["camera_actions"], "camera_actions": camera}, None, 0.0)
    assert isinstance(told, EventAccepted)


def walk(world: TestCardWorld, chunks: int) -> list[FrameChunk]:
    clock = ticking()
    return [world.step(clock) for _ in range(chunks)]


def test_the_first_chunk_is_one_frame_and_the_others_are_four() -> None:
    chunks = walk(open_world(), 3)
    assert [chunk.frames.shape for chunk in chunks] == [(1, 112, 192, 3), (4, 112, 192, 3), (4, 112, 192, 3)]
    assert [chunk.chunk for chunk in chunks] == [0, 1, 2]
    assert {chunk.frames.dtype for chunk in chunks} == {np.dtype(np.uint8)}


def test_walking_ahead_goes_where_one_looks() -> None:
    world = open_world()
    before = walk(world, 1)[0].pose
    hold(world, "w")
    after = walk(world, 1)[0].pose
    moved = np.array([after[3] - before[3], after[11] - before[11]])
    assert moved == pytest.approx(0.4 * np.array([np.sin(np.pi / 6), np.cos(np.pi / 6)]))


def test_a_prompt_changes_the_colours_from_the_second_chunk_on() -> None:
    plain, told = open_world(), open_world()
    walk(plain, 1)
    walk(told, 1)
    told.apply({"event_id": 2, "input_types": ["prompt"], "prompt": "deep snow"}, None, 0.0)
    other, same = walk(told, 1)[0], walk(plain, 1)[0]
    assert (other.prompt, other.prompt_updated, told.text_encodes, told.cross_attention_resets) == (
        ("deep snow", True, 2, 1)
    )
    assert not np.array_equal(other.frames, same.frames)


def test_a_bad_event_changes_nothing() -> None:
    world, other = open_world(), open_world()
    told = world.apply({"event_id": 3, "input_types": ["look"], "look": {"yaw_degrees": 900}}, None, 0.0)
    assert isinstance(told, EventRejected)
    assert np.array_equal(walk(world, 2)[1].frames, walk(other, 2)[1].frames)


def test_seed_and_events_decide_every_pixel() -> None:
    def frames(seed: int) -> list[bytes]:
        world = open_world(seed)
        hold(world, "w", "l")
        return [chunk.frames.tobytes() for chunk in walk(world, 5)]

    assert frames(1) == frames(1)
    assert frames(1) != frames(2)


def test_a_snapshot_continues_bit_for_bit(tmp_path: Path) -> None:
    world = open_world()
    hold(world, "s", "j")
    walk(world, 3)
    hold(world, "i")  # accepted and not sampled yet: part of the snapshot too
    world.save(tmp_path / "x.snapshot")
    restored = card_model().restore(SCENE, 1, 7, tmp_path / "x.snapshot")
    for one, other in zip(walk(world, 4), walk(restored, 4), strict=True):
        assert np.array_equal(one.frames, other.frames)
        assert replace(one, frames=other.frames) == other
    assert [entry.name for entry in tmp_path.iterdir()] == ["x.snapshot"]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"walker": 3}', '{"walker": {"y": 1}}'])
def test_a_file_that_is_no_snapshot_is_one_sentence(tmp_path: Path, text: str) -> None:
    (tmp_path / "x").write_text(text)
    with pytest.raises(FileProblem, match="snapshot"):
        card_model().restore(SCENE, 1, 7, tmp_path / "x")


def test_still_and_moving_windows_are_told() -> None:
    policy = WindowPolicy(interactive=True)
    world = TestCardModel(EngineConfig(backend="test_card", window=policy)).open(SCENE, 1, 7)
    hold(world, "w")
    walk(world, 20)
    hold(world)
    assert [chunk.window.mode for chunk in walk(world, 3)] == ["moving", "still", "still"]


def test_backends_are_found_by_name() -> None:
    stages: list[str] = []
    model = backends.load(EngineConfig(backend="test_card"), lambda stage, _: stages.append(stage), stages.append)
    assert model.card.backend == "test_card"
    with pytest.raises(BadValue, match=r"engine\.remote\.server"):
        backends.load(EngineConfig(backend="sglang"), lambda stage, _: None, stages.append)
