"""What surrounds the noise of one chunk: for the bundled world the layout guide and the painter's condition latent.

The transformer denoises r in x0 = base + scale r. Base is the painter's latent and stands, with its mask, in the slot
where the large models have their image latent.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from engine.camera import Poses, video_poses
from engine.layout import Lens, cast
from engine.models.autoencoder import SPATIAL_SCALE
from engine.models.dit_config import DiTConfig
from engine.models.painter import GUIDED_FRAMES, Painter, painter_guide
from engine.models.rope import direction_table
from engine.protocol import StartPose
from engine.worldmap import BIOMES, MIX_SIZE, TIMES, View, WorldMap, seed_origin

VIDEO_FRAMES_PER_LATENT = 4
MASK_CHANNELS = 4
_ARRIVED = 1 - 1e-9  # ten tenths are a little less than one
DEFAULT_MIX = tuple(float(i in (0, len(BIOMES) + 1, len(BIOMES) + len(TIMES))) for i in range(MIX_SIZE))
"""A clear noon in a meadow: what a world is when its prompt says nothing."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a bundled world's first camera stands on the map, and how it looks (metres, radians)."""

    x: float
    z: float
    yaw: float
    pitch: float = 0.0

    @classmethod
    def of(cls, map_seed: int, start: StartPose) -> Place:
        x, z = seed_origin(map_seed)
        return cls(x + start.x_metres, z + start.z_metres, math.radians(start.yaw_degrees))


@dataclass(frozen=True, slots=True)
class Blend:
    """The mix of worlds on its way from one prompt's to the next one's; ``share`` in [0, 1] has been covered."""

    source: tuple[float, ...]
    target: tuple[float, ...]
    share: float = 1.0
    latent_frames: float | None = None
    """How many the whole way takes; None: as many as the model has learnt."""

    def at(self, share: float) -> Tensor:
        return torch.lerp(torch.tensor(self.source), torch.tensor(self.target), min(1.0, share))

    def towards(self, target: tuple[float, ...], latent_frames: float | None = None) -> Blend:
        """A new blend that begins where this one stands; of 0 latent frames, one that is at its end."""
        here = tuple(float(v) for v in self.at(self.share))
        if target == here or latent_frames == 0:
            return Blend(target, target)
        return Blend(here, target, 0.0, latent_frames)

    def after(self, latent_frames: float) -> Blend:
        """One latent frame later, of so many that the whole way takes."""
        share = self.share + 1 / latent_frames
        return replace(self, share=share if share < _ARRIVED else 1.0)


@dataclass(frozen=True, slots=True)
class ChunkCondition:
    condition: Tensor  # [1, 20, F, h, w] mask and painter's latent
    base: Tensor  # [1, 16, F, h, w]
    guides: Tensor  # [F, 4, G, H, W] full-size layout of the video frames
    mixes: Tensor  # [F, 4, M] mix of worlds of the video frames
    standing: bool
    """All video frames are the same moment."""
    yaw: Tensor  # [F] radians on the map, of the camera after each latent frame
    pitch: Tensor  # [F]


