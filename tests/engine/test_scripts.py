import pytest

from engine.controls import ControlQueues
from engine.errors import BadValue
from engine.events import parse as parse_event
from engine.protocol import Look
from engine.scripts import MAX_CHUNKS, MAX_STEPS, parse


def where(path):
    return f"walk.yaml:{path[0] + 1 if path else 1}"


def plan(*steps):
    return parse(list(steps), where)


def hold(*names):
    return {"mode": "state", "transitions": [{"actions": list(names)}]}


def short(walk):
    """Every planned event without its id and its input types."""
    skipped = ("event_id", "input_types")
    return [(e.chunk, {k: v for k, v in e.wire.items() if k not in skipped}) for e in walk.events]


def test_a_hold_is_pressed_at_its_start_and_released_at_its_end():
    walk = plan({"hold": ["w", "l"], "chunks": 8}, {"wait": 3})
    assert walk.chunks == 11
    assert short(walk) == [(0, {"camera_actions": hold("w", "l")}), (8, {"camera_actions": hold()})]


def test_keys_stay_held_over_the_border_of_steps_that_hold_the_same():
    walk = plan({"hold": ["w", "l"], "chunks": 2}, {"prompt": "snow"}, {"hold": ["l", "w"], "chunks": 2})
    assert short(walk) == [
        (0, {"camera_actions": hold("w", "l")}),
        (2, {"prompt": "snow"}),
        (4, {"camera_actions": hold()}),
    ]


def test_another_hold_replaces_the_one_before_without_a_release():
    walk = plan({"hold": ["w"], "chunks": 2}, {"hold": ["s"], "chunks": 2})
    assert [chunk for chunk, _ in short(walk)] == [0, 2, 4]
    assert short(walk)[1] == (2, {"camera_actions": hold("s")})


def test_a_look_is_given_once_with_its_first_chunk():
    walk = plan({"look": {"yaw_degrees": 20}, "chunks": 2})
    assert (walk.chunks, short(walk)) == (2, [(0, {"look": {"yaw_degrees": 20.0, "pitch_degrees": 0.0}})])


def test_a_step_of_three_parts_is_one_event():
    walk = plan({"hold": ["w"], "look": {"pitch_degrees": 5}, "prompt": "rain", "chunks": 4})
    assert len(walk.at(0)) == 1
    assert walk.at(0)[0].wire["input_types"] == ["camera_actions", "look", "prompt"]


def test_a_prompt_takes_no_time_but_a_last_one_gets_a_chunk_to_be_seen():
    assert plan({"prompt": "snow"}, {"wait": 3}).chunks == 3
    assert plan({"wait": 3}, {"prompt": "snow"}).chunks == 4
    assert plan({"prompt": "snow", "chunks": 5}).chunks == 5


def test_hold_and_look_last_one_chunk_where_nothing_is_said():
    assert plan({"hold": ["w"]}, {"look": {"yaw_degrees": 1}}).chunks == 2


def test_a_raw_event_is_given_as_it_stands_even_if_the_engine_will_reject_it():
    bad = {"event_id": 2, "input_types": ["prompt"], "prompt": 7}
    walk = plan({"hold": ["w"], "chunks": 2}, {"event": bad}, {"hold": ["w"], "chunks": 2})
    assert walk.at(2)[0].wire == bad
    assert walk.at(2)[0].place == "walk.yaml:2"
    assert [event.wire["event_id"] for event in walk.events] == [1, 2, 3]


def test_a_raw_event_that_steers_is_not_spoilt_by_a_release():
    script = {"input_types": ["camera_actions"], "camera_actions": [["w"], ["a"]]}
    walk = plan({"hold": ["s"], "chunks": 2}, {"event": script, "chunks": 2}, {"wait": 2}, {"hold": ["s"]})
    assert [(e.chunk, e.wire.get("camera_actions")) for e in walk.events] == [
        (0, hold("s")),
        (2, [["w"], ["a"]]),
        (6, hold("s")),
        (7, hold()),
    ]


def test_a_raw_event_without_keys_that_lasts_releases_them():
    walk = plan({"hold": ["s"], "chunks": 2}, {"event": {"input_types": ["prompt"], "prompt": "x"}, "chunks": 1})
    assert short(walk) == [
        (0, {"camera_actions": hold("s")}),
        (2, {"camera_actions": hold()}),
        (2, {"prompt": "x"}),
    ]


