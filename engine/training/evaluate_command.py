"""``python main.py evaluate``: the bundled model, or one of a run, against its simulator, as JSON and as pictures."""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import signal
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path

import imageio.v3 as iio
import numpy as np
import torch

from engine.bundled import MODEL_FOLDER
from engine.bundled_world import BundledWorldModel, load_bundled
from engine.config import EngineConfig
from engine.device import available_cores, prepare_device
from engine.errors import FileProblem, WorldwalkError
from engine.training.dream_stage import NAME, without_guide
from engine.training.evaluate import DEFINITIONS, SECONDS, WALKS, Found, summary, walk
from engine.window import WindowPolicy
from engine.worldmap import WorldMap

DREAM = Path("runs/bundled") / f"{NAME}.safetensors"
UNGUIDED = """with --unguided the same walks are dreamt: the painter's latent and the decoder's guide are zero, and only
the first picture, its own history, the camera and the prompt tell the transformer anything. The truth is still the
simulator's land, which such a model cannot know beyond its first picture: psnr_Ns says for how long it follows it,
copy_psnr_1s what standing still would give, sharpness_ratio_60s and colour_shift_60s whether the walk becomes mush or
goes astray, memory_agreement_X and return_psnr whether it remembers. transformer_gain_db is against the picture of a
latent of zeros, and fps_generated includes the layout's casting, whose result is thrown away."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Which model is measured, with what, and where what was found goes."""

    walks: int
    seconds: int
    processes: int
    report: Path | None
    sheet: Path | None
    model: Path = MODEL_FOLDER
    dream: Path | None = None
    """Weights with which it dreams without the guide."""


def load(folder: Path, dream: Path | None = None) -> BundledWorldModel:
    """The model in ``folder``, with the threads and windows that it would have when walked in; with the weights in
    ``dream`` it dreams without the guide. FileProblem or WeightsProblem where one of them cannot be used."""
    config = EngineConfig(model=str(folder), window=WindowPolicy(interactive=True))
    prepare_device(config.device)
    if dream is not None and not dream.exists():
        raise FileProblem(dream, "there are no weights without guide yet", "Run 'python main.py train dream' first.")
    model = load_bundled(config, lambda stage, fraction: None, lambda line: None)
    return model if dream is None else without_guide(model, config, dream)


def measure(asked: Measured) -> str:
    """Evaluate and write report and sheet, each whole or not at all; returns the report's text."""
    model = load(asked.model, asked.dream)
    found = _walks(asked, model)
    if asked.sheet is not None:
        part = asked.sheet.with_name("part." + asked.sheet.name)
        iio.imwrite(part, np.concatenate([row for one in found for row in one.rows]))
        os.replace(part, asked.sheet)
    numbers = summary(model, found)
    text = json.dumps({name: round(value, 4) for name, value in sorted(numbers.items())}, indent=2)
    if asked.report is not None:
        beside = asked.report.with_name("part." + asked.report.name)
        beside.write_text(text + "\n", encoding="utf-8")
        os.replace(beside, asked.report)
    return text


def _walks(asked: Measured, model: BundledWorldModel) -> list[Found]:
    """By ``processes`` of one thread each: the simulator's many small operations gain little from a second one."""
    processes = min(asked.processes, asked.walks)
    if processes == 1:
        land = WorldMap()
        return [walk(model, land, index, asked.seconds) for index in range(asked.walks)]
    context = multiprocessing.get_context("spawn")
    try:
        with ProcessPoolExecutor(processes, context, _begin, (asked.model, asked.dream)) as pool:
            return list(pool.map(_walked, range(asked.walks), [asked.seconds] * asked.walks))
    except BrokenProcessPool as problem:
        cure = "Run it again, with fewer --processes if memory was short."
        raise WorldwalkError(f"A process that measures ended before it was done. {cure}") from problem


_worker: list[tuple[BundledWorldModel, WorldMap]] = []
"""In a process that measures: its own model and land."""


def _begin(folder: Path, dream: Path | None) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent is told too, and ends this one
    _worker.append((load(folder, dream), WorldMap()))
    torch.set_num_threads(1)


def _walked(index: int, seconds: int) -> Found:
    model, land = _worker[0]
    return walk(model, land, index, seconds)


def positive(text: str) -> int:
    """A count on the command line, for argparse."""
    if not text.isascii() or not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text} was given, and a whole number above 0 expected")
    return int(text)


def main(argv: Sequence[str]) -> int:
    described = "\n".join(f"  {name}: {text}" for name, text in DEFINITIONS.items())
    parser = argparse.ArgumentParser(
        prog="python main.py evaluate",
        description="Measure the bundled model against its simulator, on maps never trained on.",
        epilog=f"numbers, each the mean over the walks:\n{described}\n\n{UNGUIDED}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--report", type=Path, help="write the numbers to this JSON file too")
    parser.add_argument("--sheet", type=Path, help="write a contact sheet here: simulator above, model below")
    parser.add_argument("--walks", type=positive, default=WALKS, help=f"how many walks (default {WALKS})")
    parser.add_argument("--seconds", type=positive, default=SECONDS, help=f"length of each walk (default {SECONDS})")
    parser.add_argument("--processes", type=positive, default=available_cores(), help="that walk (default: one a core)")
    parser.add_argument("--model", type=Path, default=MODEL_FOLDER, help="folder of the model")
    parser.add_argument("--unguided", action="store_true", help="without the layout guide: the dream mode, see below")
    parser.add_argument("--dream", type=Path, default=DREAM, help=f"its weights, by 'train dream' (default {DREAM})")
    args = parser.parse_args(argv)
    dream = args.dream if args.unguided else None
    print(measure(Measured(args.walks, args.seconds, args.processes, args.report, args.sheet, args.model, dream)))
    return 0
