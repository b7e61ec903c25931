"""What ``evaluate`` measures is told, and is measured on worlds that no training ever shows."""

import itertools

import numpy as np
import pytest

from engine.bundled_world import load_bundled
from engine.config import EngineConfig
from engine.training.evaluate import DEFINITIONS, WALKS, Walker, second, stroll, walk_numbers
from engine.training.truth import held_out_scene, prompt_of
from engine.worldmap import BIOMES, TIMES, WEATHERS, WorldMap


@pytest.fixture(scope="module")
def model():
    return load_bundled(EngineConfig(), lambda stage, fraction: None, lambda line: None)


@pytest.fixture(scope="module")
def land():
    return WorldMap()


def test_the_held_out_walks_show_every_biome_time_and_weather():
    prompts = [prompt_of(index) for index in range(WALKS)]
    assert len(set(prompts)) == WALKS
    for part, names in (("", BIOMES), (" at ", TIMES), ("", WEATHERS)):
        ends = {prompt.split(part, 1)[-1] if part else prompt for prompt in prompts}
        assert len(ends) >= len(names)


def test_seconds_follow_each_other_after_the_first_picture():
    chunks = list(itertools.chain.from_iterable(second(end, 4) for end in range(1, 61)))
    assert chunks == list(range(1, 241))


def test_a_strolls_events_are_taken(model, land):
    world = Walker(model, land, held_out_scene(model.model, land, 1)).world
    asked = [event for chunk in range(241) if (event := stroll(1)(chunk)) is not None]
    assert len(asked) == 10
    assert not [report for event in asked if "rejected" in str(report := world.apply(event, None, 0.0)).lower()]


def test_a_worlds_first_picture_is_the_simulators(model, land):
    scene = held_out_scene(model.model, land, 2)
    walked = Walker(model, land, scene).go(1, keep={0})[0]
    assert np.array_equal(walked.truth.frames[0], scene.image)
    assert walked.psnr() > 25


def test_what_is_measured_does_not_depend_on_what_was_decoded_before(model, land):
    scene = held_out_scene(model.model, land, 3)
    last = Walker(model, land, scene).go(3, stroll(3), keep={2})
    every = Walker(model, land, scene).go(3, stroll(3), keep=range(3))
    assert (list(last), list(every)) == ([2], [0, 1, 2])
    assert np.array_equal(last[2].made, every[2].made)
    assert np.array_equal(last[2].truth.frames, every[2].truth.frames)


def test_a_standing_moment_is_drawn_once_and_told_for_every_frame(model, land):
    walker = Walker(model, land, held_out_scene(model.model, land, 2))
    truth = walker.go(2, keep={1})[1].truth
    assert truth.frames.shape[0] == truth.determined.shape[0] == 4
    assert np.array_equal(truth.frames[0], truth.frames[3])


def test_one_walk_gives_numbers_that_are_all_explained(model, land):
    numbers, rows = walk_numbers(model, land, 0, 1)
    words = " ".join(DEFINITIONS).replace("Ns", "1s").replace(",", "")
    for name in numbers:
        assert name in words or name.replace("60s", "1s") in words or name == "colour_shift_60s", name
    assert rows[0].shape == rows[1].shape == (model.card.height, 8 * model.card.width, 3)
