"""``bench e2e`` and ``bench stages`` on the model that the settings name."""

from __future__ import annotations

import time
from dataclasses import dataclass

from engine.backends import WorldModel
from engine.bench import e2e, machine, stages
from engine.bench.record import record
from engine.config import EngineConfig
from engine.protocol import SceneSpec

_CHUNKS = 96


@dataclass(frozen=True, slots=True)
class Asked:
    """Which bench. ``model`` and ``scale`` are for random weights (``engine.bench.random_bench``), None without them;
    ``chunks`` None: enough for a good median."""

    bench: str
    model: str | None
    scale: str | None
    seed: int
    chunks: int | None


def run(asked: Asked, model: WorldModel, scene: SceneSpec, config: EngineConfig) -> dict[str, object]:
    """Walk; the record that is printed. To be called as soon as the model is loaded."""
    startup, chunks = machine.process_age_seconds(), asked.chunks or _CHUNKS
    if asked.bench == "e2e":
        result, samples = e2e.measure(
            model, scene, seed=asked.seed, chunks=chunks, startup_seconds=startup, clock=time.monotonic
        )
    else:
        result, samples = stages.measure(model, scene, seed=asked.seed, chunks=chunks, clock=time.monotonic)
    options = {"scene": scene.name, "seed": asked.seed, "chunks": chunks}
    return record(asked.bench, model.card, config, options=options, result=result, samples=samples)
