"""The painter's and the transformer's data: rendered walks, encoded once, in shards that a later run takes up again."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from engine.models.autoencoder import Autoencoder
from engine.models.painter import GUIDED_FRAMES, painter_guide
from engine.training.data import METRES_PER_LATENT, Rendered, Walk, random_walk, render
from engine.worldmap import WorldMap

CLIP_LATENT_FRAMES = 8
SHARD_CLIPS = 24


@dataclass(frozen=True, slots=True)
class Clips:
    """N clips of F latent frames; the first latent frame of each is the world's single first picture."""

    guides: Tensor  # [N, F, G*8, h, w] half: what the painter sees
    mixes: Tensor  # [N, F, 2, M] of the guided frames
    target_mixes: Tensor  # [N, F, M] what the prompt asks for
    latents: Tensor  # [N, F, 16, h, w] half, normalised
    steps: Tensor  # [N, F, 4, 4] framewise relative poses, translation in steps of one latent frame
    headings: Tensor  # [N, F, 2] yaw and pitch after each latent frame, radians

    def __len__(self) -> int:
        return len(self.latents)


def _rotation(yaw: Tensor, pitch: Tensor) -> Tensor:
    """Camera to world [..., 3, 3]: Ry(yaw) Rx(pitch), OpenCV axes, positive pitch looks up."""
    cy, sy, cp, sp = yaw.cos(), yaw.sin(), pitch.cos(), pitch.sin()
    zero = torch.zeros_like(cy)
    rows = [cy, sy * sp, sy * cp, zero, cp, -sp, -sy, cy * sp, cy * cp]
    out: Tensor = torch.unflatten(torch.stack(rows, -1), -1, (3, 3))
    return out


def relative_steps(walk: Walk) -> Tensor:
    """Each latent frame's pose relative to the one before [B, F, 4, 4]; the first is the identity."""
    end = [t[..., -1].double() for t in (walk.x, walk.z, walk.yaw, walk.pitch)]
    quarter = [t[..., 0].double() for t in (walk.x, walk.z, walk.yaw, walk.pitch)]
    begin = [(4 * q - e) / 3 for q, e in zip(quarter, end, strict=True)]  # the frames are evenly spaced
    before, after = _rotation(begin[2], begin[3]), _rotation(end[2], end[3])
    out = torch.eye(4, dtype=torch.float64).expand(*end[0].shape, 4, 4).clone()
    out[..., :3, :3] = before.transpose(-1, -2) @ after
    moved = torch.stack([end[0] - begin[0], torch.zeros_like(end[0]), end[1] - begin[1]], -1) / METRES_PER_LATENT
    out[..., :3, 3] = (before.transpose(-1, -2) @ moved[..., None])[..., 0]
    out[:, 0] = torch.eye(4, dtype=torch.float64)
    return out.float()


@torch.no_grad()
def encode_clips(
    seed: int, count: int, model: Autoencoder, land: WorldMap, *, latent_frames: int = CLIP_LATENT_FRAMES
) -> Clips:
    """``count`` fresh clips of generator seed ``seed``: a pure function of its arguments."""
    return encoded_walks(torch.Generator().manual_seed(seed), count, model, land, latent_frames)[0]


@torch.no_grad()
def encoded_walks(
    generator: torch.Generator, count: int, model: Autoencoder, land: WorldMap, latent_frames: int
) -> tuple[Clips, Rendered]:
    """``count`` fresh walks as clips, and the pictures and guides from which they were encoded."""
    walk = random_walk(generator, count, latent_frames, jump=0.3)
    walk.mix[:, 0] = walk.mix[:, 0, -1:]
    rendered = render(land, walk)
    rendered.frames[:, 0] = rendered.frames[:, 0, -1:]
    rendered.guides[:, 0] = rendered.guides[:, 0, -1:]
    latents = torch.unflatten(model.encode(rendered.frames.flatten(0, 1)), 0, (count, latent_frames))
    guides = torch.unflatten(painter_guide(rendered.guides.flatten(0, 1)), 0, (count, latent_frames))
    clips = Clips(
        guides.half().cpu(),
        walk.mix[:, :, list(GUIDED_FRAMES)],
        walk.target_mix,
        latents.half().cpu(),
        relative_steps(walk),
        torch.stack([walk.yaw[..., -1], walk.pitch[..., -1]], -1),
    )
    return clips, rendered


def build_cache(folder: Path, *, clips: int, seed: int, model: Autoencoder, land: WorldMap) -> None:
    """Render and encode until ``clips`` lie in ``folder``; shards that are there are kept."""
    folder.mkdir(parents=True, exist_ok=True)
    shards = (clips + SHARD_CLIPS - 1) // SHARD_CLIPS
    for shard in range(shards):
        path = folder / f"clips_{shard:05d}.safetensors"
        if path.exists():
            continue
        parts = [encode_clips(seed * 1_000_003 + shard * 1000 + i, 2, model, land) for i in range(SHARD_CLIPS // 2)]
        names = Clips.__dataclass_fields__
        tensors = {n: torch.cat([getattr(p, n) for p in parts]).contiguous() for n in names}
        part = path.with_suffix(".part")
        save_file(tensors, part)
        os.replace(part, path)
        print(
            f"\rrender: {(shard + 1) * SHARD_CLIPS} of {shards * SHARD_CLIPS} clips ",
            end="",
            file=sys.stderr,
            flush=True,
        )


def load_cache(folder: Path, limit: int | None = None) -> Clips:
    paths = sorted(folder.glob("clips_*.safetensors"))[:limit]
    loaded = [load_file(p) for p in paths]
    return Clips(**{n: torch.cat([part[n] for part in loaded]) for n in Clips.__dataclass_fields__})
