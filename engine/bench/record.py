"""The shape of every measurement: where it was taken, with which settings, what came out, and all single values."""

from __future__ import annotations

import math
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from engine.bench import machine
from engine.config import EngineConfig, to_dict
from engine.protocol import ModelCard

SCHEMA = 1


def environment(threads: int | None = None) -> dict[str, object]:
    """The machine as it is now. A high load average says that something else was running beside the measurement."""
    import torch

    memory, available = machine.memory_mb()
    return {
        "worldwalk": machine.version_of("worldwalk"),
        "python": platform.python_version(),
        "system": platform.platform(),
        "torch": torch.__version__,
        "threads": torch.get_num_threads() if threads is None else threads,
        "cores": machine.usable_cores(),
        "processor": machine.processor_name(),
        "cpu_capability": torch.backends.cpu.get_cpu_capability(),
        "memory_mb": _round(memory),
        "memory_available_mb": _round(available),
        "load_average": _round(machine.load_average()),
    }


def record(
    name: str,
    card: ModelCard,
    config: EngineConfig,
    *,
    options: Mapping[str, object],
    result: Mapping[str, object],
    samples: Mapping[str, Sequence[float]],
) -> dict[str, object]:
    """One run of the bench ``name`` as the map that is printed."""
    return {
        "schema": SCHEMA,
        "bench": name,
        "env": environment(card.threads),
        "config": {"card": asdict(card), "engine": to_dict(config), **options},
        "result": result,
        "samples": {key: [round(value, 3) for value in values] for key, values in samples.items()},
    }


def percentile(values: Sequence[float], percent: float) -> float:
    """The nearest-rank percentile of at least one value."""
    assert values, "no values"
    ordered = sorted(values)
    return ordered[max(0, math.ceil(percent / 100 * len(ordered)) - 1)]


def spread(values: Sequence[float]) -> dict[str, float]:
    """p50, p95, p99, max and how many there were."""
    found = {f"p{p}": round(percentile(values, p), 3) for p in (50, 95, 99)}
    return {**found, "max": round(max(values), 3), "n": len(values)}


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 2)
