"""The bundled model against its simulator, on maps never trained on: the numbers of ``python main.py evaluate``."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch
from torch import Tensor

from engine.bundled_world import BundledWorldModel, LayoutScenery
from engine.camera import ChunkPoses, Poses
from engine.protocol import FrameChunk, Pixels, SceneSpec
from engine.scenery import PreparedChunk
from engine.session import LoadedModel, WorldSession
from engine.training import phrasings
from engine.training.autoencoder_stage import VALIDATION_SEED, psnr, single_groups
from engine.training.measures import agreement, colour_shift, flicker, psnr_db, sharpness
from engine.training.truth import Simulator, Truth, held_out_scene, prompt_of
from engine.window import WindowPolicy
from engine.worldmap import WorldMap

WALKS, SECONDS, SHEET_WALKS, GAIN_SECONDS = 24, 60, 12, 4
WARM_CHUNKS, TIMED_CHUNKS = 16, 64
DEFINITIONS = {
    "psnr_Ns": "dB against the simulator in the second that ends N seconds after the start, over pixels that layout, "
    "prompt and look determine; walks with an odd number change their prompt after 12 seconds",
    "copy_psnr_1s": "the same for a model that shows its first picture for ever",
    "autoencoder_psnr": "dB of pictures that are encoded and decoded",
    "memory_agreement_X": "0 to 1: what is hidden of a world (what the layout does not tell: clouds, waves, flower "
    "patches, kinds of trees) after looking away by 30 degrees and back, along the way from other worlds (0) to the "
    "truth (1), with the still window, with "
    "the moving one, and with no memory at all",
    "transformer_gain_db": "dB that the first seconds lose when the transformer's output is zero",
    "painter_sharpness_ratio": "sharpness_ratio_1s without the transformer",
    "sharpness_ratio_Ns": "variance of the Laplacian over that of the truth",
    "colour_shift_60s": "largest difference of the mean red, green or blue in the last second, in [0, 1]",
    "flicker_still, flicker_truth": "mean change from frame to frame while nothing moves, in [0, 1]",
    "yaw_degrees_error": "degrees between the turn asked for and the one whose picture fits best",
    "forward_scale": "way gone over way asked for, by the picture that fits best",
    "return_psnr": "dB between the pictures before and after a turn of 360 degrees",
    "prompt_hit_rate": "share of the held-out phrasings that are understood",
    "prompt_chunks_to_change": "chunks until the picture is within 1 dB of what it becomes, the prompt's own included",
    "fps_generated": "frames a second of a walk on this machine, all of them decoded, after all else is measured",
}


@dataclass(frozen=True, slots=True)
class Walked:
    """What was made and what is true, for the frames that were asked for."""

    made: Pixels
    truth: Truth

    def psnr(self) -> float:
        return psnr_db(self.made, self.truth.frames, self.truth.determined)

    @property
    def sharpness_ratio(self) -> float:
        return sharpness(self.made) / max(1e-9, sharpness(self.truth.frames))


Events = Callable[[int], dict[str, object] | None]


class UndecodedScenery(LayoutScenery):
    """A bundled world whose chunks are only decoded while ``decodes`` is set: what follows does not depend on it."""

    decodes = True

    def prepare(self, chunk: int, shown: Poses, poses: ChunkPoses) -> PreparedChunk:
        prepared = super().prepare(chunk, shown, poses)
        return prepared if self.decodes else replace(prepared, decode=partial(self._unseen, chunk))

    def _unseen(self, chunk: int, x0: Tensor) -> Iterator[Tensor]:
        geometry = self.model.config.geometry
        count = geometry.video_frames(x0.shape[2], first=chunk == 0)
        yield torch.zeros(1).expand(count, 3, geometry.height_px, geometry.width_px)


class Walker:
    """Walks a held-out scene beside its simulator."""

    def __init__(
        self, model: BundledWorldModel, land: WorldMap, scene: SceneSpec, loaded: LoadedModel | None = None
    ) -> None:
        loaded = loaded or model.loaded
        assert isinstance(loaded.begin, partial)
        begin = partial(UndecodedScenery, *loaded.begin.args, **loaded.begin.keywords)
        self.world: WorldSession = replace(loaded, begin=begin).open(scene, seed=7, session_id=0)
        self.truth = Simulator(model.model, land, self.world)

    def go(
        self,
        chunks: int,
        events: Events = lambda chunk: None,
        *,
        keep: Container[int],
        known: Mapping[int, Walked] | None = None,
    ) -> dict[int, Walked]:
        """The next chunks, ``events(number)`` asked before each; those in ``keep`` come back.

        ``known``: the same walk by another model, whose truth is this one's.
        """
        kept = {}
        for number in range(self.world.state.chunk, self.world.state.chunk + chunks):
            event = events(number)
            if event is not None:
                self.world.apply(event, None, 0.0)
            scenery = self.world.state.scenery
            assert isinstance(scenery, UndecodedScenery)
            scenery.decodes = number in keep
            chunk: FrameChunk = self.world.step()
            view = self.truth.follow(chunk)
            if number in keep:
                kept[number] = Walked(chunk.frames, self.truth.draw(view) if known is None else known[number].truth)
        return kept


def joined(parts: dict[int, Walked], chunks: range) -> Walked:
    chosen = [parts[number] for number in chunks if number in parts]
    truths = [walked.truth for walked in chosen]
    truth = Truth(np.concatenate([t.frames for t in truths]), lambda: np.concatenate([t.determined for t in truths]))
    return Walked(np.concatenate([walked.made for walked in chosen]), truth)


def held(keys: list[str]) -> dict[str, object]:
    return {"input_types": ["camera_actions"], "camera_actions": {"mode": "state", "transitions": [{"actions": keys}]}}


def prompted(text: str) -> dict[str, object]:
    return {"input_types": ["prompt"], "prompt": text}


_STROLL = {0: "w", 20: "wl", 35: "w", 60: "wj", 80: "", 90: "w", 130: "wj", 145: "w", 200: "l"}
PROMPT_CHANGE_CHUNK = 48


def stroll(index: int) -> Events:
    """A minute's walk: forward, with turns to both sides, and pauses; odd ones change their prompt."""

    def ask(chunk: int) -> dict[str, object] | None:
        if chunk == PROMPT_CHANGE_CHUNK and index % 2:
            return prompted(prompt_of(index + 9))
        return held(list(_STROLL[chunk])) if chunk in _STROLL else None

    return ask


