"""The cases of SGLang-Diffusion's own unit tests (numbers as in the adapter's list), then what goes beyond them."""

import json
import random

import pytest

from engine.controls import MAX_WAITING_EVENTS, MAX_WAITING_ITEMS, ControlQueues
from engine.errors import BadValue
from engine.events import Rejection, parse
from engine.protocol import Look

W, A, S, D, NONE = ("w",), ("a",), ("s",), ("d",), ()


def script(*frames, event_id=None):
    wire = {"input_types": ["camera_actions"], "camera_actions": [list(frame) for frame in frames]}
    return wire if event_id is None else {**wire, "event_id": event_id}


def state(*transitions, event_id=None):
    payload = {"mode": "state", "transitions": [{"actions": list(actions)} for actions in transitions]}
    wire = {"input_types": ["camera_actions"], "camera_actions": payload}
    return wire if event_id is None else {**wire, "event_id": event_id}


def prompt(text, event_id=None):
    wire = {"input_types": ["prompt"], "prompt": text}
    return wire if event_id is None else {**wire, "event_id": event_id}


def look(yaw, pitch=0.0, event_id=None):
    wire = {"input_types": ["look"], "look": {"yaw_degrees": yaw, "pitch_degrees": pitch}}
    return wire if event_id is None else {**wire, "event_id": event_id}


def joined(*wires, event_id=None):
    """One composite event of the parts."""
    wire = {name: part[name] for part in wires for name in part["input_types"]}
    wire["input_types"] = [name for part in wires for name in part["input_types"]]
    return wire if event_id is None else {**wire, "event_id": event_id}


class Walk:
    """Queues with a chunk counter and a clock, as a session has them."""

    def __init__(self, size=3, chunk=0):
        self.queues, self.size, self.chunk, self.now = ControlQueues(), size, chunk, 0.0

    def ask(self, *wires):
        for wire in wires:
            self.now += 1.0
            self.queues.apply(parse(wire, pressed_at=self.now - 0.5), self.now, wire)
        return self

    def sample(self):
        self.now += 1.0
        inputs = self.queues.sample(self.size, self.chunk, self.now)
        self.chunk += 1
        return inputs

    def actions(self):
        return self.sample().actions


def ids(inputs):
    return [event.event_id for event in inputs.events]


# ---- the adapter's cases -----------------------------------------------------------------------------------------


def test_1_a_fresh_world_has_no_actions_at_all():
    inputs = Walk().sample()
    assert (inputs.actions, inputs.look, inputs.prompt, inputs.echo_id, inputs.events) == (None, Look(), None, None, ())


def test_1_a_script_is_consumed_in_order_and_padded_with_nothing():
    walk = Walk().ask(script(W, A, S, D))
    assert walk.actions() == (W, A, S)
    assert walk.actions() == (D, NONE, NONE)
    assert walk.actions() == (NONE, NONE, NONE)


def test_1_a_prompt_is_sampled_once():
    walk = Walk(chunk=1).ask(prompt("turn left"))
    assert walk.sample().prompt == "turn left"
    assert walk.sample().prompt is None


def test_2_a_script_drops_the_held_state():
    walk = Walk().ask(state(W, event_id=7), script(D, event_id=8))
    inputs = walk.sample()
    assert (inputs.actions, inputs.echo_id) == ((D, NONE, NONE), 8)
    inputs = walk.sample()
    assert (inputs.actions, inputs.echo_id) == ((NONE, NONE, NONE), 8)


def test_2_a_script_drops_a_state_that_chunks_already_had():
    walk = Walk().ask(state(W, event_id=7))
    assert walk.actions() == (W, W, W)
    assert walk.ask(script(D, event_id=8)).actions() == (D, NONE, NONE)
    assert walk.actions() == (NONE, NONE, NONE)


def test_3_a_tap_between_two_chunks_still_moves_one_latent_frame():
    walk = Walk().ask(state(W, event_id=7), state(NONE, event_id=8))
    inputs = walk.sample()
    assert (inputs.actions, inputs.echo_id) == ((W, NONE, NONE), 8)
    assert walk.actions() == (NONE, NONE, NONE)


def test_4_a_held_state_repeats_with_its_id_until_released():
    walk = Walk().ask(state(W, event_id=7))
    for _ in range(2):
        inputs = walk.sample()
        assert (inputs.actions, inputs.echo_id) == ((W, W, W), 7)
    inputs = walk.ask(state(NONE, event_id=8)).sample()
    assert (inputs.actions, inputs.echo_id) == ((NONE, NONE, NONE), 8)


