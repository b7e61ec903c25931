"""The pictures on a training run's sheets: the simulator's above, those of the network in training below."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from engine.models.autoencoder import Autoencoder
from engine.models.dit import CausalDiT
from engine.models.painter import Painter
from engine.protocol import Pixels
from engine.training.cache import Clips, some
from engine.training.data import Rendered, Walk, render_moments
from engine.training.loop import Show
from engine.training.painter_stage import painted
from engine.training.sheets import tiled
from engine.training.transformer_stage import ResidualData, made_residual
from engine.worldmap import WorldMap

GROUPS, CLIPS = 6, 4

Decode = Callable[[Tensor, Tensor], Tensor]
"""Latents [B, 16, h, w] and guides [B, 4, G, H, W] -> frames [B, 4, 3, H, W] in [-1, 1]."""


@dataclass(frozen=True, slots=True)
class Shown:
    """The latent frames ``moments`` of C held-out clips, as the simulator shows them [C, len(moments), 4, ...]."""

    moments: Sequence[int]
    rendered: Rendered


def reconstructions(model: nn.Module, data: Rendered) -> Pixels:
    """Some of B groups of four frames, encoded and decoded."""
    assert isinstance(model, Autoencoder)
    frames, guides = data.frames[:GROUPS], data.guides[:GROUPS]
    return pairs(frames, model.decoder(model.encoder(frames), guides))


def pairs(true: Tensor, made: Tensor) -> Pixels:
    """The first of B groups of four frames [B, 4, 3, H, W] in [-1, 1], above what was made of them."""
    return tiled([_pixels(true[:GROUPS]), _pixels(made[:GROUPS])])


def shown(walk: Walk, count: int, land: WorldMap) -> Shown:
    """The second and the last latent frame of ``count`` of the walk's clips: the first is given, not made."""
    moments = sorted({1, walk.x.shape[1] - 1})
    return Shown(moments, render_moments(land, some(walk, 0, count), moments))


def painter_sheet(seen: Shown, clips: Clips, decode: Decode) -> Show:
    def show(model: nn.Module) -> Pixels:
        assert isinstance(model, Painter)
        return _decoded(seen, painted(model, clips), decode)

    return show


def transformer_sheet(seen: Shown, clips: Sequence[ResidualData], decode: Decode) -> Show:
    """Each of ``clips`` is one clip alone. Its first latent frame is given; the rest is made as at run time."""

    def show(model: nn.Module) -> Pixels:
        assert isinstance(model, CausalDiT)
        return _decoded(seen, torch.cat([_made_latents(model, clip) for clip in clips]), decode)

    return show


def first(clips: Clips) -> Clips:
    """The clips whose pictures are shown."""
    return Clips(**{name: getattr(clips, name)[:CLIPS] for name in Clips.__dataclass_fields__})


def single(clips: Clips) -> list[Clips]:
    """Those, each by itself."""
    names = Clips.__dataclass_fields__
    return [Clips(**{n: getattr(clips, n)[i : i + 1] for n in names}) for i in range(min(CLIPS, len(clips)))]


def _made_latents(model: CausalDiT, clip: ResidualData) -> Tensor:
    """Latents [1, F, 16, h, w] as the model makes them, of a clip alone."""
    return clip.latents(made_residual(model, clip.batch(0, 1, 0), seed=0))


def _decoded(seen: Shown, latents: Tensor, decode: Decode) -> Pixels:
    """For each moment a row of truth above a row of what is decoded from ``latents`` [C, F, 16, h, w]."""
    rows = []
    for i, moment in enumerate(seen.moments):
        true, guides = seen.rendered.frames[:, i], seen.rendered.guides[:, i]
        rows += [_pixels(true), _pixels(decode(latents[:, moment].to(guides.device), guides))]
    return tiled(rows)


def _pixels(frames: Tensor) -> list[Pixels]:
    """The last video frame of each of B groups [B, 4, 3, H, W] in [-1, 1], as pictures [H, W, 3]."""
    last = ((frames[:, -1].float().clamp(-1, 1) + 1) * 127.5).round().byte()
    return list(last.permute(0, 2, 3, 1).cpu().numpy())
