"""Worlds on the shipped bundled model: whole steps, from events to frames."""

import hashlib
import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch

from engine.bundled import CONFIG, MODEL_FOLDER, BundledConfig
from engine.bundled_world import BundledWorldModel, load_bundled
from engine.config import CameraConfig, DeviceConfig, EngineConfig
from engine.errors import BadValue, FileProblem, MissingModelValue
from engine.protocol import EventAccepted, EventRejected, SceneSpec
from engine.window import WindowPolicy

SCENE = SceneSpec("test", "a green meadow at noon under a clear sky", map_seed=5)


@pytest.fixture(scope="module")
def model():
    return load_bundled(EngineConfig(device=DeviceConfig(threads=1)), lambda stage, fraction: None, lambda line: None)


@pytest.fixture(scope="module")
def interactive(model):
    policy = WindowPolicy(interactive=True, moving_latent_frames=3, still_latent_frames=1, still_chunks=2)
    return BundledWorldModel(model.model, EngineConfig(window=policy), model.card)


def keys(*names):
    return {
        "input_types": ["camera_actions"],
        "camera_actions": {"mode": "state", "transitions": [{"actions": [*names]}]},
    }


def prompt(text, event_id=1):
    return {"event_id": event_id, "input_types": ["prompt"], "prompt": text}


def walked(world, chunks, events=None):
    out = []
    for number in range(chunks):
        for wire in (events or {}).get(number, ()):
            world.apply(wire, None, 0.0)
        out.append(world.step().frames)
    return np.concatenate(out)


EVENTS = {1: [keys("w", "l")], 3: [prompt("a snowy night")], 5: [keys()]}


def test_the_first_chunk_is_one_frame_and_every_later_one_four(model):
    world, size = model.open(SCENE, 1, 0), (model.card.height, model.card.width, 3)
    assert [world.step().frames.shape for _ in range(3)] == [(1, *size), (4, *size), (4, *size)]


def test_the_same_seed_and_events_give_the_same_bytes(model):
    first, again = (walked(model.open(SCENE, 3, 0), 7, EVENTS) for _ in range(2))
    assert hashlib.sha256(first).digest() == hashlib.sha256(again).digest()


def test_two_worlds_that_take_turns_are_each_what_they_are_alone(model, interactive):
    alone = walked(model.open(SCENE, 3, 0), 6, EVENTS)
    a, b = model.open(SCENE, 3, 0), interactive.open(SCENE, 9, 1)
    mixed = []
    for number in range(6):
        for wire in EVENTS.get(number, ()):
            a.apply(wire, None, 0.0)
            b.apply(wire, None, 0.0)
        mixed.append(a.step().frames)
        b.step()
    assert np.array_equal(np.concatenate(mixed), alone)


@pytest.mark.parametrize("pictured", [False, True])
def test_a_restored_world_continues_bit_for_bit(model, tmp_path, pictured):
    image = np.full((model.card.height, model.card.width, 3), (150, 190, 120), np.uint8) if pictured else None
    scene = replace(SCENE, image=image)
    world = model.open(scene, 3, 0)
    walked(world, 4, EVENTS)
    world.apply(keys("s"), None, 0.0)  # still waiting when the snapshot is taken
    world.save(tmp_path / "state")
    restored = model.restore(scene, 3, 0, tmp_path / "state")
    assert (restored.state.scenery.look is not None) == pictured
    assert np.array_equal(walked(restored, 4), walked(world, 4))


def test_a_damaged_snapshot_is_refused_with_a_sentence(model, tmp_path):
    (tmp_path / "state").write_bytes(b"nonsense")
    with pytest.raises(FileProblem, match="snapshot"):
        model.restore(SCENE, 3, 0, tmp_path / "state")


def test_a_new_prompt_is_encoded_once_and_resets_only_the_cross_attention(model):
    world = model.open(SCENE, 3, 0)
    walked(world, 3)
    remembered, encoded = world.state.cache.global_end, world.text_encodes
    world.apply(prompt("a snowstorm at night"), None, 0.0)
    chunk = world.step()
    assert chunk.prompt_updated
    assert chunk.prompt == "a snowstorm at night"
    assert (world.text_encodes, world.cross_attention_resets) == (encoded + 1, 1)
    assert world.state.cache.global_end == remembered + world.geometry.tokens_per_chunk
    world.apply(prompt("a snowstorm at night"), None, 0.0)
    world.step()
    assert (world.text_encodes, world.cross_attention_resets) == (encoded + 1, 1)


