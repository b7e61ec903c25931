from __future__ import annotations

from dataclasses import replace

import pytest

from app import details, messages
from app.facts import Measured
from app.values import AppState
from engine.protocol import RemoteShares
from tests.app.walks import after, frame_chunk, walking


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


def test_a_remote_walk_tells_the_servers_and_the_networks_share_of_the_last_answer() -> None:
    shares = RemoteShares("jpeg", 300_000, 12.0, 410.0, 25.0, 8e6, forward_ms=390.0, held_back_ms=0.0)
    answer = replace(frame_chunk(1), remote=shares)
    later = replace(frame_chunk(2), remote=replace(shares, server_ms=None, network_ms=None))
    told = dict(details.lines(after(walking(), [answer, later])[0]))
    assert told["Last answer"] == "server 410 ms, network 25 ms"
    assert told["Server's model"] == "390 ms a chunk, held back 0 ms"
    assert told["Line"] == "8.0 MB/s, round trip 12.0 ms"
    assert told["Pictures travel as"] == "jpeg, 300 kB a chunk"
    assert told["Memory window"] == "the server's own"
    assert "Denoise" not in told


def test_a_world_that_stands_still_has_no_rate() -> None:
    assert dict(details.lines(replace(walking(), paused=True)))["Shown"] == "standing still"


@pytest.mark.parametrize(
    ("values", "percent", "value"),
    [((), 50, None), ((3.0,), 95, 3.0), ((4.0, 1.0, 2.0, 3.0), 50, 2.0), (tuple(range(1, 101)), 99, 99)],
)
def test_percentiles_are_values_that_occurred(values: tuple[float, ...], percent: float, value: float | None) -> None:
    assert details.percentile(values, percent) == value
