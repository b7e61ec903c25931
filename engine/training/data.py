"""Walks through seeded worlds, and their pictures: every batch is a pure function of (seed, step), so that training
needs no data set on disk, sees fresh worlds at every step and resumes exactly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from engine.layout import Lens, cast
from engine.training.recipe import GUIDE_ROWS, HEIGHT_PX, HIDDEN, LENS, WIDTH_PX
from engine.training.shading import picture, shade
from engine.worldmap import BIOMES, MIX_SIZE, TIMES, WEATHERS, View, WorldMap

METRES_PER_LATENT = 0.6
YAW_DEGREES = 6.0
PITCH_DEGREES = 3.5
PITCH_LIMIT_DEGREES = 30.0
FRAMES = 4
SINGLE = 1 / 8
RETURNING = 0.2
"""The share of walks that look back to where they looked before, where only memory tells what was there."""


@dataclass(frozen=True, slots=True)
class Walk:
    """B walks of F latent frames: poses at the end of each latent frame and of each of its four video frames."""

    x: Tensor  # [B, F, 4] metres
    z: Tensor
    yaw: Tensor  # radians
    pitch: Tensor
    mix: Tensor  # [B, F, 4, 15]
    target_mix: Tensor  # [B, F, 15] what the prompt in force asks for
    hidden: Tensor  # [B, 2] metres, see ``View``

    def view(self) -> View:
        x, z, yaw, pitch, mix = (t.flatten(0, 2) for t in (self.x, self.z, self.yaw, self.pitch, self.mix))
        return View(x, z, yaw, pitch, mix, self.hidden.repeat_interleave(self.x[0].numel(), 0))

    def latent_frame(self, index: int) -> Walk:
        """The same walk, only its latent frame ``index``."""
        cut = slice(index, index + 1)
        return replace(
            self,
            x=self.x[:, cut],
            z=self.z[:, cut],
            yaw=self.yaw[:, cut],
            pitch=self.pitch[:, cut],
            mix=self.mix[:, cut],
            target_mix=self.target_mix[:, cut],
        )


def random_mix(generator: torch.Generator, count: int) -> Tensor:
    """Pure mixes [count, 15]: one biome, one time, one weather, all combinations equally often."""
    sizes = (len(BIOMES), len(TIMES), len(WEATHERS))
    parts = [torch.eye(n)[torch.randint(n, (count,), generator=generator)] for n in sizes]
    return torch.cat(parts, 1)


def _interpolate(start: Tensor, ends: Tensor) -> Tensor:
    """Values at four video frames of each latent frame: [B, F] ends after a start [B] -> [B, F, 4]."""
    before = torch.cat([start[:, None], ends[:, :-1]], 1)
    t = torch.arange(1, FRAMES + 1) / FRAMES
    return before[..., None] + (ends - before)[..., None] * t


def random_walk(
    generator: torch.Generator, batch: int, latent_frames: int, *, prompt_change: float = 0.4, jump: float = 0.0
) -> Walk:
    """Free walks (key-like and mouse-like motion); the first latent frame is a single standing picture.

    A share ``jump`` of the walks goes on elsewhere after the first latent frame, as a long walk does that still
    remembers its first picture.
    """
    B, N = batch, latent_frames

    def rand(*shape: int) -> Tensor:
        return torch.rand(*shape, generator=generator)

    def randn(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator)

    origin = rand(2, B) * 16000 - 8000
    kind = rand(B)
    pace = torch.where(kind < 0.12, torch.zeros(B), 1 + 0.35 * randn(B).clamp(-2, 2)) * METRES_PER_LATENT
    forward = torch.where(rand(B) < 0.8, torch.ones(B), randn(B).sign())
    sideways = torch.where(rand(B) < 0.25, randn(B).clamp(-1, 1), torch.zeros(B))
    rate = _turning(generator, kind < 0.06, N)
    yaw0 = rand(B) * 2 * math.pi
    yaw = yaw0[:, None] + rate.cumsum(1)
    limit = math.radians(PITCH_LIMIT_DEGREES)
    pitch0 = randn(B) * 0.12
    nod = randn(B, N) * math.radians(2.0) * (rand(B, 1) < 0.4) * (kind >= 0.06)[:, None]
    nod[:, 0] = 0
    pitch = (pitch0[:, None] + nod.cumsum(1)).clamp(-limit, limit)
    moving = torch.ones(B, N)
    moving[:, 0] = 0
    step_f, step_s = moving * (pace * forward)[:, None], moving * (pace * sideways)[:, None]
    x = origin[0][:, None] + (step_f * yaw.sin() + step_s * yaw.cos()).cumsum(1)
    z = origin[1][:, None] + (step_f * yaw.cos() - step_s * yaw.sin()).cumsum(1)
    mix, target = _mixes(generator, B, N, prompt_change)
    away = (torch.arange(N) > 0)[None, :, None] * ((rand(B) < jump) * randn(2, B) * 60.0)[..., None, None]
    return Walk(
        x=_interpolate(origin[0], x) + away[0],
        z=_interpolate(origin[1], z) + away[1],
        yaw=_interpolate(yaw0, yaw),
        pitch=_interpolate(pitch0.clamp(-limit, limit), pitch),
        mix=mix,
        target_mix=target,
        hidden=rand(B, 2) * HIDDEN_METRES * bool(HIDDEN),
    )


def _turning(generator: torch.Generator, straight: Tensor, N: int) -> Tensor:
    """Radians by which each latent frame turns [B, N]; a share ``RETURNING`` turns back again, the other way round."""
    B = len(straight)
    turn = torch.where(straight, torch.zeros(B), torch.randn(B, generator=generator) * 0.8)
    wobble = torch.randn(B, N, generator=generator).cumsum(1) * 0.35
    rate = (turn[:, None] + wobble).clamp(-3, 3) * math.radians(YAW_DEGREES)
    rate = torch.where(straight[:, None], torch.zeros(B, N), rate)
    back = (torch.rand(B, generator=generator) < RETURNING)[:, None] & (torch.arange(N) > N // 2)
    rate = torch.where(back, -rate.flip(1), rate)
    rate[:, 0] = 0
    return rate


def random_places(generator: torch.Generator, batch: int) -> Walk:
    """Walks of one latent frame, somewhere on its way; a share ``SINGLE`` of them are single pictures."""
    walk = random_walk(generator, batch, 2).latent_frame(1)
    single = (torch.rand(batch, generator=generator) < SINGLE)[:, None, None]

    def held(t: Tensor) -> Tensor:
        return torch.where(single, t[..., -1:], t)

    mix = torch.where(single[..., None], walk.mix[:, :, -1:], walk.mix)
    return replace(walk, x=held(walk.x), z=held(walk.z), yaw=held(walk.yaw), pitch=held(walk.pitch), mix=mix)


def _mixes(generator: torch.Generator, B: int, N: int, prompt_change: float) -> tuple[Tensor, Tensor]:
    """Mix per video frame with prompt changes, each a blend over some latent frames, and the prompt's own mix."""
    first, second = random_mix(generator, B), random_mix(generator, B)
    keep = torch.rand(B, 3, generator=generator) < 0.4
    parts = [len(BIOMES), len(TIMES), len(WEATHERS)]
    second = torch.where(keep.repeat_interleave(torch.tensor(parts), 1), first, second)
    changes = torch.rand(B, generator=generator) < prompt_change
    at = torch.randint(-3, max(N, 2), (B,), generator=generator)  # before the clip: the blend is under way
    time = torch.arange(N * FRAMES).reshape(N, FRAMES) / FRAMES + 1 / FRAMES
    share = ((time[None] - at[:, None, None]) / BLEND_LATENT_FRAMES).clamp(0, 1) * changes[:, None, None]
    mix = torch.lerp(first[:, None, None], second[:, None, None], share[..., None])
    asked = (torch.arange(N)[None] >= at[:, None]) & changes[:, None]
    target = torch.where(asked[..., None], second[:, None], first[:, None])
    assert mix.shape == (B, N, FRAMES, MIX_SIZE), mix.shape
    return mix, target


