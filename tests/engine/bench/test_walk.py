"""The benches' own arithmetic, and their walk on the test card: a real small world."""

from __future__ import annotations

import itertools
import json

from engine.backends import load
from engine.bench import e2e, record, stages
from engine.bench.walk import ROUND_CHUNKS, keys_at, walk, warm_up
from engine.config import EngineConfig, parse
from engine.events import parse as parse_event
from engine.fake import TestCardModel
from engine.protocol import SceneSpec

SCENE = SceneSpec("green", "a meadow")


def model() -> TestCardModel:
    return TestCardModel(parse({"backend": "test_card", "window.interactive": True}, str))


def steady_clock() -> itertools.count[float]:
    return itertools.count(0.0, 0.01)


def test_every_event_of_the_walk_is_one_that_the_engine_takes() -> None:
    wires = [wire for wire in map(keys_at, range(ROUND_CHUNKS)) if wire is not None]
    assert len(wires) == 3
    assert [parse_event(wire, None).event_id for wire in wires] == [None] * 3


def test_warm_up_ends_when_the_memory_is_full() -> None:
    clock = steady_clock()
    made = warm_up(model().open(SCENE, 0, 1), lambda: next(clock))
    assert made[-1].chunk.window == made[-2].chunk.window == made[-3].chunk.window
    assert made[-4].chunk.window.visible_latent_frames < made[-3].chunk.window.visible_latent_frames


def test_the_walk_moves_and_rests() -> None:
    clock = steady_clock()
    modes = [t.chunk.window.mode for t in walk(model().open(SCENE, 0, 1), 2 * ROUND_CHUNKS, lambda: next(clock))]
    assert {"moving", "still"} == set(modes)


def test_e2e_and_stages_give_finite_numbers_and_all_samples() -> None:
    clock = steady_clock()
    card = load(EngineConfig(backend="test_card"), lambda *_: None, lambda _: None).card
    end, samples = e2e.measure(model(), SCENE, seed=0, chunks=20, startup_seconds=0.5, clock=lambda: next(clock))
    assert len(samples["chunk_ms"]) == 20
    assert end["fps_generated"] > 0
    shares, by_stage = stages.measure(model(), SCENE, seed=0, chunks=20, clock=lambda: next(clock))
    assert set(shares) == {"all", "moving", "still", "prompt_changed"}
    assert set(by_stage) == set(stages.STAGES)
    written = record.record("e2e", card, EngineConfig(), options={}, result=end, samples=samples)
    json.dumps(written, allow_nan=False)


def test_percentiles_take_the_nearest_rank() -> None:
    assert record.percentile([3.0, 1.0, 2.0], 50) == 2.0
    assert record.percentile([float(n) for n in range(1, 101)], 99) == 99.0
    assert record.spread([5.0]) == {"p50": 5.0, "p95": 5.0, "p99": 5.0, "max": 5.0, "n": 1}
