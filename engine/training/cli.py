"""``python main.py train STAGE``: the recipe of the bundled model, one stage after the other, each resumable."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import imageio.v3 as iio
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from torch import Tensor, nn

from engine.bundled import MODEL_FOLDER, TOKENIZER, WEIGHTS
from engine.errors import FileProblem
from engine.models.autoencoder import Autoencoder, AutoencoderConfig
from engine.models.dit import CausalDiT
from engine.models.painter import Painter, PainterConfig
from engine.models.text import PromptEncoder, TextConfig
from engine.prompt_reader import PromptReader
from engine.protocol import SceneSpec
from engine.training import evaluate as evaluation
from engine.training import prompts, recipe
from engine.training.autoencoder_stage import VALIDATION_SEED, train_autoencoder
from engine.training.cache import build_cache, load_cache
from engine.training.export import config_map, export_model
from engine.training.loop import Budget
from engine.training.painter_stage import train_painter
from engine.training.scene_pictures import scene_picture
from engine.training.text_stage import train_text
from engine.training.transformer_stage import ResidualData, train_transformer
from engine.training.word_table import load_table
from engine.weights import read_header
from engine.worldmap import MIX_SIZE, WorldMap

STAGES = ("autoencoder", "render", "painter", "text", "dit", "export", "scenes")
_MINUTES = {"autoencoder": 30.0, "painter": 20.0, "text": 2.0, "dit": 60.0}


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

    def budget(self, stage: str) -> Budget:
        return Budget(_MINUTES[stage] if self.minutes is None else self.minutes, self.steps)


def parser() -> argparse.ArgumentParser:
    out = argparse.ArgumentParser(prog="python main.py train", description="Train the bundled model, stage by stage.")
    out.add_argument("stage", choices=(*STAGES, "all"), help="which part; 'all' runs them in order")
    out.add_argument("--folder", type=Path, default=Path("runs/bundled"), help="where checkpoints and logs go")
    out.add_argument("--minutes", type=float, help="training time of each stage (default: the shipped recipe's)")
    out.add_argument("--steps", type=int, help="train so many steps instead: repeats exactly")
    out.add_argument("--clips", type=int, default=720, help="walks that 'render' prepares for painter and dit")
    out.add_argument("--batch", type=int, help="batch size (default: the shipped recipe's)")
    out.add_argument("--seed", type=int, default=1)
    out.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    out.add_argument("--resume", action="store_true", help="continue from the last checkpoint in the folder")
    return out


def main(argv: Sequence[str], scenes: Callable[[], Mapping[Path, SceneSpec]]) -> int:
    """Run the stages asked for; returns the exit code. ``scenes``: the shipped ones by the file of their picture."""
    args = parser().parse_args(argv)
    options = Options(
        args.folder, args.minutes, args.steps, args.clips, args.batch, args.seed, args.device, args.resume
    )
    runs: dict[str, Callable[[Options], None]] = {
        "autoencoder": _autoencoder,
        "render": _render,
        "painter": _painter,
        "text": _text,
        "dit": _dit,
        "export": _export,
        "scenes": lambda o: _draw(o, scenes()),
    }
    for stage in STAGES if args.stage == "all" else (args.stage,):
        print(f"Stage {stage}", file=sys.stderr)
        runs[stage](options)
    return 0


def save_stage(module: nn.Module, folder: Path, name: str) -> None:
    """Keep a finished stage's weights (float32) for the stages after it."""
    tensors = {
        k: v.detach().cpu().contiguous(memory_format=torch.contiguous_format) for k, v in module.state_dict().items()
    }
    part = folder / f"{name}.part"
    save_file(tensors, part)
    os.replace(part, folder / f"{name}.safetensors")


def load_stage(module: nn.Module, folder: Path, name: str) -> None:
    module.load_state_dict(load_file(_stage_file(folder, name)))
    module.eval().requires_grad_(False)


def _stage_file(folder: Path, name: str) -> Path:
    path = folder / f"{name}.safetensors"
    if not path.exists():
        raise FileProblem(path, "this stage's weights are not there yet", f"Run 'python main.py train {name}' first.")
    return path


def load_autoencoder(folder: Path) -> Autoencoder:
    model = Autoencoder(AutoencoderConfig(len(recipe.GUIDE)))
    load_stage(model, folder, "autoencoder")
    return model


