"""From decoded pictures to bytes."""

import numpy as np
import pytest
import torch

from engine.frames import PixelStream, to_pixels


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


def test_frames_in_parts_are_the_frames_at_once():
    frames = torch.randn(9, 3, 4, 6)
    stream = PixelStream(9)
    for part in frames.split([1, 4, 4]):
        stream.push(part)
    assert np.array_equal(stream.collect(), to_pixels(frames))


def test_a_chunk_is_not_handed_over_before_its_last_frame():
    stream = PixelStream(4)
    stream.push(torch.zeros(3, 3, 2, 2))
    with pytest.raises(AssertionError):
        stream.collect()


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="pinned memory and streams need a CUDA device")
def test_frames_come_from_a_gpu_unchanged():
    frames = torch.randn(8, 3, 64, 64)
    stream = PixelStream(8)
    for part in frames.cuda().split(4):
        stream.push(part)
    assert np.array_equal(stream.collect(), to_pixels(frames))
