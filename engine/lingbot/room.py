"""Whether a model fits into this machine, asked before anything large is read."""

from __future__ import annotations

from dataclasses import replace

import torch

from engine.byte_progress import size_text
from engine.config import EngineConfig
from engine.device import DevicePlan
from engine.errors import NeedsHardware
from engine.host_memory import memory_mb
from engine.lingbot.config import LingBotConfig
from engine.lingbot.layouts import CheckpointFiles
from engine.lingbot.memory import MemoryPlan, Room, Wishes, plan


def refuse_or_plan(model: LingBotConfig, config: EngineConfig, files: CheckpointFiles, place: DevicePlan) -> MemoryPlan:
    """How ``model`` will run on ``place``. Raises NeedsHardware with the cure where it does not fit."""
    options = config.lingbot
    wishes = Wishes(
        dtype=str(place.dtype).removeprefix("torch."),
        text_encoder=options.text_encoder,
        fp8_linears=options.fp8_linears,
        size_fixed=options.width_px is not None or options.height_px is not None,
    )
    if place.device.type == "cuda":
        found = plan(model, config.window, _room_on(place.device), wishes)
        if not found.fits:
            raise NeedsHardware(f"{found.line}.", found.cure)
        return found
    return _on_processor(model, config, files, wishes)


def _room_on(device: torch.device) -> Room:
    free, _ = torch.cuda.mem_get_info(device)
    available = memory_mb()[1]
    host = None if available is None else int(available * 2**20)
    return Room(free, torch.cuda.get_device_capability(device), host)


def _on_processor(model: LingBotConfig, config: EngineConfig, files: CheckpointFiles, wishes: Wishes) -> MemoryPlan:
    """Everything in main memory, the text encoder too; nothing is given up by itself, as nothing here is quick."""
    text = sum(path.stat().st_size for path in files.text_encoder)
    found = plan(model, config.window, Room(2**62, (0, 0)), wishes)
    wanted = found.needed.total - found.needed.reserve + text
    available = memory_mb()[1]
    free = wanted if available is None else int(available * 2**20)
    if wanted > free:
        raise NeedsHardware(
            f"{model.name} needs {size_text(wanted)} of main memory on the processor, and {size_text(free)} are free.",
            "It is made for a graphics card; 'python main.py models' says how large a one.",
        )
    return replace(found, free_bytes=free)
