import contextlib
import copy
import json
import math
import random

import pytest

from engine import events
from engine.errors import BadValue
from engine.events import Rejection, from_json, parse
from engine.protocol import ActionScript, ActionState, CompositeEvent, Look, Transition

FULL = {
    "event_id": 17,
    "input_types": ["camera_actions", "look", "prompt"],
    "camera_actions": [["w"], ["w", "l"], []],
    "look": {"yaw_degrees": 3.5, "pitch_degrees": -1.0},
    "prompt": "a snowstorm at night",
}


def state(*transitions):
    return {"mode": "state", "transitions": list(transitions)}


def camera(payload):
    return {"event_id": 5, "input_types": ["camera_actions"], "camera_actions": payload}


def look(payload):
    return {"event_id": 5, "input_types": ["look"], "look": payload}


def prompt(payload):
    return {"event_id": 5, "input_types": ["prompt"], "prompt": payload}


def rejection(wire) -> Rejection:
    with pytest.raises(Rejection) as caught:
        parse(wire)
    return caught.value


def test_an_event_of_all_three_inputs_is_parsed():
    assert parse(FULL, pressed_at=4.5) == CompositeEvent(
        event_id=17,
        input_types=("camera_actions", "look", "prompt"),
        camera_actions=ActionScript((("w",), ("w", "l"), ())),
        look=Look(3.5, -1.0),
        prompt="a snowstorm at night",
        pressed_at=4.5,
    )


def test_a_state_map_is_parsed_with_and_without_time_stamps():
    event = parse(camera(state({"actions": ["w"], "client_ts_ms": 100}, {"actions": []})))
    assert event.camera_actions == ActionState((Transition(("w",), 100), Transition(())))


def test_the_order_of_input_types_is_kept():
    wire = {**FULL, "input_types": ["prompt", "camera_actions", "look"]}
    assert parse(wire).input_types == ("prompt", "camera_actions", "look")


def test_a_name_that_stands_twice_counts_once():
    assert parse(camera([["w", "l", "w"]])).camera_actions == ActionScript((("w", "l"),))


def test_one_angle_of_a_look_may_be_left_out():
    assert parse(look({"yaw_degrees": 20})).look == Look(20.0, 0.0)
    assert parse(look({"pitch_degrees": -90})).look == Look(0.0, -90.0)


def test_tuples_are_lists_as_some_decoders_make_them():
    assert parse({"input_types": ("camera_actions",), "camera_actions": (("w",),)}).camera_actions is not None


@pytest.mark.parametrize("wire", [None, [], "event", 3, True, 1.5, b"{}"])
def test_what_is_not_a_map_is_rejected_without_path_or_id(wire):
    report = rejection(wire).report()
    assert (report.event_id, report.path) == (None, "")
    assert "map" in report.expected


