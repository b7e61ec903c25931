"""Another making of a chunk as a part of an event: what is taken, what is refused, what a chunk receives."""

from __future__ import annotations

import pytest

from engine.controls import ControlQueues
from engine.events import Rejection, parse
from engine.protocol import Retake


def wire(**retake: object) -> dict[str, object]:
    return {"input_types": ["retake"], "retake": retake}


@pytest.mark.parametrize("retake", [Retake(5), Retake(steps=8), Retake(0, 50)])
def test_it_travels_and_comes_back(retake: Retake) -> None:
    event = parse({"input_types": ["retake"], "retake": retake.to_wire()})
    assert event.retake == retake
    assert parse(event.to_wire()) == event


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({}, "retake"),
        (7, "retake"),
        ({"seed": -1}, "retake.seed"),
        ({"seed": True}, "retake.seed"),
        ({"steps": 0}, "retake.steps"),
        ({"steps": 51}, "retake.steps"),
        ({"steps": 2.0}, "retake.steps"),
        ({"noise": 1}, "retake.noise"),
    ],
)
def test_what_is_no_making_is_refused_with_its_place(value: object, path: str) -> None:
    with pytest.raises(Rejection) as refused:
        parse({"input_types": ["retake"], "retake": value})
    assert refused.value.path == path


def test_it_is_for_one_chunk_and_the_newest_word_counts() -> None:
    queues = ControlQueues()
    for asked in (wire(seed=1, steps=3), wire(seed=2)):
        queues.apply(parse(asked), 0.0, asked)
    assert queues.sample(1, 4, 0.0).retake == Retake(2, 3)
    assert queues.sample(1, 5, 0.0).retake is None


def test_it_survives_being_saved_before_its_chunk() -> None:
    queues = ControlQueues()
    queues.apply(parse(wire(seed=6)), 0.0, wire(seed=6))
    assert ControlQueues.from_dict(queues.to_dict()).sample(1, 4, 0.0).retake == Retake(6)


def test_hundreds_of_waiting_events_do_not_lose_it() -> None:
    queues = ControlQueues()
    queues.apply(parse(wire(seed=6)), 0.0, wire(seed=6))
    for _ in range(600):
        look = {"input_types": ["look"], "look": {"yaw_degrees": 0.1}}
        queues.apply(parse(look), 0.0, look)
    assert queues.sample(1, 4, 0.0).retake == Retake(6)
