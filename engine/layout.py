"""The layout guide: what a camera sees of the map, cast column by column.

A column of the picture is one vertical plane: its samples of the land are projected, their running maximum is searched
for each pixel, and the hit is refined linearly in 1 / distance (which is exact for flat ground). Looking up and down
shifts the picture (no third vanishing point).

The guide tells layout only: no colour, no light, no weather. Everything is batched over V views.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from engine.worldmap import BIOMES, MOUNTAINS, STAR_COLUMNS, STAR_ROWS, View, WorldMap, lookup, smoothstep

GUIDE_CHANNELS = (
    "inverse_depth",
    "haze_depth",
    "sky",
    "water",
    "tree",
    "normal_x",
    "normal_y",
    "normal_z",
    "height",
    "patch_noise",
    "detail_noise",
    "tree_height",
    "tree_random",
    "elevation",
    "azimuth_cos",
    "azimuth_sin",
    "cloud_low",
    "cloud_high",
    "wave",
    "mountain_near",
    "mountain_far",
    "stars",
    "block_near",
    "block_far",
)

SUN_AZIMUTH = math.radians(35.0)
SUN = math.sin(SUN_AZIMUTH), math.cos(SUN_AZIMUTH)
_NEAR_BLOCK, _FAR_BLOCK = 1.6, 4.5
_RANK_A_METRE = 0.0137
_NEAR, _FAR, _STEPS = 0.45, 180.0, 112

_RANGES = {
    "mountain_near": (0.035, ((3, 0.016, 0.4), (7, 0.012, 1.9), (17, 0.006, 4.0))),
    "mountain_far": (0.075, ((2, 0.030, 2.2), (5, 0.022, 0.9), (11, 0.011, 5.1), (23, 0.004, 1.0))),
}


@dataclass(frozen=True, slots=True)
class Lens:
    """Picture size in pixels. The focal length follows the large models' 500 at a width of 832."""

    width_px: int
    height_px: int
    crop_left_px: int = 0
    crop_width_px: int | None = None
    """Training casts only some columns of the picture."""

    @property
    def focal_px(self) -> float:
        return 500.0 / 832.0 * self.width_px

    @property
    def columns(self) -> tuple[int, int]:
        """The first column, and the one after the last."""
        return self.crop_left_px, self.crop_left_px + (self.crop_width_px or self.width_px)


def cast(land: WorldMap, view: View, lens: Lens, names: Sequence[str] = GUIDE_CHANNELS) -> Tensor:
    """The layout guide [V, G, H, W], the G channels of ``names``, each roughly in [-1, 1]. A pure function.

    Only what is asked for is computed. In memory the channels of a pixel lie together (channels last), which the
    networks pool, shuffle and convolve up to eight times as fast.
    """
    return _Cast(land, view, lens).guide(names)


