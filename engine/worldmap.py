"""The bundled world's map: an infinite, seeded land of hills, water and trees.

The land is made of two periodic noise tiles that are laid over each other turned and at scales without a common
measure, so their sum does not repeat; a seed chooses the place in it. Trees stand one to a
cell of a grid, chosen and shifted by a table that wraps after 1.6 km, and are bumps of the height field. ``layout``
casts what a camera sees of it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

BIOMES = ("meadow", "forest", "desert", "snow", "canyon", "islands", "autumn")
TIMES = ("dawn", "noon", "dusk", "night")
WEATHERS = ("clear", "cloudy", "fog", "storm")
MIX_SIZE = len(BIOMES) + len(TIMES) + len(WEATHERS)

# One row a biome: hills, ridges, mesas (metres), base (metres over the water), trees (share of cells), tree height and
# radius (metres), cone (0 round, 1 pointed), far mountains (share of full height).
_GEOMETRY = torch.tensor(
    [
        [3.2, 0.6, 0.0, 1.9, 0.16, 4.6, 2.1, 0.0, 0.55],  # meadow
        [3.6, 1.2, 0.0, 2.6, 0.62, 8.5, 2.0, 0.9, 0.75],  # forest
        [2.6, 4.6, 0.0, 4.0, 0.035, 2.6, 1.4, 0.15, 0.35],  # desert
        [4.6, 2.4, 0.0, 3.6, 0.22, 6.8, 1.9, 1.0, 1.0],  # snow
        [1.6, 0.8, 9.0, 3.4, 0.05, 2.8, 1.5, 0.2, 0.6],  # canyon
        [5.4, 0.6, 0.0, -1.2, 0.20, 5.2, 1.9, 0.1, 0.3],  # islands
        [3.4, 1.0, 0.0, 2.0, 0.40, 6.0, 2.3, 0.1, 0.65],  # autumn
    ]
)
_HILLS, _RIDGES, _MESAS, _BASE, _TREES, _TREE_HEIGHT, _TREE_RADIUS, _CONE, MOUNTAINS = range(9)

EYE_METRES = 1.75
_TILE_METRES = 256.0
_TILE = 512
_CELL_METRES = 6.4
_CELLS = 256
STAR_COLUMNS, STAR_ROWS = 112, 32  # cells around the whole sky, and from the horizon almost to the zenith
_MESA_STEEPNESS = 5.0
_HILL_LAYERS, _RIDGE_LAYERS = (0.72, 0.55), (0.65, 0.45)
_SECOND_COS, _SECOND_SIN = 0.6157 * math.cos(0.7), 0.6157 * math.sin(0.7)


@dataclass(frozen=True, slots=True)
class View:
    """V cameras: metres on the map, radians; ``mix`` [V, 15] are the weights of biomes, times and weathers.

    ``hidden`` [V, 2] metres: where clouds, waves, flower patches and the kinds of trees are read from, which the land
    does not tell; None reads them in place.
    """

    x: Tensor  # [V]
    z: Tensor
    yaw: Tensor
    pitch: Tensor
    mix: Tensor
    hidden: Tensor | None = None

    def is_one(self) -> bool:
        """Whether all cameras are the same."""
        parts = (self.x, self.z, self.yaw, self.pitch, self.mix, self.hidden)
        return all(part is None or torch.equal(part, part[:1].expand_as(part)) for part in parts)

    def first(self) -> View:
        """The first camera alone."""
        hidden = None if self.hidden is None else self.hidden[:1]
        return View(self.x[:1], self.z[:1], self.yaw[:1], self.pitch[:1], self.mix[:1], hidden)


def mix_of(biome: str, time: str, weather: str) -> Tensor:
    """The pure mix [15] of one biome, time of day and weather."""
    mix = torch.zeros(MIX_SIZE)
    mix[BIOMES.index(biome)] = 1.0
    mix[len(BIOMES) + TIMES.index(time)] = 1.0
    mix[len(BIOMES) + len(TIMES) + WEATHERS.index(weather)] = 1.0
    return mix


def seed_origin(seed: int) -> tuple[float, float]:
    """The place in the land, in metres, where a map seed begins."""
    generator = torch.Generator().manual_seed(seed & 0x7FFFFFFF)
    x, z = (torch.rand(2, generator=generator, dtype=torch.float64) * 16000.0 - 8000.0).tolist()
    return x, z


def _noise(generator: torch.Generator, size: int, shortest: float, longest: float, slope: float) -> Tensor:
    """Periodic Gaussian noise [size, size] of unit variance with wavelengths (metres) in the given band."""
    white = torch.randn(size, size, generator=generator)
    f = torch.fft.fftfreq(size, d=_TILE_METRES / size)
    radius = (f[:, None] ** 2 + f[None, :] ** 2).sqrt()
    band = (radius >= 1.0 / longest) & (radius <= 1.0 / shortest)
    spectrum = torch.where(band, radius.clamp(min=1e-9) ** -slope, torch.zeros(()))
    field = torch.fft.ifft2(torch.fft.fft2(white) * spectrum).real
    out: Tensor = field / field.std()
    return out


def _gradient(field: Tensor) -> tuple[Tensor, Tensor]:
    step = _TILE_METRES / field.shape[0]
    d_row = (field.roll(-1, 0) - field.roll(1, 0)) / (2 * step)
    d_col = (field.roll(-1, 1) - field.roll(1, 1)) / (2 * step)
    return d_col, d_row


def smoothstep(low: float, high: float, x: Tensor) -> Tensor:
    t = ((x - low) / (high - low)).clamp(0, 1)
    return t * t * (3 - 2 * t)


class WorldMap:
    """The land. Its noise tiles are the same for every seed (made in 0.1 s); ``cast`` is a pure function."""

    def __init__(self, device: torch.device | str = "cpu") -> None:
        generator = torch.Generator().manual_seed(20)
        hills = _noise(generator, _TILE, 28.0, 150.0, 1.9)
        folds = _noise(generator, _TILE, 20.0, 70.0, 1.4)
        ridges = 1.0 - (folds**2 + 0.02).sqrt()
        patch = _noise(generator, _TILE, 3.5, 22.0, 1.1)
        detail = _noise(generator, _TILE, 1.1, 4.0, 0.6)
        clouds = _noise(generator, _TILE, 14.0, 128.0, 1.7)
        # A value and its rise along x and z, of hills and of ridges; the detail is looked up with the first layer.
        self.ground = _tile([hills, *_gradient(hills), ridges, *_gradient(ridges), detail]).to(device)
        self.noise = _tile([patch, detail, clouds]).to(device)
        self.geometry = _GEOMETRY.to(device)
        # A tree is picked, ranked, sized and shifted (x, z) in its cell; a star is placed (azimuth, elevation) and lit.
        trees = torch.rand(5, _CELLS * _CELLS, generator=generator).to(device)
        self.tree_cells, self.tree_ranks = trees[[0, 2, 3, 4]], trees[1]
        self.star_cells = torch.rand(4, STAR_ROWS * STAR_COLUMNS, generator=generator).to(device)

    def ground_height(self, at: Tensor, geometry: Tensor) -> Tensor:
        """Height of the bare ground over the water in metres at x, z ``at`` [2, ...]; ``geometry`` is [..., 9]."""
        values = self.ground[:, :6:3]
        first, second = lookup(values, at), lookup(values, _second_layer(at))
        hills = first[0].mul_(_HILL_LAYERS[0]).add_(second[0].mul_(_HILL_LAYERS[1]))
        ridges = first[1].mul_(_RIDGE_LAYERS[0]).add_(second[1].mul_(_RIDGE_LAYERS[1]))
        return _height(geometry, hills, ridges, _mesa(hills))

    def ground_slope(self, at: Tensor, geometry: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Height of the bare ground in metres, its rise [2, ...] for a metre along x and z, and the detail's noise."""
        first, second = lookup(self.ground, at), lookup(self.ground[:, :6], _second_layer(at))
        hills = _layered(first[:3], second[:3], _HILL_LAYERS)
        ridges = _layered(first[3:6], second[3:], _RIDGE_LAYERS)
        wall = _mesa(hills[0])
        steep = (wall * wall).neg_().add_(1).mul_(geometry[..., _MESAS] * 0.5 * _MESA_STEEPNESS)
        steep.add_(geometry[..., _HILLS])
        rise = hills[1:].mul_(steep).add_(ridges[1:].mul_(geometry[..., _RIDGES]))
        return _height(geometry, hills[0], ridges[0], wall), rise, first[6]

    def eye_height(self, view: View) -> Tensor:
        """Height of the eyes [V] in metres: over the ground, or over the water where it is deep."""
        geometry = view.mix[:, : len(BIOMES)] @ self.geometry
        offsets = torch.tensor([[0.0, 0.0], [1.5, 0.0], [-1.5, 0.0], [0.0, 1.5], [0.0, -1.5]], device=view.x.device)
        at = torch.stack([view.x[:, None] + offsets[:, 0], view.z[:, None] + offsets[:, 1]])[:, :, None]  # [2,V,1,5]
        return self.ground_height(at, geometry[:, None, None]).mean((1, 2)).clamp(min=-0.3) + EYE_METRES

    def trees(self, at: Tensor, geometry: Tensor) -> tuple[Tensor, Tensor]:
        """The tree of the cell at x, z ``at`` [2, ...]: full height in metres, and the way from its middle in radii."""
        index, inside = _cell(at)
        cell = self.tree_cells.index_select(1, index.flatten()).view(4, *index.shape)
        pick, size, shift = cell[0], cell[1], cell[2:]
        size.mul_(0.7).add_(0.65)
        radius = (size * 0.4).add_(0.75).mul_(geometry[..., _TREE_RADIUS]).clamp_(max=0.47 * _CELL_METRES)
        room = (radius * -2).add_(_CELL_METRES)
        off = inside.sub_(radius).sub_(shift.mul_(room)).div_(radius)
        # Grows and shrinks while a prompt blends.
        stands = pick.neg_().add_(geometry[..., _TREES]).mul_(40.0).clamp_(0, 1)
        return size.mul_(geometry[..., _TREE_HEIGHT]).mul_(stands), off

    def tree_bump(self, at: Tensor, geometry: Tensor) -> Tensor:
        """How far trees rise over the ground at x, z ``at`` [2, ...], in metres."""
        full, off = self.trees(at, geometry)
        away = off.mul_(off)[0].add_(off[1]).clamp_(max=1.0)  # squared
        cone = geometry[..., _CONE]
        pointed = away.sqrt().neg_().add_(1).mul_(cone)
        rounded = away.mul_(away).neg_().add_(1).sqrt_().mul_(1 - cone)
        return full.mul_(rounded.add_(pointed))

    def tree_rank(self, at: Tensor) -> Tensor:
        """A number in [0, 1] that tells the trees at x, z ``at`` [2, ...] apart."""
        index, _ = _cell(at)
        return self.tree_ranks.index_select(0, index.flatten()).view(index.shape)