def test_5_there_is_no_pulse_where_the_newest_that_holds_anything_is_the_final_one():
    walk = Walk().ask(state(W, event_id=7), state(("w", "d"), event_id=8), state(D, event_id=9))
    inputs = walk.sample()
    assert (inputs.actions, inputs.echo_id) == ((D, D, D), 9)


def test_6_a_script_and_a_prompt_in_events_of_their_own():
    walk = Walk(chunk=1).ask(script(W, D, event_id=7), prompt("turn left", event_id=8))
    inputs = walk.sample()
    assert (inputs.actions, inputs.prompt) == ((W, D, NONE), "turn left")
    assert ids(inputs) == [7, 8]
    assert inputs.echo_id == 7  # the prompt is sampled first, then the camera
    walk = Walk(chunk=1).ask(prompt("turn left", event_id=8))
    assert walk.sample().echo_id == 8


def test_7_a_composite_event_gives_prompt_and_actions_under_one_id():
    walk = Walk(chunk=1).ask(joined(prompt("turn left"), script(W, D), event_id=9))
    inputs = walk.sample()
    assert (inputs.prompt, inputs.actions, inputs.echo_id) == ("turn left", (W, D, NONE), 9)
    assert ids(inputs) == [9]


def test_8_a_bad_part_leaves_prompt_and_camera_untouched():
    walk = Walk(chunk=1).ask(state(D, event_id=1))
    before = json.dumps(walk.queues.to_dict())
    bad = {**prompt("turn left", event_id=10), "input_types": ["prompt", "camera_actions"], "camera_actions": ["w"]}
    with pytest.raises(Rejection, match="camera_actions") as caught:
        walk.ask(bad)
    assert caught.value.event_id == 10
    assert json.dumps(walk.queues.to_dict()) == before
    inputs = walk.sample()
    assert (inputs.prompt, inputs.actions, ids(inputs)) == (None, (D, D, D), [1])


def test_9_a_prompt_event_is_sampled_by_the_next_chunk():
    inputs = Walk(chunk=1).ask(prompt("turn left", event_id=8)).sample()
    assert (inputs.prompt, inputs.echo_id, inputs.actions) == ("turn left", 8, None)


def test_10_two_transitions_of_one_event_make_a_pulse():
    payload = [{"actions": ["w"], "client_ts_ms": 100}, {"actions": [], "client_ts_ms": 120}]
    wire = {**state(event_id=11), "camera_actions": {"mode": "state", "transitions": payload}}
    walk = Walk().ask(wire)
    inputs = walk.sample()
    assert (inputs.actions, inputs.echo_id) == ((W, NONE, NONE), 11)
    assert inputs.events[0].wire == wire


def test_11_a_script_given_before_the_first_chunk_is_played_from_it():
    walk = Walk().ask(script(W, D, A, S))
    assert walk.actions() == (W, D, A)
    assert walk.actions() == (S, NONE, NONE)
    assert walk.actions() == (NONE, NONE, NONE)


def test_20_a_new_script_replaces_the_pending_one_and_an_empty_one_leaves_nothing():
    walk = Walk().ask(script(W, W, W, W, W, event_id=1))
    assert walk.actions() == (W, W, W)
    walk.ask(script(D, event_id=2))
    inputs = walk.sample()
    assert (inputs.actions, inputs.echo_id) == ((D, NONE, NONE), 2)
    assert walk.ask(script(S, S, S, S), script()).actions() == (NONE, NONE, NONE)


def test_20_a_script_chunk_reports_the_id_of_the_last_item_it_consumed():
    walk = Walk().ask(script(W, W, W, W, event_id=1))
    assert [walk.sample().echo_id for _ in range(3)] == [1, 1, 1]


# ---- prompts -----------------------------------------------------------------------------------------------------


def test_the_newest_prompt_wins_and_the_older_one_is_reported_all_the_same():
    inputs = Walk(chunk=1).ask(prompt("snow", event_id=1), prompt("rain", event_id=2)).sample()
    assert (inputs.prompt, ids(inputs), inputs.echo_id) == ("rain", [1, 2], 2)


def test_a_prompt_that_comes_before_the_first_chunk_is_kept_for_the_second():
    walk = Walk().ask(prompt("snow", event_id=1))
    first, second, third = walk.sample(), walk.sample(), walk.sample()
    assert (first.prompt, ids(first), first.echo_id) == (None, [], None)
    assert (second.prompt, ids(second), second.echo_id) == ("snow", [1], 1)
    assert (third.prompt, ids(third)) == (None, [])


