"""Keys, looks and prompts on their way to a server that samples in its own time."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

import msgpack
import pytest

from engine.events import parse
from engine.remote.helm import HELD_LATENT_FRAMES, MOST_COURSES, MOST_WAITING, Helm, Sampled
from tests.sglang_server import Controls

Hand = Callable[["Line"], object]
Made = tuple[list[list[str]], str | None, int | None]
MET = {"yaw": ("l", "j", 6.0), "pitch": ("i", "k", 4.0)}


class Line:
    """A helm and a server's controls, with a wire between them that takes time."""

    def __init__(self, latent_frames: int = 3, *, echo: bool = True, round_trip: float = 0.1, paced: float = 0.0):
        self.helm, self.controls = Helm("a meadow"), Controls()
        self.latent_frames, self.echo, self.round_trip, self.paced = latent_frames, echo, round_trip, paced
        self.now, self.chunk, self.sent = 0.0, 0, 0
        self.made: list[tuple[str, ...]] = []
        self.on_the_way: list[tuple[float, Mapping[str, object]]] = []
        self.chunks: list[Sampled] = []
        self._ids = 0
        self.making: Made | None = None

    def ask(self, **parts: object) -> int:
        self._ids += 1
        wire = {"event_id": self._ids, "input_types": list(parts), **parts}
        self.helm.apply(parse(wire, self.now), wire, self.now)
        self.send()
        return self._ids

    def hold(self, *names: list[str]) -> int:
        return self.ask(camera_actions={"mode": "state", "transitions": [{"actions": n} for n in names]})

    def turn(self, yaw: float = 0.0, pitch: float = 0.0) -> int:
        return self.ask(look={"yaw_degrees": yaw, "pitch_degrees": pitch})

    def send(self) -> None:
        while (message := self.helm.next_message(self.now)) is not None:
            self.on_the_way.append((self.now + self.round_trip / 2, msgpack.unpackb(message)))
            self.sent += 1

    def sample(self) -> Made:
        """The server begins a chunk with all that has reached it."""
        reached = [event for due, event in self.on_the_way if due <= self.now]
        self.on_the_way = [(due, event) for due, event in self.on_the_way if due > self.now]
        for event in reached:
            self.controls.take(event)
        sampled = self.controls.sample(self.latent_frames, self.chunk)
        self.chunk += 1
        return sampled

    def arrive(self, index: int, sampled: Made) -> Sampled:
        frames = self.latent_frames * 4 - (3 if index == 0 else 0)
        self.made.extend(tuple(names) for names in sampled[0])
        chunk = self.helm.arrived(index, sampled[2] if self.echo else None, frames, self.now)
        self.helm.measured(self.now, paced_seconds=self.paced, sending_seconds=0.0, round_trip_seconds=self.round_trip)
        self.chunks.append(chunk)
        self.send()
        return chunk

    def run(self, chunks: int, seconds: float = 0.75, hand: Hand | None = None) -> None:
        """Chunk after chunk: each is sampled when the one before it is done, and seen half a round trip later."""
        self.making = self.making or self.sample()
        for _ in range(chunks):
            index = self.chunk - 1
            self.pass_time(seconds, hand)
            made, self.making = self.making, self.sample()
            self.pass_time(self.round_trip / 2 + self.paced, hand)
            self.arrive(index, made)

    def pass_time(self, seconds: float, hand: Hand | None) -> None:
        until = self.now + seconds
        while self.now < until:
            self.now += 1 / 60
            if hand is not None:
                hand(self)

    def turned(self, axis: str) -> float:
        plus, minus, step = MET[axis]
        return step * sum((plus in names) - (minus in names) for names in self.made)


def test_a_held_key_is_repeated_and_its_release_is_the_end_of_it() -> None:
    line = Line()
    line.hold(["w"])
    line.run(3)
    line.hold([])
    line.run(3)
    assert line.made[3:9] == [("w",)] * 6
    assert line.made[-3:] == [()] * 3
    assert line.sent == 2


def test_a_tap_between_two_chunks_moves_one_latent_frame() -> None:
    line = Line()
    line.run(1)
    line.hold(["w"], [])
    line.run(3)
    assert line.made.count(("w",)) == 1


@pytest.mark.parametrize("latent_frames", [1, 3, 4])
@pytest.mark.parametrize("held", [[], ["w"], ["w", "d"]])
def test_a_look_of_whole_steps_is_made_exactly_whatever_is_held(latent_frames: int, held: list[str]) -> None:
    line = Line(latent_frames)
    line.hold(held)
    line.run(2)
    line.turn(yaw=30.0, pitch=-8.0)
    line.run(12)
    assert (line.turned("yaw"), line.turned("pitch")) == (30.0, -8.0)
    held_since = line.made[2 * latent_frames :]
    assert all(set(held) <= set(names) for names in held_since), "the keys stay held beside the mouse"


@pytest.mark.parametrize("paced", [0.0, 0.4])
@pytest.mark.parametrize("round_trip", [0.001, 0.08, 0.4])
def test_the_sum_of_steps_follows_the_sum_of_degrees(round_trip: float, paced: float) -> None:
    chance = random.Random(5)
    line, asked = Line(3, round_trip=round_trip, paced=paced), {"yaw": 0.0, "pitch": 0.0}

    def hand(line: Line) -> None:
        yaw, pitch = chance.gauss(0.3, 1.5), chance.gauss(0.0, 0.4)
        asked["yaw"], asked["pitch"] = asked["yaw"] + yaw, asked["pitch"] + pitch
        line.turn(yaw, pitch)
        if chance.random() < 0.02:
            line.hold([["w"], [], ["a"]][chance.randrange(3)])

    line.hold(["w"])
    line.run(6, hand=hand)
    line.run(25)
    assert abs(line.turned("yaw") - asked["yaw"]) <= 3.001
    assert abs(line.turned("pitch") - asked["pitch"]) <= 2.001