def _cell(at: Tensor) -> tuple[Tensor, Tensor]:
    """The number of the trees' cell at x, z ``at`` [2, ...], and the metres [2, ...] from its edges."""
    cells = at * (1 / _CELL_METRES)
    whole = cells.floor()
    column, row = whole.int().bitwise_and_(_CELLS - 1)
    return row.mul_(_CELLS).add_(column), cells.sub_(whole).mul_(_CELL_METRES)


def _second_layer(at: Tensor) -> Tensor:
    """Where the second layer of noise is looked up: turned, coarser and shifted, so that the sum does not repeat."""
    turned, across = at * _SECOND_COS, at * _SECOND_SIN
    turned[0].sub_(across[1]).add_(71.3)
    turned[1].add_(across[0]).sub_(33.7)
    return turned


def _layered(first: Tensor, second: Tensor, weights: tuple[float, float]) -> Tensor:
    """The weighted sum [3, ...] of both layers' value and rise along x and z; works in both."""
    _, x, z = second
    turned_x = (_SECOND_COS * x).add_(_SECOND_SIN * z)
    z.mul_(_SECOND_COS).sub_(x.mul_(_SECOND_SIN))
    x.copy_(turned_x)
    return first.mul_(weights[0]).add_(second.mul_(weights[1]))


