import json
import random

import numpy as np
import pytest

from app.session_log import MADE_EVERY_CHUNKS, SessionLog, read_session
from engine import events
from engine.controls import ControlQueues
from engine.errors import BadValue, FileProblem
from engine.protocol import ModelCard, SampledEvent, SceneSpec, SessionHeader, StartPose

CARD = ModelCard("bundled", "worldwalk-1", "ab12", "cpu", "float32", 2, 192, 112, 16.0, 1)
IMAGE = np.random.default_rng(1).integers(0, 256, (12, 20, 3), dtype=np.uint8)
SCENE = SceneSpec("shore", "a calm sea, 海", IMAGE, "cd34", False, 7, StartPose(12.5, -40.0, 90.0))
HEADER = SessionHeader(SCENE, 2**63, CARD, {"engine.steps": 2, "first_recorded_chunk": 3})


def prompt(text, event_id=None):
    wire = {"input_types": ["prompt"], "prompt": text}
    return wire if event_id is None else {**wire, "event_id": event_id}


def sampled(wire):
    return SampledEvent(wire.get("event_id"), wire, 1.0, 2.0, 3.0)


def written(path, *items, header=HEADER, chunks=None):
    log = SessionLog(path, header)
    for chunk, wire in items:
        log.write(chunk, sampled(wire))
    if chunks is not None:
        log.made(chunks - 1)
    log.close()
    assert log.error is None
    return path


def same_scene(a, b):
    words = [(s.name, s.prompt, s.image_sha256, s.own_image, s.map_seed, s.start) for s in (a, b)]
    return words[0] == words[1] and np.array_equal(a.image, b.image)


def test_a_session_is_read_as_it_was_written(tmp_path):
    items = [(0, prompt("snow", 1)), (2, prompt("雪 \U0001f642")), (2, prompt("b")), (5, prompt("c"))]
    session = read_session(written(tmp_path / "ein Gang ü.worldwalk.jsonl", *items, chunks=9))
    assert same_scene(session.header.scene, SCENE)
    assert (session.header.seed, session.header.card) == (2**63, CARD)
    assert (session.header.settings, session.torn) == (HEADER.settings, False)
    (run,) = session.runs
    assert (run.chunks, run.first_chunk, list(run.events)) == (9, 0, items)
    assert run.at(2) == (prompt("雪 \U0001f642"), prompt("b"))
    assert run.at(3) == ()


def test_a_scene_without_picture_and_a_session_without_events(tmp_path):
    header = SessionHeader(SceneSpec("plain", "a field"), 0, CARD)
    session = read_session(written(tmp_path / "s", header=header))
    assert session.header.scene == header.scene
    assert (session.runs[0].chunks, session.runs[0].events) == (0, ())


def test_every_line_is_on_the_disk_when_the_call_returns(tmp_path):
    log = SessionLog(tmp_path / "s", HEADER)
    log.write(3, sampled(prompt("snow")))
    log.made(5)
    assert read_session(tmp_path / "s").runs[0].chunks == 6
    log.close()


def test_chunks_made_are_said_now_and_then_and_at_the_end(tmp_path):
    log = SessionLog(tmp_path / "s", HEADER)
    for chunk in range(100):
        log.made(chunk)
    log.close()
    assert read_session(tmp_path / "s").runs[0].chunks == 100
    assert (tmp_path / "s").read_text().count("made") <= 100 // MADE_EVERY_CHUNKS + 2


def test_a_reset_begins_another_world_and_keeps_its_prompt(tmp_path):
    again = SceneSpec("shore", "snow", IMAGE, "cd34", False, 7, SCENE.start)
    log = SessionLog(tmp_path / "s", HEADER)
    log.write(3, sampled(prompt("snow")))
    log.made(4)
    log.restarted(again, 9, None)
    log.write(1, sampled(prompt("rain")))
    log.made(2)
    log.close()
    first, second = read_session(tmp_path / "s").runs
    assert (first.chunks, list(first.events)) == (5, [(3, prompt("snow"))])
    assert (second.chunks, second.first_chunk, list(second.events), second.seed) == (3, 0, [(1, prompt("rain"))], 9)
    assert same_scene(second.scene, again)
    assert (tmp_path / "s").read_text().count('"png"') == 1


def test_a_world_restored_from_its_snapshot_has_the_events_that_led_there(tmp_path):
    log = SessionLog(tmp_path / "s", HEADER)
    for chunk, text in ((1, "a"), (4, "b"), (8, "c")):
        log.write(chunk, sampled(prompt(text)))
    log.made(9)
    log.restarted(SCENE, HEADER.seed, 4)
    log.write(6, sampled(prompt("d")))
    log.made(7)
    log.close()
    first, second = read_session(tmp_path / "s").runs
    assert (first.chunks, len(first.events)) == (10, 3)
    assert (second.first_chunk, second.chunks) == (5, 8)
    assert list(second.events) == [(1, prompt("a")), (4, prompt("b")), (6, prompt("d"))]


