"""The scenes' first pictures: what the simulator shows at the scene's start, with a look of the world's own."""

from __future__ import annotations

import torch
from torch import Tensor

from engine.conditioning import DEFAULT_MIX, Place
from engine.grading import GRADING_SIZE, grade
from engine.prompt_reader import PromptReader
from engine.protocol import Pixels, SceneSpec
from engine.training.data import HIDDEN_METRES
from engine.training.recipe import HIDDEN, LENS
from engine.training.shading import picture
from engine.wishes import asked_mix
from engine.worldmap import View, WorldMap


def scene_grading(map_seed: int) -> Tensor:
    """The hidden look [5] of a map seed: mild, so that every scene stays handsome."""
    return (torch.randn(GRADING_SIZE, generator=torch.Generator().manual_seed(map_seed * 31 + 7)) * 0.7).clamp(
        -1.2, 1.2
    )


def scene_hidden(map_seed: int) -> Tensor:
    """What the layout does not tell of a map seed's world [2], see ``View``."""
    generator = torch.Generator().manual_seed(map_seed * 37 + 11)
    return torch.rand(2, generator=generator) * HIDDEN_METRES * bool(HIDDEN)


@torch.no_grad()
def scene_picture(scene: SceneSpec, reader: PromptReader, land: WorldMap) -> Pixels:
    """RGB [H, W, 3] of the scene's first moment."""
    place = Place.of(scene.map_seed, scene.start)
    mix = torch.tensor([asked_mix(DEFAULT_MIX, reader.read(scene.prompt).wish)])
    one = torch.ones(1)
    view = View(one * place.x, one * place.z, one * place.yaw, one * 0.0, mix, scene_hidden(scene.map_seed)[None])
    graded = grade(picture(land, view, LENS), scene_grading(scene.map_seed)[None])[0]
    pixels: Pixels = (graded.permute(1, 2, 0) * 255).round().byte().numpy()
    return pixels