def _load_painter(folder: Path) -> Painter:
    model = Painter(PainterConfig(len(recipe.GUIDE), MIX_SIZE))
    load_stage(model, folder, "painter")
    return model


def word_vectors() -> Tensor:
    """The shipped word vectors [vocabulary, size]: an input of the recipe, not a product of it."""
    return load_file(MODEL_FOLDER / WEIGHTS)["text.words"].float()


def _tokenizer() -> Tokenizer:
    return Tokenizer.from_file(str(MODEL_FOLDER / TOKENIZER))


def _load_reader(folder: Path) -> PromptEncoder:
    """Of either form: the first release's had no table of whole words."""
    shapes = {name: entry.shape for name, entry in read_header(_stage_file(folder, "text")).tensors.items()}
    (vocabulary, word_size), (known_words, known_size) = shapes["words"], shapes.get("meanings", (0, 0))
    groups = tuple(len(g) for g in prompts.GROUPS)
    model = PromptEncoder(TextConfig(vocabulary, word_size, groups, known_words=known_words, known_size=known_size))
    load_stage(model, folder, "text")
    return model


def _autoencoder(o: Options) -> None:
    model = train_autoencoder(
        o.folder,
        budget=o.budget("autoencoder"),
        seed=o.seed,
        batch=o.batch or 10,
        resume=o.resume,
        device=o.device,
    )
    save_stage(model, o.folder, "autoencoder")


def _render(o: Options) -> None:
    model, land = load_autoencoder(o.folder).to(o.device), WorldMap(o.device)
    build_cache(o.folder / "clips", clips=o.clips, seed=o.seed, model=model, land=land)
    build_cache(o.folder / "held_out", clips=24, seed=VALIDATION_SEED, model=model, land=land)


def _painter(o: Options) -> None:
    clips, held_out = load_cache(o.folder / "clips"), load_cache(o.folder / "held_out")
    model = train_painter(
        o.folder,
        budget=o.budget("painter"),
        seed=o.seed,
        batch=o.batch or 16,
        resume=o.resume,
        device=o.device,
        clips=clips,
        held_out=held_out,
    )
    save_stage(model, o.folder, "painter")


def _text(o: Options) -> None:
    model = train_text(
        o.folder,
        budget=o.budget("text"),
        seed=o.seed,
        words=word_vectors(),
        table=load_table(o.folder),
        tokenizer=_tokenizer(),
        resume=o.resume,
    )
    save_stage(model, o.folder, "text")


def _dit(o: Options) -> None:
    tokenizer = _tokenizer()
    painter, reader = _load_painter(o.folder), _load_reader(o.folder)
    data = ResidualData(load_cache(o.folder / "clips"), painter, reader, tokenizer)
    held_out = ResidualData(load_cache(o.folder / "held_out"), painter, reader, tokenizer)
    model = train_transformer(
        o.folder,
        budget=o.budget("dit"),
        seed=o.seed,
        batch=o.batch or 4,
        resume=o.resume,
        data=data,
        held_out=held_out,
    )
    save_stage(model, o.folder, "dit")


def _export(o: Options) -> None:
    text = _load_reader(o.folder)
    dit = CausalDiT(recipe.DIT)
    load_stage(dit, o.folder, "dit")
    networks: dict[str, nn.Module] = {
        "autoencoder": load_autoencoder(o.folder),
        "painter": _load_painter(o.folder),
        "dit": dit,
        "text": text,
    }
    export_model(MODEL_FOLDER, config_map(recipe.NAME, text.config, recipe.SIGMAS), networks)


def evaluate(argv: Sequence[str]) -> int:
    """``python main.py evaluate``: the shipped model against its simulator."""
    return evaluation.main(argv)


def _draw(o: Options, scenes: Mapping[Path, SceneSpec]) -> None:
    """The first picture of each shipped scene, by the simulator: it must fit the map and the reading of prompts."""
    reader, land = PromptReader(_tokenizer(), _load_reader(o.folder)), WorldMap()
    for path, scene in scenes.items():
        part = path.with_name("part." + path.name)
        iio.imwrite(part, scene_picture(scene, reader, land))
        os.replace(part, path)