def second(end: int, chunks_a_second: int) -> range:
    """The chunks of the second that ends ``end`` seconds after the start (the first picture is chunk 0)."""
    return range(1 + (end - 1) * chunks_a_second, 1 + end * chunks_a_second)


def walk_numbers(
    model: BundledWorldModel, land: WorldMap, index: int, seconds: int
) -> tuple[dict[str, float], list[Pixels]]:
    """One stroll; its numbers, and the contact sheet's rows (truth, made)."""
    rate = round(model.card.fps_nominal / (4 * model.card.latent_frames_per_chunk))
    ends = sorted({end for end in (1, 4, 16, seconds) if end <= seconds})
    early = [end for end in ends if end <= GAIN_SECONDS]
    wanted = {number for end in ends for number in second(end, rate)}
    moments = [min(moment, seconds) * rate for moment in (0, 1, 2, 4, 8, 16, 32, 60)]
    scene = held_out_scene(model.model, land, index)
    parts = Walker(model, land, scene).go(seconds * rate + 1, stroll(index), keep=wanted.union(moments))
    at = {end: joined(parts, second(end, rate)) for end in ends}
    with without_transformer(model):
        painted = Walker(model, land, scene).go(early[-1] * rate + 1, stroll(index), keep=wanted, known=parts)
    alone, last = {end: joined(painted, second(end, rate)) for end in early}, at[ends[-1]]
    assert scene.image is not None
    still = Walked(np.broadcast_to(scene.image, at[1].made.shape), at[1].truth)
    numbers = {f"psnr_{end if end != seconds else SECONDS}s": walked.psnr() for end, walked in at.items()} | {
        "copy_psnr_1s": still.psnr(),
        "transformer_gain_db": sum(at[end].psnr() - alone[end].psnr() for end in early) / len(early),
        "painter_sharpness_ratio": alone[1].sharpness_ratio,
        "sharpness_ratio_1s": at[1].sharpness_ratio,
        "sharpness_ratio_60s": last.sharpness_ratio,
        "colour_shift_60s": colour_shift(last.made, last.truth.frames),
    }
    shown = [parts[number] for number in moments]
    rows = [np.concatenate([w.truth.frames[-1] for w in shown], 1), np.concatenate([w.made[-1] for w in shown], 1)]
    return numbers, rows


