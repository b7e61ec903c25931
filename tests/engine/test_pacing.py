"""When a chunk is begun. Four frames at 16 a second are a quarter of a second."""

from __future__ import annotations

from itertools import pairwise

import pytest

from engine.pacing import CATCH_UP_SECONDS, MARGIN_SECONDS, Pacer


def paced(cost: float, chunks: int, pacer: Pacer | None = None) -> tuple[Pacer, list[float]]:
    """A pacer after that many chunks of four frames, each begun when it is due, and the times of their end."""
    pacer, now, ends = pacer or Pacer(16.0), 100.0, []
    for _ in range(chunks):
        began = max(now, pacer.begin_at)
        now = began + cost
        pacer.finished(began, now, 4)
        ends.append(now)
    return pacer, ends


def test_the_first_chunk_is_due_at_once() -> None:
    assert Pacer(16.0).begin_at <= 0.0
    assert Pacer(16.0).may_begin(0)


def test_chunks_end_at_the_nominal_rate() -> None:
    _, ends = paced(0.1, 20)
    assert [b - a for a, b in pairwise(ends[2:])] == pytest.approx([0.25] * 17)


def test_input_is_sampled_as_late_as_the_chunk_allows() -> None:
    pacer, ends = paced(0.1, 10)
    assert pacer.begin_at == pytest.approx(ends[-1] + 0.25 - 0.1)


def test_a_model_that_is_too_slow_never_waits() -> None:
    pacer, ends = paced(0.4, 10)
    assert pacer.begin_at <= ends[-1]
    assert pacer.may_begin(1)
    assert not pacer.may_begin(2)


def test_a_model_with_time_left_waits_until_its_last_chunk_is_fetched() -> None:
    pacer, _ = paced(0.1, 10)
    assert not pacer.may_begin(1)


def test_one_slow_chunk_is_not_made_up_for_by_a_burst() -> None:
    pacer, ends = paced(0.05, 10)
    late = ends[-1] + 1.0
    pacer.finished(late - 0.5, late, 4)
    _, after = paced(0.05, 12, pacer)
    assert after[-1] - after[-2] == pytest.approx(0.25, abs=0.01)
    pacer.restart()
    assert pacer.begin_at <= 0.0


def test_a_chunk_that_was_held_up_by_the_window_moves_the_beat() -> None:
    pacer, ends = paced(0.1, 10)
    pacer.held_until(ends[-1] + 3.0)
    assert pacer.begin_at == pytest.approx(ends[-1] + 3.0 - MARGIN_SECONDS)


def test_a_late_chunk_is_made_up_for_a_little() -> None:
    pacer, ends = paced(0.1, 10)
    now = ends[-1] + 0.25 + 0.03
    pacer.finished(now - 0.1, now, 4)
    assert pacer.begin_at == pytest.approx(ends[-1] + 0.5 - 0.1)
    assert CATCH_UP_SECONDS < 0.0625  # less than one frame
