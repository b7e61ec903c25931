"""The land and its layout guide."""

import json
import math
from pathlib import Path

import pytest
import torch

from engine.layout import GUIDE_CHANNELS, Lens, cast
from engine.worldmap import View, WorldMap, mix_of, seed_origin

LENS = Lens(64, 48)
GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "layout.json").read_text())


@pytest.fixture(scope="module")
def land():
    return WorldMap()


def view(x=0.0, z=0.0, yaw=0.0, pitch=0.0, biome="meadow"):
    one = torch.ones(1)
    return View(one * x, one * z, one * yaw, one * pitch, mix_of(biome, "noon", "clear")[None])


def test_a_guide_has_its_channels_at_full_size(land):
    guide = cast(land, view(), LENS)
    assert guide.shape == (1, len(GUIDE_CHANNELS), 48, 64)
    assert bool(guide.isfinite().all())
    assert float(guide.abs().max()) < 4


def test_the_same_view_gives_the_same_guide_and_another_land_object_too(land):
    assert torch.equal(cast(land, view(x=12.5), LENS), cast(WorldMap(), view(x=12.5), LENS))


@pytest.mark.parametrize("scene", GOLDEN, ids=lambda scene: scene["biome"])
def test_the_networks_see_the_numbers_they_were_trained_on(land, scene):
    one = torch.tensor([scene["hidden"]])
    v = view(scene["x"], scene["z"], scene["yaw"], scene["pitch"], scene["biome"])
    guide = cast(land, View(v.x, v.z, v.yaw, v.pitch, v.mix, one), LENS)[0]
    for name, values in scene["channels"].items():
        seen = guide[GUIDE_CHANNELS.index(name), 2::9, 5::18].flatten()
        assert torch.allclose(seen, torch.tensor(values), atol=1e-5, rtol=0), name


@pytest.mark.parametrize("pitch", [-1.3, -0.6, 1.3])
def test_one_may_look_so_far_up_or_down_that_the_horizon_is_out_of_the_picture(land, pitch):
    guide = cast(land, view(pitch=pitch), LENS)
    assert bool(guide.isfinite().all())
    assert float(guide[0, GUIDE_CHANNELS.index("sky")].mean()) == float(pitch > 0)


def test_a_batch_of_views_equals_each_view_alone(land):
    views = [view(x=3.0), view(z=-80.0, yaw=1.0, biome="forest"), view(pitch=0.2, biome="islands")]
    names = ("x", "z", "yaw", "pitch", "mix")
    together = View(*(torch.cat([getattr(v, n) for v in views]) for n in names))
    for row, alone in zip(cast(land, together, LENS), views, strict=True):
        assert torch.allclose(row, cast(land, alone, LENS)[0], atol=2e-3)


def test_a_full_turn_shows_the_same_layout(land):
    first, turned = cast(land, view(yaw=0.3), LENS), cast(land, view(yaw=0.3 + 2 * math.pi), LENS)
    assert float((first - turned).abs().mean()) < 2e-3


def test_looking_up_shows_more_sky(land):
    sky = GUIDE_CHANNELS.index("sky")
    shares = [float(cast(land, view(pitch=p), LENS)[0, sky].mean()) for p in (-0.4, 0.0, 0.4)]
    assert shares[0] < shares[1] < shares[2]


def test_turning_right_moves_the_picture_left(land):
    """The right half of the first view is the left half of a view turned by half the field of view."""
    lens = Lens(192, 32)
    azimuth = GUIDE_CHANNELS.index("azimuth_sin")
    ahead, right = (cast(land, view(yaw=y), lens)[0, azimuth] for y in (0.0, 0.2))
    assert float(right[0, 96]) > float(ahead[0, 96])


def test_a_crop_is_a_part_of_the_whole_picture(land):
    whole = cast(land, view(), LENS)
    part = cast(land, view(), Lens(64, 48, 16, 32))
    assert torch.allclose(part, whole[..., 16:48], atol=1e-5)


def test_seeds_choose_places_far_apart():
    places = {seed_origin(seed) for seed in range(50)}
    assert len(places) == 50
    assert seed_origin(3) == seed_origin(3)


def test_the_land_does_not_repeat_with_its_noise_tile(land):
    geometry = view().mix[:, :7] @ land.geometry
    x = torch.arange(0.0, 200.0, 5.0)[None, None]
    near, beyond = (
        land.ground_height(torch.stack([x + tile, torch.zeros_like(x)]), geometry[:, None, None])
        for tile in (0.0, 256.0)
    )
    assert float((near - beyond).abs().mean()) > 0.3


def test_eyes_are_never_under_the_ground(land):
    for x in range(0, 300, 7):
        v = view(x=float(x), biome="canyon")
        geometry = v.mix[:, :7] @ land.geometry
        ground = land.ground_height(torch.stack([v.x, v.z])[..., None, None], geometry[:, None, None])
        assert float(land.eye_height(v) - ground) > 0.2


def test_the_slope_is_the_rise_of_the_ground(land):
    at = torch.rand(2, 1, 8, 8) * 400 - 200
    geometry = view(biome="canyon").mix[:, :7] @ land.geometry
    height, rise, _ = land.ground_slope(at, geometry[:, None, None])
    assert torch.allclose(height, land.ground_height(at, geometry), atol=1e-4)
    for along, step in zip(rise, 0.05 * torch.eye(2)[..., None, None, None], strict=True):
        measured = (land.ground_height(at + step, geometry) - land.ground_height(at - step, geometry)) / 0.1
        assert float((along - measured).abs().mean()) < 0.05


def test_no_sky_channel_reaches_below_the_horizon(land):
    guide = cast(land, view(pitch=0.1, biome="islands"), LENS)[0]
    rows = guide[GUIDE_CHANNELS.index("elevation")] <= 0
    for name in ("stars", "cloud_low", "cloud_high"):
        assert float(guide[GUIDE_CHANNELS.index(name)][rows].abs().max()) == 0


def test_asking_for_some_channels_gives_those_of_the_whole_guide(land):
    names = ("tree", "sky", "block_far")
    whole, some = cast(land, view(biome="forest"), LENS), cast(land, view(biome="forest"), LENS, names)
    assert torch.equal(some, whole[:, [GUIDE_CHANNELS.index(name) for name in names]])


def test_what_is_hidden_changes_only_clouds_waves_flowers_and_kinds_of_trees(land):
    shown, hidden = view(biome="islands"), torch.tensor([[40.0, 170.0]])
    other = View(shown.x, shown.z, shown.yaw, shown.pitch, shown.mix, hidden)
    change = (cast(land, shown, LENS) - cast(land, other, LENS)).abs().amax((0, 2, 3))
    changed = {name for name, amount in zip(GUIDE_CHANNELS, change, strict=True) if amount > 0}
    assert changed <= {"cloud_low", "cloud_high", "wave", "patch_noise", "tree_random"}
    assert {"cloud_low", "cloud_high", "patch_noise"} <= changed