LONE = "half \ud83d"
BAD = [
    # input_types
    ({"event_id": 5}, "input_types", "nothing"),
    ({"event_id": 5, "input_types": []}, "input_types", "an empty list"),
    ({"event_id": 5, "input_types": "prompt"}, "input_types", "the text 'prompt'"),
    ({"event_id": 5, "input_types": {"prompt": 1}}, "input_types", "the map {'prompt': 1}"),
    ({"event_id": 5, "input_types": None}, "input_types", "null"),
    ({"event_id": 5, "input_types": ["sound"]}, "input_types[0]", "the text 'sound'"),
    ({"event_id": 5, "input_types": ["prompt", ""], "prompt": "x"}, "input_types[1]", "the text ''"),
    ({"event_id": 5, "input_types": [["prompt"]]}, "input_types[0]", "the list ['prompt']"),
    ({"event_id": 5, "input_types": ["prompt", 7], "prompt": "x"}, "input_types[1]", "the whole number 7"),
    (
        {"event_id": 5, "input_types": ["prompt", "prompt"], "prompt": "x"},
        "input_types[1]",
        "the text 'prompt' a second time",
    ),
    # payloads absent, or not named
    ({"event_id": 5, "input_types": ["prompt"]}, "prompt", "nothing"),
    ({"event_id": 5, "input_types": ["prompt", "look"], "prompt": "x"}, "look", "nothing"),
    ({"event_id": 5, "input_types": ["camera_actions"]}, "camera_actions", "nothing"),
    ({**prompt("x"), "look": {"yaw_degrees": 1}}, "look", "the map {'yaw_degrees': 1}"),
    ({**prompt("x"), "camera_actions": None}, "camera_actions", "null"),
    ({**prompt("x"), "kind": "prompt"}, "kind", "the text 'prompt'"),
    ({**prompt("x"), 3: 4}, "[3]", "the whole number 4"),
    ({**prompt("x"), "two words": 4}, "['two words']", "the whole number 4"),
    # prompt
    (prompt(None), "prompt", "null"),
    (prompt(["snow"]), "prompt", "the list ['snow']"),
    (prompt(3), "prompt", "the whole number 3"),
    (prompt(b"snow"), "prompt", "a value of type bytes"),
    (prompt(""), "prompt", "an empty text"),
    (prompt(" \n\t"), "prompt", "the text ' \\n\\t'"),
    (prompt("x" * 2001), "prompt", "a text of 2001 characters"),
    (prompt(LONE), "prompt", "the text 'half \\ud83d'"),
    # actions: scripts
    (camera(None), "camera_actions", "null"),
    (camera("w"), "camera_actions", "the text 'w'"),
    (camera(3), "camera_actions", "the whole number 3"),
    (camera(["w"]), "camera_actions[0]", "the text 'w'"),
    (camera([["w"], None]), "camera_actions[1]", "null"),
    (camera([["w"], ["d"], ["x"]]), "camera_actions[2][0]", "the text 'x'"),
    (camera([["w", "W"]]), "camera_actions[0][1]", "the text 'W'"),
    (camera([["w", True]]), "camera_actions[0][1]", "true"),
    (camera([[["w"]]]), "camera_actions[0][0]", "the list ['w']"),
    (camera([["w"]] * 513), "camera_actions", "a list of 513 items"),
    (camera([["w"] * 9]), "camera_actions[0]", "a list of 9 names"),
    # actions: state maps
    (camera({"transitions": []}), "camera_actions.mode", "nothing"),
    (camera({"mode": "script", "transitions": []}), "camera_actions.mode", "the text 'script'"),
    (camera({"mode": "state"}), "camera_actions.transitions", "nothing"),
    (
        camera({"mode": "state", "transitions": {"actions": []}}),
        "camera_actions.transitions",
        "the map {'actions': []}",
    ),
    (camera({**state(), "speed": 2}), "camera_actions.speed", "the whole number 2"),
    (camera(state(["w"])), "camera_actions.transitions[0]", "the list ['w']"),
    (camera(state({"actions": []}, {})), "camera_actions.transitions[1].actions", "nothing"),
    (camera(state({"actions": "w"})), "camera_actions.transitions[0].actions", "the text 'w'"),
    (camera(state({"actions": ["w", "q"]})), "camera_actions.transitions[0].actions[1]", "the text 'q'"),
    (camera(state({"actions": [], "at": 1})), "camera_actions.transitions[0].at", "the whole number 1"),
    (camera(state(*[{"actions": []}] * 513)), "camera_actions.transitions", "a list of 513 transitions"),
    *[
        (camera(state({"actions": [], "client_ts_ms": bad})), "camera_actions.transitions[0].client_ts_ms", got)
        for bad, got in [
            (None, "null"),
            (1.0, "the number 1.0"),
            ("1", "the text '1'"),
            (True, "true"),
            (-1, "the whole number -1"),
        ]
    ],
    # look
    (look(None), "look", "null"),
    (look([3, 4]), "look", "the list [3, 4]"),
    (look({}), "look", "an empty map"),
    (look({"yaw_degrees": 1, "roll_degrees": 1}), "look.roll_degrees", "the whole number 1"),
    (look({"yaw_degrees": 180.001}), "look.yaw_degrees", "the number 180.001"),
    (look({"yaw_degrees": -181}), "look.yaw_degrees", "the whole number -181"),
    (look({"pitch_degrees": 90.5, "yaw_degrees": 0}), "look.pitch_degrees", "the number 90.5"),
    (look({"yaw_degrees": math.nan}), "look.yaw_degrees", "the number nan"),
    (look({"pitch_degrees": -math.inf}), "look.pitch_degrees", "the number -inf"),
    (look({"yaw_degrees": 10**400}), "look.yaw_degrees", "the whole number of about 400 digits"),
    (look({"yaw_degrees": True}), "look.yaw_degrees", "true"),
    (look({"yaw_degrees": "20"}), "look.yaw_degrees", "the text '20'"),
    (look({"yaw_degrees": None}), "look.yaw_degrees", "null"),
    (look({"pitch_degrees": [1]}), "look.pitch_degrees", "the list [1]"),
]