def _mesa(hills: Tensor) -> Tensor:
    """Plateaus and gorges in [-1, 1] with smooth steep walls."""
    return (hills - 0.1).mul_(_MESA_STEEPNESS).tanh_()


def _height(geometry: Tensor, hills: Tensor, ridges: Tensor, mesa: Tensor) -> Tensor:
    """Height in metres; works in all three."""
    g = geometry
    height = hills.mul_(g[..., _HILLS]).add_(g[..., _BASE]).add_(ridges.mul_(g[..., _RIDGES]))
    return height.add_(mesa.add_(0.6).mul_(g[..., _MESAS]).mul_(0.5))


def _tile(channels: list[Tensor]) -> Tensor:
    """A sampling texture [1, C, tile + 2, tile + 2]: the periodic fields with a border of one wrapped texel.

    The channels of a texel lie together, which makes lookups of many channels a third faster.
    """
    padded = functional.pad(torch.stack(channels)[None], (1, 1, 1, 1), mode="circular")
    return padded.contiguous(memory_format=torch.channels_last)


def lookup(texture: Tensor, at: Tensor) -> Tensor:
    """Bilinear sample of a wrapping tile at metres x, z ``at`` [2, V, W, K]: [C, V, W, K]."""
    tiles = at * (1 / _TILE_METRES)
    tiles.sub_(tiles.floor()).mul_(2 * _TILE / (_TILE + 2)).add_(3 / (_TILE + 2) - 1)
    grid = torch.view_as_real(torch.complex(tiles[0], tiles[1]))  # interleaves x and z faster than ``stack``
    texture = texture.expand(len(grid), -1, -1, -1)  # an item a view: the cores share out items
    sampled = functional.grid_sample(texture, grid, mode="bilinear", padding_mode="border", align_corners=False)
    return sampled.transpose(0, 1)