@dataclass(frozen=True, slots=True)
class Recalled:
    """One picture after looking away and back, the true one, and those of other worlds on the same land."""

    made: Pixels
    true: Pixels
    others: tuple[Pixels, ...]


def memory(model: BundledWorldModel, land: WorldMap, index: int) -> dict[str, Recalled]:
    """Looking 30 degrees away and back, with each window."""
    scene, back = held_out_scene(model.model, land, index), 10
    turns = {1: held(["l"]), 6: held(["j"])}
    begun = model.open(scene, seed=7, session_id=0)
    others = tuple(Simulator(model.model, land, begun, other=k).at(0, 0, 0) for k in (1, 2, 3, 4))
    out, own = {}, model.loaded.policy
    for name, latent_frames in (("still", own.still_latent_frames), ("moving", own.moving_latent_frames), ("none", 0)):
        assert latent_frames is not None
        policy = WindowPolicy(interactive=True, moving_latent_frames=latent_frames, still_latent_frames=latent_frames)
        stream = replace(
            model.loaded.stream, sink_latent_frames=min(model.loaded.stream.sink_latent_frames, latent_frames)
        )
        walker = Walker(model, land, scene, replace(model.loaded, policy=policy, stream=stream))
        last = walker.go(back + 1, turns.get, keep={back})[back]
        out[f"memory_agreement_{name}"] = Recalled(last.made[-1], last.truth.frames[-1], others)
    return out


def pooled_agreement(recalled: list[Recalled]) -> float:
    """The agreement of all walks together: worlds that hide little count little."""
    others = [np.stack(pictures) for pictures in zip(*(one.others for one in recalled), strict=True)]
    return agreement(np.stack([r.made for r in recalled]), np.stack([r.true for r in recalled]), others)


def motion(model: BundledWorldModel, land: WorldMap, index: int) -> dict[str, float]:
    """Turning and walking against what was asked, and a full turn against where it began."""
    scene, scale = held_out_scene(model.model, land, index), model.model.config.camera
    found = {}
    for keys, steps, unit in ((["l"], 4, scale.yaw_degrees), (["w"], 8, scale.move_step)):
        walker = Walker(model, land, scene)
        made = walker.go(steps + 1, {1: held(keys)}.get, keep={steps})
        picture = made[steps].made[-1].astype(np.float32)
        scores = []
        for share in np.linspace(0.5, 1.5, 41):
            amount = float(share) * steps * unit
            other = walker.truth.at(0, 0, amount) if keys == ["l"] else walker.truth.at(0, amount, 0)
            scores.append((float(np.square(picture - other).mean()), float(share)))
        found[keys[0]] = min(scores)[1]
    turn = round(360 / scale.yaw_degrees)
    walker = Walker(model, land, scene)
    events = {3: held(["l"]), 3 + turn: held([])}
    seen = walker.go(5 + turn, events.get, keep={2, 4 + turn})
    return {
        "yaw_degrees_error": abs(found["l"] - 1) * 4 * scale.yaw_degrees,
        "forward_scale": found["w"],
        "return_psnr": psnr_db(seen[4 + turn].made[-1:], seen[2].made[-1:]),
    }


