"""Frames that were shown, kept for going back."""

from __future__ import annotations

import numpy as np

from app.past_frames import PastFrames
from engine.protocol import Pixels


def frame(number: int) -> Pixels:
    return np.full((2, 5, 3), number % 256, np.uint8)  # 30 bytes


def shown(count: int, limit_bytes: int = 1_000_000) -> PastFrames:
    past = PastFrames(limit_bytes)
    for number in range(count):
        past.add(frame(number), (number + 1) / 4)
    return past


def test_steps_lead_back_frame_by_frame_and_end_at_the_first() -> None:
    past = shown(8)
    glance = past.look(2.7)
    assert glance is not None
    assert (int(glance.frame[0, 0, 0]), glance.position, glance.chunks_back, glance.is_first) == (5, 1.5, 0.5, False)
    first = past.look(99.0)
    assert first is not None
    assert (int(first.frame[0, 0, 0]), first.is_first) == (0, True)


def test_the_limit_holds_and_the_first_frame_stays_in_reach() -> None:
    past = shown(2000, limit_bytes=600)
    assert past.byte_count == 600
    first, newest = past.look(99.0), past.look(0.0)
    assert first is not None
    assert newest is not None
    assert (first.position, newest.position) == (0.25, 500.0)


def test_what_was_undone_is_forgotten_and_shown_anew() -> None:
    past = shown(12)
    last = past.go(1, 1, 0)
    assert last is not None
    assert int(last[0, 0, 0]) == 7
    past.add(frame(99), 2.25)
    glance = past.look(0.0)
    assert glance is not None
    assert int(glance.frame[0, 0, 0]) == 99
    past.keep_only([0, 1])
    assert past.byte_count == 13 * 30
    past.keep_only([1])
    assert past.byte_count == 9 * 30


def test_the_frames_of_a_way_that_was_left_are_seen_again_from_its_end() -> None:
    past = shown(12)
    past.leave(frame(50), 4.0)  # its last frames were never shown
    past.go(1, 1, 0)
    past.add(frame(99), 2.25)
    past.leave(frame(99), 2.25)
    end = past.go(3, 0, 0)
    assert end is not None
    assert int(end[0, 0, 0]) == 50
    assert [int(glance.frame[0, 0, 0]) for steps in range(6) if (glance := past.look(steps))] == [50, 11, 10, 9, 8, 7]


def test_where_room_is_short_ends_of_ways_outlive_what_lies_along_them() -> None:
    past = shown(8, limit_bytes=300)
    past.leave(frame(7), 2.0)
    past.go(0, 1, 0)
    for number in range(40):
        past.add(frame(100 + number), 1.25 + number / 4)
    assert past.byte_count <= 300
    past.leave(frame(139), 11.0)
    end = past.go(1, 0, 0)
    assert end is not None
    assert int(end[0, 0, 0]) == 7


def test_a_frame_outlives_the_chunk_that_it_was_a_part_of() -> None:
    past, chunk = PastFrames(), np.zeros((4, 2, 5, 3), np.uint8)
    past.add(chunk[1], 1.0)
    chunk[:] = 7
    glance = past.look(0.0)
    assert glance is not None
    assert not glance.frame.any()


def test_an_empty_past_shows_nothing() -> None:
    past = shown(3)
    past.clear()
    assert (past.look(0.0), past.go(0, 1, 0), past.byte_count) == (None, None, 0)