BLEND_LATENT_FRAMES = 2.0
HIDDEN_METRES = 256.0
"""The noise repeats after so many metres, and with it what a world's picture may hide."""


@dataclass(frozen=True, slots=True)
class Rendered:
    frames: Tensor  # [B, F, 4, 3, H, W] in [-1, 1]
    guides: Tensor  # [B, F, 4, G, H, W] what the networks see


def half_lens(step: int) -> Lens:
    """The left, middle or right half of the picture: enough to learn to decode from, at half the work."""
    half = WIDTH_PX // 2
    return Lens(WIDTH_PX, HEIGHT_PX, step % 3 * (half // 2), half)


@torch.no_grad()
def render(land: WorldMap, walk: Walk, lens: Lens = LENS, *, smooth: bool = False) -> Rendered:
    """The simulator's pictures and guides of a walk, on the land's device; without looks, as the model meets them.

    ``smooth`` pictures have no jagged edges, and cost four times as much; an encoder sees no difference (0.3 % of the
    latents' variance), a decoder must.
    """
    device = land.geometry.device
    B, N, T = walk.x.shape
    view = walk.view()
    parts = (view.x, view.z, view.yaw, view.pitch, view.mix, view.hidden)
    view = View(*(t.to(device) for t in parts if t is not None))
    guides = cast(land, view, lens)
    frames = (picture(land, view, lens) if smooth else shade(guides, view.mix)) * 2 - 1
    shape = (B, N, T)
    return Rendered(torch.unflatten(frames, 0, shape), torch.unflatten(guides[:, GUIDE_ROWS], 0, shape))


def render_moments(
    land: WorldMap, walk: Walk, moments: Sequence[int], lens: Lens = LENS, *, smooth: bool = False
) -> Rendered:
    """``render`` of some latent frames of a walk alone."""
    parts = [render(land, walk.latent_frame(moment), lens, smooth=smooth) for moment in moments]
    return Rendered(torch.cat([p.frames for p in parts], 1), torch.cat([p.guides for p in parts], 1))
