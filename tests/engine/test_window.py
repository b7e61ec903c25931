import pytest

from engine.window import (
    KVWindow,
    MotionState,
    StreamShape,
    WindowPolicy,
    choose,
    effective_cache_latent_frames,
    is_moving,
)
from tests.engine.tiny_dit import golden_json

V1 = StreamShape(chunk_latent_frames=3, window_latent_frames=18, sink_latent_frames=9)
ON = WindowPolicy(interactive=True)


def modes(policy: WindowPolicy, moves: list[bool | None], shape: StreamShape = V1) -> list[KVWindow]:
    state, windows = MotionState(), []
    for moving in moves:
        state, window = choose(policy, shape, state, moving)
        windows.append(window)
    return windows


@pytest.mark.parametrize("case", golden_json("kv_cache")["interactive_window_state_machine"])
def test_recent_windows_follow_motion_as_golden(case):
    policy = WindowPolicy(case["enabled"], case["moving_window"], case["still_window"], case["still_chunks"])
    shape = StreamShape(case["chunk_frames"], case["cache_frames"], case["sink_frames"])
    moves = [is_moving(policy, actions, 0.0, 0.0) for actions in case["actions_per_chunk"]]
    assert [window.recent_latent_frames for window in modes(policy, moves, shape)] == case["recent_window_frames"]
    assert effective_cache_latent_frames(policy, shape) == case["effective_cache_frames"]


def test_off_is_the_plain_window_whatever_happens():
    assert modes(WindowPolicy(), [None, True, False, False]) == [KVWindow("full", None)] * 4
    assert effective_cache_latent_frames(WindowPolicy(), V1) == 18


def test_the_first_moving_chunk_brings_the_wide_window_back():
    found = modes(ON, [True, False, False, False, True, False])
    assert [window.mode for window in found] == ["moving", "moving", "still", "still", "moving", "moving"]
    assert [window.recent_latent_frames for window in found] == [12, 12, 3, 3, 12, 12]


def test_a_chunk_without_camera_input_takes_the_models_own_window():
    assert modes(ON, [None]) == [KVWindow("base", 6)]


def test_negative_windows_mean_none_of_the_past():
    policy = WindowPolicy(interactive=True, moving_latent_frames=-4, still_latent_frames=-1)
    assert [window.recent_latent_frames for window in modes(policy, [True, False, False])] == [0, 0, 0]


def test_a_window_in_frames_is_a_window_in_tokens():
    assert KVWindow("still", 3).recent_tokens(84) == 252
    assert KVWindow("full", None).recent_tokens(84) is None


@pytest.mark.parametrize(
    ("actions", "yaw", "pitch", "moving"),
    [
        (None, 0.0, 0.0, None),
        ([[], []], 0.0, 0.0, False),
        ([[], ["w"]], 0.0, 0.0, True),
        (None, -0.2, 0.0, True),
        ([[]], 0.0, 0.06, True),
        ([[]], 0.05, -0.05, False),
        (None, 0.01, 0.0, None),
    ],
)
def test_keys_and_looks_above_the_threshold_are_motion(actions, yaw, pitch, moving):
    assert is_moving(ON, actions, yaw, pitch) is moving


@pytest.mark.parametrize(("moving", "still", "within"), [(12, 3, (3, 1)), (2, 0, (2, 0)), (None, None, (None, None))])
def test_a_policy_within_a_models_windows_looks_back_no_further(moving, still, within):
    policy = WindowPolicy(True, moving, still).within(3, 1)
    assert (policy.moving_latent_frames, policy.still_latent_frames) == within