def test_a_prompt_changes_the_picture_and_leaves_the_place(model):
    changed, same = (model.open(SCENE, 3, 0) for _ in range(2))
    changed.apply(prompt("a snowy landscape at night"), None, 0.0)
    a, b = (walked(w, 8)[-1].astype(float) for w in (changed, same))
    assert np.abs(a - b).mean() > 20
    assert np.array_equal(changed.state.shown, same.state.shown)


def test_words_about_nothing_leave_the_world_as_it_is(model):
    world = model.open(SCENE, 3, 0)
    before = world.state.scenery.blend.target
    rows = world.state.scenery.text_rows
    world.apply(prompt("a dragon"), None, 0.0)
    told = [world.step().notice for _ in range(3)]
    assert [notice is not None for notice in told] == [False, True, False]
    assert "a dragon" in told[1]
    assert world.state.scenery.blend.target == before
    assert world.state.scenery.text_rows is rows
    world.apply(prompt("snow"), None, 0.0)
    assert world.step().notice is None


def test_a_bad_event_changes_nothing_at_all(model):
    world, untouched = model.open(SCENE, 3, 0), model.open(SCENE, 3, 0)
    bad = {"event_id": 4, "input_types": ["prompt", "look"], "prompt": "night", "look": {"yaw_degrees": float("nan")}}
    report = world.apply(bad, None, 0.0)
    assert isinstance(report, EventRejected)
    assert (report.event_id, report.path) == (4, "look.yaw_degrees")
    assert np.array_equal(walked(world, 3), walked(untouched, 3))


def test_keys_and_look_move_the_camera_as_far_as_the_model_says(model):
    world = model.open(SCENE, 3, 0)
    walked(world, 1)
    wire = keys("w") | {"input_types": ["camera_actions", "look"], "look": {"yaw_degrees": 30.0}}
    assert isinstance(world.apply(wire, None, 0.0), EventAccepted)
    pose = np.array(world.step().pose).reshape(4, 4)
    assert pose[0, 2] == pytest.approx(np.sin(np.radians(30)), abs=1e-6)
    assert np.linalg.norm(pose[:3, 3]) == pytest.approx(world.model.camera.scale.move_step, abs=1e-6)


def test_an_action_in_the_opening_chunk_is_not_lost(model):
    world = model.open(SCENE, 3, 0)
    world.apply(keys("w"), None, 0.0)
    walked(world, 2)
    assert world.state.shown[2, 3] == pytest.approx(2 * world.model.camera.scale.move_step, abs=1e-5)


def test_the_window_follows_motion_when_it_is_on_and_is_full_when_it_is_off(model, interactive):
    def modes(opened):
        events = {1: keys("w"), 2: keys(), 6: {"input_types": ["look"], "look": {"yaw_degrees": 5.0}}}
        out = []
        for number in range(7):
            if number in events:
                opened.apply(events[number], None, 0.0)
            out.append(opened.step().window)
        return out

    assert {w.mode for w in modes(model.open(SCENE, 3, 0))} == {"full"}
    seen = modes(interactive.open(SCENE, 3, 0))
    assert [w.mode for w in seen] == ["base", "moving", "moving", "still", "still", "still", "moving"]
    assert seen[4].visible_latent_frames == 3  # sink, one recent, the chunk
    assert seen[6].visible_latent_frames == 5  # memory is back at once


def test_with_the_window_off_nothing_differs_from_a_policy_that_never_applies(model):
    never = BundledWorldModel(
        model.model, EngineConfig(window=WindowPolicy(interactive=False, still_chunks=1)), model.card
    )
    assert np.array_equal(walked(model.open(SCENE, 3, 0), 4, EVENTS), walked(never.open(SCENE, 3, 0), 4, EVENTS))


def test_another_seed_is_another_dream_of_the_same_place(model):
    a, b = (walked(model.open(SCENE, seed, 0), 3).astype(float) for seed in (1, 2))
    assert 0 < np.abs(a - b).mean() < 40


def test_a_picture_of_ones_own_is_said_to_be_only_a_look(model):
    size = (model.card.height, model.card.width, 3)
    image = np.full(size, (200, 120, 80), np.uint8)
    world = model.open(SceneSpec("own", SCENE.prompt, image=image, own_image=True, map_seed=5), 1, 0)
    assert "picture" in (world.notice or "")
    assert model.open(SCENE, 1, 0).notice is None
    assert walked(world, 2).shape == (5, *size)


