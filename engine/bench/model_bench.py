"""``bench e2e`` and ``bench stages`` on the model that the settings name."""

from __future__ import annotations

import time

from engine.backends import WorldModel
from engine.bench import e2e, machine, stages
from engine.bench.record import record
from engine.config import EngineConfig
from engine.protocol import SceneSpec

_CHUNKS = 96


def run(
    bench: str, model: WorldModel, scene: SceneSpec, config: EngineConfig, *, seed: int, chunks: int | None
) -> dict[str, object]:
    """Walk ``chunks`` chunks (None: 96); the record that is printed. To be called as soon as the model is loaded."""
    startup, count = machine.process_age_seconds(), chunks or _CHUNKS
    if bench == "e2e":
        result, samples = e2e.measure(
            model, scene, seed=seed, chunks=count, startup_seconds=startup, clock=time.monotonic
        )
    else:
        result, samples = stages.measure(model, scene, seed=seed, chunks=count, clock=time.monotonic)
    asked = {"scene": scene.name, "seed": seed, "chunks": count}
    return record(bench, model.card, config, options=asked, result=result, samples=samples)