def test_a_steady_turn_of_the_mouse_never_turns_back() -> None:
    line = Line(3, round_trip=0.1)
    line.run(2)
    line.run(6, hand=lambda line: line.turn(0.2))
    line.run(6)
    assert not [names for names in line.made if "j" in names]
    assert line.turned("yaw") > 0


def test_without_echoes_the_sum_is_right_as_well() -> None:
    line = Line(4, echo=False)
    line.hold(["w"])
    line.run(2)
    line.turn(yaw=90.0)
    line.run(14)
    assert line.turned("yaw") == 90.0


def test_small_looks_add_up_and_are_reported_without_a_delay_that_nobody_saw() -> None:
    line = Line()
    line.run(1)
    line.turn(yaw=2.0)
    line.run(2)
    assert line.turned("yaw") == 0.0
    assert [(e.event_id, e.pressed_at) for chunk in line.chunks for e in chunk.events] == [(1, None)]
    line.turn(yaw=2.0)
    line.run(4)
    assert line.turned("yaw") == 6.0


def test_a_look_along_with_a_key_that_turns_waits_until_the_key_is_released() -> None:
    line = Line()
    line.hold(["l"])
    line.run(2)
    line.turn(yaw=12.0)
    line.run(4)
    sent = line.sent
    line.hold([])
    line.run(6)
    assert sent == 1, "nothing more can be had, so nothing is said"
    by_key = line.made.count(("l",)) - 2
    assert line.turned("yaw") == 6.0 * by_key + 12.0
    assert line.made[-3:] == [()] * 3


def test_the_server_goes_no_further_than_straight_up_and_no_steps_are_owed_beyond() -> None:
    line = Line(4)
    line.turn(pitch=85.0)
    line.turn(pitch=60.0)
    line.run(12)
    assert line.turned("pitch") == 84.0
    line.turn(pitch=-8.0)
    line.run(5)
    assert line.turned("pitch") == 76.0


def test_a_prompt_takes_the_camera_along_so_that_one_echo_covers_both() -> None:
    line = Line()
    line.hold(["w"])
    line.run(2)
    asked = line.ask(prompt="snow")
    line.run(3)
    [first] = [chunk for chunk in line.chunks if chunk.prompt_updated]
    assert (first.prompt, [event.event_id for event in first.events]) == ("snow", [asked])
    assert line.made[-3:] == [("w",)] * 3


def test_a_prompt_alone_says_nothing_of_a_camera_that_was_never_touched() -> None:
    line = Line()
    line.ask(prompt="snow")
    [(_, event)] = line.on_the_way
    assert event["payload"] == {"input_types": ["prompt"], "prompt": "snow"}


def test_without_echoes_events_count_as_followed_some_chunks_later() -> None:
    line = Line(echo=False)
    line.run(1)
    line.ask(prompt="snow")
    line.run(4)
    assert [chunk.prompt_updated for chunk in line.chunks] == [False, False, False, True, False]


def test_a_script_of_the_users_own_is_walked_through_and_a_prompt_does_not_cut_it() -> None:
    line = Line(3)
    line.run(1)
    line.ask(camera_actions=[["w"], ["w"], ["a"], ["a"], ["s"], ["s"], ["d"], ["d"]])
    line.run(2)
    line.ask(prompt="snow")
    line.run(6)
    walked = [names[0] for names in line.made if names]
    assert walked == ["w", "w", "a", "a", "s", "s", "d", "d"]


def test_a_pause_lets_go_and_its_end_holds_again() -> None:
    line = Line()
    line.hold(["w"])
    line.run(2)
    line.helm.pause(True)
    line.send()
    line.run(3)
    stood = len(line.made)
    assert line.made[-3:] == [()] * 3
    line.helm.pause(False)
    line.send()
    line.run(3)
    assert line.made[stood:][-3:] == [("w",)] * 3


def test_a_look_is_followed_by_a_state_before_its_script_ends() -> None:
    line = Line(4)
    line.hold(["w"])
    line.run(2)
    line.turn(yaw=6.0)
    line.run(HELD_LATENT_FRAMES)
    assert line.made[8:].count(()) == 0
    assert line.sent == 3


def test_events_are_told_once_and_in_order_with_the_chunk_that_follows_them() -> None:
    line = Line()
    asked = [line.hold(["w"]), line.ask(prompt="rain"), line.turn(30.0)]
    line.run(6)
    told = [event.event_id for chunk in line.chunks for event in chunk.events]
    assert told == asked
    answered = [chunk.answered_after for chunk in line.chunks if chunk.answered_after is not None]
    assert all(0 < seconds < 3 for seconds in answered)


def test_what_waits_is_bounded_when_the_server_is_silent() -> None:
    line = Line()
    for index in range(800):
        line.hold([["w"], ["a"]][index % 2])
    assert len(line.helm._asked) <= MOST_WAITING
    assert len(line.helm._courses) <= MOST_COURSES
    line.on_the_way.clear()
