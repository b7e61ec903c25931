"""The scenes' first pictures: what the simulator shows at the scene's start, with a look of the world's own."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from engine.conditioning import DEFAULT_MIX, Place, asked_mix
from engine.layout import cast
from engine.prompt_reader import PromptReader
from engine.protocol import Pixels, SceneSpec
from engine.training.data import LENS
from engine.training.shading import GRADING_SIZE, shade
from engine.worldmap import View, WorldMap


def scene_grading(map_seed: int) -> Tensor:
    """The hidden look [5] of a map seed: mild, so that every scene stays handsome."""
    return (torch.randn(GRADING_SIZE, generator=torch.Generator().manual_seed(map_seed * 31 + 7)) * 0.7).clamp(
        -1.2, 1.2
    )


@torch.no_grad()
def scene_picture(scene: SceneSpec, reader: PromptReader, land: WorldMap) -> Pixels:
    """RGB [112, 192, 3] of the scene's first moment."""
    place = Place.of(scene.map_seed, scene.start)
    mix = torch.tensor([asked_mix(DEFAULT_MIX, reader.read(scene.prompt).labels)])
    one = torch.ones(1)
    view = View(one * place.x, one * place.z, one * place.yaw, one * math.radians(0.0), mix)
    picture = shade(cast(land, view, LENS), mix, scene_grading(scene.map_seed)[None])[0]
    pixels: Pixels = (picture.permute(1, 2, 0) * 255).round().byte().numpy()
    return pixels
