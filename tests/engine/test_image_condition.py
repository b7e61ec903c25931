import numpy as np
import pytest
import torch

from engine.image_condition import (
    assemble_condition,
    condition_latent_frames,
    condition_slice,
    condition_video,
    encoded_video_frames,
    fit_image,
    latent_frames,
    required_video_frames,
)
from tests.engine.tiny_dit import golden_json

LAZY = golden_json("lazy_vae")
SELECTION = golden_json("kv_cache")["condition_chunk_selection"]


def test_lazy_encoding_as_golden():
    for row in LAZY["rows"]:
        case = dict(zip(LAZY["columns"], row, strict=True))
        encoded = encoded_video_frames(case["num_frames"], case["lazy_black_frames"])
        wanted = condition_latent_frames(case["num_frames"], case["chunk_frames"])
        assert encoded == case["encoded_pixel_frames"], case
        assert latent_frames(encoded) == case["encoded_latent_frames"], case
        assert wanted == case["condition_latent_frames"], case
        assert max(0, wanted - latent_frames(encoded)) == case["repeated_last_latent"], case
        assert max(0, latent_frames(encoded) - wanted) == case["dropped_latent"], case


@pytest.mark.parametrize("name", SELECTION)
def test_each_chunk_takes_its_slice_and_later_ones_the_last_as_golden(name):
    frames = int(name.split("_")[2])
    condition = torch.arange(1, frames + 1).view(1, 1, frames, 1, 1).float()
    for case in SELECTION[name]:
        got = condition_slice(condition, case["chunk_idx"], 3).flatten().tolist()
        assert got == case["frames_1based_0_is_zero_padding"]


@pytest.mark.parametrize(("asked", "chunk", "frames"), [(9, 3, 21), (45, 3, 45), (1, 4, 29), (1, 5, 37)])
def test_the_condition_always_has_a_blank_slice(asked, chunk, frames):
    assert required_video_frames(asked, chunk) == frames
    assert condition_latent_frames(frames, chunk) >= 2 * chunk


@pytest.mark.parametrize(("given", "kept"), [(2, [1, 2, 2, 2, 2, 2]), (7, [1, 2, 3, 4, 5, 6]), (6, [1, 2, 3, 4, 5, 6])])
def test_the_condition_is_mask_then_latents_with_the_last_repeated(given, kept):
    encoded = torch.arange(1.0, given + 1).view(1, 1, given, 1, 1).expand(1, 16, given, 2, 3)
    condition = assemble_condition(encoded, 6)
    assert condition.shape == (1, 20, 6, 2, 3)
    assert condition[0, :4, :, 1, 1].tolist() == [[1, 0, 0, 0, 0, 0]] * 4
    assert condition[0, 7, :, 0, 2].tolist() == kept


def test_the_condition_video_is_the_image_and_then_grey():
    video = condition_video(torch.ones(1, 3, 2, 2), 5)
    assert video[0, 0, :, 0, 0].tolist() == [1, 0, 0, 0, 0]


def test_a_picture_is_scaled_to_cover_and_cropped_about_its_centre():
    stripes = np.zeros((40, 120, 3), np.uint8)
    stripes[:, 40:80] = 255  # the middle third of a wide picture is what a square keeps
    fitted = fit_image(stripes, 16, 16)
    assert fitted.shape == (1, 3, 16, 16)
    assert torch.allclose(fitted, torch.ones_like(fitted))


def test_a_picture_of_the_right_size_keeps_every_value():
    pixels = np.random.default_rng(1).integers(0, 256, (16, 32, 3), dtype=np.uint8)
    fitted = fit_image(pixels, 32, 16)
    assert torch.allclose((fitted[0].permute(1, 2, 0) + 1) * 127.5, torch.from_numpy(pixels).float(), atol=1e-4)
