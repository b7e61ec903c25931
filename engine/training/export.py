"""From trained stages to the files that ship: half-precision safetensors, config.json, tokenizer."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import nn

from engine.bundled import CONFIG, MODEL_FOLDER, TOKENIZER, WEIGHTS
from engine.models.text import TextConfig
from engine.training.data import (
    BLEND_LATENT_FRAMES,
    METRES_PER_LATENT,
    PITCH_DEGREES,
    PITCH_LIMIT_DEGREES,
    YAW_DEGREES,
)
from engine.training.recipe import DIT, GUIDE, HEIGHT_PX, WIDTH_PX
from engine.weights import file_sha256

MOVE_STEP = 0.05
MOVING_LATENT_FRAMES, STILL_LATENT_FRAMES = 3, 1
"""Measured: more made the picture no better, see docs/tried.md."""
FULL_PRECISION = ("latent_mean", "latent_std", "residual_std")


def config_map(name: str, text: TextConfig, sigmas: tuple[float, ...]) -> dict[str, object]:
    """What goes into config.json; ``BundledConfig.read`` reads it back."""
    return {
        "schema": 1,
        "name": name,
        "fps": 16,
        "size": {"width_px": WIDTH_PX, "height_px": HEIGHT_PX},
        "guide": list(GUIDE),
        "stream": {
            "chunk_latent_frames": 1,
            "window_latent_frames": 8,
            "sink_latent_frames": 1,
            "moving_latent_frames": MOVING_LATENT_FRAMES,
            "still_latent_frames": STILL_LATENT_FRAMES,
        },
        "sigmas": list(sigmas),
        "camera": {
            "move_step": MOVE_STEP,
            "yaw_degrees": YAW_DEGREES,
            "pitch_degrees": PITCH_DEGREES,
            "pitch_limit_degrees": PITCH_LIMIT_DEGREES,
            "metres_per_unit": METRES_PER_LATENT / MOVE_STEP,
        },
        "blend_latent_frames": BLEND_LATENT_FRAMES,
        "dit": {
            **{k: v for k, v in asdict(DIT).items() if k in ("dim", "heads", "layers", "ffn_dim")},
            "rope_split": list(DIT.rope_split or ()),
            **({"rope_turns": list(DIT.rope_turns)} if DIT.rope_turns else {}),
        },
        "text": {
            "vocabulary": text.vocabulary,
            "word_size": text.word_size,
            "group_sizes": list(text.group_sizes),
            "length": text.length,
            **({"known_words": text.known_words, "known_size": text.known_size} if text.known_words else {}),
            "tokenizer_sha256": file_sha256(MODEL_FOLDER / TOKENIZER),
        },
    }


def export_model(folder: Path, config: dict[str, object], networks: dict[str, nn.Module]) -> None:
    """Write ``model.safetensors`` and ``config.json`` into ``folder``; each is replaced whole."""
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {}
    for prefix, module in networks.items():
        for name, tensor in module.state_dict().items():
            exact = name.endswith(FULL_PRECISION)
            kind = torch.float32 if exact else torch.float16
            kept = tensor.detach().to(kind if tensor.is_floating_point() else tensor.dtype)
            tensors[f"{prefix}.{name}"] = kept.contiguous(memory_format=torch.contiguous_format)
    part = folder / (WEIGHTS + ".part")
    save_file(tensors, part, {"format": "pt", "model": "worldwalk-bundled"})
    os.replace(part, folder / WEIGHTS)
    part = folder / (CONFIG + ".part")
    part.write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    os.replace(part, folder / CONFIG)
