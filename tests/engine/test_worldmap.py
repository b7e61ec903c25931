"""The land and its layout guide."""

import math

import pytest
import torch

from engine.worldmap import GUIDE_CHANNELS, GUIDE_SIZE, Lens, View, WorldMap, mix_of, seed_origin

LENS = Lens(64, 48)


@pytest.fixture(scope="module")
def land():
    return WorldMap()


def view(x=0.0, z=0.0, yaw=0.0, pitch=0.0, biome="meadow"):
    one = torch.ones(1)
    return View(one * x, one * z, one * yaw, one * pitch, mix_of(biome, "noon", "clear")[None])


def test_a_guide_has_its_channels_at_full_size(land):
    guide = land.cast(view(), LENS)
    assert guide.shape == (1, GUIDE_SIZE, 48, 64)
    assert bool(guide.isfinite().all())
    assert float(guide.abs().max()) < 4


def test_the_same_view_gives_the_same_guide_and_another_land_object_too(land):
    assert torch.equal(land.cast(view(x=12.5), LENS), WorldMap().cast(view(x=12.5), LENS))


def test_a_batch_of_views_equals_each_view_alone(land):
    views = [view(x=3.0), view(z=-80.0, yaw=1.0, biome="forest"), view(pitch=0.2, biome="islands")]
    names = ("x", "z", "yaw", "pitch", "mix")
    together = View(*(torch.cat([getattr(v, n) for v in views]) for n in names))
    for row, alone in zip(land.cast(together, LENS), views, strict=True):
        assert torch.allclose(row, land.cast(alone, LENS)[0], atol=2e-3)


def test_a_full_turn_shows_the_same_layout(land):
    first, turned = land.cast(view(yaw=0.3), LENS), land.cast(view(yaw=0.3 + 2 * math.pi), LENS)
    assert float((first - turned).abs().mean()) < 2e-3


def test_looking_up_shows_more_sky(land):
    sky = GUIDE_CHANNELS.index("sky")
    shares = [float(land.cast(view(pitch=p), LENS)[0, sky].mean()) for p in (-0.4, 0.0, 0.4)]
    assert shares[0] < shares[1] < shares[2]


def test_turning_right_moves_the_picture_left(land):
    """The right half of the first view is the left half of a view turned by half the field of view."""
    lens = Lens(192, 32)
    azimuth = GUIDE_CHANNELS.index("azimuth_sin")
    ahead, right = (land.cast(view(yaw=y), lens)[0, azimuth] for y in (0.0, 0.2))
    assert float(right[0, 96]) > float(ahead[0, 96])


def test_a_crop_is_a_part_of_the_whole_picture(land):
    whole = land.cast(view(), LENS)
    part = land.cast(view(), Lens(64, 48, 16, 32))
    assert torch.allclose(part, whole[..., 16:48], atol=1e-5)


def test_seeds_choose_places_far_apart():
    places = {seed_origin(seed) for seed in range(50)}
    assert len(places) == 50
    assert seed_origin(3) == seed_origin(3)


def test_the_land_does_not_repeat_with_its_noise_tile(land):
    geometry = view().mix[:, :7] @ land.geometry
    x = torch.arange(0.0, 200.0, 5.0)[None, None]
    near = land.ground_height(x, torch.zeros_like(x), geometry[:, None, None])
    beyond = land.ground_height(x + 256.0, torch.zeros_like(x), geometry[:, None, None])
    assert float((near - beyond).abs().mean()) > 0.3


def test_eyes_are_never_under_the_ground(land):
    for x in range(0, 300, 7):
        v = view(x=float(x), biome="canyon")
        geometry = v.mix[:, :7] @ land.geometry
        ground = land.ground_height(v.x[:, None, None], v.z[:, None, None], geometry[:, None, None])
        assert float(land.eye_height(v) - ground) > 0.2
