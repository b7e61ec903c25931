"""Chunks that wait for a slow window, or for a slow video encoder."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from engine.errors import RemoteProblem
from engine.remote.inbox import KEPT_CHUNKS, Inbox
from tests.app.walks import frame_chunk, sampled

PROBLEM = RemoteProblem("The line broke.", "Mend it.")


def inbox(live: bool = True, fps: float = 16.0) -> Inbox:
    made = Inbox(fps, lambda: None)
    if live:
        made.go_live(lambda: None)
    return made


def test_frames_that_wait_are_at_most_as_many_as_fit_into_their_time() -> None:
    made = inbox(fps=40.0)
    for index in range(20):
        made.put(frame_chunk(index, frames=4))
    kept = [made.take().chunk for _ in range(4)]
    assert kept == [16, 17, 18, 19], "three older chunks of 4 are 0.3 s at 40 a second"
    assert made.dropped == 16
    assert not made.is_ready


def test_a_large_chunk_waits_alone() -> None:
    made = inbox()
    for index in range(3):
        made.put(frame_chunk(index, frames=12))
    assert made.take().chunk == 2
    assert not made.is_ready


def test_an_answer_overtakes_and_takes_along_what_was_asked_before() -> None:
    made = inbox(fps=100.0)
    made.put(replace(frame_chunk(0, events=(sampled(1, {}),)), prompt_updated=True))
    made.put(frame_chunk(1))
    made.put(frame_chunk(2, events=(sampled(2, {}, pressed_at=1.0),)))
    chunk = made.take()
    assert (chunk.chunk, [event.event_id for event in chunk.events], chunk.prompt_updated) == (2, [1, 2], True)


def test_during_a_pause_nothing_waits_and_no_event_is_lost() -> None:
    made = inbox()
    made.put(frame_chunk(0, events=(sampled(1, {}),)))
    made.pause(True)
    made.put(frame_chunk(1))
    assert not made.is_ready
    made.pause(False)
    made.put(frame_chunk(2))
    chunk = made.take()
    assert (chunk.chunk, [event.event_id for event in chunk.events]) == (2, [1])


def test_without_an_onlooker_nothing_is_dropped_and_the_sender_waits() -> None:
    made = inbox(live=False)
    for index in range(KEPT_CHUNKS):
        assert made.has_room
        made.put(frame_chunk(index, events=(sampled(index, {}, pressed_at=1.0),)))
    assert not made.has_room
    assert [made.take().chunk for _ in range(KEPT_CHUNKS)] == list(range(KEPT_CHUNKS))


def test_the_end_comes_after_what_came_before_it_and_wakes_who_waits() -> None:
    made = inbox()
    made.put(frame_chunk(0))
    made.end(PROBLEM)
    assert made.take().chunk == 0
    assert made.is_ready
    with pytest.raises(RemoteProblem, match="broke"):
        made.take()
    empty = inbox(live=False)
    threading.Timer(0.05, lambda: empty.end(PROBLEM)).start()
    with pytest.raises(RemoteProblem):
        empty.take()
