"""The numbers for pictures, on pictures whose numbers are known."""

import numpy as np
import pytest

from engine.training.measures import agreement, colour_shift, flicker, psnr_db, sharpness


def noise(seed, shape=(2, 8, 8, 3), low=0, high=256):
    return np.random.default_rng(seed).integers(low, high, shape, dtype=np.uint8)


def test_psnr_counts_only_the_pixels_of_the_mask():
    true = np.full((1, 4, 4, 3), 100, np.uint8)
    made = true.copy()
    made[0, 0, 0] = 110
    mask = np.ones((1, 4, 4), bool)
    assert psnr_db(made, true, mask) == pytest.approx(20 * np.log10(255 / 10) + 10 * np.log10(16))
    mask[0, 0, 0] = False
    assert psnr_db(made, true, mask) > 100


def test_blur_lowers_the_sharpness():
    frames = noise(1, (1, 32, 32, 3))
    blurred = (frames.astype(int) + np.roll(frames, 1, 1) + np.roll(frames, 1, 2)) // 3
    assert sharpness(blurred.astype(np.uint8)) < 0.6 * sharpness(frames)


def test_a_colour_shift_is_the_largest_of_the_three():
    true = np.full((2, 4, 4, 3), 100, np.uint8)
    assert colour_shift(true + np.array([0, 51, 5], np.uint8), true) == pytest.approx(0.2)


def test_a_standing_picture_does_not_flicker():
    frame = noise(2, (1, 8, 8, 3))
    assert flicker(np.repeat(frame, 5, 0)) == 0
    assert flicker(np.concatenate([frame * 0, frame * 0 + 51])) == pytest.approx(0.2)


def test_agreement_is_one_for_the_truth_and_none_for_the_mean_of_other_worlds():
    true, others = noise(3, (8, 8, 3), 0, 100), [noise(s, (8, 8, 3), 100, 200) for s in (4, 5)]
    mean = np.stack(others).mean(0).round().astype(np.uint8)
    halfway = ((true.astype(int) + mean) // 2).astype(np.uint8)
    assert agreement(true, true, others) == pytest.approx(1)
    assert agreement(mean, true, others) == pytest.approx(0, abs=0.01)
    assert agreement(halfway, true, others) == pytest.approx(0.5, abs=0.02)


def test_faults_that_hide_nothing_do_not_count_as_forgetting():
    true, others = noise(6, (64, 64, 3), 0, 100), [noise(s, (64, 64, 3), 100, 200) for s in (7, 8)]
    spoiled = np.clip(true.astype(int) + noise(9, (64, 64, 3), 0, 40) - 20, 0, 255).astype(np.uint8)
    assert agreement(spoiled, true, others) == pytest.approx(1, abs=0.03)
