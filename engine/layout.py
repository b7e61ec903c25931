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

    def finer(self, factor: int) -> Lens:
        """The same view in ``factor`` times as many pixels each way."""
        crop = None if self.crop_width_px is None else self.crop_width_px * factor
        return Lens(self.width_px * factor, self.height_px * factor, self.crop_left_px * factor, crop)


def cast(land: WorldMap, view: View, lens: Lens, names: Sequence[str] = GUIDE_CHANNELS) -> Tensor:
    """The layout guide [V, G, H, W], the G channels of ``names``, each roughly in [-1, 1]. A pure function.

    Only what is asked for is computed. In memory the channels of a pixel lie together (channels last), which the
    networks pool, shuffle and convolve up to eight times as fast.
    """
    rays = _Rays.of(land, view, lens)
    planes = torch.empty(len(names), *rays.size, device=view.x.device)
    _Cast(land, rays).draw(names, planes)
    return planes.flatten(1).t().contiguous().view(*rays.size, len(names)).permute(0, 3, 1, 2)


@dataclass(frozen=True, slots=True)
class _Rays:
    """The rays of V views, and what the map is like around their eyes."""

    place: Tensor  # [2,V,1,1] metres: x, z
    eye: Tensor  # [V,1,1] metres over the water
    geometry: Tensor  # [V,1,1,9]
    hidden: Tensor  # [2,V,1,1] metres
    way: Tensor  # [2,V,1,W] metres along x and z for one metre of depth
    azimuth: Tensor  # [V,1,W] radians
    slope: Tensor  # [V,H,1] rise for one metre of depth
    stretch: Tensor  # [W] distance for one metre of depth
    steps: Tensor  # [S] metres of depth
    tree_fade: Tensor  # [W,S]

    @classmethod
    def of(cls, land: WorldMap, view: View, lens: Lens) -> _Rays:
        device, f = view.x.device, lens.focal_px
        columns = (torch.arange(*lens.columns, device=device) + 0.5 - lens.width_px / 2) / f  # [W]
        rows = (lens.height_px / 2 - 0.5 - torch.arange(lens.height_px, device=device)) / f  # [H]
        sin, cos = view.yaw.sin()[:, None, None], view.yaw.cos()[:, None, None]
        way = torch.stack([sin + cos * columns, cos - sin * columns])
        hidden = torch.zeros(len(view.x), 2, device=device) if view.hidden is None else view.hidden
        steps = _NEAR * (_FAR / _NEAR) ** (torch.arange(_STEPS, device=device) / (_STEPS - 1))
        stretch = (1 + columns**2).sqrt()
        return cls(
            place=torch.stack([view.x, view.z])[..., None, None],
            eye=land.eye_height(view)[:, None, None],
            geometry=(view.mix[:, : len(BIOMES)] @ land.geometry)[:, None, None],
            hidden=hidden.t()[..., None, None],
            way=way,
            azimuth=torch.atan2(way[0], way[1]),
            slope=(view.pitch.tan()[:, None] + rows)[..., None],
            stretch=stretch,
            steps=steps,
            tree_fade=_tree_fade(steps * stretch[:, None]),
        )

    @property
    def size(self) -> tuple[int, int, int]:
        """V, H, W."""
        return self.slope.shape[0], self.slope.shape[1], self.way.shape[-1]

    def ground_at(self, depth: Tensor) -> Tensor:
        """Where the rays are at a depth [V,H,W]: metres on the map [2,V,H,W]."""
        return (self.way * depth).add_(self.place)