def world_rope(config: DiTConfig, lens: Lens, yaw: Tensor, pitch: Tensor) -> Tensor | None:
    """Positions [..., N, D/2, 2] of a picture's patches for cameras [...] of ``yaw`` and ``pitch`` (radians), where the
    transformer knows directions in the world; None where it knows places in the picture.

    A patch's column is its azimuth; its row is counted from the horizon, as looking up and down shifts the picture
    (see ``layout``).
    """
    if config.rope_turns is None:
        return None
    px, f = config.patch_px * SPATIAL_SCALE, lens.focal_px
    columns = (torch.arange(lens.width_px // px) + 0.5) * px - lens.width_px / 2
    rows = (torch.arange(lens.height_px // px) + 0.5) * px - lens.height_px / 2
    azimuth = yaw.double()[..., None] + (columns / f).atan()
    below = (rows - pitch.double().tan()[..., None] * f) / px
    return direction_table(config.rope_turns, config.rotated_pairs[1], azimuth, below)


@dataclass(frozen=True, slots=True)
class _Pose:
    x: float
    z: float
    yaw: float
    pitch: float


def _pose(c2w: Poses) -> _Pose:
    """Ground position (model units) and angles (radians) of a camera-to-world matrix without roll."""
    forward = c2w[:3, 2]
    yaw = math.atan2(float(c2w[0, 2]), float(c2w[2, 2]))
    return _Pose(float(c2w[0, 3]), float(c2w[2, 3]), yaw, math.asin(max(-1.0, min(1.0, -float(forward[1])))))


class LayoutConditioner:
    """Casts the map for the video frames of a chunk and lets the painter paint it. Holds no state of a world."""

    paints = True
    """Whether its base is a picture of the land, from which a world's look can be told and with which one can begin."""

    def __init__(
        self,
        land: WorldMap,
        painter: Painter,
        lens: Lens,
        guide: Sequence[str],
        *,
        metres_per_unit: float,
        blend_latent_frames: float,
    ) -> None:
        self.land, self.painter, self.lens, self.guide = land, painter, lens, guide
        self.metres_per_unit, self.blend_latent_frames = metres_per_unit, blend_latent_frames
        self.scale = painter.get_buffer("residual_std")[None, :, None, None, None]  # [1, 16, 1, 1, 1]

    def prepare_chunk(
        self, place: Place, blend: Blend, before: Poses, after: Poses, *, picture: bool
    ) -> tuple[ChunkCondition, Blend]:
        """The condition of a chunk of F latent frames that moves from pose ``before`` [4, 4] over ``after`` [F, 4, 4].

        ``picture``: the chunk is the world's first, a single picture seen from ``before``, its latent given (mask 1).
        Returns the blend of worlds as it stands after the chunk.
        """
        view, blend = self.view(place, blend, before, after, picture=picture)
        split = (len(after), VIDEO_FRAMES_PER_LATENT)
        standing = view.is_one()
        seen = cast(self.land, view.first() if standing else view, self.lens, self.guide)
        guides = torch.unflatten(seen.expand(len(view.x), -1, -1, -1), 0, split)
        mixes = torch.unflatten(view.mix, 0, split)
        base = self.painter(painter_guide(guides), mixes[:, list(GUIDED_FRAMES)]).transpose(0, 1)[None]
        mask = torch.full((1, MASK_CHANNELS, *base.shape[2:]), float(picture))
        yaw, pitch = (torch.unflatten(angle, 0, split)[:, -1] for angle in (view.yaw, view.pitch))
        return ChunkCondition(torch.cat([mask, base], 1), base, guides, mixes, standing, yaw, pitch), blend

    def view(self, place: Place, blend: Blend, before: Poses, after: Poses, *, picture: bool) -> tuple[View, Blend]:
        """The map cameras of a chunk's video frames (F * 4 of them), and the blend after it; as ``prepare_chunk``."""
        views: list[tuple[_Pose, Tensor]] = []
        length = blend.latent_frames or self.blend_latent_frames
        for c2w in after:
            frames = (
                [before] * VIDEO_FRAMES_PER_LATENT if picture else video_poses(before, c2w, VIDEO_FRAMES_PER_LATENT)
            )
            for i, frame in enumerate(frames):
                covered = 1.0 if picture else (i + 1) / VIDEO_FRAMES_PER_LATENT
                views.append((_pose(frame), blend.at(blend.share + covered / length)))
            blend = blend.after(length)
            before = c2w
        return self._view(place, [pose for pose, _ in views], torch.stack([mix for _, mix in views])), blend

    def _view(self, place: Place, poses: list[_Pose], mixes: Tensor) -> View:
        """Map cameras: the walk's own frame is turned by the place's heading and scaled to metres."""
        sin, cos, m = math.sin(place.yaw), math.cos(place.yaw), self.metres_per_unit
        x = [place.x + m * (cos * p.x + sin * p.z) for p in poses]
        z = [place.z + m * (cos * p.z - sin * p.x) for p in poses]
        yaw = [place.yaw + p.yaw for p in poses]
        pitch = [place.pitch + p.pitch for p in poses]
        return View(torch.tensor(x), torch.tensor(z), torch.tensor(yaw), torch.tensor(pitch), mixes)
