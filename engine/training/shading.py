"""The bundled world's simulator: light, colour and weather for a layout guide.

Every palette number of biome, time and weather is a row of a table; a mix of weights blends the rows, so that any
two worlds morph. A world's own look is put on afterwards, by ``grade``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from engine.layout import GUIDE_CHANNELS, SUN_AZIMUTH, Lens, cast
from engine.worldmap import BIOMES, TIMES, View, WorldMap


def _rgb(text: str) -> list[float]:
    return [int(text[i : i + 2], 16) / 255 for i in (0, 2, 4)]


def _table(rows: list[str]) -> Tensor:
    return torch.tensor([[_rgb(c) for c in row.split()] for row in rows])


# meadow forest desert snow canyon islands autumn: grass, patches, rock, shore, tree, second tree, water (sRGB)
_BIOME_COLOURS = _table(
    [
        "7fb446 a9c455 8a8468 cdbb84 3f7d35 5f9a3c 2f7f9c",
        "4f7f3a 6b8f43 6f6c5e 8a7c58 2c6846 3f7f45 2c6a78",
        "e3bd7d edcf98 c08a56 f0dcaa 6f8448 8a9a55 3d9aa8",
        "e9eff6 d3dfee 8f97a6 cfd8e2 3c5c5c 5a7a78 3f6c8c",
        "c4704a d58a5a 9d4b33 dba172 6f7a42 8a8a4a 3d8a92",
        "86bb52 b7cc6a a59a78 f2e2b0 2f8a4a 56a552 24a7b8",
        "a8923f c9a24a 7f7360 c9b080 c4541f e09a2c 3f7488",
    ]
)
# dawn noon dusk night: zenith, horizon, glow at the sun, sunlight, ambient
_TIME_COLOURS = _table(
    [
        "7f9fd6 f6d2bd ffd9a0 ffd2a0 8f9cc0",
        "3f86dc bfe0f4 ffffff fff6e0 93a9c4",
        "514a86 f08a5c ffb45a ff9a58 7a6a8e",
        "101b46 33497e 9fb4e0 98aee0 50638f",
    ]
)
_SUN_ELEVATION = torch.tensor([0.28, 1.1, 0.16, 0.55])  # tangent
_SUN_STRENGTH = torch.tensor([0.95, 1.0, 0.9, 0.55])
_STARS = torch.tensor([0.04, 0.0, 0.10, 1.0])
# clear cloudy fog storm: cover (threshold), cloud light, haze per metre, direct light, grey, dark
_WEATHER = torch.tensor(
    [
        [-0.55, 1.00, 0.0045, 1.00, 0.00, 1.00],
        [0.25, 0.88, 0.0065, 0.60, 0.25, 0.95],
        [0.00, 0.95, 0.0340, 0.35, 0.35, 1.00],
        [0.95, 0.66, 0.0115, 0.24, 0.70, 0.92],
    ]
)


@dataclass(frozen=True, slots=True)
class _Palette:
    biome: Tensor  # [V,7,3,1,1]
    time: Tensor  # [V,5,3,1,1]
    sun: Tensor  # [V,1,1] tangent of the elevation
    strength: Tensor
    stars: Tensor
    weather: Tensor  # [V,6,1,1]
    snow: Tensor


def _palette(mix: Tensor) -> _Palette:
    b, t = len(BIOMES), len(TIMES)
    biome, time, weather = mix[:, :b], mix[:, b : b + t], mix[:, b + t :]
    device = mix.device

    def blend(weights: Tensor, table: Tensor) -> Tensor:
        return torch.einsum("vk,k...->v...", weights, table.to(device))

    return _Palette(
        biome=blend(biome, _BIOME_COLOURS)[..., None, None],
        time=blend(time, _TIME_COLOURS)[..., None, None],
        sun=blend(time, _SUN_ELEVATION)[:, None, None],
        strength=blend(time, _SUN_STRENGTH)[:, None, None],
        stars=blend(time, _STARS)[:, None, None],
        weather=blend(weather, _WEATHER)[..., None, None],
        snow=biome[:, BIOMES.index("snow")][:, None, None],
    )


def picture(land: WorldMap, view: View, lens: Lens) -> Tensor:
    """What the simulator shows of V views [V, 3, H, W] in [0, 1], without a world's look.

    A pixel is the mean of 2 x 2 rays, so edges are smooth. ``shade`` of the guide is one ray a pixel, which leaves them
    jagged, for a quarter of the work.
    """
    return functional.avg_pool2d(shade(cast(land, view, lens.finer(2)), view.mix), 2)


def shade(guide: Tensor, mix: Tensor) -> Tensor:
    """Pictures [V, 3, H, W] in [0, 1] for guides [V, 24, H, W] and mixes [V, 15], without a world's look."""
    guide = guide.contiguous()
    g = {name: guide[:, i] for i, name in enumerate(GUIDE_CHANNELS)}
    p = _palette(mix)
    sky = _sky(g, p)
    ground = _land(g, p)
    water = _water(g, p, sky)
    wet = g["water"][:, None]
    near = ground * (1 - wet) + water * wet
    depth = 4 * (2 / (g["inverse_depth"] + 1).clamp(min=1e-3) - 1)
    haze = 1 - (-(p.weather[:, 2] * depth).clamp(max=8)).exp()
    mist = _haze_colour(g, p)
    near = near + (mist - near) * haze[:, None]
    mask = g["sky"][:, None]
    picture = near * (1 - mask) + sky * mask
    grey = picture.mean(1, keepdim=True)
    grey = grey * torch.tensor([0.95, 0.99, 1.06], device=mix.device)[:, None, None]
    picture = (picture + (grey - picture) * p.weather[:, 4][:, None] * 0.6) * p.weather[:, 5][:, None]
    return picture.clamp(0, 1)