class _Cast:
    """One cast: the columns' march [V,W,S], the pixels' hits [V,H,W], then the channels.

    Rows of sky alone are left out of what only the land shows, and rows of land alone of what only the sky shows.
    """

    def __init__(self, land: WorldMap, rays: _Rays) -> None:
        self.land, self.rays = land, rays
        top = self._march()
        skyline = top[..., -1:]  # [V,W,1]
        all_sky = (rays.slope > skyline.amax(1, keepdim=True)).all(0)  # [H,1]
        any_sky = (rays.slope > skyline.amin(1, keepdim=True)).any(0)
        rising = (rays.slope > 0).any(0)
        # Never empty: where there is nothing to see, a row is masked.
        self.land_rows = slice(min(int(all_sky.sum()), len(all_sky) - 1), None)
        self.sky_rows = slice(0, max(int(any_sky.sum()), 1))
        self.cloud_rows = slice(0, max(int((any_sky & rising).sum()), 1))  # clouds and stars end at the horizon
        self._find_hits(top)
        self.elevation = rays.slope / rays.stretch  # [V,H,W] tangent

    def _march(self) -> Tensor:
        """The steepest rise [V,W,S] from the eye to the land of each column, up to each step."""
        rays = self.rays
        at = (rays.way.mT * rays.steps).add_(rays.place)  # [2,V,W,S]
        ground = self.land.ground_height(at, rays.geometry).clamp_(min=0)
        ground.add_(self.land.tree_bump(at, rays.geometry).mul_(rays.tree_fade))
        return ground.sub_(rays.eye).div_(rays.steps).cummax(-1).values

    def _find_hits(self, top: Tensor) -> None:
        """Where each pixel's ray meets the land."""
        rays, steps = self.rays, self.rays.steps
        wanted = rays.slope.mT.expand(-1, top.shape[1], -1).contiguous()  # [V,W,H]
        k = torch.searchsorted(top, wanted)
        self.seen = _take(functional.pad(torch.ones_like(steps), (0, 1)), k.mT)  # [V,H,W] 1 land, 0 sky
        last = k.clamp_(1, len(steps) - 1) - 1
        low, high = top.gather(-1, last), top.gather(-1, k)
        t = wanted.sub_(low).div_(high.sub_(low).clamp_(min=1e-6)).clamp_(0, 1)
        depth = _take(1 / steps, last).lerp_(_take(1 / steps, k), t).reciprocal_()
        self.depth = depth.mT.contiguous()  # [V,H,W] metres: the last step's where the ray leaves the land
        self.distance = self.depth * rays.stretch
        self.beyond = _take(steps, k.mT[:, self.land_rows])  # the step that blocks the ray: where a tree's wall belongs

    def draw(self, names: Sequence[str], planes: Tensor) -> None:
        """Draw the channels ``names`` into the planes [G,V,H,W]."""
        everywhere, on_land, in_sky = self._everywhere(), self._on_land(), self._in_sky()
        land, sky = self.seen[:, self.land_rows], 1 - self.seen
        for name, plane in zip(names, planes, strict=True):
            if name in everywhere:
                plane.copy_(everywhere[name]())
            elif name in on_land:
                torch.mul(on_land[name](), land, out=plane[:, self.land_rows])
                plane[:, : self.land_rows.start].zero_()
            else:
                rows, channel = in_sky[name]
                torch.mul(channel(), sky[:, rows], out=plane[:, rows])
                plane[:, rows.stop :].zero_()

    def _everywhere(self) -> dict[str, Callable[[], Tensor]]:
        seen, distance = self.seen, self.distance
        return {
            "inverse_depth": lambda: (distance / 4).add_(1).reciprocal_().mul_(2).sub_(1),
            "haze_depth": lambda: (distance / -40).exp_().neg_().add_(1).mul_(seen).add_(1 - seen),
            "sky": lambda: 1 - seen,
            "elevation": lambda: self.elevation.clamp(-1, 1.2),
            "azimuth_cos": self.rays.azimuth.cos,
            "azimuth_sin": self.rays.azimuth.sin,
        }

    def _on_land(self) -> dict[str, Callable[[], Tensor]]:
        """What the land shows in its rows, not yet masked where a pixel is sky."""
        rays, rows = self.rays, self.land_rows
        depth, distance = self.depth[:, rows], self.distance[:, rows]
        at = rays.ground_at(depth)
        y = (rays.slope[:, rows] * depth).add_(rays.eye)
        ground, rise, detail = self.land.ground_slope(at, rays.geometry)
        tree, tree_height, normal = self._trees(y - ground.clamp(min=0), rise, distance)
        water = ground.clone().lt_(0).mul_(1 - tree)
        near = (distance / 14.0).add_(1).reciprocal_()
        sunwards = rise[0].mul_(SUN[0]).add_(rise[1].mul_(SUN[1])).mul_(_NEAR_BLOCK).add_(ground)
        return {
            "water": lambda: water,
            "tree": lambda: tree,
            "normal_x": lambda: normal[0],
            "normal_y": lambda: normal[1],
            "normal_z": lambda: normal[2],
            "height": lambda: (ground / 5).tanh_(),
            "patch_noise": lambda: self._patches(at).mul_(near * 0.6 + 0.4).mul_(0.5),
            "detail_noise": lambda: (detail * near).mul_(0.6),
            "tree_height": lambda: tree_height,
            "tree_random": lambda: self._tree_random().mul_(tree),
            "wave": lambda: self._waves(at, distance).mul_(water),
            "block_near": lambda: self._blocker(_NEAR_BLOCK, at, y, sunwards),
            "block_far": lambda: self._blocker(_FAR_BLOCK, at, y, None),
        }

    def _in_sky(self) -> dict[str, tuple[slice, Callable[[], Tensor]]]:
        """What the sky shows, not yet masked where a pixel is land, and the rows where it shows it."""
        return {
            "cloud_low": (self.cloud_rows, self._low_clouds),
            "cloud_high": (self.cloud_rows, self._high_clouds),
            "stars": (self.cloud_rows, self._stars),
            "mountain_near": (self.sky_rows, lambda: self._silhouette("mountain_near")),
            "mountain_far": (self.sky_rows, lambda: self._silhouette("mountain_far")),
        }

    def _trees(self, above: Tensor, rise: Tensor, distance: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Tree mask, relative height, and normals [3,V,H,W] of the ground and of the crowns; works in ``above``."""
        full, off = self.land.trees(self.rays.ground_at(self.beyond), self.rays.geometry)
        tree = (distance * 0.004).add_(0.18).lt_(above)
        height = above.div_(full.clamp(min=0.5)).clamp_(0, 1)
        tree.mul_(full.gt_(0.2))
        squares = rise * rise
        bare = torch.stack([-rise[0], torch.ones_like(height), -rise[1]])
        bare.mul_(squares[0].add_(1).add_(squares[1]).rsqrt_())
        crown = torch.stack([off[0], (height * 0.9).add_(0.1), off[1]])
        squares = crown * crown
        crown.mul_(squares[0].add_(squares[2]).add_(squares[1]).clamp_(min=1e-4).rsqrt_())
        return tree, height.mul_(tree), bare.lerp_(crown, tree)

    def _tree_random(self) -> Tensor:
        rank = self.land.tree_rank(self.rays.ground_at(self.beyond))
        return rank.add_(self.rays.hidden[0] * _RANK_A_METRE).remainder_(1).mul_(2).sub_(1)

    def _patches(self, at: Tensor) -> Tensor:
        return lookup(self.land.noise[:, :1], at + self.rays.hidden)[0]

    def _waves(self, at: Tensor, distance: Tensor) -> Tensor:
        stretched = torch.stack([at[0] * 1.7, at[1] * 0.8]).add_(self.rays.hidden)
        return lookup(self.land.noise[:, 1:2], stretched)[0] * 0.6 / (1 + distance / 25.0)

    def _overhead(self) -> Tensor:
        """Where the rays meet a plane overhead: metres [2,V,rows,W]."""
        up = self.elevation[:, self.cloud_rows].clamp(min=0).add_(0.12)
        azimuth = self.rays.azimuth
        return (torch.stack([azimuth.sin(), azimuth.cos()]) / up).mul_(22.0).add_(self.rays.hidden)

    def _low_clouds(self) -> Tensor:
        at = self._overhead()
        at[0].add_(9.0)
        at[1].add_(40.0)
        return self._clouds(lookup(self.land.noise[:, 2:], at)[0])

    def _high_clouds(self) -> Tensor:
        at = self._overhead().mul_(0.45)
        at[0].add_(120.0)
        at[1].add_(11.0)
        return self._clouds(lookup(self.land.noise[:, :1], at)[0])

    def _clouds(self, noise: Tensor) -> Tensor:
        return noise.mul_(smoothstep(0.0, 0.16, self.elevation[:, self.cloud_rows])).mul_(0.5)

    def _stars(self) -> Tensor:
        elevation = self.elevation[:, self.cloud_rows]
        cell = 2 * math.pi / STAR_COLUMNS
        a, e = self.rays.azimuth / cell, elevation.clamp(min=0).atan_().div_(cell)
        column, row = a.floor(), e.floor()
        index = row.int().clamp_(max=STAR_ROWS - 1).mul_(STAR_COLUMNS).add_(column.int() % STAR_COLUMNS)
        shift_a, shift_e, there, light = self.land.star_cells.index_select(1, index.flatten()).view(4, *index.shape)
        off_a, off_e = a - column - 0.15 - shift_a.mul_(0.7), e.sub_(row).sub_(0.15).sub_(shift_e.mul_(0.7))
        away = off_a.mul_(off_a).add_(off_e.mul_(off_e))  # squared
        shine: Tensor = there.gt_(0.72).mul_(light.mul_(0.65).add_(0.35))
        return shine.mul_(away.div_(-0.018).exp_()).mul_(smoothstep(0.02, 0.25, elevation))

    def _silhouette(self, name: str) -> Tensor:
        """A far range as a function of the azimuth alone: sines of whole frequencies, so that a turn closes."""
        base, waves = _RANGES[name]
        top = base + sum(amp * torch.sin(self.rays.azimuth * n + phase) for n, amp, phase in waves)
        return (top * self.rays.geometry[..., MOUNTAINS] - self.elevation[:, self.sky_rows]).mul_(150.0).clamp_(0, 1)

    def _blocker(self, step: float, at: Tensor, y: Tensor, ground: Tensor | None) -> Tensor:
        """How far the land rises over the hit, ``step`` metres towards the sun's azimuth: what shadows need.

        ``ground`` is the bare ground there where its slope tells it already.
        """
        at = at + torch.tensor([SUN[0] * step, SUN[1] * step], device=at.device)[:, None, None, None]
        if ground is None:
            ground = self.land.ground_height(at, self.rays.geometry)
        height = self.land.tree_bump(at, self.rays.geometry).add_(ground)
        return height.sub_(y).div_(step).clamp_(-1, 2).mul_(0.6)


def _take(table: Tensor, index: Tensor) -> Tensor:
    """The numbers of a table [N] at each index; faster than ``table[index]`` by four."""
    return table.index_select(0, index.flatten()).view(index.shape)


def _tree_fade(distance: Tensor) -> Tensor:
    """Trees sink near the eye, so that nobody walks into one, and far away, where the steps would miss them."""
    return smoothstep(2.0, 5.5, distance) * (1 - smoothstep(95.0, 150.0, distance))
