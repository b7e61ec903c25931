"""Worlds on tiny checkpoints of the published layouts: whole steps, from events to frames."""

import sys
from dataclasses import replace

import numpy as np
import pytest
import torch

from engine import camera, sampler
from engine.camera import CameraConvention, CameraState
from engine.config import CameraConfig, DeviceConfig, EngineConfig, ImageConfig, LingBotOptions, PromptConfig
from engine.errors import BadValue, FileProblem, NeedsHardware, NeedsLibrary, WorldwalkError
from engine.lingbot.config import ScheduleSpec
from engine.lingbot.session import ImageScenery, load_lingbot, schedule_of
from engine.models.dit import ChunkContext
from engine.models.kv_cache import CacheShape, CausalKVCache, CrossAttentionCache
from engine.protocol import PromptMix, SceneSpec
from engine.window import WindowPolicy
from tests.lingbot_checkpoints import write

PICTURE = np.random.default_rng(5).integers(0, 256, (32, 48, 3), dtype=np.uint8)
SCENE = SceneSpec("test", "a forest in the snow", image=PICTURE)
FULL = WindowPolicy(interactive=False)


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))  # texts are cached there
        yield write(tmp_path_factory.mktemp("v2"), "v2-14b").path


@pytest.fixture(scope="module")
def config(checkpoint):
    return EngineConfig(
        backend="lingbot",
        model=str(checkpoint),
        device=DeviceConfig(device="cpu", dtype="float32", threads=1),
        steps=2,
        window=FULL,
        image=ImageConfig(lazy_vae_encode_black_frames=4),
        lingbot=LingBotOptions(width_px=48, height_px=32),
    )


def load(config, log=lambda line: None):
    return load_lingbot(config, lambda stage, fraction: None, log)


@pytest.fixture(scope="module")
def model(config):
    return load(config)


def keys(*names):
    return {
        "input_types": ["camera_actions"],
        "camera_actions": {"mode": "state", "transitions": [{"actions": [*names]}]},
    }


def prompt(text):
    return {"event_id": 1, "input_types": ["prompt"], "prompt": text}


EVENTS = {1: [keys("w", "l")], 2: [prompt("night")], 3: [keys()]}


def walked(world, chunks, events=EVENTS):
    out = []
    for _ in range(chunks):
        for wire in events.get(world.state.chunk, ()):
            world.apply(wire, None, 0.0)
        out.append(world.step().frames)
    return np.concatenate(out)


def test_the_first_chunk_is_nine_frames_and_every_later_one_twelve(model):
    world = model.open(SCENE, 1, 0)
    assert [world.step().frames.shape for _ in range(3)] == [(9, 32, 48, 3), (12, 32, 48, 3), (12, 32, 48, 3)]
    assert (model.card.backend, model.card.width, model.card.height) == ("lingbot", 48, 32)
    assert (model.card.latent_frames_per_chunk, model.card.fps_nominal, model.card.dtype) == (3, 16.0, "float32")


def test_a_world_is_what_its_parts_give_by_hand(model):
    """Both chunks' passes on one cache, poses and rays of the same keys, and the clip decoded as a whole."""
    session = model.open(SCENE, 4, 0)
    frames = walked(session, 2, {1: [keys("w")]})
    scenery = model.begin(SCENE, 4)
    assert isinstance(scenery, ImageScenery)
    per_frame, dit = model.geometry.tokens_per_latent_frame, model.dit
    shape = CacheShape(2, 4, 32, 18 * per_frame, 6 * per_frame)
    cache, cross = CausalKVCache(shape, dtype=torch.float32, device="cpu"), CrossAttentionCache()
    generator, walker, latents = torch.Generator().manual_seed(4), CameraState(), []
    for chunk, held in enumerate(((), ("w",))):
        walker, poses = camera.advance(walker, [held] * 3, camera.Look(), CameraConvention.SGLANG.scale)
        rays = camera.pluecker_rays(poses.relative, camera.Intrinsics.sglang(48, 32), 32, 48)
        with torch.inference_mode():
            context = ChunkContext(scenery.text_rows, dit.prepare_camera(rays), cache, cross, 3 * chunk)
            condition = scenery.condition[:, :, 3 * chunk : 3 * chunk + 3]
            draw = sampler.fresh_noise(torch.empty(1, 16, 3, 4, 6), generator)
            x0 = sampler.denoise(dit, model.schedule, context, condition=condition, noise=draw(-1), renoise=draw)
            sampler.commit(dit, model.schedule, context, condition=condition, x0=x0)
        latents.append(x0)
    whole = scenery.decoder.decode(torch.cat(latents, 2))[0].transpose(0, 1)
    expected = ((whole + 1) * 127.5).round().byte().permute(0, 2, 3, 1).numpy()
    assert np.abs(frames.astype(int) - expected).max() <= 1