def test_what_queues_report_is_replayed_from_the_file_exactly(tmp_path):
    generator, queues, log, live = random.Random(4), ControlQueues(), SessionLog(tmp_path / "s", HEADER), []
    for chunk in range(40):
        for _ in range(generator.choice([0, 0, 1, 3])):
            names = generator.sample("wasdijkl", generator.randint(0, 3))
            camera = {"mode": "state", "transitions": [{"actions": names}]}
            look = {"yaw_degrees": generator.uniform(-9, 9)}
            wire = {"input_types": ["look", "camera_actions"], "camera_actions": camera, "look": look}
            queues.apply(events.parse(wire), 0.0, wire)
        live.append(queues.sample(3, chunk, 0.0))
        for event in live[-1].events:
            log.write(chunk, event)
        log.made(chunk)
    log.close()
    (run,) = read_session(tmp_path / "s", events.parse).runs
    again = ControlQueues()
    for chunk in range(run.chunks):
        for wire in run.at(chunk):
            again.apply(events.parse(wire), 0.0, wire)
        assert again.sample(3, chunk, 0.0) == live[chunk]


# ---- trouble while writing ---------------------------------------------------------------------------------------


def used_after_an_error(log):
    assert log.error is not None
    assert "\n" not in log.error
    log.write(1, sampled(prompt("snow")))
    log.made(2)
    log.restarted(SCENE, 1, None)
    log.close()
    log.close()
    return log.error


def test_a_place_where_nothing_can_be_written_is_said_and_never_raised(tmp_path):
    assert "No such file" in used_after_an_error(SessionLog(tmp_path / "none" / "s", HEADER))
    used_after_an_error(SessionLog(tmp_path, HEADER))
    used_after_an_error(SessionLog(tmp_path / "a\0b", HEADER))


def test_a_full_disk_is_said_and_never_raised(tmp_path):
    try:
        log = SessionLog((tmp_path / "/dev/full").resolve(), HEADER)
    except OSError:
        pytest.skip("this system has no device that is always full")
    if log.error is None:
        pytest.skip("this system has no device that is always full")
    assert "The walk goes on" in used_after_an_error(log)


def test_a_picture_too_large_for_the_file_is_said(tmp_path):
    noise = np.random.default_rng(1).integers(0, 256, (1200, 1200, 3), dtype=np.uint8)
    log = SessionLog(tmp_path / "s", SessionHeader(SceneSpec("n", "x", noise), 0, CARD))
    assert "too large" in used_after_an_error(log)
    assert not (tmp_path / "s").exists()


# ---- damaged files -----------------------------------------------------------------------------------------------


def test_a_last_line_cut_anywhere_is_left_out(tmp_path):
    whole = written(tmp_path / "s", (1, prompt("a")), (2, prompt("b"))).read_bytes()
    last = whole.rindex(b"\n", 0, -1) + 1
    for end in range(last + 1, len(whole) - 1):
        (tmp_path / "t").write_bytes(whole[:end])
        session = read_session(tmp_path / "t")
        assert (session.torn, list(session.runs[0].events)) == (True, [(1, prompt("a"))])
    (tmp_path / "t").write_bytes(whole[:-1])
    assert len(read_session(tmp_path / "t").runs[0].events) == 2
    (tmp_path / "t").write_bytes(whole + b"\0" * 500)
    assert read_session(tmp_path / "t").torn


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "is empty"),
        (b"\n", "not a session file"),
        (b"\x00\x00\x00\x18ftypmp42", "nor a film that carries its walk"),
        (b"[1, 2]\n", "not a session file"),
        (b'{"a": 1}\n', "not a session file"),
        (b'{"worldwalk_session": 1, "seed"', "cut off"),
        (b"[" * 100_000, "not a session file"),
        (b'{"worldwalk_session": 2}\n', "schema the whole number 2, and this version of Worldwalk reads 1"),
        (b'{"worldwalk_session": "1"}\n', "schema the text '1'"),
        (b'{"worldwalk_session": true}\n', "schema true"),
    ],
)
def test_what_is_no_session_file_is_told(tmp_path, data, says):
    (tmp_path / "s").write_bytes(data)
    with pytest.raises(FileProblem, match=says) as caught:
        read_session(tmp_path / "s")
    assert "\n" not in str(caught.value)


def test_a_file_that_cannot_be_read_is_told(tmp_path):
    with pytest.raises(FileProblem, match="no such file"):
        read_session(tmp_path / "none")
    with pytest.raises(FileProblem):
        read_session(tmp_path)
    with pytest.raises(FileProblem, match="cannot be read"):
        read_session(tmp_path / ("n" * 3000))


EVENT = {"chunk": 3, "event": prompt("snow")}
WORLD = {"seed": 2**63, "after_chunk": None, "scene": None}