class _Cast:
    """One cast: the columns' march [V,W,S], the pixels' hits, then the channels, each [V,H,W]."""

    def __init__(self, land: WorldMap, view: View, lens: Lens) -> None:
        self.land, self.view = land, view
        self.steps = _NEAR * (_FAR / _NEAR) ** (torch.arange(_STEPS, device=view.x.device) / (_STEPS - 1))  # [S] metres
        self.geometry = (view.mix[:, : len(BIOMES)] @ land.geometry)[:, None, None]  # [V,1,1,9]
        self.eye = land.eye_height(view)[:, None, None]
        hidden = torch.zeros(len(view.x), 2, device=view.x.device) if view.hidden is None else view.hidden
        self.shift = hidden[:, 0, None, None], hidden[:, 1, None, None]
        device, f = view.x.device, lens.focal_px
        columns = (torch.arange(*lens.columns, device=device) + 0.5 - lens.width_px / 2) / f  # [W]
        rows = (lens.height_px / 2 - 0.5 - torch.arange(lens.height_px, device=device)) / f  # [H]
        sin, cos = view.yaw.sin()[:, None], view.yaw.cos()[:, None]
        self.dir_x = sin + cos * columns  # [V,W] horizontal step for one metre of depth
        self.dir_z = cos - sin * columns
        self.stretch = (1 + columns**2).sqrt()  # [W] distance for one metre of depth
        self.slope = (view.pitch.tan()[:, None] + rows)[..., None]  # [V,H,1] rise for one metre of depth
        self.rows_over_horizon = int((self.slope > 0).any(0).sum())  # in any view: below, clouds and stars are zero

    def _march(self) -> tuple[Tensor, Tensor]:
        """Depth of each pixel's hit [V,H,W] in metres (the last step where the ray leaves the land); whether it hit."""
        s = self.steps
        x = self.view.x[:, None, None] + self.dir_x[..., None] * s  # [V,W,S]
        z = self.view.z[:, None, None] + self.dir_z[..., None] * s
        ground = self.land.ground_height(x, z, self.geometry).clamp(min=0)
        bump = self.land.trees(x, z, self.geometry)[0] * _tree_fade(s * self.stretch[:, None])
        rise = (ground + bump - self.eye) / s
        top = rise.cummax(-1).values
        wanted = self.slope.mT.expand(-1, x.shape[1], -1).contiguous()  # [V,W,H]
        k = torch.searchsorted(top, wanted)
        hit = k < len(s)
        k = k.clamp(1, len(s) - 1)
        low, high = top.gather(-1, k - 1), top.gather(-1, k)
        t = ((wanted - low) / (high - low).clamp(min=1e-6)).clamp(0, 1)
        depth = 1 / torch.lerp(1 / s[k - 1], 1 / s[k], t)
        self.beyond = s[k].mT.contiguous()  # the sample that blocks the ray: where a tree's wall belongs
        return depth.mT.contiguous(), hit.mT.contiguous()

    def _ground_at(self, depth: Tensor) -> tuple[Tensor, Tensor]:
        """Where the rays are at a depth [V,H,W]: metres on the map."""
        return (
            self.view.x[:, None, None] + self.dir_x[:, None] * depth,
            self.view.z[:, None, None] + self.dir_z[:, None] * depth,
        )

    def guide(self, names: Sequence[str]) -> Tensor:
        depth, hit = self._march()
        x, z = self._ground_at(depth)
        y = self.eye + self.slope * depth
        sky = (~hit).float()
        land = 1 - sky
        distance = depth * self.stretch
        ground, rise_x, rise_z = self.land.ground_slope(x, z, self.geometry)
        length = (1 + rise_x * rise_x + rise_z * rise_z).rsqrt()
        bare = [-rise_x * length, length, -rise_z * length]
        tree, tree_height, tree_random, normal = self._trees(y - ground.clamp(min=0), land, bare, distance)
        water = land * (ground < 0).float() * (1 - tree)
        near = 1 / (1 + distance / 14.0)
        azimuth = torch.atan2(self.dir_x, self.dir_z)[:, None]  # [V,1,W]
        elevation = self.slope / self.stretch  # [V,H,W] tangent
        noise, (shift_x, shift_z) = self.land.noise, self.shift
        channels: dict[str, Callable[[], Tensor]] = {
            "inverse_depth": lambda: 2 / (1 + distance / 4) - 1,
            "haze_depth": lambda: (1 - (-distance / 40).exp()) * land + sky,
            "sky": lambda: sky,
            "water": lambda: water,
            "tree": lambda: tree,
            "normal_x": lambda: normal[0] * land,
            "normal_y": lambda: normal[1] * land,
            "normal_z": lambda: normal[2] * land,
            "height": lambda: (ground / 5).tanh() * land,
            "patch_noise": lambda: lookup(noise[:, :1], x + shift_x, z + shift_z)[0] * (0.4 + 0.6 * near) * land * 0.5,
            "detail_noise": lambda: lookup(noise[:, 1:2], x, z)[0] * near * land * 0.6,
            "tree_height": lambda: tree_height,
            "tree_random": lambda: tree_random,
            "elevation": lambda: elevation.clamp(-1, 1.2),
            "azimuth_cos": lambda: azimuth.cos().expand_as(depth),
            "azimuth_sin": lambda: azimuth.sin().expand_as(depth),
            "wave": lambda: self._waves(x, z, distance) * water,
            "cloud_low": lambda: self._clouds(azimuth, elevation, sky, low=True),
            "cloud_high": lambda: self._clouds(azimuth, elevation, sky, low=False),
            "stars": lambda: self._stars(azimuth, elevation, sky),
            "mountain_near": lambda: self._silhouette("mountain_near", azimuth, elevation) * sky,
            "mountain_far": lambda: self._silhouette("mountain_far", azimuth, elevation) * sky,
            "block_near": lambda: (
                self._blocker(_NEAR_BLOCK, x, z, y, ground + _NEAR_BLOCK * (SUN[0] * rise_x + SUN[1] * rise_z)) * land
            ),
            "block_far": lambda: self._blocker(_FAR_BLOCK, x, z, y, None) * land,
        }
        return torch.stack([channels[name]() for name in names], -1).permute(0, 3, 1, 2)

    def _trees(
        self, above: Tensor, land: Tensor, normal: list[Tensor], distance: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, list[Tensor]]:
        """Tree mask, relative height, random, and normals with the crowns' own."""
        _, full, rank, u, w = self.land.trees(*self._ground_at(self.beyond), self.geometry)
        tree = land * (above > 0.18 + 0.004 * distance).float() * (full > 0.2).float()
        height = (above / full.clamp(min=0.5)).clamp(0, 1)
        up = height * 0.9 + 0.1
        length = (u * u + w * w + up * up).clamp(min=1e-4).rsqrt()
        crown = [u * length, up * length, w * length]
        mixed = [torch.lerp(n, c, tree) for n, c in zip(normal, crown, strict=True)]
        return tree, height * tree, (((rank + self.shift[0] * _RANK_A_METRE) % 1) * 2 - 1) * tree, mixed

    def _clouds(self, azimuth: Tensor, elevation: Tensor, sky: Tensor, *, low: bool) -> Tensor:
        """One of two octaves of clouds on a plane overhead."""
        rows = self.rows_over_horizon
        elevation, seen = elevation[:, :rows], sky[:, :rows]
        up = elevation.clamp(min=0) + 0.12
        shift_x, shift_z = self.shift
        x, z = azimuth.sin() / up * 22.0 + shift_x, azimuth.cos() / up * 22.0 + shift_z
        noise = self.land.noise
        if low:
            cloud = lookup(noise[:, 2:], x + 9.0, z + 40.0)[0]
        else:
            cloud = lookup(noise[:, :1], x * 0.45 + 120.0, z * 0.45 + 11.0)[0]
        cloud = cloud * smoothstep(0.0, 0.16, elevation) * seen * 0.5
        return functional.pad(cloud, (0, 0, 0, sky.shape[1] - rows))

    def _stars(self, azimuth: Tensor, elevation: Tensor, sky: Tensor) -> Tensor:
        rows = self.rows_over_horizon
        elevation, seen = elevation[:, :rows], sky[:, :rows]
        cell = 2 * math.pi / STAR_COLUMNS
        a, e = azimuth / cell, elevation.clamp(min=0).atan() / cell
        column, row = a.floor(), e.floor()
        index = row.int().clamp(max=STAR_ROWS - 1) * STAR_COLUMNS + column.int() % STAR_COLUMNS
        shift_a, shift_e, there, light = self.land.star_cells.index_select(1, index.flatten()).view(4, *index.shape)
        away = (a - column - 0.15 - 0.7 * shift_a) ** 2 + (e - row - 0.15 - 0.7 * shift_e) ** 2
        shine = (there > 0.72).float() * (0.35 + 0.65 * light)
        stars = shine * (-away / 0.018).exp() * smoothstep(0.02, 0.25, elevation) * seen
        return functional.pad(stars, (0, 0, 0, sky.shape[1] - rows))

    def _waves(self, x: Tensor, z: Tensor, distance: Tensor) -> Tensor:
        shift_x, shift_z = self.shift
        ripple = lookup(self.land.noise[:, 1:2], x * 1.7 + shift_x, z * 0.8 + shift_z)[0]
        return ripple * 0.6 / (1 + distance / 25.0)

    def _silhouette(self, name: str, azimuth: Tensor, elevation: Tensor) -> Tensor:
        """A far range as a function of the azimuth alone: sines of whole frequencies, so that a turn closes."""
        base, waves = _RANGES[name]
        top = base + sum(amp * torch.sin(azimuth * n + phase) for n, amp, phase in waves)
        return ((top * self.geometry[..., MOUNTAINS] - elevation) * 150.0).clamp(0, 1)

    def _blocker(self, step: float, x: Tensor, z: Tensor, y: Tensor, ground: Tensor | None) -> Tensor:
        """How far the land rises over the hit, ``step`` metres towards the sun's azimuth: what shadows need.

        ``ground`` is the bare ground there where its slope tells it already.
        """
        px, pz = x + SUN[0] * step, z + SUN[1] * step
        if ground is None:
            ground = self.land.ground_height(px, pz, self.geometry)
        height = ground + self.land.trees(px, pz, self.geometry)[0]
        return ((height - y) / step).clamp(-1, 2) * 0.6


def _tree_fade(distance: Tensor) -> Tensor:
    """Trees sink near the eye, so that nobody walks into one, and far away, where the steps would miss them."""
    return smoothstep(2.0, 5.5, distance) * (1 - smoothstep(95.0, 150.0, distance))
