"""Words between two prompts: fades and mixes as values, and worlds of the bundled model that walk through them."""

import numpy as np
import pytest
import torch

from engine.bundled_world import BundledWorldModel, load_bundled
from engine.config import DeviceConfig, EngineConfig, PromptConfig
from engine.crossfade import Crossfade, between, goes_on, restored
from engine.protocol import PromptMix, SceneSpec

SCENE = SceneSpec("test", "a green meadow at noon under a clear sky", map_seed=5)
FOREST, STORM = "a dense forest at noon", "a snowstorm at night"


def test_a_share_of_0_or_1_is_the_very_rows_of_one_prompt():
    first, second = torch.ones(1, 2, 3), torch.zeros(1, 4, 3)
    assert between(first, second, 0.0) is first
    assert between(first, second, 1.0) is second


def test_shorter_rows_go_on_with_zeros_as_the_transformer_has_it():
    rows = between(torch.ones(1, 2, 3), torch.full((1, 3, 3), 3.0), 0.25)
    assert rows[0, :, 0].tolist() == [1.5, 1.5, 0.75]


def test_a_fade_of_four_chunks_ends_with_the_fourth_on_the_target_itself():
    target, fade = torch.full((1, 1, 1), 8.0), Crossfade(torch.zeros(1, 1, 1))
    fade, seen = fade.towards(target, 4), []
    while fade.is_going_on:
        fade = fade.next()
        seen.append(float(fade.rows))
    assert seen == [2.0, 4.0, 6.0, 8.0]
    assert fade.rows is target
    assert fade.source is None
    assert fade.next() is fade


@pytest.mark.parametrize("chunks", [0, 1])
def test_a_fade_of_no_or_one_chunk_is_a_switch(chunks):
    target = torch.ones(1, 1, 1)
    fade = Crossfade(torch.zeros(1, 1, 1)).towards(target, chunks)
    assert fade.rows is target
    assert not fade.is_going_on


def test_a_new_prompt_in_the_middle_of_a_fade_begins_where_the_words_are():
    fade = Crossfade(torch.zeros(1, 1, 1)).towards(torch.full((1, 1, 1), 8.0), 4).next().next()
    again = fade.towards(torch.zeros(1, 1, 1), 2)
    assert float(again.rows) == 4.0
    assert float(again.next().rows) == 2.0


def test_a_restored_fade_goes_on_alike_and_files_without_one_have_none():
    fade = Crossfade(torch.zeros(1, 1, 1)).towards(torch.ones(1, 1, 1), 3).next()
    again = restored(fade.target, fade.source, fade.plain())
    assert torch.equal(again.rows, fade.rows)
    assert again.next().rows.equal(fade.next().rows)
    assert not restored(fade.target, None, None).is_going_on
    with pytest.raises(ValueError, match="two numbers"):
        restored(fade.target, fade.source, "half")


def test_a_mix_goes_on_from_the_prompt_that_it_begins_with():
    mix = PromptMix("fog", "night", 0.5)
    assert goes_on("fog", mix)
    assert goes_on(PromptMix("fog", "snow", 0.1), mix)
    assert not goes_on("night", mix)
    assert not goes_on(mix, "fog")
    assert not goes_on(None, mix)


# ---- worlds ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def model():
    return load_bundled(EngineConfig(device=DeviceConfig(threads=1)), lambda stage, fraction: None, lambda line: None)


def fading(model, chunks):
    return BundledWorldModel(model.model, EngineConfig(steps=1, prompt=PromptConfig(chunks)), model.card)


def prompt(text):
    return {"input_types": ["prompt"], "prompt": text}


def mixed(text, other, share):
    return prompt({"text": text, "mixed_with": other, "share": share})


def walked(world, chunks, events=None):
    made = []
    for _ in range(chunks):
        for wire in (events or {}).get(world.state.chunk, ()):
            assert world.apply(wire, None, 0.0).__class__.__name__ == "EventAccepted"
        made.append(world.step())
    return made


def frames(chunks):
    return np.concatenate([chunk.frames for chunk in chunks])


def test_the_models_own_way_is_what_it_was_before_there_were_fades(model):
    """Words switch at once, the land follows within two chunks."""
    world = model.open(SCENE, 3, 0)
    made = walked(world, 4, {1: [prompt(STORM)]})
    assert [chunk.fade for chunk in made] == [None, pytest.approx(1 / 2), 1.0, None]
    assert world.cross_attention_resets == 1


def test_without_a_fade_words_and_land_switch_with_the_next_chunk(model):
    world = fading(model, 0).open(SCENE, 3, 0)
    made = walked(world, 3, {1: [prompt(STORM)]})
    assert [chunk.fade for chunk in made] == [None, None, None]
    assert world.state.scenery.blend.share == 1.0
    assert world.cross_attention_resets == 1


