"""``python main.py evaluate``: the bundled model, or one of a run, against its simulator, as JSON and as pictures."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.bundled import MODEL_FOLDER
from engine.bundled_world import BundledWorldModel, load_bundled
from engine.config import EngineConfig
from engine.device import prepare_device
from engine.errors import FileProblem
from engine.training.dream_stage import NAME, without_guide
from engine.training.evaluate import DEFINITIONS, SECONDS, WALKS, evaluate

DREAM = Path("runs/bundled") / f"{NAME}.safetensors"
UNGUIDED = """with --unguided the same walks are dreamt: the painter's latent and the decoder's guide are zero, and only
the first picture, its own history, the camera and the prompt tell the transformer anything. The truth is still the
simulator's land, which such a model cannot know beyond its first picture: psnr_Ns says for how long it follows it,
copy_psnr_1s what standing still would give, sharpness_ratio_60s and colour_shift_60s whether the walk becomes mush or
goes astray, memory_agreement_X and return_psnr whether it remembers. transformer_gain_db is against the picture of a
latent of zeros, and fps_generated includes the layout's casting, whose result is thrown away."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What to measure with, and where what was found goes."""

    walks: int
    seconds: int
    report: Path | None
    sheet: Path | None


def load(folder: Path, dream: Path | None = None) -> BundledWorldModel:
    """The model in ``folder``, with the threads that it would have when walked in; with the weights in ``dream`` it
    dreams without the guide. FileProblem or WeightsProblem where one of them cannot be used."""
    config = EngineConfig(model=str(folder))
    prepare_device(config.device)
    if dream is not None and not dream.exists():
        raise FileProblem(dream, "there are no weights without guide yet", "Run 'python main.py train dream' first.")
    model = load_bundled(config, lambda stage, fraction: None, lambda line: None)
    return model if dream is None else without_guide(model, config, dream)


def measure(model: BundledWorldModel, asked: Measured) -> str:
    """Evaluate and write report and sheet, each whole or not at all; returns the report's text."""
    part = None if asked.sheet is None else asked.sheet.with_name("part." + asked.sheet.name)
    found = evaluate(model, walks=asked.walks, seconds=asked.seconds, sheet=part)
    if asked.sheet is not None and part is not None:
        os.replace(part, asked.sheet)
    text = json.dumps({name: round(value, 4) for name, value in sorted(found.items())}, indent=2)
    if asked.report is not None:
        beside = asked.report.with_name("part." + asked.report.name)
        beside.write_text(text + "\n", encoding="utf-8")
        os.replace(beside, asked.report)
    return text


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
    parser.add_argument("--walks", type=int, default=WALKS, help=f"how many walks (default {WALKS})")
    parser.add_argument("--seconds", type=int, default=SECONDS, help=f"length of each walk (default {SECONDS})")
    parser.add_argument("--model", type=Path, default=MODEL_FOLDER, help="folder of the model")
    parser.add_argument("--unguided", action="store_true", help="without the layout guide: the dream mode, see below")
    parser.add_argument("--dream", type=Path, default=DREAM, help=f"its weights, by 'train dream' (default {DREAM})")
    args = parser.parse_args(argv)
    print(
        measure(
            load(args.model, args.dream if args.unguided else None),
            Measured(args.walks, args.seconds, args.report, args.sheet),
        )
    )
    return 0