def _shoulder(colour: Tensor) -> Tensor:
    """Bright values roll off instead of clipping."""
    over = (colour - 0.7).clamp(min=0)
    return colour - over + 0.3 * (1 - (-over / 0.3).exp())


def _sun_angle(g: dict[str, Tensor], p: _Palette) -> Tensor:
    """Cosine of the angle between the ray and the sun [V,H,W]."""
    ray = (1 + g["elevation"] ** 2).rsqrt()
    sun = (1 + p.sun**2).rsqrt()
    across = g["azimuth_cos"] * math.cos(SUN_AZIMUTH) + g["azimuth_sin"] * math.sin(SUN_AZIMUTH)
    return (across * ray * sun + g["elevation"] * ray * p.sun * sun).clamp(-1, 1)


def _gradient(elevation: Tensor, p: _Palette) -> Tensor:
    height = (elevation.clamp(min=0) / 0.85).clamp(max=1) ** 0.6
    return p.time[:, 1] + (p.time[:, 0] - p.time[:, 1]) * height[:, None]


def _haze_colour(g: dict[str, Tensor], p: _Palette) -> Tensor:
    angle = ((_sun_angle(g, p) + 1) / 2) ** 6
    base = p.time[:, 1] * 0.85 + p.time[:, 4] * 0.15
    return base + (p.time[:, 2] - base) * (angle * 0.45 * p.weather[:, 3])[:, None]


def _sky(g: dict[str, Tensor], p: _Palette) -> Tensor:
    colour = _gradient(g["elevation"], p)
    cos = _sun_angle(g, p)
    direct = p.weather[:, 3]
    glow = ((cos + 1) / 2) ** 24 * 0.55 * direct
    disc = ((cos - 0.9975) * 900).clamp(0, 1) * direct
    colour = colour + p.stars[:, None] * g["stars"][:, None] * (1 - p.weather[:, 4] * 1.8).clamp(min=0)[:, None]
    colour = colour + (p.time[:, 2] - colour) * glow[:, None]
    density = (g["cloud_low"] * 1.5 + g["cloud_high"] * 0.7 + p.weather[:, 0]) * 1.5
    cover = (density.clamp(0, 1) * ((g["elevation"]) / 0.12).clamp(0, 1))[:, None] * 0.92
    lit = p.time[:, 1] * 0.5 + p.time[:, 3] * 0.5
    thick = (density - 0.7).clamp(0, 1)[:, None]
    cloud = (lit * (1 - 0.28 * thick) + p.time[:, 2] * (glow * 0.5)[:, None]) * p.weather[:, 1][:, None]
    cloud = cloud * (0.25 + 0.75 * p.strength[:, None])
    cloud = cloud + (cloud.mean(1, keepdim=True) - cloud) * p.weather[:, 4][:, None]
    colour = colour + (cloud - colour) * cover
    colour = torch.maximum(colour, (p.time[:, 2] * disc[:, None]) * (1 - cover))
    for name, share in (("mountain_far", 0.38), ("mountain_near", 0.62)):
        ridge = p.biome[:, 2] * p.time[:, 4] * 1.1
        ridge = p.time[:, 1] + (ridge - p.time[:, 1]) * share * (1 - p.weather[:, 2] * 18).clamp(min=0.1)[:, None]
        colour = colour + (ridge - colour) * g[name][:, None]
    veil = 1 - (-((p.weather[:, 2] - 0.006).clamp(min=0) * 16) / (g["elevation"].clamp(min=0) + 0.18)).exp()
    return (colour + (_haze_colour(g, p) - colour) * veil[:, None]).clamp(0, 1)