@pytest.mark.parametrize(
    ("wire", "path", "got"), BAD, ids=lambda value: str(value)[:40] if isinstance(value, str) else ""
)
def test_a_bad_value_is_rejected_with_its_place_and_what_it_was(wire, path, got):
    before = copy.deepcopy(wire)
    caught = rejection(wire)
    assert (caught.event_id, caught.path, caught.got) == (5, path, got)
    assert caught.expected
    assert "\n" not in caught.report().sentence()
    assert repr(wire) == repr(before)  # repr: NaN is not equal to itself


@pytest.mark.parametrize("bad", [None, -1, 2**53 + 1, 10**400, 1.0, True, "17", [1], math.nan])
def test_a_bad_event_id_is_rejected_and_not_echoed(bad):
    report = rejection({**FULL, "event_id": bad}).report()
    assert (report.event_id, report.path) == (None, "event_id")


@pytest.mark.parametrize("good", [0, 1, 2**53])
def test_whole_numbers_up_to_two_to_the_53_are_event_ids(good):
    assert parse({**FULL, "event_id": good}).event_id == good


def test_an_event_may_have_no_id():
    assert parse({"input_types": ["prompt"], "prompt": "x"}).event_id is None


@pytest.mark.parametrize(
    "wire",
    [
        prompt("x" * 2000),
        camera([["w", "a", "s", "d", "i", "j", "k", "l"]] * 512),
        camera([]),
        camera(state()),
        camera(state(*[{"actions": ["w"], "client_ts_ms": 2**53}] * 512)),
        look({"yaw_degrees": -180, "pitch_degrees": 90}),
    ],
)
def test_the_limits_themselves_are_accepted(wire):
    assert parse(wire).event_id == 5


def test_a_rejection_is_an_error_with_one_sentence():
    caught = rejection(camera([["w"], ["d"], ["x"]]))
    assert isinstance(caught, BadValue)
    assert str(caught) == "camera_actions[2][0]: got the text 'x', expected one of w, a, s, d, i, j, k, l."
    assert caught.report().sentence().startswith("Event 5 rejected: camera_actions[2][0] was the text 'x'")


def test_what_parse_made_is_parsed_to_the_same_again():
    for wire in (
        FULL,
        camera(state({"actions": ["w", "w"], "client_ts_ms": 9}, {"actions": []})),
        look({"yaw_degrees": 1}),
    ):
        event = parse(wire)
        assert parse(event.to_wire()) == event
        assert from_json(json.dumps(event.to_wire())) == event


def deep(levels):
    nested: object = []
    for _ in range(levels):
        nested = [nested]
    return nested


def test_monsters_are_rejected_and_nothing_else_is_raised():
    monsters = [
        deep(100_000),
        "x" * 10**7,
        10**10_000,
        math.nan,
        LONE * 999,
        {"a" * 10**6: 1},
        {None: 1},
        object(),
        b"\xff",
    ]
    for monster in monsters:
        for wire in (monster, camera(monster), look(monster), prompt(monster), {**FULL, "input_types": monster}):
            report = rejection(wire).report()
            assert len(report.sentence()) < 600
            report.sentence().encode()


def test_events_with_one_random_wound_are_parsed_or_rejected_and_never_changed():
    generator = random.Random(5)
    wounds = [None, True, 1, -1.5, math.nan, 10**40, "w", "x" * 3000, [], {}, ["w"], [["w"]], {"mode": "state"}, LONE]
    for _ in range(3000):
        wire = copy.deepcopy(FULL if generator.random() < 0.5 else camera(state({"actions": ["w"]}, {"actions": []})))
        place: object = wire
        while isinstance(place, (dict, list)) and place:
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            key = generator.choice(keys)
            if not isinstance(place[key], (dict, list)) or not place[key] or generator.random() < 0.3:
                place[key] = generator.choice(wounds)
                break
            place = place[key]
        before = repr(wire)
        with contextlib.suppress(Rejection):
            event = parse(wire)
            assert parse(event.to_wire()) == event
        assert repr(wire) == before


def test_json_text_is_parsed():
    assert from_json(json.dumps(FULL), pressed_at=1.0) == parse(FULL, pressed_at=1.0)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"input_types": ["prompt"], "prompt": "a", "prompt": "b"}',
        '{"input_types": ["look"], "look": {"yaw_degrees": NaN}}',
        '{"input_types": ["look"], "look": {"yaw_degrees": 1e999}}',
        '{"input_types": ["prompt"], "prompt": "\\ud800"}',
        '{"event_id": ' + "9" * 10_000 + "}",
        "[" * 200_000,
        '"' + "x" * events.MAX_JSON_CHARACTERS + '"',
    ],
    ids=lambda text: text[:24],
)
def test_bad_json_is_rejected(text):
    with pytest.raises(Rejection):
        from_json(text)
