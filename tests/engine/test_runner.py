"""The generation loop, with a desk and a clock of the tests' own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import numpy as np
import pytest

from engine.backends import Log, Progress, World, WorldModel
from engine.config import EngineConfig
from engine.errors import BadValue, FileProblem, NeedsHardware
from engine.failures import failed
from engine.fake import TestCardModel, TestCardWorld
from engine.protocol import (
    CloseWorld,
    EngineLog,
    EventAccepted,
    EventRejected,
    Failed,
    ForgetLine,
    FrameChunk,
    GoBack,
    Loading,
    MomentsKept,
    OpenWorld,
    Pause,
    Report,
    Request,
    Restore,
    SaveWorld,
    SceneSpec,
    SnapshotSaved,
    StayedHere,
    Steer,
    WentBack,
    WorldOpened,
    WorldSaved,
)
from engine.runner import Runner

SCENE = SceneSpec("card", "a meadow")
CONFIG = EngineConfig(backend="test_card", snapshot_every_chunks=4)
Kind = TypeVar("Kind")
HOLD_D = {
    "event_id": 6,
    "input_types": ["camera_actions"],
    "camera_actions": {"mode": "state", "transitions": [{"actions": ["d"]}]},
}
HOLD_W = {
    "event_id": 5,
    "input_types": ["camera_actions"],
    "camera_actions": {"mode": "state", "transitions": [{"actions": ["w"]}]},
}


class PaperDesk:
    """A desk without a process: what is asked lies ready, what is told is kept, and waiting moves the clock."""

    def __init__(self) -> None:
        self.now = 100.0
        self.asked: list[Request] = []
        self.told: list[Report] = []
        self.untaken = 0
        self.window_fetches = True

    def clock(self) -> float:
        self.now += 0.001
        return self.now

    def take(self, until: float | None) -> list[tuple[Request, float]]:
        requests, self.asked = [(request, self.now) for request in self.asked], []
        if not requests and until is not None:
            self.now = max(self.now, until)
        return requests

    def tell(self, report: Report) -> None:
        self.told.append(report)
        self.untaken += isinstance(report, FrameChunk) and not self.window_fetches

    def all_of(self, kind: type[Kind]) -> list[Kind]:
        return [report for report in self.told if isinstance(report, kind)]


def begun(
    folder: Path, load: Callable[[EngineConfig, Progress, Log], WorldModel] | None = None
) -> tuple[Runner, PaperDesk]:
    desk = PaperDesk()
    runner = Runner(CONFIG, folder, desk, load or (lambda config, progress, log: TestCardModel(config)), desk.clock)
    runner.prepare()
    return runner, desk


def turns(runner: Runner, count: int) -> None:
    for _ in range(count):
        runner.turn()


def test_a_world_opens_and_its_chunks_come_in_order_at_the_nominal_rate(tmp_path: Path) -> None:
    runner, desk = begun(tmp_path)
    desk.asked = [OpenWorld(SCENE, 1, 7)]
    turns(runner, 13)
    opened, chunks = desk.all_of(WorldOpened), desk.all_of(FrameChunk)
    assert [(o.session_id, o.scene, o.prompt) for o in opened] == [(7, "card", "a meadow")]
    assert [chunk.chunk for chunk in chunks] == list(range(len(chunks)))
    assert len(chunks) >= 10
    made = [chunk.made_at for chunk in chunks[4:]]
    assert np.diff(made) == pytest.approx(0.25, abs=0.01)


def test_events_are_answered_and_take_effect_in_the_next_chunk(tmp_path: Path) -> None:
    runner, desk = begun(tmp_path)
    desk.asked = [OpenWorld(SCENE, 1, 7), Steer(HOLD_W, 99.5), Steer({"event_id": 6, "input_types": "no"})]
    turns(runner, 2)
    accepted, rejected = desk.all_of(EventAccepted), desk.all_of(EventRejected)
    assert [(e.event_id, e.pressed_at) for e in accepted] == [(5, 99.5)]
    assert [e.event_id for e in rejected] == [6]
    assert [event.event_id for event in desk.all_of(FrameChunk)[0].events] == [5]


def test_the_engine_is_never_more_than_two_chunks_ahead_of_the_window(tmp_path: Path) -> None:
    runner, desk = begun(tmp_path)
    desk.window_fetches = False
    desk.asked = [OpenWorld(SCENE, 1, 7)]
    turns(runner, 30)
    assert 1 <= len(desk.all_of(FrameChunk)) <= 2


def test_nothing_is_made_during_a_pause(tmp_path: Path) -> None:
    runner, desk = begun(tmp_path)
    desk.asked = [OpenWorld(SCENE, 1, 7), Pause(True)]
    turns(runner, 5)
    assert desk.all_of(FrameChunk) == []
    desk.asked = [Pause(False)]
    turns(runner, 5)
    assert len(desk.all_of(FrameChunk)) >= 4


def test_another_world_begins_with_its_own_number_and_replaces_what_waits(tmp_path: Path) -> None:
    runner, desk = begun(tmp_path)
    desk.asked = [OpenWorld(SCENE, 1, 7)]
    turns(runner, 3)
    desk.asked = [Steer(HOLD_W), OpenWorld(SCENE, 1, 8), Steer(HOLD_W), OpenWorld(replace(SCENE, prompt="fog"), 2, 9)]
    turns(runner, 3)
    assert [o.session_id for o in desk.all_of(WorldOpened)] == [7, 9]
    last = desk.all_of(FrameChunk)[-1]
    assert (last.session_id, last.prompt, desk.all_of(EventAccepted)) == (9, "fog", [])


def test_a_closed_world_makes_no_chunks(tmp_path: Path) -> None:
    runner, desk = begun(tmp_path)
    desk.asked = [OpenWorld(SCENE, 1, 7), CloseWorld()]
    turns(runner, 4)
    assert desk.all_of(FrameChunk) == []


def test_snapshots_are_kept_two_at_a_time_and_continue_bit_for_bit(tmp_path: Path) -> None:
    runner, desk = begun(tmp_path)
    desk.asked = [OpenWorld(SCENE, 1, 7), Steer(HOLD_W)]
    while len(desk.all_of(SnapshotSaved)) < 3:
        runner.turn()
    turns(runner, 3)
    saved = desk.all_of(SnapshotSaved)
    assert [s.chunk for s in saved] == [3, 7, 11]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["world-7-11.snapshot", "world-7-7.snapshot"]
    later = {chunk.chunk: chunk.frames for chunk in desk.all_of(FrameChunk)}
    other, desk = begun(tmp_path)
    desk.asked = [Restore(SCENE, 1, 8, saved[-1].path)]
    turns(other, 3)
    again = desk.all_of(FrameChunk)
    assert again[0].chunk == 12
    assert np.array_equal(again[0].frames, later[12])


def test_a_full_disk_costs_the_snapshot_and_not_the_walk(tmp_path: Path) -> None:
    runner, desk = begun(tmp_path / "not there")
    desk.asked = [OpenWorld(SCENE, 1, 7)]
    turns(runner, 12)
    assert desk.all_of(Failed) == []
    assert any("snapshot" in log.line for log in desk.all_of(EngineLog))
    assert len(desk.all_of(FrameChunk)) > 8


def test_a_snapshot_that_is_gone_is_told_and_the_next_world_opens(tmp_path: Path) -> None:
    runner, desk = begun(tmp_path)
    desk.asked = [Restore(SCENE, 1, 8, str(tmp_path / "gone"))]
    runner.turn()
    assert "snapshot cannot be read" in desk.all_of(Failed)[0].message
    desk.asked = [OpenWorld(SCENE, 1, 9)]
    turns(runner, 2)
    assert desk.all_of(FrameChunk)[0].session_id == 9


def test_a_model_that_cannot_be_loaded_is_told_and_tried_again(tmp_path: Path) -> None:
    attempts = []

    def load(config: EngineConfig, progress: Progress, log: Log) -> WorldModel:
        attempts.append(1)
        if len(attempts) < 2:
            raise FileProblem("model.safetensors", "it is cut off", "Reinstall Worldwalk.")
        progress("Loading the weights", 0.5)
        return TestCardModel(config)

    runner, desk = begun(tmp_path, load)
    assert desk.all_of(Failed) == [Failed("model.safetensors: it is cut off.", "Reinstall Worldwalk.")]
    desk.asked = [OpenWorld(SCENE, 1, 7)]
    runner.turn()
    assert Loading("Loading the weights", 0.5) in desk.told
    assert len(desk.all_of(WorldOpened)) == 1


class BreakingWorld(TestCardWorld):
    """Breaks in its third chunk."""

    def step(self, clock: Callable[[], float]) -> FrameChunk:
        chunk = super().step(clock)
        if chunk.chunk == 2:
            raise MemoryError
        return chunk


class BreakingModel(TestCardModel):
    def open(self, scene: SceneSpec, seed: int, session_id: int) -> BreakingWorld:
        return BreakingWorld(CONFIG.window, scene, seed, session_id)


def test_a_world_that_runs_out_of_memory_leaves_the_engine_ready(tmp_path: Path) -> None:
    runner, desk = begun(tmp_path, lambda config, progress, log: BreakingModel(config))
    desk.asked = [OpenWorld(SCENE, 1, 7)]
    turns(runner, 8)
    assert [f.message for f in desk.all_of(Failed)] == ["The machine has not enough free memory for this world."]
    assert not desk.all_of(Failed)[0].engine_lost
    desk.asked = [OpenWorld(SCENE, 1, 8)]
    turns(runner, 3)
    assert desk.all_of(FrameChunk)[-1].session_id == 8


@pytest.mark.parametrize(
    ("error", "message", "cure"),
    [
        (BadValue("x", "1", "2"), "x: got 1, expected 2.", "Press R to try once more."),
        (BadValue("x", "1", "2", "Write 2."), "x: got 1, expected 2.", "Write 2."),
        (NeedsHardware("No card.", "Buy one."), "No card. Buy one.", "Press R to try once more."),
        (
            RuntimeError("DefaultCPUAllocator: not enough memory: you tried"),
            "enough free memory",
            "Close other programs",
        ),
        (ImportError("No module named torch"), "No module named torch", "pip install"),
        (ValueError("bad\nlines"), "(ValueError: bad)", "Press R"),
    ],
)
def test_every_error_is_one_sentence_and_a_cure(error: Exception, message: str, cure: str) -> None:
    told = failed(error)
    assert message in told.message
    assert cure in told.cure
    assert "\n" not in told.message + told.cure


def test_the_fake_is_a_world_model() -> None:
    model: WorldModel = TestCardModel(CONFIG)
    world: World = model.open(SCENE, 1, 7)
    assert world.prompt == "a meadow"


def test_moments_are_kept_and_gone_back_to_bit_for_bit(tmp_path: Path) -> None:
    runner, desk = begun(tmp_path)
    desk.asked = [OpenWorld(SCENE, 1, 7), Steer(HOLD_W)]
    turns(runner, 12)
    made = {chunk.chunk: chunk.frames for chunk in desk.all_of(FrameChunk)}
    kept = desk.all_of(MomentsKept)[-1]
    assert kept.chunks == tuple(range(0, max(made) + 1, CONFIG.moments_every_chunks))
    assert (kept.problem, kept.byte_count > 0) == (None, True)
    desk.told.clear()
    desk.asked = [GoBack(7, 5)]
    turns(runner, 4)
    back, kept = desk.all_of(WentBack)[0], desk.all_of(MomentsKept)[0]
    assert (back.chunk, back.prompt, kept.chunks) == (4, SCENE.prompt, (0, 2, 4))
    again = desk.all_of(FrameChunk)
    assert [chunk.chunk for chunk in again] == list(range(5, 5 + len(again)))
    assert all(np.array_equal(chunk.frames, made[chunk.chunk]) for chunk in again)
    assert desk.all_of(SnapshotSaved)[0].chunk == 4  # an accident must not bring back what was given up


def test_going_back_where_nothing_is_kept_is_answered_and_the_world_goes_on(tmp_path: Path) -> None:
    desk = PaperDesk()
    config = replace(CONFIG, moments_limit_mb=0)
    runner = Runner(config, tmp_path, desk, lambda config, progress, log: TestCardModel(config), desk.clock)
    desk.asked = [OpenWorld(SCENE, 1, 7)]
    turns(runner, 5)
    assert {report.chunks for report in desk.all_of(MomentsKept)} == {()}
    assert "engine.moments_limit_mb allows 0" in (desk.all_of(MomentsKept)[0].problem or "")
    made = len(desk.all_of(FrameChunk))
    desk.asked = [GoBack(7, 2), GoBack(6, 2)]
    turns(runner, 3)
    assert [report.session_id for report in desk.all_of(StayedHere)] == [7]
    assert len(desk.all_of(FrameChunk)) > made


def test_a_world_is_saved_where_the_user_wants_it_and_trouble_costs_only_the_file(tmp_path: Path) -> None:
    runner, desk = begun(tmp_path)
    desk.asked = [OpenWorld(SCENE, 1, 7)]
    turns(runner, 4)
    desk.asked = [SaveWorld(7, str(tmp_path / "slot")), SaveWorld(7, str(tmp_path / "nowhere" / "slot"))]
    turns(runner, 3)
    good, bad = desk.all_of(WorldSaved)
    assert (good.problem, "cannot be written" in (bad.problem or "")) == (None, True)
    after = next(chunk for chunk in desk.all_of(FrameChunk) if chunk.chunk == good.chunk + 1)
    desk.asked = [Restore(SCENE, 1, 8, good.path)]
    turns(runner, 3)
    again = next(chunk for chunk in desk.all_of(FrameChunk) if chunk.session_id == 8)
    assert again.chunk == after.chunk
    assert np.array_equal(again.frames, after.frames)
    assert next(kept for kept in desk.all_of(MomentsKept) if kept.session_id == 8).chunks == (good.chunk,)


def test_the_end_of_a_way_that_was_left_is_gone_to_as_if_it_had_never_been_left(tmp_path: Path) -> None:
    runner, desk = begun(tmp_path)
    desk.asked = [OpenWorld(SCENE, 1, 7), Steer(HOLD_W)]
    turns(runner, 12)
    newest = desk.all_of(FrameChunk)[-1].chunk
    desk.told.clear()
    desk.asked = [GoBack(7, 4), Steer(HOLD_D)]
    turns(runner, 6)
    left, elsewhere = desk.all_of(WentBack)[0], desk.all_of(FrameChunk)
    assert (left.line, left.origin) == (1, 0)
    ways = {line.number: line for line in desk.all_of(MomentsKept)[-1].lines}
    assert newest in ways[0].kept
    assert (ways[1].parent, ways[1].after) == (0, 4)
    desk.told.clear()
    desk.asked = [GoBack(7, newest, 0)]
    turns(runner, 4)
    back, went_on = desk.all_of(WentBack)[0], desk.all_of(FrameChunk)
    assert (back.chunk, back.line, back.origin) == (newest, 0, 0)
    world = TestCardModel(CONFIG).open(SCENE, 1, 7)
    world.apply(HOLD_W, None, 0.0)
    never_left = [world.step(lambda: 0.0).frames for _ in range(newest + 1 + len(went_on))]
    assert len(went_on) > 2
    assert [chunk.chunk for chunk in went_on] == list(range(newest + 1, len(never_left)))
    assert all(np.array_equal(chunk.frames, never_left[chunk.chunk]) for chunk in went_on)
    assert not np.array_equal(elsewhere[0].frames, never_left[elsewhere[0].chunk])


def test_a_way_that_is_not_wanted_any_more_is_forgotten(tmp_path: Path) -> None:
    runner, desk = begun(tmp_path)
    desk.asked = [OpenWorld(SCENE, 1, 7)]
    turns(runner, 12)
    desk.asked = [GoBack(7, 4)]
    turns(runner, 3)
    desk.asked = [ForgetLine(7, 0)]
    turns(runner, 2)
    first = desk.all_of(MomentsKept)[-1].lines[0]
    assert (first.number, first.newest, max(first.kept)) == (0, 4, 4)
