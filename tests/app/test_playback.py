from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest

from app.playback import MOST_SECONDS_BEYOND_CHUNK, Playback
from engine.protocol import ChunkTimings, FrameChunk, WindowReport

TICK = 1 / 60


def chunk(index: int, made_at: float, frames: int = 4, session_id: int = 1) -> FrameChunk:
    pixels = np.zeros((frames, 2, 2, 3), np.uint8)
    pixels[:, 0, 0, 0] = np.arange(frames)
    pixels[:, 0, 0, 1] = index % 256
    return FrameChunk(
        session_id=session_id,
        chunk=index,
        frames=pixels,
        prompt="",
        prompt_updated=False,
        moving=False,
        window=WindowReport("full", None, 1),
        pose=(0.0,) * 16,
        ms=ChunkTimings(),
        made_at=made_at,
    )


def play(
    playback: Playback, seconds: float, made: Callable[[int], float], frames: int = 4
) -> list[tuple[float, int, int]]:
    """(time, chunk, frame) of everything shown while chunk n arrives at ``made(n)``."""
    shown, index, tick = [], 0, 0
    while (now := tick * TICK) < seconds:
        while made(index) <= now:
            playback.push(chunk(index, made(index), frames), now)
            index += 1
        due = playback.due(now)
        if due is not None:
            shown.append((now, int(due.frame[0, 0, 1]), int(due.frame[0, 0, 0])))
        tick += 1
    return shown


def begun(fps: float = 16.0) -> Playback:
    playback = Playback()
    playback.begin(1, fps)
    return playback


def gaps(shown: list[tuple[float, int, int]], after: float = 0.0) -> list[float]:
    times = [time for time, _, _ in shown if time >= after]
    return [later - earlier for earlier, later in itertools.pairwise(times)]


@pytest.mark.parametrize("period", [0.25, 0.3, 0.5, 1.3])
def test_frames_are_shown_evenly_at_the_rate_they_are_made(period: float) -> None:
    shown = play(begun(), 20 + 8 * period, lambda n: n * period)
    steady = gaps(shown, after=6 * period)
    assert max(steady) - min(steady) <= 3 * TICK
    assert sum(steady) / len(steady) == pytest.approx(period / 4, rel=0.05)


def test_frames_are_never_shown_faster_than_the_nominal_rate() -> None:
    shown = play(begun(), 10, lambda n: n * 0.1)
    assert min(gaps(shown)) >= 1 / 16 - TICK - 1e-9
    assert len(shown) <= 10 * 16 + 1


def test_every_frame_is_shown_once_and_in_order() -> None:
    shown = play(begun(), 10, lambda n: n * 0.25)
    numbers = [index * 4 + frame for _, index, frame in shown]
    assert numbers == list(range(len(numbers)))


def test_uneven_arrival_does_not_show() -> None:
    jitter = (0.0, 0.02, -0.015, 0.01, -0.02, 0.015)
    shown = play(begun(), 30, lambda n: 0.1 + n * 0.28 + jitter[n % 6])
    assert max(gaps(shown, after=5)) <= 0.07 + 2.1 * TICK


def test_an_engine_that_is_ahead_never_makes_the_picture_lag() -> None:
    playback = begun()
    for index in range(40):
        playback.push(chunk(index, index * 0.01), index * 0.01)
    assert playback.waiting_frames <= 4 + MOST_SECONDS_BEYOND_CHUNK * 16
    assert playback.dropped > 0
    assert not playback.has_room


def test_a_dropped_first_frame_still_announces_its_chunk() -> None:
    playback = begun()
    for index in range(10):
        playback.push(chunk(index, index * 0.01), 0.0)
    due = playback.due(0.0)
    assert due is not None
    announced = [made.chunk for made in due.first_of]
    assert announced == list(range(len(announced)))
    assert len(announced) > 1


def test_an_underrun_holds_the_last_frame_and_ends_without_a_burst() -> None:
    arrivals = [0.0, 0.25, 0.5, 3.0, 3.25, 3.5, 3.75, 4.0]
    playback = begun()
    shown = play(playback, 4.2, lambda n: arrivals[n] if n < len(arrivals) else 99.0)
    assert min(gaps(shown)) >= 1 / 16 - TICK - 1e-9
    assert playback.underruns >= 1
    assert any(abs(time - 3.0) <= TICK for time, _, _ in shown), "what arrives after the gap is shown at once"


def test_one_slow_chunk_does_not_slow_the_ones_after_it() -> None:
    shown = play(begun(), 12, lambda n: n * 0.25 + (1.5 if n >= 20 else 0.0))
    assert sum(gaps(shown, after=8)) / len(gaps(shown, after=8)) == pytest.approx(1 / 16, rel=0.03)


def test_a_pause_shows_nothing_and_goes_on_without_burst_or_delay() -> None:
    playback = begun()
    playback.push(chunk(0, 0.0), 0.0)
    assert playback.due(0.0) is not None
    playback.pause(0.01)
    playback.push(chunk(1, 0.2), 0.2)
    assert all(playback.due(0.2 + n * TICK) is None for n in range(60))
    playback.resume(10.01)
    shown = [n * TICK for n in range(60) if playback.due(10.01 + n * TICK) is not None]
    assert len(shown) == 7, "three of the first chunk and four of the second"
    assert min(later - earlier for earlier, later in itertools.pairwise(shown)) >= 1 / 16 - TICK


def test_pauses_do_not_add_up_to_a_delay() -> None:
    playback, now = begun(), 0.0
    for index in range(60):
        playback.push(chunk(index, now), now)
        if index % 3 == 0:
            playback.pause(now)
            now += 5.0
            playback.resume(now)
        for _ in range(15):
            now += TICK
            playback.due(now)
    assert playback.waiting_frames <= 5


def test_chunks_of_another_world_are_ignored_and_the_old_picture_stays() -> None:
    playback = begun()
    playback.push(chunk(0, 0.0), 0.0)
    playback.due(0.0)
    before = playback.on_show
    playback.begin(2, 16.0)
    playback.push(chunk(1, 0.1, session_id=1), 0.1)
    assert playback.due(0.1) is None
    assert playback.on_show is before
    playback.push(chunk(0, 0.2, session_id=2), 0.2)
    assert playback.due(0.2) is not None
