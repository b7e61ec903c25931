"""Which points in time are given up."""

from __future__ import annotations

from itertools import pairwise

from engine.thinning import least_needed


def kept(count: int, room: int) -> list[float]:
    times: list[float] = []
    for time in range(count):
        if len(times) == room:
            del times[least_needed(times)]
        times.append(float(time))
    return times


def test_the_first_and_the_newest_stay_and_gaps_grow_with_age() -> None:
    times = kept(3000, 60)
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert (times[0], times[-1], len(times)) == (0, 2999, 60)
    assert gaps[-8:] == [1] * 8
    assert all(older >= newer / 2 for older, newer in pairwise(gaps))
    assert max(gaps) > 100


def test_the_reach_grows_while_the_number_stays() -> None:
    assert [kept(count, 20)[-1] - kept(count, 20)[0] for count in (20, 200, 2000)] == [19, 199, 1999]


def test_of_two_the_older_one_goes() -> None:
    assert (least_needed([3.0]), least_needed([3.0, 4.0])) == (0, 0)