def standing(model: BundledWorldModel, land: WorldMap, index: int) -> dict[str, float]:
    seen = joined(Walker(model, land, held_out_scene(model.model, land, index)).go(12, keep=range(4, 12)), range(4, 12))
    return {"flicker_still": flicker(seen.made), "flicker_truth": flicker(seen.truth.frames)}


def prompt_change(model: BundledWorldModel, land: WorldMap, index: int) -> dict[str, float]:
    """Standing still while everything about the prompt changes."""
    at, late = 4, 12
    walker = Walker(model, land, held_out_scene(model.model, land, index))
    seen = walker.go(at + late, {at: prompted(prompt_of(index + 9))}.get, keep=range(at, at + late))
    goal = seen[at + late - 1].truth.frames[-1:]
    reached = [psnr_db(seen[number].made[-1:], goal, seen[number].truth.determined[-1:]) for number in sorted(seen)]
    return {"prompt_chunks_to_change": next(i + 1 for i, value in enumerate(reached) if value >= reached[-1] - 1)}


@dataclass(frozen=True, slots=True)
class Found:
    """All that one held-out walk tells."""

    numbers: dict[str, float]
    recalled: dict[str, Recalled]
    rows: list[Pixels]  # of the contact sheet


def walk(model: BundledWorldModel, land: WorldMap, index: int, seconds: int) -> Found:
    """Everything that is measured on the held-out land ``index``."""
    numbers, rows = walk_numbers(model, land, index, seconds)
    for part in (standing, *((motion, prompt_change) if index % 4 == 0 else ())):
        numbers |= part(model, land, index)
    told = json.dumps({name: round(value, 3) for name, value in numbers.items()})
    print(f"walk {index} ({prompt_of(index)}): {told}", file=sys.stderr, flush=True)
    return Found(numbers, memory(model, land, index), rows if index < SHEET_WALKS else [])


def summary(model: BundledWorldModel, found: list[Found]) -> dict[str, float]:
    """All numbers, from those of the walks and of the model as such."""
    results = {name: [f.numbers[name] for f in found if name in f.numbers] for name in found[0].numbers}
    out = {name: sum(values) / len(values) for name, values in results.items()}
    out |= {name: pooled_agreement([f.recalled[name] for f in found]) for name in found[0].recalled}
    land = WorldMap()
    return out | {
        "autoencoder_psnr": _autoencoder(model, land),
        "prompt_hit_rate": phrasings.hit_rates(model.model.reader, phrasings.read(phrasings.HELD_OUT))["all"],
        "fps_generated": _speed(model, land),
        "width": model.card.width,
        "height": model.card.height,
        "parameters_million": sum(p.numel() for p in model.model.networks.parameters()) / 1e6,
    }


def _speed(model: BundledWorldModel, land: WorldMap) -> float:
    """Frames a second of a stroll's chunks, after some to warm up."""
    world, events = model.open(held_out_scene(model.model, land, 0), seed=7, session_id=0), stroll(0)
    frames, spent = 0, 0.0
    for chunk in range(WARM_CHUNKS + TIMED_CHUNKS):
        event = events(chunk)
        if event is not None:
            world.apply(event, None, 0.0)
        began = time.perf_counter()
        made = len(world.step().frames)
        if chunk >= WARM_CHUNKS:
            frames, spent = frames + made, spent + time.perf_counter() - began
    return frames / spent


@torch.no_grad()
def _autoencoder(model: BundledWorldModel, land: WorldMap) -> float:
    networks, data = model.model.networks.autoencoder, single_groups(VALIDATION_SEED, 1, 16, land, smooth=True)
    return psnr(networks.decode(networks.encode(data.frames), data.guides), data.frames)


class without_transformer:  # noqa: N801  (reads as a statement)
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
