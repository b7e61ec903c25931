"""Finished stages as files of the run folder: each network's weights, for the stages after it."""

from __future__ import annotations

import os
from pathlib import Path

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
from engine.training import prompts, recipe
from engine.weights import read_header, tensors_of
from engine.worldmap import MIX_SIZE


def save_stage(module: nn.Module, folder: Path, name: str) -> None:
    """Keep a finished stage's weights (float32); the file is replaced whole."""
    tensors = {
        k: v.detach().cpu().contiguous(memory_format=torch.contiguous_format) for k, v in module.state_dict().items()
    }
    _write(tensors, folder, name)


def _write(tensors: dict[str, Tensor], folder: Path, name: str) -> None:
    part = folder / f"{name}.part"
    save_file(tensors, part)
    os.replace(part, stage_path(folder, name))


def load_stage(module: nn.Module, folder: Path, name: str) -> None:
    take_weights(module, folder, name)
    module.eval().requires_grad_(False)


def take_weights(module: nn.Module, folder: Path, name: str) -> None:
    """A finished stage's weights, to be trained further."""
    module.load_state_dict(load_file(stage_file(folder, name)))


def unpack_model(folder: Path) -> None:
    """The shipped model's networks as a run's finished stages. FileProblem, and nothing written, where one is there."""
    folder.mkdir(parents=True, exist_ok=True)
    parts: dict[str, dict[str, Tensor]] = {}
    for key, tensor in tensors_of(MODEL_FOLDER / WEIGHTS):
        name, _, rest = key.partition(".")
        kind = torch.float32 if tensor.is_floating_point() else tensor.dtype
        parts.setdefault(name, {})[rest] = tensor.to(kind, copy=True)
    for name in parts:
        if stage_path(folder, name).exists():
            raise FileProblem(stage_path(folder, name), "a finished stage is there already", "Take another --folder.")
    for name, tensors in parts.items():
        _write(tensors, folder, name)


def stage_path(folder: Path, name: str) -> Path:
    return folder / f"{name}.safetensors"


def stage_file(folder: Path, name: str) -> Path:
    """FileProblem where the stage has not been trained yet."""
    path = stage_path(folder, name)
    if not path.exists():
        raise FileProblem(path, "this stage's weights are not there yet", f"Run 'python main.py train {name}' first.")
    return path


def load_autoencoder(folder: Path, stage: str = "autoencoder") -> Autoencoder:
    """As ``stage`` left it: "finish" trains its decoder on."""
    model = Autoencoder(AutoencoderConfig(len(recipe.GUIDE)))
    load_stage(model, folder, stage)
    return model


def load_painter(folder: Path) -> Painter:
    model = Painter(PainterConfig(len(recipe.GUIDE), MIX_SIZE))
    load_stage(model, folder, "painter")
    return model


def load_transformer(folder: Path) -> CausalDiT:
    model = CausalDiT(recipe.DIT)
    load_stage(model, folder, "dit")
    return model


def load_reader(folder: Path) -> PromptEncoder:
    """Of either form: the first release's had no table of whole words."""
    shapes = {name: entry.shape for name, entry in read_header(stage_file(folder, "text")).tensors.items()}
    (vocabulary, word_size), (known_words, known_size) = shapes["words"], shapes.get("meanings", (0, 0))
    groups = tuple(len(g) for g in prompts.GROUPS)
    model = PromptEncoder(TextConfig(vocabulary, word_size, groups, known_words=known_words, known_size=known_size))
    load_stage(model, folder, "text")
    return model


def word_vectors() -> Tensor:
    """The shipped word vectors [vocabulary, size]: an input of the recipe, not a product of it."""
    return load_file(MODEL_FOLDER / WEIGHTS)["text.words"].float()


def tokenizer() -> Tokenizer:
    return Tokenizer.from_file(str(MODEL_FOLDER / TOKENIZER))
