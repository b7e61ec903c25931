"""The bundled model against its simulator, on maps never trained on: the numbers of ``python main.py evaluate``."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import imageio.v3 as iio
import numpy as np
import torch
from torch import Tensor

from engine.bundled import MODEL_FOLDER, BundledModel
from engine.bundled_world import BundledWorldModel, LayoutScenery, load_bundled
from engine.conditioning import Blend, Place, asked_mix
from engine.config import EngineConfig
from engine.device import prepare_device
from engine.layout import cast
from engine.protocol import FrameChunk, Pixels, SceneSpec, StartPose
from engine.session import WorldSession
from engine.training.autoencoder_stage import VALIDATION_SEED, psnr, single_groups
from engine.training.recipe import LENS
from engine.training.scene_pictures import scene_grading, scene_hidden, scene_picture
from engine.training.shading import shade
from engine.worldmap import View, WorldMap

_SCENES = (
    ("a green meadow at noon under a clear sky", 9001, 40.0),
    ("a pine forest at dawn in fog", 9002, 10.0),
    ("sand dunes at sunset under a clear sky", 9003, 60.0),
    ("a snowy landscape at night, clear sky", 9004, 300.0),
    ("a canyon at noon, cloudy", 9005, 200.0),
    ("islands at dusk in a storm", 9006, 120.0),
)
FIRST_SECOND_CHUNKS = 4
SHORT_CHUNKS = 40


@dataclass(frozen=True, slots=True)
class Walked:
    """A walk of the model beside the simulator's pictures of the same moments, uint8 [T, H, W, 3] each."""

    made: Pixels
    true: Pixels

    def psnr(self, frames: slice) -> float:
        a, b = (torch.from_numpy(x[frames]).float() / 127.5 - 1 for x in (self.made, self.true))
        return psnr(a, b)


def held_out_scene(model: BundledModel, land: WorldMap, index: int) -> SceneSpec:
    prompt, map_seed, yaw = _SCENES[index]
    bare = SceneSpec(f"held out {index}", prompt, map_seed=map_seed, start=StartPose(yaw_degrees=yaw))
    picture = scene_picture(bare, model.reader, land)
    return SceneSpec(bare.name, prompt, image=picture, map_seed=map_seed, start=bare.start)


class Simulator:
    """The truth for a walk: the same map, mix and hidden look as the scene's, from the poses that the model reports."""

    def __init__(self, model: BundledModel, land: WorldMap, world: WorldSession) -> None:
        self.model, self.land, self.scene = model, land, world.scene
        self.place = Place.of(world.scene.map_seed, world.scene.start)
        assert isinstance(world.state.scenery, LayoutScenery)
        self.blend: Blend = world.state.scenery.blend
        self.grading = scene_grading(world.scene.map_seed)[None]
        self.hidden = scene_hidden(world.scene.map_seed)[None]
        self.before = np.eye(4)

    @torch.no_grad()
    def frames(self, chunk: FrameChunk) -> Pixels:
        if chunk.prompt_updated:
            labels = self.model.reader.read(chunk.prompt).labels
            self.blend = self.blend.towards(asked_mix(self.blend.target, labels))
        after = np.array(chunk.pose).reshape(1, 4, 4)
        view, self.blend = self.model.conditioner.view(
            self.place, self.blend, self.before, after, picture=chunk.chunk == 0
        )
        view = replace(view, hidden=self.hidden.expand(len(view.x), -1))
        pictures = shade(cast(self.land, view, LENS), view.mix, self.grading.expand(len(view.x), -1))
        self.before = after[-1]
        return _pixels(pictures[-1:] if chunk.chunk == 0 else pictures)

    @torch.no_grad()
    def at(self, x: float, z: float, yaw_degrees: float) -> Pixels:
        """The picture [H, W, 3] from a pose relative to the start: model units and degrees."""
        m, turn = self.model.config.metres_per_unit, self.place.yaw
        px = self.place.x + m * (math.cos(turn) * x + math.sin(turn) * z)
        pz = self.place.z + m * (math.cos(turn) * z - math.sin(turn) * x)
        one, mix = torch.ones(1), self.blend.at(1.0)[None]
        view = View(one * px, one * pz, one * (turn + math.radians(yaw_degrees)), one * 0.0, mix, self.hidden)
        picture: Pixels = _pixels(shade(cast(self.land, view, LENS), mix, self.grading))[0]
        return picture


