"""The first image as a condition of the large models: what is encoded, the mask, and the slice of each chunk.

The condition video is the image and then blank frames; only its first latent frame is marked as given. Encoding
hundreds of blank frames costs seconds and says the same again and again, so ("lazy") only a few are encoded and the
last latent frame is repeated. Sources: LingBot-World, SGLang-Diffusion.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from engine.protocol import Pixels

TEMPORAL_SCALE = 4
MASK_CHANNELS = 4
CONDITION_VIDEO_FRAMES = 81
"""Video frames of a walk that the condition is made for, as LingBot-World's own programs do unless told otherwise."""


def fit_image(pixels: Pixels, width_px: int, height_px: int) -> Tensor:
    """RGB [H, W, 3] of any size -> [1, 3, height, width] in -1..1: scaled to cover, cropped about the centre."""
    image = torch.from_numpy(np.ascontiguousarray(pixels)).permute(2, 0, 1)[None].float() / 127.5 - 1
    height, width = image.shape[2:]
    if (height, width) == (height_px, width_px):
        return image
    scale = max(width_px / width, height_px / height)
    rows, columns = (max(1, round(height_px / scale)), max(1, round(width_px / scale)))
    top, left = (height - rows) // 2, (width - columns) // 2
    cropped = image[:, :, top : top + rows, left : left + columns]
    size = (height_px, width_px)
    return functional.interpolate(cropped, size, mode="bicubic", antialias=True).clamp(-1, 1)


def required_video_frames(asked: int, chunk_latent_frames: int) -> int:
    """At least two chunks' worth, so that the slice which later chunks repeat is a blank one."""
    return max(asked, (2 * chunk_latent_frames - 1) * TEMPORAL_SCALE + 1)


def encoded_video_frames(video_frames: int, lazy_blank_frames: int) -> int:
    """Frames of the condition video that are encoded: all, or the image and a few blank ones up to 1 + 4k."""
    if lazy_blank_frames <= 0 or video_frames <= 1:
        return video_frames
    groups = -(-min(video_frames - 1, lazy_blank_frames) // TEMPORAL_SCALE)
    return min(video_frames, 1 + groups * TEMPORAL_SCALE)


def latent_frames(video_frames: int) -> int:
    """The first video frame gives one latent frame, every further four another."""
    return 1 + (video_frames - 1) // TEMPORAL_SCALE


def condition_latent_frames(video_frames: int, chunk_latent_frames: int) -> int:
    """Latent frames of the condition: a multiple of the chunk, cut down; 0 if the video is too short for one chunk."""
    return latent_frames(video_frames) // chunk_latent_frames * chunk_latent_frames


def condition_video(image: Tensor, video_frames: int) -> Tensor:
    """Image [B, 3, H, W] in -1..1 -> [B, 3, T, H, W]: the image, then zeros (mid-grey, called "blank")."""
    video = image.new_zeros(*image.shape[:2], video_frames, *image.shape[2:])
    video[:, :, 0] = image
    return video


def assemble_condition(encoded: Tensor, condition_frames: int) -> Tensor:
    """Encoded latents [B, 16, E, h, w] -> [B, 4 + 16, F, h, w]: the mask, 1 in latent frame 0, then the latents.

    The last latent frame is repeated until there are F = ``condition_frames``; a surplus is dropped.
    """
    batch, channels, given, *size = encoded.shape
    kept = min(given, condition_frames)
    condition = encoded.new_zeros(batch, MASK_CHANNELS + channels, condition_frames, *size)
    condition[:, :MASK_CHANNELS, :1] = 1
    condition[:, MASK_CHANNELS:, :kept] = encoded[:, :, :kept]
    condition[:, MASK_CHANNELS:, kept:] = encoded[:, :, given - 1 : given]
    return condition


def condition_slice(condition: Tensor, chunk: int, chunk_latent_frames: int) -> Tensor:
    """What chunk number ``chunk`` uses of [B, C, F, h, w]: its own latent frames, after the end the last slice again.

    A short last slice is padded with zeros at its tail. Never the first slice again: it would bring the image back.
    """
    slices = -(-condition.shape[2] // chunk_latent_frames)
    start = min(chunk, slices - 1) * chunk_latent_frames
    part = condition[:, :, start : start + chunk_latent_frames]
    missing = chunk_latent_frames - part.shape[2]
    return functional.pad(part, (0, 0, 0, 0, 0, missing)) if missing else part
