"""``bench e2e``: the whole way of a chunk as it is played, decoding and pixels included, on the wall clock."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from engine.backends import WorldModel
from engine.bench import machine
from engine.bench.record import percentile, spread
from engine.bench.walk import walk, warm_up
from engine.protocol import SceneSpec


def measure(
    model: WorldModel, scene: SceneSpec, *, seed: int, chunks: int, startup_seconds: float, clock: Callable[[], float]
) -> tuple[dict[str, object], dict[str, list[float]]]:
    """Warm up, then walk ``chunks`` chunks. Returns (result, samples); seconds since the command include its start."""
    world = model.open(scene, seed, 1)
    warm = warm_up(world, clock)
    first_frame_seconds = machine.process_age_seconds() - sum(timed.seconds for timed in warm[1:])
    rss_before = machine.rss_mb()
    # The frames are let go of as they come: kept, they would look like memory that the engine loses.
    steady = [_Timing(timed.seconds, len(timed.chunk.frames)) for timed in walk(world, chunks, clock)]
    milliseconds = [timing.seconds * 1000 for timing in steady]
    fps = _fps(steady)
    result: dict[str, object] = {
        "fps_generated": round(fps, 2),
        "fps_at_median": round(steady[0].frames / percentile([t.seconds for t in steady], 50), 2),
        "realtime_factor": round(fps / model.card.fps_nominal, 3),
        "chunk_ms": spread(milliseconds),
        "jitter_p99_over_p50": round(percentile(milliseconds, 99) / percentile(milliseconds, 50), 3),
        "startup_seconds": round(startup_seconds, 3),
        "first_frame_seconds": round(first_frame_seconds, 3),
        "first_chunk_ms": round(warm[0].seconds * 1000, 3),
        "warm_up_chunks": len(warm),
        "warm_up_seconds": round(sum(timed.seconds for timed in warm), 3),
        "megapixels_per_second": round(fps * model.card.width * model.card.height / 1e6, 3),
        "peak_rss_mb": _round(machine.peak_rss_mb()),
        "rss_growth_mb": _growth(rss_before, machine.rss_mb()),
        "last_over_first_quarter": _drift(milliseconds),
    }
    return result, {"chunk_ms": milliseconds, "warm_up_ms": [timed.seconds * 1000 for timed in warm]}


@dataclass(frozen=True, slots=True)
class _Timing:
    seconds: float
    frames: int


def _fps(chunks: Sequence[_Timing]) -> float:
    return sum(timing.frames for timing in chunks) / sum(timing.seconds for timing in chunks)


def _drift(milliseconds: Sequence[float]) -> float | None:
    """Median chunk time of the last quarter over that of the first: 1 means that time does not make it slower."""
    quarter = len(milliseconds) // 4
    if quarter == 0:
        return None
    return round(percentile(milliseconds[-quarter:], 50) / percentile(milliseconds[:quarter], 50), 3)


def _growth(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else round(after - before, 2)


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 2)
