"""What a checkpoint on disk is, and whether all of it is there and fits: told without loading it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import torch

from engine.byte_progress import size_text
from engine.catalogue import RECORD
from engine.errors import WeightsProblem
from engine.lingbot import download, memory
from engine.lingbot.config import LingBotConfig, config_of, parameter_count
from engine.lingbot.layouts import CheckpointFiles, find
from engine.lingbot.loading import checked_headers, fingerprint, refuse_wrong_weights
from engine.models.dit import CausalDiT
from engine.weights import DIT_NAMES, WeightsHeader


def check(path: Path, assets: Path | None, progress: download.Progress, *, hashes: bool) -> list[str]:
    """Lines for people: what the checkpoint is and what it needs. ``hashes``: read every byte of what we fetched.

    Raises FileProblem or WeightsProblem with all that is missing, damaged or of the wrong shape.
    """
    files = find(path, assets)
    altered = download.verify(files.root, progress, hashes=hashes)
    if altered:
        cure = "Ask for the model again: python main.py models get; what is whole is kept."
        raise WeightsProblem(files.root, f"differs from what was fetched: {'; '.join(altered)}", cure)
    headers = checked_headers(files.transformer)
    config = config_of(files)
    with torch.device("meta"):
        wanted = CausalDiT(config.dit).state_dict()
    refuse_wrong_weights(headers, files.index, DIT_NAMES, wanted)
    companions = [shard for shard in (*files.text_encoder, *files.vae) if shard.suffix == ".safetensors"]
    checked_headers(companions)
    return [*_about(config, files, headers), *_parts(files), _record_line(files.root, hashes)]


def _about(config: LingBotConfig, files: CheckpointFiles, headers: dict[Path, WeightsHeader]) -> list[str]:
    dit, stream, schedule = config.dit, config.stream, config.schedule
    return [
        f"{files.root} holds {config.name} in the {files.layout} layout.",
        f"transformer   {parameter_count(dit):,} numbers in {_files(files.transformer)}, {_dtypes(headers.values())}",
        f"sizes         width {dit.dim}, {dit.heads} heads of {dit.head_dim}, {dit.layers} layers, ffn {dit.ffn_dim}",
        f"streaming     chunks of {stream.chunk_latent_frames}, window {stream.window_latent_frames}, "
        f"sink {stream.sink_latent_frames} latent frames ({'config.json' if files.config else 'built-in values'})",
        f"schedule      {schedule.kind}, shift {schedule.shift:g}, steps {', '.join(map(str, schedule.steps))}",
        f"needs         {memory.requirement(config)}",
        f"fingerprint   {fingerprint(files)[:16]}",
    ]


def _parts(files: CheckpointFiles) -> list[str]:
    return [
        f"text encoder  {_files(files.text_encoder)}",
        f"tokenizer     {files.tokenizer}",
        f"VAE           {_files(files.vae)}",
    ]


def _record_line(root: Path, hashes: bool) -> str:
    if not (root / RECORD).is_file():
        return "Names, shapes and sizes are right. It was not fetched by Worldwalk, so there are no hashes to compare."
    return "Every byte is as it was published." if hashes else "Complete; --checksums compares every byte."


def _files(paths: tuple[Path, ...]) -> str:
    total = size_text(sum(path.stat().st_size for path in paths))
    return f"{paths[0]} ({total})" if len(paths) == 1 else f"{len(paths)} files in {paths[0].parent} ({total})"


def _dtypes(headers: Iterable[WeightsHeader]) -> str:
    return " and ".join(sorted(Counter(entry.dtype for header in headers for entry in header.tensors.values())))