def test_the_same_seed_and_events_give_the_same_bytes_and_another_seed_others(model):
    first, again, other = (walked(model.open(SCENE, seed, 0), 3) for seed in (3, 3, 4))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_two_worlds_that_take_turns_are_each_what_they_are_alone(model):
    other = replace(SCENE, prompt="the night", image=PICTURE[::-1])
    alone = walked(model.open(SCENE, 3, 0), 3), walked(model.open(other, 9, 1), 3, {})
    a, b = model.open(SCENE, 3, 0), model.open(other, 9, 1)
    mixed = [(walked(a, 1), walked(b, 1, {})) for _ in range(3)]
    for number in (0, 1):
        assert np.array_equal(np.concatenate([pair[number] for pair in mixed]), alone[number])


def test_a_restored_world_continues_bit_for_bit(model, tmp_path):
    world = model.open(SCENE, 3, 0)
    walked(world, 3)
    world.apply(keys("s"), None, 0.0)  # still waiting when the snapshot is taken
    world.save(tmp_path / "state")
    assert np.array_equal(walked(model.restore(SCENE, 3, 0, tmp_path / "state"), 2), walked(world, 2))


def test_a_snapshot_of_another_picture_size_is_refused(model, config, tmp_path):
    world = model.open(SCENE, 3, 0)
    walked(world, 1)
    world.save(tmp_path / "state")
    larger = load(replace(config, lingbot=LingBotOptions(width_px=64, height_px=32)))
    with pytest.raises(FileProblem, match="snapshot"):
        larger.restore(SCENE, 3, 0, tmp_path / "state")


def test_a_large_world_is_not_saved(model, tmp_path):
    world = replace(model, snapshot_limit_bytes=1000).open(SCENE, 3, 0)
    walked(world, 1)
    with pytest.raises(WorldwalkError, match=r"the limit 0 MB \(engine\.lingbot\.snapshot_limit_mb\)"):
        world.save(tmp_path / "state")
    assert not list(tmp_path.iterdir())


def test_a_new_prompt_is_encoded_once_and_resets_only_the_cross_attention(model):
    world, same = model.open(SCENE, 3, 0), model.open(SCENE, 3, 0)
    walked(world, 1, {})
    walked(same, 1, {})
    remembered = world.state.cache.keys.clone()
    world.apply(prompt("night"), None, 0.0)
    chunk = world.step()
    assert (chunk.prompt, chunk.prompt_updated) == ("night", True)
    assert (world.text_encodes, world.cross_attention_resets) == (2, 1)
    kept = 3 * world.geometry.tokens_per_latent_frame
    assert torch.equal(world.state.cache.keys[:, :, :kept], remembered[:, :, :kept])
    assert not np.array_equal(chunk.frames, same.step().frames)
    world.apply(prompt("night"), None, 0.0)
    assert world.step().prompt_updated
    assert (world.text_encodes, world.cross_attention_resets) == (2, 1)


def test_a_fade_moves_the_words_chunk_by_chunk_and_is_restored_in_its_middle(config, tmp_path):
    fading = load(replace(config, prompt=PromptConfig(3), steps=1))
    world = fading.open(SCENE, 3, 0)
    walked(world, 1, {})
    world.apply(prompt("night"), None, 0.0)
    assert world.step().fade == pytest.approx(1 / 3)
    world.save(tmp_path / "state")
    again = fading.restore(SCENE, 3, 0, tmp_path / "state")
    assert np.array_equal(walked(again, 3, {}), walked(world, 3, {}))
    assert (world.step().fade, world.cross_attention_resets) == (None, 3)
    assert torch.equal(world.state.scenery.text_rows, fading.begin(replace(SCENE, prompt="night"), 3).text_rows)


@pytest.mark.parametrize(("share", "alone"), [(0.0, "night"), (1.0, "a storm over the hills")])
def test_a_mix_at_either_end_is_the_one_prompt_alone(model, share, alone):
    mix = {"text": "night", "mixed_with": "a storm over the hills", "share": share}
    mixed, single = (walked(model.open(SCENE, 3, 0), 2, {1: [prompt(asked)]}) for asked in (mix, alone))
    assert np.array_equal(mixed, single)


def test_a_mix_of_texts_of_other_lengths_is_neither_of_them_and_each_is_encoded_once(model):
    scenery = model.begin(SCENE, 3)
    ends = [model.begin(replace(SCENE, prompt=text), 3).text_rows for text in ("night", "a storm over the hills")]
    for share in (0.25, 0.5):
        scenery.follow(PromptMix("night", "a storm over the hills", share))
        assert scenery.text_rows.shape[1] == max(rows.shape[1] for rows in ends)
    read = scenery._read[1]
    scenery.follow(PromptMix("night", "a storm over the hills", 0.75))
    assert all(a is b for a, b in zip(scenery._read[1], read, strict=True))


def test_the_window_follows_motion_and_its_report_says_what_was_seen(model):
    policy = WindowPolicy(interactive=True, moving_latent_frames=12, still_latent_frames=3, still_chunks=2)
    world, events = replace(model, policy=policy).open(SCENE, 3, 0), {1: keys("w"), 3: keys()}
    made = []
    for number in range(8):
        if number in events:
            world.apply(events[number], None, 0.0)
        made.append(world.step())
    assert [chunk.window.mode for chunk in made] == ["base", *["moving"] * 3, *["still"] * 4]
    assert [chunk.moving for chunk in made[:4]] == [False, True, True, False]
    assert made[-1].window.visible_latent_frames == 6 + 3 + 3
    assert world.state.cache.keys.shape[2] == 21 * world.geometry.tokens_per_latent_frame  # 6 + 12 + 3
    assert made[-1].ms.total > 0