def test_a_first_composite_event_moves_in_chunk_0_and_prompts_in_chunk_1():
    walk = Walk().ask(joined(state(W), prompt("snow"), event_id=1))
    first, second = walk.sample(), walk.sample()
    assert (first.prompt, first.actions, ids(first)) == (None, (W, W, W), [1])
    assert (second.prompt, second.actions, ids(second)) == ("snow", (W, W, W), [])


def test_the_same_prompt_again_is_reported_as_sampled():
    walk = Walk(chunk=1).ask(prompt("snow"))
    assert walk.sample().prompt == "snow"
    assert walk.ask(prompt("snow")).sample().prompt == "snow"


# ---- held keys ---------------------------------------------------------------------------------------------------


def test_a_chunk_of_one_latent_frame_shows_a_tap_and_then_the_release():
    walk = Walk(size=1).ask(state(W), state(NONE))
    assert [walk.actions() for _ in range(2)] == [(W,), (NONE,)]


def test_a_tap_while_another_key_stays_held_still_moves_one_latent_frame():
    walk = Walk(size=1).ask(state(W))
    assert walk.actions() == (W,)
    walk.ask(state(("w", "l")), state(W))
    assert [walk.actions() for _ in range(2)] == [(("w", "l"),), (W,)]


def test_the_order_of_names_makes_no_pulse():
    walk = Walk().ask(state(("w", "d")), state(("d", "w")))
    assert walk.actions() == (("d", "w"),) * 3


def test_a_state_drops_what_is_left_of_a_script():
    walk = Walk().ask(script(*[W] * 9, event_id=1))
    walk.sample()
    inputs = walk.ask(state(D, event_id=2)).sample()
    assert (inputs.actions, inputs.echo_id) == ((D, D, D), 2)
    assert walk.actions() == (D, D, D)


def test_no_transitions_say_nothing_but_count_as_camera_input():
    walk = Walk().ask(state(event_id=1))
    assert walk.actions() == (NONE, NONE, NONE)
    walk.ask(script(W, W, W, W)).sample()
    assert walk.ask(state(event_id=2)).actions() == (W, NONE, NONE)


# ---- looks -------------------------------------------------------------------------------------------------------


def test_looks_add_up_until_a_chunk_takes_them():
    walk = Walk().ask(look(10, 1), look(-4, 2.5))
    assert walk.sample().look == Look(6.0, 3.5)
    assert walk.sample().look == Look()


def test_a_look_alone_is_camera_input():
    walk = Walk().ask(prompt("snow"))
    assert walk.actions() is None
    assert walk.ask(look(5)).actions() == (NONE, NONE, NONE)
    assert walk.actions() == (NONE, NONE, NONE)


def test_a_look_leaves_the_held_keys_alone():
    walk = Walk().ask(state(W), look(5))
    assert walk.actions() == (W, W, W)
    assert walk.ask(look(5)).actions() == (W, W, W)


# ---- ids and stamps ----------------------------------------------------------------------------------------------


def test_a_held_key_echoes_its_older_id_over_a_prompt():
    walk = Walk().ask(state(W, event_id=7))
    walk.sample()
    assert walk.ask(prompt("snow", event_id=8)).sample().echo_id == 7


def test_a_camera_never_touched_does_not_wipe_the_echo_of_a_prompt():
    walk = Walk(chunk=1).ask(prompt("snow", event_id=8))
    assert [walk.sample().echo_id for _ in range(3)] == [8, 8, 8]


def test_a_look_is_sampled_last_and_events_without_id_are_not_echoed():
    walk = Walk().ask(state(W, event_id=7), look(5, event_id=9), look(5))
    assert [walk.sample().echo_id for _ in range(2)] == [9, 7]
    assert walk.ask(state(NONE)).sample().echo_id == 7


def test_each_event_is_reported_once_in_order_with_its_stamps():
    walk = Walk(chunk=1).ask(state(W, event_id=3), prompt("snow", event_id=1), look(2))
    inputs = walk.sample()
    assert ids(inputs) == [3, 1, None]
    assert [(e.pressed_at, e.accepted_at, e.sampled_at) for e in inputs.events] == [
        (0.5, 1.0, 4.0),
        (1.5, 2.0, 4.0),
        (2.5, 3.0, 4.0),
    ]
    assert walk.sample().events == ()


