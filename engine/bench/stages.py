"""``bench stages``: where a chunk's time goes, for moving and for still chunks, and what a changed prompt costs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict

from engine.backends import WorldModel
from engine.bench.record import percentile, spread
from engine.bench.walk import TimedChunk, walk, warm_up
from engine.protocol import SceneSpec

STAGES = ("text", "condition", "denoise", "commit", "decode")
PROMPTS = ("a snowstorm at night", "a green meadow at noon", "a red canyon at dusk")


def measure(
    model: WorldModel, scene: SceneSpec, *, seed: int, chunks: int, clock: Callable[[], float]
) -> tuple[dict[str, object], dict[str, list[float]]]:
    """Warm up, walk ``chunks`` chunks, then change the prompt three times. Returns (result, samples)."""
    world = model.open(scene, seed, 1)
    warm_up(world, clock)
    steady = list(walk(world, chunks, clock))
    prompted: list[TimedChunk] = []
    for prompt in PROMPTS:
        world.apply({"input_types": ["prompt"], "prompt": prompt}, None, clock())
        prompted.extend(walk(world, 1, clock))
    groups = {
        "all": steady,
        "moving": [timed for timed in steady if timed.chunk.window.mode != "still"],
        "still": [timed for timed in steady if timed.chunk.window.mode == "still"],
        "prompt_changed": prompted,
    }
    result: dict[str, object] = {name: table(group) for name, group in groups.items() if group}
    return result, {stage: _of_stage(steady, stage) for stage in STAGES}


def table(chunks: Sequence[TimedChunk]) -> dict[str, object]:
    """Milliseconds and share of each stage; ``rest`` is what no stage claims (events, bookkeeping)."""
    whole = [timed.seconds * 1000 for timed in chunks]
    total = percentile(whole, 50)
    rows: dict[str, object] = {}
    for stage in STAGES:
        values = _of_stage(chunks, stage)
        rows[stage] = {**spread(values), "share": round(percentile(values, 50) / total, 4) if total else None}
    rest = [max(0.0, ms - timed.chunk.ms.total) for ms, timed in zip(whole, chunks, strict=True)]
    rows["rest"] = {**spread(rest), "share": round(percentile(rest, 50) / total, 4) if total else None}
    visible = sorted({timed.chunk.window.visible_latent_frames for timed in chunks})
    return {"chunk_ms": spread(whole), "visible_latent_frames": visible, "stages_ms": rows}


def _of_stage(chunks: Sequence[TimedChunk], stage: str) -> list[float]:
    return [float(asdict(timed.chunk.ms)[stage]) for timed in chunks]