def _pixels(pictures: Tensor) -> Pixels:
    out: Pixels = (pictures.permute(0, 2, 3, 1) * 255).round().byte().numpy()
    return out


def walk(
    model: BundledWorldModel,
    land: WorldMap,
    index: int,
    chunks: int,
    events: Callable[[int], dict[str, object] | None],
    *,
    picture: bool = True,
) -> Walked:
    """``chunks`` chunks of the held-out scene ``index``; ``events(chunk)`` is what is asked before each.

    Without its ``picture`` the world cannot know its hidden look.
    """
    scene = held_out_scene(model.model, land, index)
    world = model.open(scene if picture else replace(scene, image=None), seed=7, session_id=0)
    truth = Simulator(model.model, land, world)
    made, true = [], []
    for number in range(chunks):
        event = events(number)
        if event is not None:
            world.apply(event, None, 0.0)
        chunk = world.step()
        made.append(chunk.frames)
        true.append(truth.frames(chunk))
    return Walked(np.concatenate(made), np.concatenate(true))


def wandering(chunk: int) -> dict[str, object] | None:
    """A minute's stroll: forward, with turns to both sides, and pauses."""
    keys = {
        0: ["w"],
        20: ["w", "l"],
        35: ["w"],
        60: ["w", "j"],
        80: [],
        90: ["w"],
        130: ["w", "j"],
        145: ["w"],
        200: ["l"],
    }
    return None if chunk not in keys else held(keys[chunk])


def held(keys: list[str]) -> dict[str, object]:
    return {"input_types": ["camera_actions"], "camera_actions": {"mode": "state", "transitions": [{"actions": keys}]}}


def flicker(model: BundledWorldModel, land: WorldMap, index: int) -> float:
    """Mean change between chunks in grey levels while nothing moves."""
    still = walk(model, land, index, 10, lambda chunk: None).made.astype(np.float32)
    return float(np.abs(still[5::4] - still[1:-4:4]).mean())


def motion(model: BundledWorldModel, land: WorldMap, index: int) -> tuple[float, float]:
    """Achieved over commanded (yaw, forward): where the simulator's picture fits the model's best."""
    found = []
    for keys, steps in ((["l"], 4), (["w"], 8)):
        world = model.open(held_out_scene(model.model, land, index), seed=7, session_id=0)
        truth = Simulator(model.model, land, world)
        world.step()
        world.apply(held(keys), None, 0.0)
        picture = [world.step() for _ in range(steps)][-1].frames[-1].astype(np.float32)
        unit = model.model.config.camera.yaw_degrees if keys == ["l"] else model.model.config.camera.move_step
        scores = []
        for share in np.linspace(0.5, 1.5, 41):
            amount = float(share) * steps * unit
            other = truth.at(0, 0, amount) if keys == ["l"] else truth.at(0, amount, 0)
            scores.append((float(np.square(picture - other).mean()), float(share)))
        found.append(min(scores)[1])
    return found[0], found[1]


def prompt_change(model: BundledWorldModel, land: WorldMap) -> dict[str, float]:
    """PSNR against the simulator's new world, three chunks after the prompt's own chunk and a second later."""
    asked: dict[str, object] = {"input_types": ["prompt"], "prompt": "a snowy landscape at night"}
    seen = walk(model, land, 0, 14, lambda chunk: asked if chunk == 4 else None)
    at = 1 + 4 * 3 + 4 * 3
    return {
        "prompt_change_3_chunks_db": seen.psnr(slice(at, at + 4)),
        "prompt_change_later_db": seen.psnr(slice(at + 12, at + 20)),
    }