def test_a_fade_of_one_chunk_says_the_words_of_a_switch(model):
    one, none = (fading(model, chunks).open(SCENE, 3, 0) for chunks in (1, 0))
    walked(one, 2, {1: [prompt(STORM)]})
    walked(none, 2, {1: [prompt(STORM)]})
    assert torch.equal(one.state.scenery.text_rows, none.state.scenery.text_rows)


def test_a_fade_tells_how_far_it_is_and_computes_the_words_anew_in_each_of_its_chunks(model):
    world = fading(model, 4).open(SCENE, 3, 0)
    made = walked(world, 6, {1: [prompt(STORM)]})
    assert [chunk.fade for chunk in made] == [None, 0.25, 0.5, 0.75, 1.0, None]
    assert world.cross_attention_resets == 4


def test_a_fade_ends_on_the_words_and_the_land_of_a_switch_bit_for_bit(model):
    """The picture is that of another history, as the chunks before were others; what is asked of it is the same."""
    faded, switched = (fading(model, chunks).open(SCENE, 3, 0) for chunks in (10, 0))
    walked(faded, 11, {1: [prompt(STORM)]})
    walked(switched, 2, {1: [prompt(STORM)]})
    a, b = faded.state.scenery, switched.state.scenery
    assert torch.equal(a.text_rows, b.text_rows)
    assert a.blend.at(a.blend.share).equal(b.blend.at(b.blend.share))


EVENTS = {1: [prompt(FOREST)], 2: [mixed(FOREST, STORM, 0.5)], 4: [prompt(STORM)]}


def test_the_same_events_fade_to_the_same_bytes(model):
    first, again = (frames(walked(fading(model, 4).open(SCENE, 3, 0), 6, EVENTS)) for _ in range(2))
    assert np.array_equal(first, again)


@pytest.mark.parametrize("after", [2, 3])
def test_a_world_restored_in_the_middle_of_a_fade_continues_bit_for_bit(model, tmp_path, after):
    model = fading(model, 4)
    world = model.open(SCENE, 3, 0)
    walked(world, after, EVENTS)
    world.save(tmp_path / "state")
    again = model.restore(SCENE, 3, 0, tmp_path / "state")
    assert (again.prompt, again.mix) == (world.prompt, world.mix)
    assert np.array_equal(frames(walked(again, 3, EVENTS)), frames(walked(world, 3, EVENTS)))


def test_a_moment_in_the_middle_of_a_fade_is_gone_back_to_bit_for_bit(model):
    world = fading(model, 4).open(SCENE, 3, 0)
    walked(world, 3, EVENTS)
    moment = world.keep()
    first = frames(walked(world, 3, EVENTS))
    moment.go_back()
    assert np.array_equal(frames(walked(world, 3, EVENTS)), first)


@pytest.mark.parametrize(("share", "alone"), [(0.0, FOREST), (1.0, STORM)])
def test_a_mix_at_either_end_is_the_one_prompt_alone_bit_for_bit(model, share, alone):
    mix = frames(walked(model.open(SCENE, 3, 0), 4, {1: [mixed(FOREST, STORM, share)]}))
    assert np.array_equal(mix, frames(walked(model.open(SCENE, 3, 0), 4, {1: [prompt(alone)]})))


def test_a_mix_lies_between_its_two_prompts_in_the_land_too(model):
    world = model.open(SCENE, 3, 0)
    made = walked(world, 2, {1: [mixed(FOREST, STORM, 0.25)]})
    mix = world.state.scenery.blend.target
    ends = []
    for text in (FOREST, STORM):
        alone = model.open(SCENE, 3, 0)
        walked(alone, 2, {1: [prompt(text)]})
        ends.append(alone.state.scenery.blend.target)
    assert mix == pytest.approx([0.75 * a + 0.25 * b for a, b in zip(*ends, strict=True)])
    assert made[-1].prompt == f"{FOREST} 75% + {STORM} 25%"
    assert world.mix == PromptMix(FOREST, STORM, 0.25)


def test_a_slider_that_is_moved_to_and_fro_asks_no_more_than_one_that_was_put_there(model):
    """ "More fog" is more than the world before it, not more than at the step before."""
    moved, put = (model.open(SCENE, 3, 0) for _ in range(2))
    steps = {
        1: [prompt("more fog")],
        2: [mixed("more fog", "darker", 0.3)],
        3: [mixed("more fog", "darker", 0.9)],
        4: [mixed("more fog", "darker", 0.5)],
    }
    walked(moved, 5, steps)
    walked(put, 2, {1: [mixed("more fog", "darker", 0.5)]})
    assert moved.state.scenery.blend.target == put.state.scenery.blend.target


def test_a_mix_with_words_about_nothing_leaves_the_world_as_it_is_and_says_so(model):
    world = model.open(SCENE, 3, 0)
    before = world.state.scenery.blend
    made = walked(world, 2, {1: [mixed(FOREST, "a dragon", 0.5)]})
    assert "dragon" in made[1].notice
    assert world.state.scenery.blend == before
