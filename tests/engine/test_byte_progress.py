"""How far a long job has come, in words."""

from __future__ import annotations

import pytest

from engine.byte_progress import ByteProgress, size_text, time_text


def test_progress_tells_bytes_and_the_time_left_once_a_second() -> None:
    told: list[tuple[str, float | None]] = []
    now = [0.0]
    report = ByteProgress("Reading", 8_000_000_000, lambda *stage: told.append(stage), clock=lambda: now[0])
    for _ in range(8):
        now[0] += 0.5
        report.add(1_000_000_000)
    assert told[0] == ("Reading: 2.00 GB of 8.00 GB, 3 s left", 0.25)
    assert told[-1] == ("Reading: 8.00 GB of 8.00 GB", 1.0)
    assert len(told) == 4


def test_what_was_there_before_does_not_count_for_the_speed() -> None:
    told: list[str] = []
    now = [0.0]
    report = ByteProgress("Fetching", 10_000, lambda text, _: told.append(text), clock=lambda: now[0], done=8_000)
    now[0] = 10.0
    report.add(1_000)
    report.add(99_000)
    assert told == ["Fetching: 9 kB of 10 kB, 10 s left", "Fetching: 10 kB of 10 kB"]


@pytest.mark.parametrize(
    ("byte_count", "text"),
    [(0, "0 kB"), (12_345, "12 kB"), (507_000_000, "507 MB"), (6_840_000_000, "6.84 GB"), (74_000_000_000, "74.0 GB")],
)
def test_sizes_have_three_digits(byte_count: int, text: str) -> None:
    assert size_text(byte_count) == text


@pytest.mark.parametrize(("seconds", "text"), [(0.4, "0 s"), (90, "90 s"), (600, "10 min"), (7500, "2 h 5 min")])
def test_times_are_as_one_says_them(seconds: float, text: str) -> None:
    assert time_text(seconds) == text
