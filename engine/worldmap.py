"""The bundled world's map: an infinite, seeded land, and the layout guide that is cast from it.

The land is made of two periodic noise tiles that are laid over each other turned and at scales without a common
measure, so their sum does not repeat; a seed chooses the place in it. Trees stand one to a cell of a jittered grid,
chosen by an integer hash, and are bumps of the height field. A column of the picture is one vertical plane: its
samples of the land are projected, their running maximum is searched for each pixel, and the hit is refined linearly
in 1 / distance (which is exact for flat ground). Looking up and down shifts the picture (no third vanishing point).

The guide tells layout only: no colour, no light, no weather. Everything is batched over V views.
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
GUIDE_SIZE = len(GUIDE_CHANNELS)

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
_HILLS, _RIDGES, _MESAS, _BASE, _TREES, _TREE_HEIGHT, _TREE_RADIUS, _CONE, _MOUNTAINS = range(9)

SUN_AZIMUTH = math.radians(35.0)
EYE_METRES = 1.75
_TILE_METRES = 256.0
_TILE = 512
_CELL_METRES = 6.4
_NEAR, _FAR, _STEPS = 0.45, 180.0, 112
_MESA_STEEPNESS = 5.0
_RANGES = {
    "mountain_near": (0.035, ((3, 0.016, 0.4), (7, 0.012, 1.9), (17, 0.006, 4.0))),
    "mountain_far": (0.075, ((2, 0.030, 2.2), (5, 0.022, 0.9), (11, 0.011, 5.1), (23, 0.004, 1.0))),
}
_HILL_LAYERS, _RIDGE_LAYERS = (0.72, 0.55), (0.65, 0.45)
_SECOND_COS, _SECOND_SIN = 0.6157 * math.cos(0.7), 0.6157 * math.sin(0.7)


@dataclass(frozen=True, slots=True)
class View:
    """V cameras: metres on the map, radians; ``mix`` [V, 15] are the weights of biomes, times and weathers."""

    x: Tensor  # [V]
    z: Tensor
    yaw: Tensor
    pitch: Tensor
    mix: Tensor


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


def _hash(ix: Tensor, iz: Tensor, salt: int) -> Tensor:
    """Uniform numbers in [0, 1) from integer cells; the same on every device."""
    h = ix * 374761393 + iz * 668265263 + salt * 974634
    h = (h ^ ((h >> 13) & 0x7FFFF)) * 1274126177
    h = (h ^ ((h >> 15) & 0x1FFFF)) * 461845907
    return ((h ^ ((h >> 14) & 0x3FFFF)) & 0xFFFFFF).float() * (1 / 0x1000000)


def _smoothstep(low: float, high: float, x: Tensor) -> Tensor:
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
        s = torch.arange(_STEPS, device=device) / (_STEPS - 1)
        self.steps = _NEAR * (_FAR / _NEAR) ** s  # [S] metres, geometric

    def ground_height(self, x: Tensor, z: Tensor, geometry: Tensor) -> Tensor:
        """Height of the bare ground over the water in metres; ``geometry`` broadcasts as [..., 9]."""
        a = _lookup(self.ground_march, x, z)
        b = _lookup(self.ground_march, *_second_layer(x, z))
        hills = _HILL_LAYERS[0] * a[0] + _HILL_LAYERS[1] * b[0]
        ridges = _RIDGE_LAYERS[0] * a[1] + _RIDGE_LAYERS[1] * b[1]
        return _height(geometry, hills, ridges, _mesa(hills))

    def eye_height(self, view: View) -> Tensor:
        """Height of the eyes [V] in metres: over the ground, or over the water where it is deep."""
        geometry = view.mix[:, : len(BIOMES)] @ self.geometry
        offsets = torch.tensor([[0.0, 0.0], [1.5, 0.0], [-1.5, 0.0], [0.0, 1.5], [0.0, -1.5]], device=view.x.device)
        x, z = (view.x[:, None] + offsets[:, 0])[:, None], (view.z[:, None] + offsets[:, 1])[:, None]
        return self.ground_height(x, z, geometry[:, None, None]).mean((1, 2)).clamp(min=-0.3) + EYE_METRES

    def trees(self, x: Tensor, z: Tensor, geometry: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        """The tree of the cell at (x, z): bump height there (metres), full height, random, and offsets / radius."""
        cx, cz = (x / _CELL_METRES).floor().int(), (z / _CELL_METRES).floor().int()
        pick, rank, size = _hash(cx, cz, 1), _hash(cx, cz, 2), 0.65 + 0.7 * _hash(cx, cz, 3)
        radius = (geometry[..., _TREE_RADIUS] * (0.75 + 0.4 * size)).clamp(max=0.47 * _CELL_METRES)
        room = _CELL_METRES - 2 * radius
        dx = x - (cx * _CELL_METRES + radius + room * _hash(cx, cz, 4))
        dz = z - (cz * _CELL_METRES + radius + room * _hash(cx, cz, 5))
        u, w = dx / radius, dz / radius
        r2 = (u * u + w * w).clamp(max=1.0)
        cone = geometry[..., _CONE]
        profile = (1 - cone) * (1 - r2 * r2).sqrt() + cone * (1 - r2.sqrt())
        stands = ((geometry[..., _TREES] - pick) * 40.0).clamp(0, 1)  # grows and shrinks while a prompt blends
        full = geometry[..., _TREE_HEIGHT] * size * stands
        return full * profile, full, rank, u, w

    def cast(self, view: View, lens: Lens) -> Tensor:
        """The layout guide [V, 24, H, W] (``GUIDE_CHANNELS``), each channel roughly in [-1, 1]."""
        return _Caster(self, view, lens).guide()


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


def _lookup(texture: Tensor, x: Tensor, z: Tensor) -> Tensor:
    """Bilinear sample of a wrapping tile at metres x, z [V, W, K]: [C, V, W, K]."""
    scale, size = _TILE / _TILE_METRES, _TILE + 2
    grid = torch.stack([x, z], -1).mul_(scale)
    grid.remainder_(_TILE).add_(1.5).mul_(2 / size).sub_(1)
    flat = grid.reshape(1, -1, grid.shape[-2], 2)
    sampled = functional.grid_sample(texture, flat, mode="bilinear", padding_mode="border", align_corners=False)
    return sampled.reshape(-1, *x.shape)


class _Caster:
    """One cast: the columns' march, the pixels' hits, then the channels in the order of ``GUIDE_CHANNELS``."""

    def __init__(self, land: WorldMap, view: View, lens: Lens) -> None:
        self.land, self.view = land, view
        self.geometry = (view.mix[:, : len(BIOMES)] @ land.geometry)[:, None, None]  # [V,1,1,9]
        self.eye = land.eye_height(view)[:, None, None]
        device, f = view.x.device, lens.focal_px
        columns = (torch.arange(*lens.columns, device=device) + 0.5 - lens.width_px / 2) / f  # [W]
        rows = (lens.height_px / 2 - 0.5 - torch.arange(lens.height_px, device=device)) / f  # [H]
        sin, cos = view.yaw.sin()[:, None], view.yaw.cos()[:, None]
        self.dir_x = sin + cos * columns  # [V,W] horizontal step for one metre of depth
        self.dir_z = cos - sin * columns
        self.stretch = (1 + columns**2).sqrt()[None, :, None]  # distance for one metre of depth
        self.slope = view.pitch.tan()[:, None] + rows  # [V,H] rise for one metre of depth

    def _march(self) -> tuple[Tensor, Tensor]:
        """Depth of each pixel's hit [V,W,H] in metres (the last step where the ray leaves the land); whether it hit."""
        s = self.land.steps
        x = self.view.x[:, None, None] + self.dir_x[..., None] * s  # [V,W,S]
        z = self.view.z[:, None, None] + self.dir_z[..., None] * s
        ground = self.land.ground_height(x, z, self.geometry).clamp(min=0)
        bump = self.land.trees(x, z, self.geometry)[0] * _tree_fade(s * self.stretch)
        rise = (ground + bump - self.eye) / s
        top = rise.cummax(-1).values
        wanted = self.slope[:, None, :].expand(-1, x.shape[1], -1).contiguous()  # [V,W,H]
        k = torch.searchsorted(top, wanted)
        hit = k < len(s)
        k = k.clamp(1, len(s) - 1)
        low, high = top.gather(-1, k - 1), top.gather(-1, k)
        t = ((wanted - low) / (high - low).clamp(min=1e-6)).clamp(0, 1)
        depth = 1 / torch.lerp(1 / s[k - 1], 1 / s[k], t)
        self.beyond = s[k]  # the sample that blocks the ray: where a tree's wall belongs
        return depth, hit

    def guide(self) -> Tensor:
        depth, hit = self._march()
        x = self.view.x[:, None, None] + self.dir_x[..., None] * depth
        z = self.view.z[:, None, None] + self.dir_z[..., None] * depth
        y = self.eye + self.slope[:, None, :] * depth
        sky = (~hit).float()
        land = 1 - sky
        distance = depth * self.stretch
        normal, ground = self._ground(x, z)
        tree, tree_height, tree_random, normal = self._trees(y - ground.clamp(min=0), land, normal, distance)
        water = land * (ground < 0).float() * (1 - tree)
        near = 1 / (1 + distance / 14.0)
        patch = _lookup(self.land.noise, x, z)
        azimuth = torch.atan2(self.dir_x, self.dir_z)[..., None]  # [V,W,1]
        elevation = self.slope[:, None, :] / self.stretch  # tangent
        channels = {
            "inverse_depth": 2 / (1 + distance / 4) - 1,
            "haze_depth": (1 - (-distance / 40).exp()) * land + sky,
            "sky": sky,
            "water": water,
            "tree": tree,
            "normal_x": normal[0] * land,
            "normal_y": normal[1] * land,
            "normal_z": normal[2] * land,
            "height": (ground / 5).tanh() * land,
            "patch_noise": patch[0] * (0.4 + 0.6 * near) * land * 0.5,
            "detail_noise": patch[1] * near * land * 0.6,
            "tree_height": tree_height,
            "tree_random": tree_random,
            "elevation": elevation.clamp(-1, 1.2),
            "azimuth_cos": azimuth.cos().expand_as(depth),
            "azimuth_sin": azimuth.sin().expand_as(depth),
            "wave": self._waves(x, z, distance) * water,
            **self._sky(azimuth, elevation, sky),
            **self._silhouettes(azimuth, elevation, sky),
            **self._blockers(x, z, y, land),
        }
        ordered = [channels[name] for name in GUIDE_CHANNELS]
        return torch.stack(ordered, 1).transpose(-1, -2).contiguous()  # [V,24,H,W]

    def _ground(self, x: Tensor, z: Tensor) -> tuple[list[Tensor], Tensor]:
        """Unit normal and height of the bare ground at the hits."""
        a = _lookup(self.land.ground, x, z)
        b = _lookup(self.land.ground, *_second_layer(x, z))
        c, s = _SECOND_COS, _SECOND_SIN
        (h0, h1), (r0, r1), g = _HILL_LAYERS, _RIDGE_LAYERS, self.geometry
        hills, ridges = h0 * a[0] + h1 * b[0], r0 * a[1] + r1 * b[1]
        wall = _mesa(hills)
        height = _height(g, hills, ridges, wall)
        slope = g[..., _HILLS] + g[..., _MESAS] * 0.5 * _MESA_STEEPNESS * (1 - wall * wall)
        dx = slope * (h0 * a[2] + h1 * (c * b[2] + s * b[3])) + g[..., _RIDGES] * (
            r0 * a[4] + r1 * (c * b[4] + s * b[5])
        )
        dz = slope * (h0 * a[3] + h1 * (c * b[3] - s * b[2])) + g[..., _RIDGES] * (
            r0 * a[5] + r1 * (c * b[5] - s * b[4])
        )
        length = (1 + dx * dx + dz * dz).rsqrt()
        return [-dx * length, length, -dz * length], height

    def _trees(
        self, above: Tensor, land: Tensor, normal: list[Tensor], distance: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, list[Tensor]]:
        """Tree mask, relative height, random, and normals with the crowns' own."""
        bx = self.view.x[:, None, None] + self.dir_x[..., None] * self.beyond
        bz = self.view.z[:, None, None] + self.dir_z[..., None] * self.beyond
        _, full, rank, u, w = self.land.trees(bx, bz, self.geometry)
        tree = land * (above > 0.18 + 0.004 * distance).float() * (full > 0.2).float()
        height = (above / full.clamp(min=0.5)).clamp(0, 1)
        up = height * 0.9 + 0.1
        length = (u * u + w * w + up * up).clamp(min=1e-4).rsqrt()
        crown = [u * length, up * length, w * length]
        mixed = [torch.lerp(n, c, tree) for n, c in zip(normal, crown, strict=True)]
        return tree, height * tree, (rank * 2 - 1) * tree, mixed

    def _sky(self, azimuth: Tensor, elevation: Tensor, sky: Tensor) -> dict[str, Tensor]:
        """Two octaves of clouds on a plane overhead, and the stars."""
        up = elevation.clamp(min=0) + 0.12
        cx, cz = azimuth.sin() / up * 22.0, azimuth.cos() / up * 22.0
        low = _lookup(self.land.noise, cx + 9.0, cz + 40.0)[2]
        high = _lookup(self.land.noise, cx * 0.45 + 120.0, cz * 0.45 + 11.0)[0]
        fade = _smoothstep(0.0, 0.16, elevation) * sky
        cell = math.radians(3.2)
        a, e = azimuth / cell, elevation.atan() / cell
        ia, ie = a.floor(), e.floor()
        la, le = ia.int().expand_as(elevation), ie.int()
        px, pe = 0.15 + 0.7 * _hash(la, le, 7), 0.15 + 0.7 * _hash(la, le, 8)
        shine = (_hash(la, le, 9) > 0.72).float() * (0.35 + 0.65 * _hash(la, le, 10))
        away = (a - ia - px) ** 2 + (e - ie - pe) ** 2
        stars = shine * (-away / 0.018).exp() * _smoothstep(0.02, 0.25, elevation) * sky
        return {"cloud_low": low * fade * 0.5, "cloud_high": high * fade * 0.5, "stars": stars}

    def _waves(self, x: Tensor, z: Tensor, distance: Tensor) -> Tensor:
        ripple = _lookup(self.land.noise, x * 1.7, z * 0.8)[1]
        return ripple * 0.6 / (1 + distance / 25.0)

    def _silhouettes(self, azimuth: Tensor, elevation: Tensor, sky: Tensor) -> dict[str, Tensor]:
        """Two far ranges as functions of the azimuth alone: sines of whole frequencies, so that a turn closes."""
        out = {}
        for name, (base, waves) in _RANGES.items():
            top = base + sum(amp * torch.sin(azimuth * n + phase) for n, amp, phase in waves)
            top = top * self.geometry[..., _MOUNTAINS]
            out[name] = ((top - elevation) * 150.0).clamp(0, 1) * sky
        return out

    def _blockers(self, x: Tensor, z: Tensor, y: Tensor, land: Tensor) -> dict[str, Tensor]:
        """How far the land rises over the hit towards the sun's azimuth, near and far: what shadows need."""
        out = {}
        for name, step in (("block_near", 1.6), ("block_far", 4.5)):
            px, pz = x + math.sin(SUN_AZIMUTH) * step, z + math.cos(SUN_AZIMUTH) * step
            height = self.land.ground_height(px, pz, self.geometry) + self.land.trees(px, pz, self.geometry)[0]
            out[name] = ((height - y) / step).clamp(-1, 2) * land * 0.6
        return out


def _tree_fade(distance: Tensor) -> Tensor:
    """Trees sink near the eye, so that nobody walks into one, and far away, where the steps would miss them."""
    return _smoothstep(2.0, 5.5, distance) * (1 - _smoothstep(95.0, 150.0, distance))
