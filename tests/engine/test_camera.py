import math
import random

import numpy as np
import pytest
import torch

from engine.camera import (
    CameraConvention,
    CameraScale,
    CameraState,
    Intrinsics,
    advance,
    interpolate_poses,
    latent_pose_indices,
    pluecker_rays,
    poses_from_actions,
    relative_poses,
    video_poses,
)
from engine.protocol import ACTIONS, Look
from tests.engine.tiny_dit import difference, golden, golden_json

DATA, KEYS = golden("camera"), golden_json("camera")
HEIGHT, WIDTH = KEYS["size"]["height"], KEYS["size"]["width"]
SGLANG = CameraConvention.SGLANG
STILL = Look()


def assert_poses(got: np.ndarray, wanted: str) -> None:
    exact = DATA[wanted].dtype == torch.float64
    np.testing.assert_allclose(got, DATA[wanted].numpy(), rtol=0, atol=1e-12 if exact else 2e-6)


def stream(keys: list, chunk: int, convention: CameraConvention = SGLANG, looks: list[Look] | None = None) -> list:
    state, chunks = CameraState(), []
    for i in range(0, len(keys), chunk):
        look = looks[i // chunk] if looks else STILL
        state, poses = advance(state, keys[i : i + chunk], look, convention.scale, convention)
        chunks.append(poses)
    return chunks


@pytest.mark.parametrize("name", KEYS["sglang"])
def test_the_sglang_convention_as_golden(name):
    c2w = poses_from_actions(KEYS["sglang"][name]["padded_keys"], SGLANG.scale)
    assert_poses(c2w, f"sgl.{name}.c2w")
    assert_poses(relative_poses(c2w[1:]), f"sgl.{name}.rel")
    assert_poses(relative_poses(c2w[1:], normalised=False), f"sgl.{name}.rel_unnormalized")
    assert_poses(relative_poses(c2w[1:], framewise=False), f"sgl.{name}.rel_to_first")


@pytest.mark.parametrize("name", KEYS["sglang"])
def test_chunk_by_chunk_as_golden_with_its_rays(name):
    case = KEYS["sglang"][name]
    for chunk, poses in enumerate(stream(case["padded_keys"], 3)):
        if f"sgl.{name}.rel_prefix.chunk{chunk}" in DATA:
            assert_poses(poses.relative, f"sgl.{name}.rel_prefix.chunk{chunk}")
        if chunk in case["plucker_chunks"]:
            rays = pluecker_rays(poses.relative, Intrinsics.sglang(WIDTH, HEIGHT), HEIGHT, WIDTH)
            assert difference(rays, DATA[f"sgl.{name}.plucker.chunk{chunk}"]) < 2e-6


def test_rays_of_a_larger_picture_as_golden():
    poses = stream(KEYS["sglang"]["combo"]["padded_keys"], 3)[0]
    rays = pluecker_rays(poses.relative, Intrinsics.sglang(96, 64), 64, 96)[:, KEYS["plucker_64x96_channels"]]
    assert difference(rays, DATA["sgl.combo.plucker_64x96.chunk0"]) < 2e-6


@pytest.mark.parametrize("name", KEYS["lingbot_v1_actions"])
def test_the_lingbot_integrator_as_golden(name):
    c2w = poses_from_actions(KEYS["lingbot_v1_actions"][name]["keys"], CameraConvention.LINGBOT.scale)
    assert_poses(c2w, f"lbv1.{name}.c2w")


@pytest.mark.parametrize("tag", ["syn", "from_keys"])
def test_the_pose_file_pipeline_as_golden(tag):
    source = DATA[f"lb.{tag}.src_c2w"].numpy()
    indices = latent_pose_indices(len(source), 3)
    assert_poses(indices, f"lb.{tag}.tgt_indices")
    poses = interpolate_poses(source, indices)
    assert_poses(poses, f"lb.{tag}.interp_c2w")
    relative = relative_poses(poses)
    assert_poses(relative, f"lb.{tag}.rel")
    intrinsics = Intrinsics(*DATA[f"lb.{tag}.intrinsics_raw"][0].tolist()).scaled(WIDTH / 832, HEIGHT / 480)
    rays = pluecker_rays(relative, intrinsics, HEIGHT, WIDTH)
    assert difference(rays, DATA[f"lb.{tag}.plucker"]) < 2e-6


def random_keys(n: int, seed: int) -> list[list[str]]:
    choose = random.Random(seed)
    return [choose.sample(ACTIONS, choose.randrange(4)) for _ in range(n)]


@pytest.mark.parametrize("chunk", [1, 3, 4])
def test_the_sglang_stream_is_the_whole_history(chunk):
    keys = random_keys(24, chunk)
    chunks = stream(keys, chunk)
    whole = poses_from_actions(keys, SGLANG.scale)[1:]
    np.testing.assert_allclose(np.concatenate([c.absolute for c in chunks]), whole, rtol=0, atol=1e-12)
    for i, poses in enumerate(chunks):
        so_far = relative_poses(whole[: (i + 1) * chunk])
        np.testing.assert_allclose(poses.relative, so_far[-chunk:], rtol=0, atol=1e-9)


def test_the_lingbot_stream_is_every_fourth_pose_of_the_video():
    keys = random_keys(9, 5)
    chunks = stream(keys, 3, CameraConvention.LINGBOT)
    video = [held for latent in keys[1:] for held in [latent] * 4]
    whole = poses_from_actions(video, CameraConvention.LINGBOT.scale)[::4]
    np.testing.assert_allclose(np.concatenate([c.absolute for c in chunks]), whole, rtol=0, atol=1e-12)


def test_the_first_action_after_the_opening_chunk_is_not_swallowed():
    opening, first = stream([[], ["w"]], 1)
    assert np.array_equal(opening.relative[0], np.eye(4))
    np.testing.assert_allclose(first.relative[0, :3, 3], [0, 0, 1], atol=1e-9)


def test_a_look_without_keys_is_spread_evenly_over_the_chunk():
    _, poses = advance(CameraState(started=True), [[]] * 3, Look(9.0, -6.0), SGLANG.scale)
    for i, pose in enumerate(poses.absolute):
        expected = CameraState(yaw_degrees=3.0 * (i + 1), pitch_degrees=-2.0 * (i + 1)).c2w()
        np.testing.assert_allclose(pose, expected, atol=1e-12)
    assert not poses.relative[:, :3, 3].any()


def test_a_look_is_added_to_key_turns_and_stops_at_the_pitch_limit_where_a_key_is_dropped():
    scale = CameraScale(pitch_limit_degrees=30.0)
    state, _ = advance(CameraState(), [["l", "i"]], Look(1.5, 100.0), scale)
    assert (state.yaw_degrees, state.pitch_degrees) == (7.5, 30.0)
    state, _ = advance(state, [["i"]], STILL, scale)
    assert state.pitch_degrees == 30.0
    state, _ = advance(CameraState(pitch_degrees=28.0), [["i"]], STILL, scale)
    assert state.pitch_degrees == 28.0


def test_yaw_right_and_pitch_up_turn_the_forward_axis_that_way():
    forward = CameraState(yaw_degrees=30.0, pitch_degrees=20.0).c2w()[:3, 2]
    assert forward[0] > 0
    assert forward[1] < 0


def test_translations_of_rounding_size_are_not_blown_up():
    tiny = CameraScale(move_step=1e-9)
    _, poses = advance(CameraState(started=True), [["w"]] * 3, STILL, tiny)
    assert not poses.relative[:, :3, 3].any()


def test_a_still_chunk_after_a_walk_has_no_translation_and_keeps_the_longest():
    state, _ = advance(CameraState(started=True), [["w", "d"]], STILL, SGLANG.scale)
    longest = state.longest_translation
    state, poses = advance(state, [[]], STILL, SGLANG.scale)
    assert np.array_equal(poses.relative[0], np.eye(4))
    assert state.longest_translation == longest == pytest.approx(0.05 * math.sqrt(2), abs=1e-6)


def test_a_world_may_begin_anywhere():
    start = CameraState(x=5.0, z=-3.0, yaw_degrees=90.0)
    _, poses = advance(start, [["w"]], STILL, CameraScale(move_step=0.6))
    np.testing.assert_allclose(poses.previous[:3, 3], [5.0, 0.0, -3.0])
    np.testing.assert_allclose(poses.absolute[0, :3, 3], [5.6, 0.0, -3.0], atol=1e-5)


def test_video_poses_turn_the_short_way_and_end_at_the_latent_frame():
    old = CameraState(x=1.0, yaw_degrees=178.0, pitch_degrees=-4.0).c2w()
    new = CameraState(x=2.0, yaw_degrees=-174.0, pitch_degrees=4.0).c2w()
    poses = video_poses(old, new, 4)
    np.testing.assert_allclose(poses[1], CameraState(x=1.5, yaw_degrees=182.0).c2w(), atol=1e-12)
    np.testing.assert_allclose(poses[3], new, atol=1e-12)


def test_after_a_long_walk_the_pose_is_still_a_rotation():
    state = CameraState()
    for _ in range(2000):
        state, poses = advance(state, [["w", "l"]], Look(0.37, 0.0), SGLANG.scale)
    rotation = poses.absolute[0, :3, :3]
    np.testing.assert_allclose(rotation @ rotation.T, np.eye(3), atol=1e-12)


REACTOR = CameraConvention.REACTOR


def test_six_degrees_of_freedom_move_along_the_cameras_own_axes() -> None:
    state, _ = advance(CameraState(), [["i"], ["w"]], STILL, REACTOR.scale, REACTOR)
    ahead, step = state.c2w()[:3, 2], REACTOR.scale.move_step
    assert ahead[1] == pytest.approx(-math.sin(math.radians(11.25)))  # up, with y pointing down
    np.testing.assert_allclose([state.x, state.y, state.z], step * ahead, atol=1e-15)


def test_six_degrees_of_freedom_are_the_product_of_the_steps_even_over_the_top() -> None:
    state, expected = CameraState(), np.eye(3)
    for held in [["i", "l"], ["i"], ["j"], ["i", "w"]] * 9:
        state, poses = advance(state, [held], STILL, REACTOR.scale, REACTOR)
        turn = CameraState(
            yaw_degrees=11.25
            * (("l" in held) - ("j" in held))
            / (math.sqrt(2) if len(set(held) & {*"ijkl"}) > 1 else 1),
            pitch_degrees=11.25 * ("i" in held) / (math.sqrt(2) if len(set(held) & {*"ijkl"}) > 1 else 1),
        )
        expected = expected @ turn.c2w()[:3, :3]
        np.testing.assert_allclose(poses.absolute[0, :3, :3], expected, atol=1e-12)


def test_straight_up_keeps_the_rotation() -> None:
    state, poses = advance(CameraState(yaw_degrees=30.0), [[]], Look(0.0, 90.0), REACTOR.scale, REACTOR)
    np.testing.assert_allclose(poses.absolute[0], CameraState(yaw_degrees=30.0, pitch_degrees=90.0).c2w(), atol=1e-9)
    assert state.roll_degrees == 0.0


def test_a_chunks_own_longest_translation_is_the_unit_where_lengths_are_not_remembered() -> None:
    fast = CameraScale(move_step=1.0)
    state, _ = advance(CameraState(started=True), [["w"]] * 3, STILL, fast, REACTOR)
    _, poses = advance(state, [[], ["w"], ["w", "d"]], STILL, CameraScale(move_step=0.1), REACTOR)
    np.testing.assert_allclose(np.linalg.norm(poses.relative[:, :3, 3], axis=1), [0.0, 1.0, 1.0], atol=1e-12)
    _, poses = advance(state, [[]] * 3, STILL, fast, REACTOR)
    assert np.array_equal(poses.relative, np.stack([np.eye(4)] * 3))


@pytest.mark.parametrize("convention", list(CameraConvention))
def test_the_cost_and_the_state_of_a_chunk_do_not_grow_with_the_walk(convention: CameraConvention) -> None:
    state = CameraState()
    for keys in random_keys(300, 2):
        state, poses = advance(state, [keys] * 3, Look(3.0, -1.0), convention.scale, convention)
    assert np.isfinite(poses.absolute).all()
    longest = np.linalg.norm(poses.relative[:, :3, 3], axis=1).max()
    assert longest <= 1 + 1e-12


@pytest.mark.parametrize("convention", list(CameraConvention))
def test_what_comes_later_changes_no_pose_before(convention: CameraConvention) -> None:
    keys = random_keys(12, 8)
    chunks, other = stream(keys, 3, convention), stream(keys[:6] + random_keys(6, 9), 3, convention)
    for a, b in zip(chunks[:2], other[:2], strict=True):
        assert np.array_equal(a.relative, b.relative)


def test_each_convention_brings_its_lens() -> None:
    assert SGLANG.intrinsics(832, 464) == Intrinsics(500.0, 500.0, 416.0, 232.0)
    assert CameraConvention.LINGBOT.intrinsics(416, 480) == Intrinsics(251.5, 503.0, 208.0, 240.0)