def test_planned_events_are_sampled_as_the_script_says():
    walk = plan(
        {"hold": ["w"], "chunks": 2}, {"look": {"yaw_degrees": 20}, "chunks": 2}, {"prompt": "snow"}, {"wait": 1}
    )
    queues, sampled = ControlQueues(), []
    for chunk in range(walk.chunks):
        for event in walk.at(chunk):
            queues.apply(parse_event(event.wire), 0.0, event.wire)
        sampled.append(queues.sample(1, chunk, 0.0))
    assert [inputs.actions for inputs in sampled] == [(("w",),), (("w",),), ((),), ((),), ((),)]
    assert [inputs.look for inputs in sampled] == [Look(), Look(), Look(20.0, 0.0), Look(), Look()]
    assert [inputs.prompt for inputs in sampled] == [None, None, None, None, "snow"]


@pytest.mark.parametrize(
    ("step", "place", "got"),
    [
        ("hold w", "walk.yaml:2, step 2", "the text 'hold w'"),
        (None, "walk.yaml:2, step 2", "null"),
        ({}, "walk.yaml:2, step 2", "the map {}"),
        ({"chunks": 3}, "walk.yaml:2, step 2", "the map {'chunks': 3}"),
        ({"holds": ["w"]}, "walk.yaml:2, step 2, holds", "the list ['w']"),
        ({"hold": "w"}, "walk.yaml:2, step 2, hold", "the text 'w'"),
        ({"hold": ["w", "x"]}, "walk.yaml:2, step 2, hold[1]", "the text 'x'"),
        ({"hold": ["w"], "chunks": 0}, "walk.yaml:2, step 2, chunks", "the whole number 0"),
        ({"hold": ["w"], "chunks": -3}, "walk.yaml:2, step 2, chunks", "the whole number -3"),
        ({"hold": ["w"], "chunks": 1.5}, "walk.yaml:2, step 2, chunks", "the number 1.5"),
        ({"hold": ["w"], "chunks": True}, "walk.yaml:2, step 2, chunks", "true"),
        ({"hold": ["w"], "chunks": 10**30}, "walk.yaml:2, step 2, chunks", "the whole number of about 30 digits"),
        ({"hold": ["w"], "chunks": MAX_CHUNKS}, "walk.yaml:2", f"{MAX_CHUNKS + 1} chunks up to here"),
        ({"look": 20}, "walk.yaml:2, step 2, look", "the whole number 20"),
        ({"look": {"yaw_degrees": 200}}, "walk.yaml:2, step 2, look.yaw_degrees", "the whole number 200"),
        ({"look": {"yaw": 20}}, "walk.yaml:2, step 2, look.yaw", "the whole number 20"),
        ({"prompt": " "}, "walk.yaml:2, step 2, prompt", "the text ' '"),
        ({"prompt": 3}, "walk.yaml:2, step 2, prompt", "the whole number 3"),
        ({"wait": -1}, "walk.yaml:2, step 2, wait", "the whole number -1"),
        ({"wait": "3"}, "walk.yaml:2, step 2, wait", "the text '3'"),
        ({"wait": 3, "chunks": 2}, "walk.yaml:2, step 2, chunks", "the whole number 2"),
        ({"wait": 3, "hold": ["w"]}, "walk.yaml:2, step 2", "hold and wait in one step"),
        ({"event": {}, "prompt": "x"}, "walk.yaml:2, step 2", "prompt and event in one step"),
        ({"event": ["w"]}, "walk.yaml:2, step 2, event", "the list ['w']"),
        ({3: 4}, "walk.yaml:2, step 2, [3]", "the whole number 4"),
    ],
)
def test_a_mistake_names_file_line_and_value(step, place, got):
    with pytest.raises(BadValue) as caught:
        plan({"wait": 1}, step)
    assert (caught.value.where, caught.value.got) == (place, got)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("steps", [None, [], {"hold": ["w"]}, "w", 3])
def test_a_script_that_is_no_list_of_steps_is_refused(steps):
    with pytest.raises(BadValue, match=r"walk\.yaml:1"):
        parse(steps, where)


def test_a_script_of_too_many_steps_is_refused_and_one_of_just_enough_is_quick():
    assert plan(*[{"hold": ["w"]}] * MAX_STEPS).chunks == MAX_STEPS
    with pytest.raises(BadValue, match="at most"):
        plan(*[{"wait": 1}] * (MAX_STEPS + 1))
