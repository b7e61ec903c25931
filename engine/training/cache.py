"""The painter's and the transformer's data: walks that are rendered and encoded, once, and kept in shards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor

from engine.errors import FileProblem
from engine.models.autoencoder import Autoencoder
from engine.models.painter import GUIDED_FRAMES, painter_guide
from engine.training.data import METRES_PER_LATENT, Walk, random_walk, render
from engine.weights import read_header
from engine.worldmap import WorldMap

CLIP_LATENT_FRAMES = 8
ORIGIN = "autoencoder"
"""Under this name a shard says which autoencoder encoded it."""


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


def fresh_walks(seed: int, count: int, latent_frames: int = CLIP_LATENT_FRAMES) -> Walk:
    """``count`` walks of generator seed ``seed``; each begins with a single picture, whose world does not blend."""
    walk = random_walk(torch.Generator().manual_seed(seed), count, latent_frames, jump=0.3)
    walk.mix[:, 0] = walk.mix[:, 0, -1:]
    return walk


def joined(walks: Sequence[Walk]) -> Walk:
    """Walks of as many latent frames each as one batch."""
    return Walk(*(torch.cat([getattr(walk, name) for walk in walks]) for name in Walk.__dataclass_fields__))


def some(walk: Walk, begin: int, end: int) -> Walk:
    """A part of a batch of walks."""
    return Walk(*(getattr(walk, name)[begin:end] for name in Walk.__dataclass_fields__))


@torch.no_grad()
def encode_walks(walk: Walk, model: Autoencoder, land: WorldMap) -> Clips:
    """The walks' clips, rendered and encoded on the device of land and model as one batch."""
    rendered = render(land, walk)
    split = walk.x.shape[:2]
    latents = torch.unflatten(model.encode(rendered.frames.flatten(0, 1)), 0, split)
    guides = torch.unflatten(painter_guide(rendered.guides.flatten(0, 1)), 0, split)
    return Clips(
        guides.half().cpu(),
        walk.mix[:, :, list(GUIDED_FRAMES)],
        walk.target_mix,
        latents.half().cpu(),
        relative_steps(walk),
        torch.stack([walk.yaw[..., -1], walk.pitch[..., -1]], -1),
    )


def encode_clips(
    seed: int, count: int, model: Autoencoder, land: WorldMap, *, latent_frames: int = CLIP_LATENT_FRAMES
) -> Clips:
    """``count`` fresh clips of generator seed ``seed``: a pure function of its arguments."""
    return encode_walks(fresh_walks(seed, count, latent_frames), model, land)


def load_cache(folder: Path, origin: str) -> Clips:
    """All clips of a folder. FileProblem where there are none, or some are by another autoencoder than ``origin``."""
    paths = sorted(folder.glob("clips_*.safetensors"))
    if not paths:
        raise FileProblem(folder, "no clips lie here", "Run 'python main.py train render' first.")
    for path in paths:
        if read_header(path).metadata.get(ORIGIN) != origin:
            cure = "Remove it, and run 'python main.py train render' again."
            raise FileProblem(path, "these clips were encoded by another autoencoder", cure)
    loaded = [load_file(path) for path in paths]
    return Clips(**{n: torch.cat([part[n] for part in loaded]) for n in Clips.__dataclass_fields__})