@pytest.mark.parametrize(
    ("lines", "place"),
    [
        (["nonsense"], ":2: got the text 'nonsense'"),
        ([""], ":2"),
        (["[]"], ":2"),
        (["{}"], ":2, world"),
        (['{"chunk": 1, "chunk": 1, "event": {}}'], ":2"),
        (['{"chunk": 1, "event": {"prompt": NaN}}'], ":2"),
        (['{"chunk": ' + "9" * 5000 + ', "event": {}}'], ":2"),
        ([{"chunk": -1, "event": {}}], ":2, chunk: got the whole number -1"),
        ([{"chunk": 1.0, "event": {}}], ":2, chunk"),
        ([{"chunk": True, "event": {}}], ":2, chunk: got true"),
        ([{"chunk": 10**9, "event": {}}], ":2, chunk"),
        ([{"event": {}}], ":2, chunk: got nothing"),
        ([{"chunk": 1, "event": []}], ":2, event: got the list"),
        ([{"chunk": 1, "event": {}, "note": 1}], ":2, 'note'"),
        ([EVENT, {"chunk": 2, "event": prompt("x")}], ":3, chunk: got the whole number 2"),
        ([{"chunk": 1, "event": prompt("")}], ":2, prompt: got an empty text"),
        ([{"made": -1}], ":2, made"),
        ([{"made": None}], ":2, made: got null"),
        ([{"world": 3}], ":2, world: got the whole number 3"),
        ([{"world": WORLD}], ":2, world, scene"),
        ([{"made": 5}, "after 6"], ":3, world, after_chunk: got the whole number 6"),
        ([{"made": 5}, "after -1"], ":3, world, after_chunk"),
        ([{"made": 5}, "after 2", EVENT, {"chunk": 1, "event": prompt("x")}], ":5, chunk"),
        ([{"made": 5}, "after 4", EVENT], ":4, chunk"),
    ],
)
def test_a_mistake_in_a_line_names_the_line_and_the_value(tmp_path, lines, place):
    first = json.loads(written(tmp_path / "s").read_text().splitlines()[0])
    texts = [json.dumps(first)]
    for line in lines:
        if isinstance(line, str) and line.startswith("after "):
            line = {"world": {**WORLD, "after_chunk": int(line[6:]), "scene": {**first["scene"], "image": None}}}
        texts.append(line if isinstance(line, str) else json.dumps(line))
    (tmp_path / "s").write_text("\n".join(texts) + "\n")
    with pytest.raises(BadValue) as caught:
        read_session(tmp_path / "s", events.parse)
    assert place in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"seed": -1}, "seed"),
        ({"seed": True}, "seed"),
        ({"settings": []}, "settings"),
        ({"extra": 1}, "'extra'"),
        ({"card": {}}, "card, fps_nominal"),
        ({"card": {"fps_nominal": 0}}, "card, fps_nominal"),
        ({"card": {"width": "192"}}, "card, width"),
        ({"card": {"colour": 1}}, "card, 'colour'"),
        ({"scene": {"name": 3}}, "scene, name"),
        ({"scene": {"prompt": " "}}, "scene, prompt"),
        ({"scene": {"own_image": 1}}, "scene, own_image"),
        ({"scene": {"start": {"x_metres": 1e99, "z_metres": 0, "yaw_degrees": 0}}}, "scene, start, x_metres"),
        ({"scene": {"image": "as in the first line"}}, "scene, image"),
        ({"scene": {"image": {"png": "????", "sha256": ""}}}, "scene, image, png"),
        ({"scene": {"image": {"png": "AAAA", "sha256": "00"}}}, "scene, image, sha256"),
        ({"scene": {"image": {"png": "A" * 5_000_000, "sha256": ""}}}, "scene, image, png"),
    ],
)
def test_a_mistake_in_the_header_names_the_value(tmp_path, change, place):
    header = json.loads(written(tmp_path / "s").read_text().splitlines()[0])
    for key, value in change.items():
        header[key] = {**header[key], **value} if isinstance(value, dict) and value else value
    (tmp_path / "s").write_text(json.dumps(header) + "\n")
    with pytest.raises(BadValue) as caught:
        read_session(tmp_path / "s")
    assert f"s:1, {place}" in str(caught.value)


def test_a_line_without_end_is_not_read_into_memory(tmp_path):
    path = written(tmp_path / "s")
    with path.open("ab") as file:
        file.write(b" " * 9_000_000)
    with pytest.raises(BadValue, match="longer"):
        read_session(path)


def test_any_damage_gives_a_session_or_one_sentence(tmp_path):
    generator = random.Random(6)
    path = written(tmp_path / "s", (1, prompt("a", 1)), (2, prompt("b")), chunks=9)
    whole = path.read_bytes()
    for _ in range(600):
        data = bytearray(whole)
        for _ in range(generator.randint(1, 4)):
            place = generator.randrange(len(data))
            data[place : place + generator.randint(0, 3)] = generator.choice(
                [b"", b"\n", b"{", b'"', b"9", b"\xff", b"\0"]
            )
        path.write_bytes(data)
        try:
            read_session(path, events.parse)
        except (BadValue, FileProblem) as error:
            assert "\n" not in str(error)  # noqa: PT017 - some damage does not show
