"""The line's speed and what follows from it."""

from __future__ import annotations

import pytest

from engine.remote.traffic import Traffic
from engine.remote.wire import Picture

PICTURE = Picture(832, 480)


def line(megabytes_per_second: float) -> Traffic:
    traffic = Traffic()
    for _ in range(5):
        traffic.crossed(1_000_000, 1 / megabytes_per_second)
    return traffic


@pytest.mark.parametrize(("rate", "chosen"), [(100, "raw"), (30, "raw"), (20, "jpeg"), (4, "jpeg"), (2, "webp")])
def test_pictures_travel_as_well_as_the_line_allows(rate: float, chosen: str) -> None:
    assert line(rate).output_format("auto", PICTURE, 16) == chosen


def test_what_the_user_chose_is_kept_and_an_unknown_line_is_trusted_with_jpeg() -> None:
    assert line(100).output_format("webp", PICTURE, 16) == "webp"
    assert Traffic().output_format("auto", PICTURE, 16) == "jpeg"


def test_small_messages_say_nothing_and_one_slow_one_little() -> None:
    traffic = line(10)
    traffic.crossed(500, 10.0)
    traffic.crossed(1_000_000, 60.0)
    assert traffic.bytes_per_second == pytest.approx(10e6)
    assert Traffic().bytes_per_second is None


def test_the_round_trip_is_the_shortest_of_the_latest() -> None:
    traffic = Traffic()
    assert traffic.round_trip_seconds == 0.0
    for seconds in (0.5, 0.02, 0.02, 0.09):
        traffic.answered(seconds)
    assert traffic.round_trip_seconds == 0.02
    for index in range(9):
        traffic.answered(0.1 + index / 100)
    assert traffic.round_trip_seconds == 0.1