def _land(g: dict[str, Tensor], p: _Palette) -> Tensor:
    patches = (g["patch_noise"] * 1.4 + 0.5).clamp(0, 1)[:, None]
    colour = p.biome[:, 0] + (p.biome[:, 1] - p.biome[:, 0]) * patches
    shore = (1 - g["height"] * 5).clamp(0, 1)[:, None]
    colour = colour + (p.biome[:, 3] - colour) * shore
    steep = ((0.86 - g["normal_y"]) * 5).clamp(0, 1)[:, None]
    colour = colour + (p.biome[:, 2] - colour) * steep
    colour = colour * (1 + 0.13 * g["detail_noise"][:, None])
    crown = p.biome[:, 4] + (p.biome[:, 5] - p.biome[:, 4]) * (g["tree_random"] * 0.5 + 0.5)[:, None]
    crown = crown * (0.76 + 0.42 * g["tree_height"][:, None])
    crown = crown + (0.9 - crown) * (p.snow * (g["tree_height"] * 1.3 - 0.35).clamp(0, 1) * 0.75)[:, None]
    colour = colour + (crown - colour) * g["tree"][:, None]
    sun_h, sun_v = (1 + p.sun**2).rsqrt(), p.sun * (1 + p.sun**2).rsqrt()
    lambert = (g["normal_x"] * math.sin(SUN_AZIMUTH) + g["normal_z"] * math.cos(SUN_AZIMUTH)) * sun_h
    lambert = (lambert + g["normal_y"] * sun_v).clamp(0, 1)
    blocked = torch.maximum(g["block_near"], g["block_far"]) / 0.6
    shadow = 1 - 0.75 * ((blocked - p.sun) * 3.0 + 0.1).clamp(0, 1)
    direct = (lambert * shadow * p.strength * p.weather[:, 3])[:, None] * p.time[:, 3]
    ambient = p.time[:, 4] * (0.72 + 0.28 * g["normal_y"][:, None]) * (1.12 - 0.12 * p.weather[:, 3][:, None])
    return _shoulder(colour * (direct * 0.85 + ambient * 0.92))


def _water(g: dict[str, Tensor], p: _Palette, sky: Tensor) -> Tensor:
    mirrored = (-g["elevation"]).clamp(min=0) + 0.02 + 0.05 * g["wave"].abs()
    reflected = _gradient(mirrored, p)
    grazing = (1 - (-g["elevation"]).clamp(0, 0.7) / 0.7) ** 3
    share = (0.22 + 0.6 * grazing)[:, None]
    deep = p.biome[:, 6] * (p.time[:, 4] * 0.7 + p.time[:, 3] * p.strength[:, None] * 0.35)
    shallow = (1 + g["height"] * 2.2).clamp(0, 1)[:, None] * 0.45
    deep = deep + (p.biome[:, 3] * p.time[:, 4] * 1.1 - deep) * shallow
    colour = deep + (reflected - deep) * share
    ray = (1 + g["elevation"] ** 2).rsqrt()
    across = (g["azimuth_cos"] * math.cos(SUN_AZIMUTH) + g["azimuth_sin"] * math.sin(SUN_AZIMUTH)) * ray
    streak = across.clamp(0, 1) ** 60 * (0.55 + 1.2 * g["wave"]).clamp(0, 1) * p.weather[:, 3]
    colour = colour + (p.time[:, 2] - colour) * (streak * 0.7)[:, None]
    return (colour * (1 + 0.16 * g["wave"][:, None])).clamp(0, 1)
