"""From decoded pictures to bytes."""

import numpy as np
import torch

from engine.frames import to_pixels


def test_values_are_rounded_and_clamped():
    values = torch.tensor([-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0])
    pixels = to_pixels(values.expand(1, 3, 1, 7))
    assert pixels[0, 0, :, 0].tolist() == [0, 0, 64, 128, 191, 255, 255]
    assert pixels.dtype == np.uint8


def test_channels_come_last_and_frames_keep_their_order():
    frames = torch.arange(2 * 3 * 4 * 5, dtype=torch.float32).reshape(2, 3, 4, 5) / 127.5 - 1
    pixels = to_pixels(frames)
    assert pixels.shape == (2, 4, 5, 3)
    assert pixels[1, 2, 3].tolist() == [60 + 20 * c + 13 for c in range(3)]


def test_the_decoders_own_tensor_is_left_alone():
    frames = torch.zeros(1, 3, 2, 2)
    to_pixels(frames)
    assert float(frames.abs().max()) == 0