def walk_numbers(model: BundledWorldModel, land: WorldMap, index: int, chunks: int) -> tuple[dict[str, float], Walked]:
    """One held-out walk against the simulator, its ablation, and the same walk without the picture it began with."""
    seen = walk(model, land, index, chunks, wandering)
    short = min(SHORT_CHUNKS, chunks)
    start = seen.psnr(slice(0, 1 + 4 * (short - 1)))
    with _without_transformer(model):
        painter_alone = walk(model, land, index, short, wandering).psnr(slice(None))
    forgotten = walk(model, land, index, short, wandering, picture=False).psnr(slice(None))
    numbers = {
        "walk_first_second_db": seen.psnr(slice(0, 1 + 4 * FIRST_SECOND_CHUNKS)),
        "walk_db": seen.psnr(slice(None)),
        "walk_last_second_db": seen.psnr(slice(-4 * FIRST_SECOND_CHUNKS, None)),
        "transformer_gain_db": start - painter_alone,
        "memory_agreement_db": start - forgotten,
    }
    return numbers, seen


def evaluate(model: BundledWorldModel, *, chunks: int, sheet: Path | None) -> dict[str, float]:
    land = WorldMap()
    out: dict[str, float] = {}
    held_out = single_groups(VALIDATION_SEED, 1, 16, land)
    networks = model.model.networks
    with torch.no_grad():
        out["autoencoder_db"] = psnr(
            networks.autoencoder.decode(networks.autoencoder.encode(held_out.frames), held_out.guides), held_out.frames
        )
    rows: list[Pixels] = []
    results: dict[str, list[float]] = {}
    for index in range(len(_SCENES)):
        numbers, seen = walk_numbers(model, land, index, chunks)
        for name, value in numbers.items():
            results.setdefault(name, []).append(value)
        picks = np.linspace(0, len(seen.made) - 1, 8).astype(int)
        rows += [np.concatenate(list(seen.true[picks]), 1), np.concatenate(list(seen.made[picks]), 1)]
        print(f"walk {index}: {json.dumps({k: round(v, 2) for k, v in numbers.items()})}", file=sys.stderr, flush=True)
    if sheet is not None:
        iio.imwrite(sheet, np.concatenate(rows, 0))
    out |= {name: sum(values) / len(values) for name, values in results.items()}
    out["flicker_grey_levels"] = max(flicker(model, land, i) for i in (0, 3))
    out["yaw_ratio"], out["forward_ratio"] = motion(model, land, 0)
    return out | prompt_change(model, land)


class _without_transformer:  # noqa: N801  (reads as a statement)
    """The ablation: the transformer's last matrix is zero, so every residual is zero and the painter stands alone."""

    def __init__(self, model: BundledWorldModel) -> None:
        self.weights = [model.model.networks.dit.head.head.weight, model.model.networks.dit.head.head.bias]

    def __enter__(self) -> None:
        self.kept = [w.data.clone() for w in self.weights]
        for w in self.weights:
            w.data.zero_()

    def __exit__(self, *_: object) -> None:
        for w, kept in zip(self.weights, self.kept, strict=True):
            w.data.copy_(kept)


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python main.py evaluate", description="Measure the bundled model against its simulator."
    )
    parser.add_argument("--chunks", type=int, default=240, help="length of each walk; 240 chunks are a minute")
    parser.add_argument("--sheet", type=Path, help="write a contact sheet here: simulator above, model below")
    parser.add_argument("--model", type=Path, default=MODEL_FOLDER, help="folder of the model")
    args = parser.parse_args(argv)
    config = EngineConfig(model=str(args.model))
    prepare_device(config.device)
    model = load_bundled(config, lambda stage, fraction: None, lambda line: None)
    print(
        json.dumps({k: round(v, 3) for k, v in evaluate(model, chunks=args.chunks, sheet=args.sheet).items()}, indent=2)
    )
    return 0
