"""``bench ... --random-weights``: the benches on a LingBot-World of random numbers, and whether their numbers count.

A number is a headline only if nothing was compiled after the warm-up and the machine ran as fast as it can.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import TextIO

import torch

from engine.bench import e2e, machine, roofline, stages, throttle
from engine.bench.counters import Counters, graphs_compiled
from engine.bench.model_bench import Asked
from engine.bench.random_model import NAMES, codec_width, random_model, random_scene
from engine.bench.record import record
from engine.config import EngineConfig
from engine.errors import BadValue
from engine.protocol import SceneSpec
from engine.session import LoadedModel, WorldSession

Measured = tuple[dict[str, object], dict[str, list[float]]]
_WARM_CHUNKS, _CHUNKS, _ROUNDS = 2, 32, 10


def run(asked: Asked, config: EngineConfig, told: TextIO) -> dict[str, object]:
    """Build, warm up, count, measure; the tables go to ``told``. Returns the record, without a headline if refused."""
    if asked.model is None:
        raise BadValue("bench roofline", "no model", f"--random-weights with {' or '.join(NAMES)}")
    busy = throttle.processor_problem_now()
    model = random_model(asked.model, asked.scale, config, lambda line: print(line, file=told))
    startup = machine.process_age_seconds()
    scene = random_scene(model)
    counted = _counts(model, scene, asked.seed)
    graphs = graphs_compiled()
    print("Measuring", file=told)
    with ExitStack() as stack:
        watch = stack.enter_context(throttle.Watch(model.device.index or 0)) if model.device.type == "cuda" else None
        result, samples = _measure(asked, model, scene, startup)
    recompiles = graphs_compiled() - graphs
    problems = [problem for problem in (busy if watch is None else watch.problem,) if problem is not None]
    if recompiles:
        problems.append(f"{recompiles} graphs were compiled after the warm-up")
    result |= {**counted, "recompiles": recompiles, "refused": problems}
    result["headline"] = None if problems else _headline(asked.bench, model, result)
    if model.device.type == "cuda":
        result["peak_gpu_gb"] = round(torch.cuda.max_memory_allocated(model.device) / 1e9, 2)
    options = {"random_weights": asked.model, "scale": asked.scale, "seed": asked.seed, "chunks": _count(asked)}
    options |= {"device_name": device_name(model.device)}
    written = record(asked.bench, model.card, config, options=options, result=result, samples=samples)
    print(as_text(written), file=told)
    return written


def device_name(device: torch.device) -> str:
    """As it calls itself."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else machine.processor_name()


def as_text(written: Mapping[str, object]) -> str:
    """The record for people."""
    result = written["result"]
    assert isinstance(result, dict)
    lines = [roofline.as_text(result)] if "modes" in result else []
    lines.append(f"host waits a chunk: {result['waits']}, recompiles after the warm-up: {result['recompiles']}")
    if result["headline"] is not None:
        lines.append(result["headline"])
    lines.extend(f"No headline: {problem}." for problem in result["refused"])
    return "\n".join(lines)


def recompiled(written: Mapping[str, object]) -> bool:
    """Whether anything was compiled after the warm-up, with which a bench has failed."""
    result = written["result"]
    assert isinstance(result, dict)
    return bool(result.get("recompiles"))


def _count(asked: Asked) -> int:
    """Enough for a median, or what was asked for."""
    return asked.chunks or (_ROUNDS if asked.bench == "roofline" else _CHUNKS)


def _measure(asked: Asked, model: LoadedModel, scene: SceneSpec, startup_seconds: float) -> Measured:
    if asked.bench == "roofline":
        scale = asked.scale or ("full" if model.device.type == "cuda" else "tiny")
        width = codec_width(scale)
        return roofline.measure(model, scene, seed=asked.seed, rounds=_count(asked), codec_width=width)
    if asked.bench == "stages":
        return stages.measure(model, scene, seed=asked.seed, chunks=_count(asked), clock=time.monotonic)
    return e2e.measure(
        model, scene, seed=asked.seed, chunks=_count(asked), startup_seconds=startup_seconds, clock=time.monotonic
    )


def _counts(model: LoadedModel, scene: SceneSpec, seed: int) -> dict[str, object]:
    """Warm up, which compiles all that will be compiled, then count the waits of one chunk."""
    world = model.open(scene, seed, 1)
    for _ in range(_WARM_CHUNKS):
        world.step()
    if model.device.type == "cuda":
        return {"waits": _cuda_waits(world)}
    with Counters() as counters:
        world.step()
    return {"waits": len(counters.waits), "operations": counters.launches}


def _cuda_waits(world: WorldSession) -> int:
    """How often CUDA itself says that the host waited; the frames' own event, waited for by name, is one more."""
    torch.cuda.set_sync_debug_mode("warn")
    try:
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            world.step()
    finally:
        torch.cuda.set_sync_debug_mode("default")
    return 1 + len(_synchronising(seen))


def _synchronising(seen: Sequence[warnings.WarningMessage]) -> list[str]:
    return [str(warning.message) for warning in seen if "synchronizing" in str(warning.message)]


def _headline(bench: str, model: LoadedModel, result: Mapping[str, object]) -> str | None:
    fps = result.get("fps_at_median")
    if bench == "roofline":
        modes = result["modes"]
        assert isinstance(modes, dict)
        fps = next(iter(modes.values()))["chunk"]["fps"]
    if fps is None:
        return None
    card = model.card
    where = device_name(model.device)
    return f"{fps} frames a second: {card.model}, {card.width}x{card.height}, {card.dtype}, {where}"
