from __future__ import annotations

from dataclasses import replace

import pytest

from app import details, messages
from app.values import AppState, Measured
from tests.app.walks import walking


def test_what_is_not_known_is_said_to_be_unknown() -> None:
    told = dict(details.lines(AppState()))
    for name in ("Shown", "Generated", "Key to picture", "Chunk", "Memory window", "Prompt", "Denoise", "Device"):
        assert told[name] == "unknown"


def test_what_is_known_is_told() -> None:
    measured = Measured(
        made=tuple((n * 0.25, 4) for n in range(5)),
        shown=tuple(n / 16 for n in range(20)),
        latencies=(0.1, 0.2, 0.3, 0.4),
    )
    state = replace(walking(), measured=measured, pace=messages.LoopMeasured(16.6, 18.0, 2, 0, 1))
    told = dict(details.lines(state))
    assert told["Shown"] == told["Generated"] == "16.0 frames a second"
    assert told["Key to picture"] == "p50 200 ms, p95 400 ms of 4"
    assert told["Window frame"] == "p50 16.6 ms, p99 18.0 ms"
    assert told["Memory window"] == "full, sees 4 latent frames (all recent)"
    assert told["Device"] == "cpu, float32, threads: 1"
    assert told["Denoise"] == "100.0 ms"


def test_a_world_that_stands_still_has_no_rate() -> None:
    assert dict(details.lines(replace(walking(), paused=True)))["Shown"] == "standing still"


@pytest.mark.parametrize(
    ("values", "percent", "value"),
    [((), 50, None), ((3.0,), 95, 3.0), ((4.0, 1.0, 2.0, 3.0), 50, 2.0), (tuple(range(1, 101)), 99, 99)],
)
def test_percentiles_are_values_that_occurred(values: tuple[float, ...], percent: float, value: float | None) -> None:
    assert details.percentile(values, percent) == value