def test_what_is_reported_does_not_change_with_the_callers_map():
    wire = script(W)
    walk = Walk().ask(wire)
    wire["camera_actions"][0][0] = "s"
    assert walk.sample().events[0].wire == script(W)


# ---- snapshots, replays, floods ----------------------------------------------------------------------------------


def random_wire(generator, event_id):
    names = "wasdijkl"
    pick = lambda: tuple(generator.sample(names, generator.randint(0, 2)))  # noqa: E731 - one line reads better here
    parts = [
        generator.choice([state, script])(*[pick() for _ in range(generator.randint(0, 5))]),
        look(generator.uniform(-20, 20), generator.uniform(-5, 5)),
        prompt(generator.choice(["snow", "rain", "dusk"])),
    ]
    chosen = generator.sample(parts, generator.randint(1, 3))
    return joined(*chosen, event_id=event_id if generator.random() < 0.8 else None)


def random_walk(seed, *, chunks=60, restore_each=False):
    generator = random.Random(seed)
    walk = Walk(size=generator.choice([1, 3, 4]))
    sampled = []
    for number in range(chunks):
        for index in range(generator.choice([0, 0, 1, 2, 5])):
            walk.ask(random_wire(generator, 10 * number + index))
        if restore_each:
            walk.queues = ControlQueues.from_dict(json.loads(json.dumps(walk.queues.to_dict())))
        sampled.append(walk.sample())
        if restore_each:
            walk.queues = ControlQueues.from_dict(json.loads(json.dumps(walk.queues.to_dict())))
    return walk, sampled


@pytest.mark.parametrize("seed", range(8))
def test_queues_restored_from_json_continue_exactly(seed):
    assert random_walk(seed, restore_each=True)[1] == random_walk(seed)[1]


def replayed(walk, sampled):
    """Samples again from nothing but the reports: each event is applied before the chunk that reported it."""
    again = Walk(size=walk.size)
    for inputs in sampled:
        again.ask(*[event.wire for event in inputs.events])
        yield again.sample()


@pytest.mark.parametrize("seed", range(8))
def test_a_replay_of_the_reported_events_repeats_every_chunk(seed):
    walk, sampled = random_walk(seed)
    for live, again in zip(sampled, replayed(walk, sampled), strict=True):
        assert (live.prompt, live.actions, live.look, live.echo_id) == (
            again.prompt,
            again.actions,
            again.look,
            again.echo_id,
        )


def test_a_flood_of_events_is_held_in_bounded_memory_and_still_replays():
    generator, walk, sampled = random.Random(1), Walk(), []
    for number in range(3):
        for index in range(1500):
            walk.ask(random_wire(generator, 1500 * number + index))
        walk.ask(*[script(*[W] * 512) for _ in range(20)], state(W), state(D, event_id=10**6 + number), look(180, 90))
        kept = walk.queues.to_dict()["waiting"]
        assert len(kept) <= MAX_WAITING_EVENTS
        assert sum(len(w["wire"].get("camera_actions", ())) for w in kept) <= MAX_WAITING_ITEMS
        sampled.append(walk.sample())
        assert sampled[-1].actions == (D, D, D)
    again = list(replayed(walk, sampled))
    assert [(i.prompt, i.actions, i.look, i.echo_id) for i in again] == [
        (i.prompt, i.actions, i.look, i.echo_id) for i in sampled
    ]


def test_a_key_released_in_the_middle_of_a_flood_is_released():
    walk = Walk().ask(state(W))
    for _ in range(5000):
        walk.ask(look(0.25))
    walk.ask(state(NONE))
    for _ in range(5000):
        walk.ask(look(-0.25))
    walk.sample()
    assert walk.actions() == (NONE, NONE, NONE)


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        ("waiting", [{"wire": {"input_types": []}, "pressed_at": None, "accepted_at": 1.0}]),
        ("waiting", [{"wire": prompt("x"), "pressed_at": None, "accepted_at": None}]),
        ("prompt", ["snow"]),
        ("prompt", ["", None]),
        ("script", [[["q"], None]]),
        ("held", "w"),
        ("held_id", -1),
        ("camera_received", 1),
        ("echo_id", True),
    ],
)
def test_a_damaged_state_is_refused(name, bad):
    with pytest.raises(BadValue):
        ControlQueues.from_dict({**ControlQueues().to_dict(), name: bad})


@pytest.mark.parametrize("bad", [None, [], {}, {"waiting": []}])
def test_what_is_no_state_at_all_is_refused(bad):
    with pytest.raises(BadValue):
        ControlQueues.from_dict(bad)
