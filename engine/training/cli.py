"""``python main.py train STAGE``: the recipe of the bundled model, one stage after the other, each resumable."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import imageio.v3 as iio
import torch
from torch import Tensor, nn

from engine.bundled import MODEL_FOLDER, TOKENIZER
from engine.device import available_cores
from engine.errors import NeedsHardware
from engine.prompt_reader import PromptReader
from engine.protocol import SceneSpec
from engine.training import dream_stage, evaluate_command, recipe, samples
from engine.training import evaluate as evaluation
from engine.training.autoencoder_stage import VALIDATION_SEED, train_autoencoder
from engine.training.cache import Clips, load_cache
from engine.training.dream_stage import DreamPlan, train_dream, undescribed
from engine.training.evaluate_command import Measured, measure, positive
from engine.training.export import config_map, export_model
from engine.training.finish_stage import MadeLatents, train_finish
from engine.training.loop import Budget
from engine.training.painter_stage import train_painter
from engine.training.render_stage import SHARD_CLIPS, WALKS_AT_ONCE, RenderPlan, build_cache
from engine.training.scene_pictures import scene_picture
from engine.training.stage_files import (
    load_autoencoder,
    load_painter,
    load_reader,
    load_transformer,
    save_stage,
    stage_file,
    stage_path,
    tokenizer,
    unpack_model,
    word_vectors,
)
from engine.training.text_stage import train_text
from engine.training.transformer_stage import ResidualData, train_transformer
from engine.training.word_table import load_table
from engine.weights import file_sha256
from engine.worldmap import WorldMap

STAGES = ("autoencoder", "render", "painter", "text", "dit", "finish", "export", "scenes", "evaluate")
_TRAINED = {"autoencoder": 33.0, "painter": 25.0, "text": 2.0, "dit": 125.0, "finish": 19.0}
"""Minutes of each stage's own clock on two cores, about what the shipped weights took together with those they began
with; the others take what they take."""
_OTHERS = {"render": 30.0, "evaluate": 20.0}
_EXPERIMENTS = {"dream": 60.0}
_UNPACK = "unpack"
_CLIPS, _HELD_OUT_CLIPS = 720, 24
_PLACES = 16
"""For each clip, single latent frames elsewhere for the painter: the transformer mends what the painter makes of clips
that it never saw, as at run time."""
_WHICH = (
    "which part; 'all' runs all but 'dream' and 'unpack', in order. finish: the decoder, on what the model makes. "
    "export: the finished stages become the shipped model. scenes: the first pictures of the shipped scenes. "
    "evaluate: the folder's model, or the shipped one where a stage is not finished, as JSON and a contact sheet. "
    "dream: an experiment, the transformer without the layout. "
    "unpack: the shipped model's networks become the folder's finished stages, to be trained --further"
)


@dataclass(frozen=True, slots=True)
class Options:
    folder: Path
    minutes: float | None
    steps: int | None
    clips: int
    batch: int | None
    seed: int
    device: str
    resume: bool
    further: bool
    processes: int
    walks: int
    seconds: int

    def budget(self, stage: str) -> Budget:
        return Budget((_TRAINED | _EXPERIMENTS)[stage] if self.minutes is None else self.minutes, self.steps)

    def plan(self, kind: str) -> RenderPlan:
        """The "clips" of the transformer, the "places" of the painter, or the "held_out" that are measured with."""
        plan = RenderPlan(
            weights=self.folder,
            folder=self.folder / kind,
            clips=self.clips,
            seed=self.seed,
            device=self.device,
            at_once=self.batch or WALKS_AT_ONCE[self.device],
            origin=file_sha256(stage_file(self.folder, "autoencoder")),
        )
        if kind == "places":
            return replace(plan, clips=_PLACES * self.clips, latent_frames=1, shard_clips=_PLACES * SHARD_CLIPS)
        if kind == "held_out":
            return replace(plan, clips=min(_HELD_OUT_CLIPS, self.clips), seed=VALIDATION_SEED)
        return plan


def parser() -> argparse.ArgumentParser:
    hours = sum((*_TRAINED.values(), *_OTHERS.values())) / 60
    minutes = ", ".join(f"{name} {value:.0f}" for name, value in (_TRAINED | _OTHERS).items())
    out = argparse.ArgumentParser(
        prog="python main.py train",
        description="Train the bundled model, stage by stage. Each stage writes its checkpoint every two minutes, its "
        "log and, at every validation, its sheets (curves; the truth above what it makes) into the folder.",
        epilog=f"'all' repeats the recipe of the shipped weights: about {hours:.1f} hours on two cores (minutes: "
        f"{minutes}). Killed, it goes on with --resume. With --steps a run repeats exactly on one machine.",
    )
    out.add_argument("stage", choices=(*STAGES, *_EXPERIMENTS, _UNPACK, "all"), help=_WHICH)
    out.add_argument("--folder", type=Path, default=Path("runs/bundled"), help="where checkpoints and logs go")
    out.add_argument("--minutes", type=float, help="training time of each stage (default: the shipped recipe's)")
    out.add_argument("--steps", type=positive, help="train so many steps instead: repeats exactly")
    out.add_argument("--clips", type=positive, default=_CLIPS, help=f"walks that 'render' prepares (default {_CLIPS})")
    out.add_argument(
        "--batch", type=positive, help="batch size; of 'render', walks at once (default: the shipped recipe's)"
    )
    out.add_argument("--seed", type=int, default=1)
    out.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="text and evaluation stay on the CPU")
    out.add_argument(
        "--processes", type=positive, default=available_cores(), help="of 'render' and 'evaluate' (default: one a core)"
    )
    out.add_argument("--walks", type=positive, default=evaluation.WALKS, help="that 'evaluate' takes")
    out.add_argument("--seconds", type=positive, default=evaluation.SECONDS, help="of each of them")
    out.add_argument("--resume", action="store_true", help="continue from the last checkpoint in the folder")
    out.add_argument(
        "--further",
        action="store_true",
        help="begin 'autoencoder', 'painter' and 'dit' with the folder's finished weights (see 'unpack')",
    )
    return out


def main(argv: Sequence[str], scenes: Callable[[], Mapping[Path, SceneSpec]]) -> int:
    """Run the stages asked for; returns the exit code. ``scenes``: the shipped ones by the file of their picture."""
    args = parser().parse_args(argv)
    options = Options(
        folder=args.folder,
        minutes=args.minutes,
        steps=args.steps,
        clips=args.clips,
        batch=args.batch,
        seed=args.seed,
        device=args.device,
        resume=args.resume,
        further=args.further,
        processes=args.processes,
        walks=args.walks,
        seconds=args.seconds,
    )
    if options.device == "cuda" and not torch.cuda.is_available():
        raise NeedsHardware("This torch finds no CUDA device.", "Leave --device cuda away to train on the CPU.")
    runs: dict[str, Callable[[Options], None]] = {
        "autoencoder": _autoencoder,
        "render": _render,
        "painter": _painter,
        "text": _text,
        "dit": _dit,
        "finish": _finish,
        "export": _export,
        "scenes": lambda o: _draw(o, scenes()),
        "evaluate": _evaluate,
        "dream": _dream,
        _UNPACK: lambda o: unpack_model(o.folder),
    }
    stages = STAGES if args.stage == "all" else (args.stage,)
    for number, stage in enumerate(stages, 1):
        print(f"Stage {stage}, {number} of {len(stages)}", file=sys.stderr)
        runs[stage](options)
    return 0


def _autoencoder(o: Options) -> None:
    model = train_autoencoder(
        o.folder,
        budget=o.budget("autoencoder"),
        seed=o.seed,
        batch=o.batch or 10,
        resume=o.resume,
        further=o.further,
        device=o.device,
    )
    save_stage(model, o.folder, "autoencoder")


def _render(o: Options) -> None:
    for kind in ("places", "clips", "held_out"):
        build_cache(o.plan(kind), o.processes)


def _painter(o: Options) -> None:
    places, held_out = _cached(o, "places"), _cached(o, "held_out")
    seen, decoder = _shown(o, held_out), load_autoencoder(o.folder)
    model = train_painter(
        o.folder,
        budget=o.budget("painter"),
        seed=o.seed,
        batch=o.batch or 16,
        resume=o.resume,
        further=o.further,
        device=o.device,
        clips=places,
        held_out=held_out,
        show=samples.painter_sheet(seen, samples.first(held_out), decoder.decode),
    )
    save_stage(model, o.folder, "painter")


def _cached(o: Options, kind: str) -> Clips:
    plan = o.plan(kind)
    return load_cache(plan.folder, plan.origin)


def _shown(o: Options, held_out: Clips) -> samples.Shown:
    """What the simulator shows of the first held-out clips."""
    walks = o.plan("held_out").walks(0)
    return samples.shown(walks, min(samples.CLIPS, len(held_out)), WorldMap())


def _text(o: Options) -> None:
    model = train_text(
        o.folder,
        budget=o.budget("text"),
        seed=o.seed,
        words=word_vectors(),
        table=load_table(o.folder),
        tokenizer=tokenizer(),
        resume=o.resume,
    )
    save_stage(model, o.folder, "text")


def _dit(o: Options) -> None:
    painter, reader, decoder = load_painter(o.folder).to(o.device), load_reader(o.folder), load_autoencoder(o.folder)

    def data(clips: Clips) -> ResidualData:
        return ResidualData(clips, painter, reader, tokenizer())

    held_out = _cached(o, "held_out")
    singles = [data(clip) for clip in samples.single(held_out)]
    model = train_transformer(
        o.folder,
        budget=o.budget("dit"),
        seed=o.seed,
        batch=o.batch or 4,
        resume=o.resume,
        further=o.further,
        data=data(_cached(o, "clips")),
        held_out=data(held_out),
        device=o.device,
        show=samples.transformer_sheet(_shown(o, held_out), singles, decoder.decode),
    )
    save_stage(model, o.folder, "dit")


def _finish(o: Options) -> None:
    autoencoder, painter = load_autoencoder(o.folder).to(o.device), load_painter(o.folder).to(o.device)
    dit = load_transformer(o.folder).to(o.device)
    model = train_finish(
        o.folder,
        budget=o.budget("finish"),
        seed=o.seed,
        batch=o.batch or 4,
        resume=o.resume,
        made=MadeLatents(autoencoder, painter, dit, load_reader(o.folder), tokenizer()),
    )
    save_stage(model, o.folder, "finish")


def _export(o: Options) -> None:
    export_run(o.folder, MODEL_FOLDER)


def export_run(run: Path, folder: Path) -> None:
    """The finished stages of a run as a model in ``folder``."""
    text = load_reader(run)
    networks: dict[str, nn.Module] = {
        "autoencoder": load_autoencoder(run, "finish"),
        "painter": load_painter(run),
        "dit": load_transformer(run),
        "text": text,
    }
    export_model(folder, config_map(recipe.NAME, text.config, recipe.SIGMAS), networks)


def evaluate(argv: Sequence[str]) -> int:
    """``python main.py evaluate``: the shipped model against its simulator."""
    return evaluate_command.main(argv)


def _evaluate(o: Options) -> None:
    folder = MODEL_FOLDER
    if all(stage_path(o.folder, name).exists() for name in _TRAINED):
        folder = o.folder / "model"
        export_run(o.folder, folder)
        shutil.copyfile(MODEL_FOLDER / TOKENIZER, folder / TOKENIZER)
    print(f"Measuring the model in {folder}", file=sys.stderr)
    o.folder.mkdir(parents=True, exist_ok=True)
    report, sheet = o.folder / "evaluation.json", o.folder / "evaluation.png"
    print(measure(Measured(o.walks, o.seconds, o.processes, report, sheet, folder)))


def _dream(o: Options) -> None:
    reader, autoencoder, held_out = load_reader(o.folder), load_autoencoder(o.folder), _cached(o, "held_out")

    def data(clips: Clips) -> ResidualData:
        return undescribed(clips, reader, tokenizer())

    def decode(latents: Tensor, guides: Tensor) -> Tensor:
        return autoencoder.decode(latents, torch.zeros_like(guides))

    plan = DreamPlan(o.folder / "dream", o.budget("dream"), o.seed, o.batch or 4, o.resume, o.device)
    singles = [data(clip) for clip in samples.single(held_out)]
    made = train_dream(
        plan,
        autoencoder,
        data=data(_cached(o, "clips")),
        held_out=data(held_out),
        show=samples.transformer_sheet(_shown(o, held_out), singles, decode),
    )
    save_stage(made, o.folder, dream_stage.NAME)


def _draw(o: Options, scenes: Mapping[Path, SceneSpec]) -> None:
    """The first picture of each shipped scene, by the simulator: it must fit the map and the reading of prompts."""
    reader, land = PromptReader(tokenizer(), load_reader(o.folder)), WorldMap()
    for path, scene in scenes.items():
        part = path.with_name("part." + path.name)
        iio.imwrite(part, scene_picture(scene, reader, land))
        os.replace(part, path)
