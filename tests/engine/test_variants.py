"""A chunk made again in other ways: the world that waits does not notice, and the chosen one goes on as it was."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from engine.backends import WorldModel
from engine.bundled_world import load_bundled
from engine.config import DeviceConfig, EngineConfig
from engine.fake import TestCardModel, TestCardWorld
from engine.moments import MomentRing, RewindableWorld
from engine.protocol import (
    FrameChunk,
    MakeVariants,
    MomentsKept,
    NoVariants,
    OpenWorld,
    Pause,
    Pixels,
    Retake,
    SceneSpec,
    Steer,
    StopVariants,
    TakeVariant,
    VariantMade,
    WentBack,
)
from engine.runner import Runner
from engine.variants import KNOWN_CHUNKS, Asked, Variants, begin
from tests.engine.test_runner import PaperDesk

SCENE = SceneSpec("card", "a green meadow at noon under a clear sky", map_seed=5)
ORIGINAL, SEED, STEPS = Retake(), Retake(seed=41), Retake(steps=4)


def keys(*names: str) -> dict[str, object]:
    held = {"mode": "state", "transitions": [{"actions": [*names]}]}
    return {"input_types": ["camera_actions"], "camera_actions": held}


WALK = {1: keys("w", "l"), 3: {"input_types": ["prompt"], "prompt": "a snowy night"}, 5: keys("d"), 6: keys("d", "j")}


@pytest.fixture
def card() -> WorldModel:
    return TestCardModel(EngineConfig(backend="test_card"))


@pytest.fixture(scope="module", params=["test_card", "bundled"])
def model(request: pytest.FixtureRequest) -> WorldModel:
    if request.param == "test_card":
        return TestCardModel(EngineConfig(backend="test_card"))
    return load_bundled(EngineConfig(device=DeviceConfig(threads=1)), lambda stage, part: None, lambda line: None)


class Walk:
    """A runner with a world, asked of as ``WALK`` says; it makes chunks only when it is told to."""

    def __init__(self, model: WorldModel, folder: Path, every: int = 4) -> None:
        self.desk = PaperDesk()
        config = EngineConfig(backend="test_card", moments_every_chunks=every, snapshot_every_chunks=1000)
        self.runner = Runner(config, folder, self.desk, lambda config, progress, log: model, self.desk.clock)
        self.desk.asked = [OpenWorld(SCENE, 3, 7)]
        self.runner.turn()

    @property
    def chunks(self) -> list[FrameChunk]:
        return self.desk.all_of(FrameChunk)

    def go(self, last: int) -> None:
        """Walk on until chunk ``last``, then pause."""
        self.desk.asked = [*self.desk.asked, Pause(False)]
        while self.chunks[-1].chunk < last:
            if (wire := WALK.get(self.chunks[-1].chunk + 1)) is not None:
                self.desk.asked.append(Steer(wire))
            self.runner.turn()
        self.ask(Pause(True))

    def ask(self, *requests: MakeVariants | StopVariants | TakeVariant | Pause | Steer, turns: int = 1) -> None:
        self.desk.asked = [*self.desk.asked, *requests]
        for _ in range(turns):
            self.runner.turn()

    def pictures(self, *variants: Retake, position: float = 6.5) -> list[Pixels]:
        self.ask(MakeVariants(7, position, variants), turns=8)
        made = self.desk.all_of(VariantMade)[-len(variants) :]
        assert [one.number for one in made] == list(range(len(variants)))
        return [one.picture for one in made]


@pytest.fixture(scope="module")
def plain(model: WorldModel, tmp_path_factory: pytest.TempPathFactory) -> Walk:
    """The walk that nothing happened to."""
    walk = Walk(model, tmp_path_factory.mktemp("plain"))
    walk.go(8)
    return walk


def made_again(model: WorldModel, events: Iterator[tuple[int, dict[str, object]]], chunks: int) -> list[Pixels]:
    """What a session file of these events gives."""
    world, asked, frames = model.open(SCENE, 3, 1), list(events), []
    for chunk in range(chunks):
        for _, wire in (event for event in asked if event[0] == chunk):
            world.apply(wire, None, 0.0)
        frames.append(world.step(time.monotonic).frames)
    return frames


def test_the_original_made_again_is_what_was_shown(card: WorldModel, tmp_path: Path) -> None:
    walk = Walk(card, tmp_path)
    walk.go(7)
    assert np.array_equal(walk.pictures(ORIGINAL)[0], walk.chunks[6].frames[1])
    assert np.array_equal(walk.pictures(ORIGINAL, position=8.0)[0], walk.chunks[7].frames[3])


def test_walking_on_after_it_is_as_if_nothing_had_been(model: WorldModel, plain: Walk, tmp_path: Path) -> None:
    walk = Walk(model, tmp_path)
    walk.go(7)
    original, _, _ = walk.pictures(ORIGINAL, SEED, Retake(9, 3))
    assert np.array_equal(original, walk.chunks[6].frames[1])
    walk.ask(StopVariants(7))
    walk.go(8)
    for ours, theirs in zip(walk.chunks, plain.chunks, strict=True):
        assert np.array_equal(ours.frames, theirs.frames)
        assert ours.pose == theirs.pose


def test_what_is_asked_while_they_are_made_is_not_lost(card: WorldModel, tmp_path: Path) -> None:
    walks = [Walk(card, tmp_path), Walk(card, tmp_path)]
    for walk, variants in zip(walks, ((SEED, STEPS), ()), strict=True):
        walk.go(7)
        walk.ask(MakeVariants(7, 7.5, variants), turns=3)
        walk.ask(Steer(keys("s")), turns=3)
        walk.go(8)
    assert np.array_equal(walks[0].chunks[8].frames, walks[1].chunks[8].frames)


def test_the_chosen_one_is_the_chunk_that_was_shown_and_the_world_goes_on_from_it(
    model: WorldModel, plain: Walk, tmp_path: Path
) -> None:
    walk = Walk(model, tmp_path)
    walk.go(7)
    pictures = walk.pictures(STEPS, SEED)
    walk.ask(TakeVariant(7, SEED))
    assert [back.chunk for back in walk.desk.all_of(WentBack)] == [5]
    taken = walk.chunks[-1]
    assert taken.chunk == 6
    assert np.array_equal(taken.frames[1], pictures[1])
    assert not np.array_equal(taken.frames, plain.chunks[6].frames)
    assert [event.wire for event in taken.events][-1] == {"input_types": ["retake"], "retake": {"seed": 41}}
    assert 5 in walk.desk.all_of(MomentsKept)[-1].chunks
    walk.go(8)
    events = (
        (chunk.chunk, dict(event.wire)) for chunk in [*walk.chunks[:6], *walk.chunks[8:]] for event in chunk.events
    )
    again = made_again(model, events, 9)
    for ours, theirs in zip([*walk.chunks[:6], *walk.chunks[8:]], again, strict=True):
        assert np.array_equal(ours.frames, theirs)


def test_the_original_of_one_that_was_chosen_is_the_chosen_one(card: WorldModel, tmp_path: Path) -> None:
    walk = Walk(card, tmp_path)
    walk.go(6)
    walk.pictures(SEED)
    walk.ask(TakeVariant(7, SEED), turns=2)
    original, same, steps = walk.pictures(ORIGINAL, Retake(seed=41), STEPS)
    assert np.array_equal(original, walk.chunks[-1].frames[1])
    assert np.array_equal(original, same)
    walk.ask(TakeVariant(7, STEPS), turns=2)
    assert np.array_equal(walk.chunks[-1].frames[1], steps)


def test_they_come_one_a_turn_and_stop_when_no_more_are_wanted(card: WorldModel, tmp_path: Path) -> None:
    walk = Walk(card, tmp_path)
    walk.go(7)
    walk.ask(MakeVariants(7, 6.5, (SEED, STEPS, SEED)))
    assert walk.desk.all_of(VariantMade) == []  # chunk 5 first, from the moment after 4
    walk.ask(turns=1)
    assert len(walk.desk.all_of(VariantMade)) == 1
    walk.ask(StopVariants(7), turns=3)
    assert len(walk.desk.all_of(VariantMade)) == 1
    walk.ask(TakeVariant(7, SEED))
    assert [no.why for no in walk.desk.all_of(NoVariants)] == ["gone"]


def test_the_chosen_one_waits_until_the_window_has_fetched_what_was_made(card: WorldModel, tmp_path: Path) -> None:
    walk = Walk(card, tmp_path)
    walk.go(6)
    walk.pictures(SEED)
    walk.desk.untaken = 1
    walk.ask(TakeVariant(7, SEED), turns=2)
    assert walk.desk.all_of(WentBack) == []
    walk.desk.untaken = 0
    walk.ask()
    assert len(walk.desk.all_of(WentBack)) == 1


@pytest.mark.parametrize(("position", "why"), [(1.0, "first"), (3.0, "no_moment")])
def test_where_there_is_nothing_to_begin_from_it_is_said(
    card: WorldModel, tmp_path: Path, position: float, why: str
) -> None:
    walk = Walk(card, tmp_path)
    walk.runner._moments = MomentRing(0)
    walk.ask(MakeVariants(7, position, (SEED,)))
    assert [no.why for no in walk.desk.all_of(NoVariants)] == [why]


def test_a_request_for_another_world_means_nothing(card: WorldModel, tmp_path: Path) -> None:
    walk = Walk(card, tmp_path)
    walk.go(6)
    walk.ask(MakeVariants(6, 6.5, (SEED,)), turns=3)
    assert walk.desk.all_of(VariantMade) == []


def test_what_was_asked_is_known_for_the_newest_chunks_only() -> None:
    asked = Asked()
    for chunk in range(KNOWN_CHUNKS + 10):
        asked.note({"event_id": chunk})
        asked.made(chunk)
    assert asked.knows_after(9)
    assert not asked.knows_after(8)
    assert asked.before(9) == ()
    assert asked.before(10) == ({"event_id": 10},)


class Streamed(TestCardWorld):
    """A world that comes by itself, as from a server."""

    is_ready = False
    last_chunk: int | None = None

    def go_live(self, wake: Callable[[], None]) -> None: ...

    def pause(self, paused: bool) -> None: ...

    def close(self) -> None: ...


def test_a_server_makes_each_chunk_once() -> None:
    world = Streamed(EngineConfig().window, SCENE, 3, 7)
    assert begin(world, MakeVariants(7, 6.5, (SEED,)), MomentRing(1000), Asked()) == NoVariants(7, "elsewhere")


def test_a_moment_from_before_what_is_known_is_not_begun_from() -> None:
    world = TestCardModel(EngineConfig(backend="test_card")).open(SCENE, 3, 7)
    world.step(time.monotonic)
    ring = MomentRing(1_000_000)
    assert isinstance(world, RewindableWorld)
    ring.keep(world)
    request = MakeVariants(7, 6.5, (SEED,))
    assert isinstance(begin(world, request, ring, Asked()), Variants)
    assert begin(world, request, ring, Asked(1)) == NoVariants(7, "no_moment")
