"""What is kept of all that was asked of a world: little, and enough to make every chunk again."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from app.journal import Journal, folded
from app.session_log import SUFFIX
from app.session_reader import read_session
from engine import events
from engine.controls import ChunkInputs, ControlQueues
from tests.app.test_going_back import Walk, steer
from tests.app.walks import sampled

Wire = dict[str, object]


def turn(event_id: int, yaw: float, pitch: float = 0.0) -> Wire:
    return {"event_id": event_id, "input_types": ["look"], "look": {"yaw_degrees": yaw, "pitch_degrees": pitch}}


def hands(rng: random.Random, event_id: int) -> Wire:
    """What one tick may send: mostly turns, now and then keys or a prompt, alone or with a turn."""
    wire = turn(event_id, rng.gauss(0.0, 20.0), rng.gauss(0.0, 8.0))
    if rng.random() < 0.2:
        wire = {**wire, **steer(event_id, *rng.sample("wasdijkl", rng.randint(0, 2)))}
        wire["input_types"] = ["camera_actions", "look"]
        if rng.random() < 0.5:
            wire = steer(event_id, "w")
    elif rng.random() < 0.1:
        wire = {"event_id": event_id, "input_types": ["prompt"], "prompt": f"words {event_id}"}
    elif rng.random() < 0.1:
        wire = {"event_id": event_id, "input_types": ["look"], "look": {"yaw_degrees": rng.random()}}
    return wire


def given(queues: ControlQueues, chunk: int, wires: list[Wire]) -> ChunkInputs:
    for wire in wires:
        queues.apply(events.parse(wire), 0.0, wire)
    return queues.sample(3, chunk, 0.0)


def test_folded_turns_give_every_chunk_the_same_inputs_to_the_last_bit() -> None:
    rng = random.Random(5)
    live, again = ControlQueues(), ControlQueues()
    event_id = 0
    for chunk in range(1, 150):
        wires = [hands(rng, event_id := event_id + 1) for _ in range(rng.randint(0, 60))]
        before = given(live, chunk, wires)
        kept = folded(before.events)
        after = given(again, chunk, [dict(event.wire) for event in kept])
        assert replace(before, events=()) == replace(after, events=())
        assert sum("look" in event.wire for event in kept) <= 1 + (abs(before.look.yaw_degrees) // 180) + (
            abs(before.look.pitch_degrees) // 90
        )
    assert live.to_dict() == again.to_dict()


def test_turns_that_cancel_out_and_turns_beyond_the_limit_stay_what_they_were() -> None:
    for turns in ([7.1, -7.1], [179.3] * 7, [-120.7] * 9, [0.1] * 50):
        wires = [turn(number, yaw, yaw / 3) for number, yaw in enumerate(turns)]
        before = given(ControlQueues(), 1, wires)
        after = given(ControlQueues(), 1, [dict(event.wire) for event in folded(before.events)])
        assert (before.look, before.actions) == (after.look, after.actions)


def test_an_hour_of_turning_the_mouse_takes_less_than_a_megabyte() -> None:
    journal, rng = Journal(), random.Random(1)
    for chunk in range(4800):
        turns = [sampled(n, turn(216_000 + n, rng.gauss(0, 1), rng.gauss(0, 0.5))) for n in range(5)]
        journal.add(chunk, folded(turns * 9))  # 60 a second, in chunks of 12 frames
    assert journal.byte_count < 1_000_000
    assert len(journal.events()) == 4800


def test_what_was_gone_back_from_is_forgotten() -> None:
    journal = Journal()
    for chunk in (2, 4, 7):
        journal.add(chunk, [sampled(chunk, turn(chunk, 1.0))])
    journal.add(8, [])
    journal.forget_after(4)
    assert [(chunk, event.event_id, event.wire) for chunk, event in journal.events()] == [
        (2, 2, turn(2, 1.0)),
        (4, 4, turn(4, 1.0)),
    ]
    other = Journal()
    other.begin(journal.events())
    assert [(c, e.wire) for c, e in other.events()] == [(c, e.wire) for c, e in journal.events()]


@pytest.mark.parametrize("begins", [0, 6])
def test_a_film_of_a_walk_with_the_mouse_is_made_again_byte_for_byte(tmp_path: Path, begins: int) -> None:
    walk, rng = Walk(tmp_path / f"film{SUFFIX}"), random.Random(2)
    number = 0
    for chunk in range(12):
        if chunk == begins:
            walk.takes.start(0.0)
        wires = [hands(rng, number := number + 1) for _ in range(30)]
        walk.go(1, *(wire for wire in wires if "prompt" not in wire or chunk > 0))
    walk.takes.request_stop()
    assert np.array_equal(walk.again(), walk.video.written)
    lines = sum(len(run.at(chunk)) for run in read_session(walk.path).runs for chunk in range(12))
    assert lines < 12 * 12
