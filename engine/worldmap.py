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
        hx, hz = _gradient(hills)
        rx, rz = _gradient(ridges)
        self.ground = _tile([hills, ridges, hx, hz, rx, rz]).to(device)
        self.ground_march = _tile([hills, ridges]).to(device)
        self.noise = _tile([patch, detail, clouds]).to(device)
        self.geometry = _GEOMETRY.to(device)
        # A tree is picked, ranked, sized and shifted (x, z) in its cell; a star is placed (azimuth, elevation) and lit.
        self.tree_cells = torch.rand(5, _CELLS * _CELLS, generator=generator).to(device)
        self.star_cells = torch.rand(4, STAR_ROWS * STAR_COLUMNS, generator=generator).to(device)

    def ground_height(self, x: Tensor, z: Tensor, geometry: Tensor) -> Tensor:
        """Height of the bare ground over the water in metres; ``geometry`` broadcasts as [..., 9]."""
        a = lookup(self.ground_march, x, z)
        b = lookup(self.ground_march, *_second_layer(x, z))
        hills = _HILL_LAYERS[0] * a[0] + _HILL_LAYERS[1] * b[0]
        ridges = _RIDGE_LAYERS[0] * a[1] + _RIDGE_LAYERS[1] * b[1]
        return _height(geometry, hills, ridges, _mesa(hills))

    def ground_slope(self, x: Tensor, z: Tensor, geometry: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Height of the bare ground in metres, and its rise for a metre along x and along z."""
        a = lookup(self.ground, x, z)
        b = lookup(self.ground, *_second_layer(x, z))
        c, s = _SECOND_COS, _SECOND_SIN
        (h0, h1), (r0, r1), g = _HILL_LAYERS, _RIDGE_LAYERS, geometry
        hills, ridges = h0 * a[0] + h1 * b[0], r0 * a[1] + r1 * b[1]
        wall = _mesa(hills)
        slope = g[..., _HILLS] + g[..., _MESAS] * 0.5 * _MESA_STEEPNESS * (1 - wall * wall)
        dx = slope * (h0 * a[2] + h1 * (c * b[2] + s * b[3])) + g[..., _RIDGES] * (
            r0 * a[4] + r1 * (c * b[4] + s * b[5])
        )
        dz = slope * (h0 * a[3] + h1 * (c * b[3] - s * b[2])) + g[..., _RIDGES] * (
            r0 * a[5] + r1 * (c * b[5] - s * b[4])
        )
        return _height(g, hills, ridges, wall), dx, dz

    def eye_height(self, view: View) -> Tensor:
        """Height of the eyes [V] in metres: over the ground, or over the water where it is deep."""
        geometry = view.mix[:, : len(BIOMES)] @ self.geometry
        offsets = torch.tensor([[0.0, 0.0], [1.5, 0.0], [-1.5, 0.0], [0.0, 1.5], [0.0, -1.5]], device=view.x.device)
        x, z = (view.x[:, None] + offsets[:, 0])[:, None], (view.z[:, None] + offsets[:, 1])[:, None]
        return self.ground_height(x, z, geometry[:, None, None]).mean((1, 2)).clamp(min=-0.3) + EYE_METRES

    def trees(self, x: Tensor, z: Tensor, geometry: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        """The tree of the cell at (x, z): bump height there (metres), full height, random, and offsets / radius."""
        cells = torch.stack([x, z]) * (1 / _CELL_METRES)
        whole = cells.floor()
        in_x, in_z = (cells - whole) * _CELL_METRES
        column, row = whole.int() & (_CELLS - 1)
        cell = self.tree_cells.index_select(1, (row * _CELLS + column).flatten())
        pick, rank, size, shift_x, shift_z = cell.view(5, *x.shape)
        size = 0.65 + 0.7 * size
        radius = (geometry[..., _TREE_RADIUS] * (0.75 + 0.4 * size)).clamp(max=0.47 * _CELL_METRES)
        room = _CELL_METRES - 2 * radius
        dx, dz = in_x - radius - room * shift_x, in_z - radius - room * shift_z
        u, w = dx / radius, dz / radius
        r2 = (u * u + w * w).clamp(max=1.0)
        cone = geometry[..., _CONE]
        profile = (1 - cone) * (1 - r2 * r2).sqrt() + cone * (1 - r2.sqrt())
        stands = ((geometry[..., _TREES] - pick) * 40.0).clamp(0, 1)  # grows and shrinks while a prompt blends
        full = geometry[..., _TREE_HEIGHT] * size * stands
        return full * profile, full, rank, u, w


def _second_layer(x: Tensor, z: Tensor) -> tuple[Tensor, Tensor]:
    """Where the second layer of noise is looked up: turned, coarser and shifted, so that the sum does not repeat."""
    return _SECOND_COS * x - _SECOND_SIN * z + 71.3, _SECOND_SIN * x + _SECOND_COS * z - 33.7


def _mesa(hills: Tensor) -> Tensor:
    """Plateaus and gorges in [-1, 1] with smooth steep walls."""
    return torch.tanh(_MESA_STEEPNESS * (hills - 0.1))


def _height(geometry: Tensor, hills: Tensor, ridges: Tensor, mesa: Tensor) -> Tensor:
    g = geometry
    return g[..., _BASE] + g[..., _HILLS] * hills + g[..., _RIDGES] * ridges + g[..., _MESAS] * (mesa + 0.6) * 0.5


def _tile(channels: list[Tensor]) -> Tensor:
    """A sampling texture [1, C, tile + 2, tile + 2]: the periodic fields with a border of one wrapped texel."""
    return functional.pad(torch.stack(channels)[None], (1, 1, 1, 1), mode="circular").contiguous()


def lookup(texture: Tensor, x: Tensor, z: Tensor) -> Tensor:
    """Bilinear sample of a wrapping tile at metres x, z [V, W, K]: [C, V, W, K]."""
    grid = torch.stack([x, z], -1).mul_(1 / _TILE_METRES)
    grid.sub_(grid.floor()).mul_(2 * _TILE / (_TILE + 2)).add_(3 / (_TILE + 2) - 1)
    flat = grid.reshape(1, -1, grid.shape[-2], 2)
    sampled = functional.grid_sample(texture, flat, mode="bilinear", padding_mode="border", align_corners=False)
    return sampled.reshape(-1, *x.shape)
