"""Sizes that follow from one another: pixels, latents, patches, tokens, frames. Integers only.

Axis alphabet of the project: B batch, T video frames, F latent frames, C channels, H W pixels, h w latents,
N tokens, D width.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ChunkGeometry:
    """The sizes of one chunk of a model that turns four video frames into one latent frame."""

    width_px: int
    height_px: int
    latent_frames: int
    """Latent frames that are generated together."""
    spatial_scale: int = 8
    temporal_scale: int = 4
    patch_px: int = 2
    """Latent cells per token, in height and in width."""

    def __post_init__(self) -> None:
        step = self.spatial_scale * self.patch_px
        if self.width_px % step or self.height_px % step or min(self.width_px, self.height_px) < step:
            raise ValueError(f"size {self.width_px}x{self.height_px} must be multiples of {step}")
        if self.latent_frames < 1:
            raise ValueError(f"latent_frames must be at least 1, got {self.latent_frames}")

    @property
    def latent_width(self) -> int:
        return self.width_px // self.spatial_scale

    @property
    def latent_height(self) -> int:
        return self.height_px // self.spatial_scale

    @property
    def grid_width(self) -> int:
        return self.latent_width // self.patch_px

    @property
    def grid_height(self) -> int:
        return self.latent_height // self.patch_px

    @property
    def tokens_per_latent_frame(self) -> int:
        return self.grid_width * self.grid_height

    @property
    def tokens_per_chunk(self) -> int:
        return self.latent_frames * self.tokens_per_latent_frame

    def video_frames(self, latent_frames: int, *, first: bool) -> int:
        """Frames that ``latent_frames`` decode to; the first latent frame of a world is a single picture."""
        return latent_frames * self.temporal_scale - (self.temporal_scale - 1 if first else 0)