def test_a_world_that_went_back_goes_on_bit_for_bit(model):
    world = model.open(SCENE, 3, 0)
    walked(world, 2)
    moment = world.keep()
    first = walked(world, 2)
    again = world.keep()
    moment.go_back()
    assert np.array_equal(walked(world, 2), first)
    shared = sum(moment.parts[part] for part in set(moment.parts) & set(again.parts))
    assert shared >= world.state.scenery.condition.nbytes  # the picture is the same for all of them


def test_a_walk_goes_on_past_the_end_of_the_positions_and_is_restored_there(config, tmp_path):
    options = replace(config.lingbot, position_limit_latent_frames=21)
    endless = load(replace(config, lingbot=options, steps=1))
    world = endless.open(SCENE, 3, 0)
    frames = walked(world, 9)
    assert frames.shape[0] == 9 + 8 * 12
    assert world.state.latent_frame == 21
    world.save(tmp_path / "state")
    assert np.array_equal(walked(endless.restore(SCENE, 3, 0, tmp_path / "state"), 1), walked(world, 1))


def test_a_picture_of_another_size_begins_a_world_and_a_small_one_is_said_to_be_enlarged(model):
    small = replace(SCENE, image=PICTURE[:16, :24])
    assert "24x16 pixels was enlarged to 48x32" in (model.open(small, 1, 0).notice or "")
    large = model.open(replace(SCENE, image=np.repeat(PICTURE, 3, 0)), 1, 0)
    assert large.notice is None
    assert large.step().frames.shape == (9, 32, 48, 3)


def test_a_scene_without_a_picture_is_refused(model):
    with pytest.raises(BadValue, match=r"the scene: got 'test' without a picture.*--image"):
        model.open(replace(SCENE, image=None), 1, 0)


# ---- what is loaded ----------------------------------------------------------------------------------------------


def test_the_models_schedule_and_camera_are_its_own_unless_asked_otherwise(config):
    lines: list[str] = []
    config = replace(config, steps=None)
    own = load(config, lines.append)
    assert own.schedule.timesteps == (999.0, 937.0, 833.0, 624.0)
    assert any("chunk 3, window 18, sink 6" in line and "camera as sglang" in line for line in lines)
    options = replace(config.lingbot, schedule="sglang", chunk_latent_frames=4, sink_latent_frames=2)
    asked = load(replace(config, camera=CameraConfig("reactor"), lingbot=options))
    assert asked.schedule.timesteps[1:3] == pytest.approx((937.5, 833.3333))
    assert asked.camera.convention is CameraConvention.REACTOR
    assert (asked.stream.chunk_latent_frames, asked.stream.sink_latent_frames) == (4, 2)
    assert asked.open(SCENE, 1, 0).step().frames.shape[0] == 13


@pytest.mark.parametrize("kind", ["official", "sglang"])
def test_one_list_of_steps_serves_both_constructions(kind):
    by_index, by_step = (
        schedule_of(ScheduleSpec(own, 10.0, steps), kind, None)
        for own, steps in (("official", (0, 179, 358, 679)), ("sglang", (1000, 821, 642, 321)))
    )
    assert by_index == by_step
    assert schedule_of(ScheduleSpec("official", 5.0, (0, 1)), kind, 4) == schedule_of(
        ScheduleSpec("sglang", 5.0, (1000, 750, 500, 250)), kind, None
    )


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"width_px": 100, "height_px": 32}, r"engine\.lingbot\.width_px: got 100, expected a multiple of 16"),
        ({"position_limit_latent_frames": 20}, r"position_limit_latent_frames: got 20, expected 21 or more"),
        ({"sink_latent_frames": 17}, "a window that holds sink and chunk"),
    ],
)
def test_what_cannot_work_is_refused_with_a_sentence(config, changes, sentence):
    with pytest.raises(BadValue, match=sentence):
        load(replace(config, lingbot=replace(config.lingbot, **changes)))


def test_without_a_model_the_sentence_says_how_to_get_one(config):
    with pytest.raises(BadValue, match=r"engine\.model: got nothing, .*--model PATH; 'python main\.py models'"):
        load(replace(config, model=None))


def test_without_the_libraries_the_sentence_says_what_to_install(config, monkeypatch):
    monkeypatch.setitem(sys.modules, "diffusers.models.autoencoders.autoencoder_kl_wan", None)
    with pytest.raises(NeedsLibrary, match=r'python -m pip install -e "\.\[lingbot\]"'):
        load(config)


def test_a_model_that_does_not_fit_is_refused_before_it_is_read(config, monkeypatch):
    monkeypatch.setattr("engine.lingbot.room.memory_mb", lambda: (512.0, 100.0))
    with pytest.raises(NeedsHardware, match=r"LingBot-World v2 14B needs .* of main memory .* 105 MB are free"):
        load(config)