def test_a_model_configuration_without_a_value_names_it(tmp_path):
    values = json.loads((MODEL_FOLDER / CONFIG).read_text())
    del values["stream"]["sink_latent_frames"]
    (tmp_path / CONFIG).write_text(json.dumps(values))
    with pytest.raises(MissingModelValue, match=r"stream\.sink_latent_frames"):
        BundledConfig.read(tmp_path / CONFIG)


def test_a_damaged_tokenizer_names_the_file(tmp_path):
    for name in (CONFIG, "model.safetensors"):
        shutil.copy(MODEL_FOLDER / name, tmp_path / name)
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(FileProblem, match="tokenizer"):
        load_bundled(EngineConfig(model=str(tmp_path)), lambda s, f: None, lambda line: None)


def test_no_gradient_is_kept_between_chunks(model):
    world = model.open(SCENE, 1, 0)
    walked(world, 2)
    assert not world.state.cache.keys.requires_grad
    assert torch.is_grad_enabled()


def test_six_degrees_of_freedom_are_refused_by_a_model_whose_land_is_level(model):
    config = EngineConfig(camera=CameraConfig("reactor"))
    with pytest.raises(BadValue, match=r"engine\.camera\.convention: got reactor, expected sglang or lingbot"):
        BundledWorldModel(model.model, config, model.card)


def test_standing_still_is_one_picture_a_chunk_and_moving_is_four(model):
    world = model.open(SCENE, 3, 0)
    world.step()
    still = world.step().frames
    world.apply(keys("l"), None, 0.0)
    turning = world.step().frames
    assert all(np.array_equal(frame, still[0]) for frame in still)
    assert not np.array_equal(turning[0], turning[3])


def test_a_prompt_change_fades_from_frame_to_frame_even_while_standing(model):
    world = model.open(SCENE, 3, 0)
    walked(world, 2)
    world.apply(prompt("a snowy night"), None, 0.0)
    fading = world.step().frames.astype(int)
    assert all(np.abs(fading[i + 1] - fading[i]).mean() > 0.5 for i in range(3))


def test_a_world_that_went_back_goes_on_bit_for_bit_as_often_as_one_likes(model):
    world, alone = model.open(SCENE, 3, 0), walked(model.open(SCENE, 3, 0), 16, EVENTS)
    walked(world, 4, EVENTS)
    world.apply(keys("s"), None, 0.0)  # still waiting when the moment is kept
    moment = world.keep()
    first = walked(world, 9, {2: [prompt("a desert at noon")]})  # far enough for the memory to have moved on
    for _ in range(2):
        moment.go_back()
        assert np.array_equal(walked(world, 9, {2: [prompt("a desert at noon")]}), first)
    moment.go_back()
    assert (moment.chunk, world.state.chunk, world.prompt) == (3, 4, "a snowy night")
    plain = model.open(SCENE, 3, 0)
    walked(plain, 4, EVENTS)
    early = plain.keep()
    walked(plain, 6, {0: [keys("d")]})
    early.go_back()
    rest = {number - 4: events for number, events in EVENTS.items() if number >= 4}
    assert np.array_equal(walked(plain, 12, rest), alone[-48:])


def test_a_moment_counts_the_rows_in_use_and_shares_what_stays(model):
    world = model.open(SCENE, 3, 0)
    walked(world, 1)
    first = world.keep()
    walked(world, 1)
    second = world.keep()
    shared = set(first.parts) & set(second.parts)
    assert sum(first.parts[part] for part in shared) == sum(t.nbytes for t in world.state.scenery.tensors().values())
    assert (
        sum(second.parts.values())
        == world.moment_bytes
        == 2 * world.state.cache.used_bytes // 2 + sum(first.parts[part] for part in shared)
    )
    assert sum(first.parts.values()) < world.moment_bytes


def visible(world, chunks, events=None):
    """Latent frames that each chunk saw, its own among them."""
    out = []
    for number in range(chunks):
        for wire in (events or {}).get(number, ()):
            world.apply(wire, None, 0.0)
        out.append(world.step().window.visible_latent_frames)
    return out


def test_memory_begins_anew_once_a_prompt_has_made_another_land(model):
    seen = visible(model.open(SCENE, 1, 0), 12, {2: [prompt("red canyon")]})
    begun = seen.index(1, 1)
    assert begun > 3, "the change itself is remembered"
    assert seen[:begun] == sorted(seen[:begun])
    assert seen[begun : begun + 3] == [1, 2, 3]


def test_other_weather_and_another_hour_leave_memory_as_it_is(model):
    seen = visible(model.open(SCENE, 1, 0), 10, {2: [prompt("thick fog at night")]})
    assert seen.count(1) == 1
