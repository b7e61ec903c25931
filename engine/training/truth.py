"""The truth beside a walk: what the simulator shows of the same moment, and which of its pixels can be known.

A pixel is determined where layout, prompt and look of the world settle it; clouds, waves, flower patches and kinds of
trees lie where only a picture of the world tells, so where they would be otherwise in another world the mask is off.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
import torch
from torch import Tensor

from engine.bundled import BundledModel
from engine.bundled_world import LayoutScenery
from engine.camera import CameraState
from engine.conditioning import Blend, Place
from engine.grading import grade
from engine.layout import cast
from engine.protocol import FrameChunk, Pixels, SceneSpec, StartPose
from engine.session import WorldSession
from engine.training.measures import Mask
from engine.training.recipe import HIDDEN, LENS
from engine.training.scene_pictures import scene_grading, scene_hidden, scene_picture
from engine.training.shading import picture, shade
from engine.wishes import asked_mix
from engine.worldmap import BIOMES, TIMES, WEATHERS, View, WorldMap

FIRST_MAP_SEED = 9001
_BIOME_WORDS = (
    "a green meadow",
    "a pine forest",
    "sand dunes",
    "a snowy land",
    "a red canyon",
    "islands",
    "autumn woods",
)
_TIME_WORDS = ("at dawn", "at noon", "at dusk", "at night")
_WEATHER_WORDS = ("under a clear sky", "on a cloudy day", "in thick fog", "in a storm")
_SAME = 0.02
"""Pictures in [0, 1] that differ by less are the same."""


@dataclass(frozen=True)
class Truth:
    """What should be seen: pictures uint8 [T, H, W, 3], and where that is determined, bool [T, H, W], which costs as
    much as the pictures and is drawn when it is first asked for."""

    frames: Pixels
    draw_mask: Callable[[], Mask]

    @cached_property
    def determined(self) -> Mask:
        return self.draw_mask()


def prompt_of(index: int) -> str:
    """The prompt of the held-out walk ``index``; all biomes, times and weathers come in turn."""
    biome, time, weather = index % len(BIOMES), (index + index // 4) % len(TIMES), (index // 2) % len(WEATHERS)
    return f"{_BIOME_WORDS[biome]} {_TIME_WORDS[time]} {_WEATHER_WORDS[weather]}"


@lru_cache(maxsize=2)
def held_out_scene(model: BundledModel, land: WorldMap, index: int) -> SceneSpec:
    """A scene on a map never trained on, with the simulator's picture of its first moment."""
    start = StartPose(yaw_degrees=float(index * 77 % 360))
    bare = SceneSpec(f"held out {index}", prompt_of(index), map_seed=FIRST_MAP_SEED + index, start=start)
    return replace(bare, image=scene_picture(bare, model.reader, land))


class Simulator:
    """Follows a walk, chunk by chunk, and draws the moments that are asked for.

    ``other`` draws another world on the same land, in the same look: all that is hidden belongs to that number.
    """

    def __init__(self, model: BundledModel, land: WorldMap, world: WorldSession, *, other: int = 0) -> None:
        self.model, self.land = model, land
        self.place = Place.of(world.scene.map_seed, world.scene.start)
        assert isinstance(world.state.scenery, LayoutScenery)
        self.blend: Blend = world.state.scenery.blend
        self.look = scene_grading(world.scene.map_seed)
        self.seed = world.scene.map_seed + 100_000 * other
        self.before = np.eye(4)

    def follow(self, chunk: FrameChunk) -> View:
        """The cameras of the chunk's frames; must be called for every chunk in turn."""
        if chunk.prompt_updated:
            wish = self.model.reader.read(chunk.prompt).wish
            self.blend = self.blend.towards(asked_mix(self.blend.target, wish))
        after, first = np.array(chunk.pose).reshape(1, 4, 4), chunk.chunk == 0
        view, self.blend = self.model.conditioner.view(self.place, self.blend, self.before, after, picture=first)
        self.before = after[-1]
        if first:
            view = view.first()
        return view

    def draw(self, view: View) -> Truth:
        count = len(view.x)
        if view.is_one():  # one moment is one picture
            view = view.first()
        made = grade(picture(self.land, self._in(view, self.seed), LENS), self._looks(view))

        def mask() -> Mask:
            determined = torch.ones_like(made[:, 0], dtype=torch.bool)
            if HIDDEN:
                here, elsewhere = (self._jagged(self._in(view, seed)) for seed in (self.seed, self.seed + 1))
                determined = (here - elsewhere).abs().amax(1) < _SAME
            return determined.expand(count, -1, -1).numpy()

        return Truth(_pixels(made.expand(count, -1, -1, -1)), mask)

    def at(self, x: float, z: float, yaw_degrees: float) -> Pixels:
        """The picture [H, W, 3] from a pose relative to the start: model units and degrees."""
        pose, settled = CameraState(x=x, z=z, yaw_degrees=yaw_degrees).c2w(), replace(self.blend, share=1.0)
        view, _ = self.model.conditioner.view(self.place, settled, pose, pose[None], picture=True)
        seen: Pixels = self.draw(view.first()).frames[0]
        return seen

    def _in(self, view: View, seed: int) -> View:
        """The view with all that the world of a seed hides."""
        return replace(view, hidden=scene_hidden(seed).expand(len(view.x), -1))

    def _looks(self, view: View) -> Tensor:
        return self.look.expand(len(view.x), -1)

    def _jagged(self, view: View) -> Tensor:
        """[T, 3, H, W] in [0, 1], by one ray a pixel: enough to compare worlds with each other."""
        return grade(shade(cast(self.land, view, LENS), view.mix), self._looks(view))


def _pixels(pictures: Tensor) -> Pixels:
    out: Pixels = (pictures.permute(0, 2, 3, 1) * 255).round().byte().numpy()
    return out
