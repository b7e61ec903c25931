"""Walks through the wire, against the stand-in server on loopback."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.errors import BadValue, FileProblem
from engine.protocol import EventRejected, FrameChunk, SceneSpec
from engine.remote.inbox import MOST_WAITING_SECONDS
from tests.engine.remote.walks import QUICK, SCENE, answering, ask, eventually, held, log_of, model_on, until, world_on
from tests.sglang_server import Levers, SGLangServer


@pytest.mark.parametrize(("latent_frames", "first", "others"), [(3, 9, 12), (4, 13, 16)])
def test_frames_come_in_order_and_bit_for_bit_as_they_were_made(latent_frames: int, first: int, others: int) -> None:
    with SGLangServer(Levers(latent_frames)) as server:
        world = world_on(server)
        chunks = [world.step(time.monotonic) for _ in range(4)]
        world.close()
    assert [len(chunk.frames) for chunk in chunks] == [first, others, others, others]
    assert [chunk.chunk for chunk in chunks] == [0, 1, 2, 3]
    for chunk in chunks:
        assert (chunk.frames[..., 0] == chunk.chunk * 16).all()
        assert (chunk.frames[:, 0, 0, 1] == np.arange(len(chunk.frames)) * 8).all()


@pytest.mark.parametrize("form", ["auto", "inline", "split"])
@pytest.mark.parametrize("encoding", ["raw", "jpeg", "webp"])
def test_every_form_and_format_is_understood(form: str, encoding: str) -> None:
    with SGLangServer(Levers(form=form, unknown_messages=True)) as server:
        world = world_on(server, output_format=encoding, output_quality=None if encoding == "raw" else 90)
        chunks = [world.step(time.monotonic) for _ in range(3)]
        world.close()
        assert log_of(server).init["realtime_output_format"] == encoding
    assert [chunk.frames.shape for chunk in chunks] == [(9, 48, 64, 3), (12, 48, 64, 3), (12, 48, 64, 3)]
    assert abs(int(chunks[2].frames[0, 0, 0, 0]) - 32) < 8
    assert chunks[2].remote is not None
    assert chunks[2].remote.encoding == encoding


def test_the_init_says_what_was_chosen_and_nothing_that_was_not() -> None:
    with SGLangServer() as server:
        world = world_on(server, sink_latent_frames=6, fps=20)
        world.step(time.monotonic)
        world.close()
        init = dict(log_of(server).init)
    picture = init.pop("first_frame")
    assert isinstance(picture, bytes)
    assert picture.startswith(b"\x89PNG")
    assert init == {
        "type": "init",
        "prompt": "a green meadow",
        "size": "64x48",
        "fps": 20,
        "num_frames": 9,
        "seed": 7,
        "realtime_output_format": "raw",
        "realtime_output_pacing": False,
        "realtime_causal_sink_size": 6,
    }


def test_a_held_key_and_a_prompt_arrive_whole_and_are_reported_with_their_chunk() -> None:
    with SGLangServer(Levers(chunk_seconds=0.03)) as server:
        world = world_on(server)
        world.step(time.monotonic)
        ask(world, 11, camera_actions=held(["w"]))
        moved = until(world, answering(11))[-1]
        ask(world, 12, prompt="snow at night")
        snowed = until(world, answering(12))[-1]
        world.close()
        log = log_of(server)
    assert moved.moving
    assert (moved.frames[..., 2] == 255).all()
    assert (snowed.prompt, snowed.prompt_updated, world.prompt) == ("snow at night", True, "snow at night")
    assert log.events[1]["payload"] == {
        "input_types": ["prompt", "camera_actions"],
        "prompt": "snow at night",
        "camera_actions": held(["w"]),
    }
    assert (world.text_encodes, world.cross_attention_resets) == (2, 1)


def test_the_delay_of_a_key_is_divided_between_server_and_network() -> None:
    with SGLangServer(Levers(chunk_seconds=0.08)) as server:
        world = world_on(server)
        world.step(time.monotonic)
        asked_at = time.monotonic()
        ask(world, 3, camera_actions=held(["w"]))
        chunk = until(world, answering(3))[-1]
        world.close()
    shares = chunk.remote
    assert shares is not None
    assert shares.server_ms is not None
    assert shares.network_ms is not None
    assert shares.server_ms >= 60
    assert shares.server_ms + shares.network_ms <= (chunk.made_at - asked_at) * 1000 + 1


def test_an_event_that_is_wrong_is_refused_here_and_never_sent() -> None:
    with SGLangServer() as server:
        world = world_on(server)
        world.step(time.monotonic)
        wire = {"event_id": 4, "input_types": ["prompt", "look"], "prompt": "rain", "look": {"yaw_degrees": "far"}}
        answer = world.apply(wire, None, time.monotonic())
        world.step(time.monotonic)
        world.close()
        assert log_of(server).events == []
    assert isinstance(answer, EventRejected)
    assert answer.path == "look.yaw_degrees"


def test_looks_through_the_wire_add_up() -> None:
    with SGLangServer(Levers(3, chunk_seconds=0.03)) as server:
        world = world_on(server)
        world.step(time.monotonic)
        ask(world, 1, camera_actions=held(["w"]))
        for index in range(20):
            ask(world, 2 + index, look={"yaw_degrees": 4.2, "pitch_degrees": -1.0})
            if index % 4 == 0:
                world.step(time.monotonic)
        log = log_of(server)

        def settled() -> bool:
            world.step(time.monotonic)
            turned = log.turned("l", "j", 6.0), log.turned("i", "k", 4.0)
            return abs(turned[0] - 84.0) <= 3.0 and abs(turned[1] + 20.0) <= 2.0

        assert eventually(settled)
        for _ in range(12):
            world.step(time.monotonic)
        assert settled(), "and it stays so"
        world.close()


def live(server: SGLangServer, **changes: object):
    world = world_on(server, **changes)
    woken: list[float] = []
    world.go_live(lambda: woken.append(time.monotonic()))
    return world, woken


def test_a_window_is_woken_and_a_slow_one_gets_the_newest_chunks_only() -> None:
    with SGLangServer(Levers(1, chunk_seconds=0.02)) as server:
        world, woken = live(server, fps=60)
        assert eventually(lambda: len(woken) > 40)
        chunks: list[FrameChunk] = []
        while world.is_ready:
            chunks.append(world.step(time.monotonic))
        world.close()
    waiting = sum(len(chunk.frames) for chunk in chunks[:-1])
    assert waiting <= MOST_WAITING_SECONDS * 60 + 4
    assert chunks[-1].chunk > 20
    assert chunks[-1].remote is not None
    assert chunks[-1].remote.dropped_chunks > 0


def test_a_live_walk_is_paced_by_the_server_and_a_render_is_not() -> None:
    with SGLangServer(Levers(3)) as server:
        world, woken = live(server)
        assert eventually(lambda: len(woken) >= 2)
        world.close()
        assert log_of(server).init["realtime_output_pacing"] is True
    assert woken[1] - woken[0] > 0.3


def test_an_answer_overtakes_older_chunks_and_takes_their_events_along() -> None:
    with SGLangServer(Levers(1, chunk_seconds=0.05)) as server:
        world, woken = live(server, fps=60)
        assert eventually(lambda: len(woken) > 3)
        ask(world, 9, prompt="snow")
        ask(world, 10, camera_actions=held(["w"]))
        assert eventually(lambda: bool(log_of(server).events) and log_of(server).actions[-2] == [["w"]])
        time.sleep(0.1)
        first = world.step(time.monotonic)
        world.close()
    assert {event.event_id for event in first.events} >= {9, 10}
    assert first.prompt_updated


def test_a_pause_shows_nothing_and_lets_go_of_the_keys() -> None:
    with SGLangServer(Levers(1, chunk_seconds=0.03)) as server:
        world, _ = live(server)
        assert eventually(lambda: world.is_ready)
        ask(world, 1, camera_actions=held(["w"]))
        log = log_of(server)
        assert eventually(lambda: log.actions[-1] == [["w"]])
        world.pause(True)
        assert eventually(lambda: log.actions[-1] == [[]])
        time.sleep(0.2)
        assert not world.is_ready
        world.pause(False)
        assert eventually(lambda: log.actions[-1] == [["w"]])
        assert eventually(lambda: world.is_ready)
        world.close()


def test_a_new_world_waits_until_the_old_session_is_let_go() -> None:
    with SGLangServer() as server:
        model = model_on(server, replace(QUICK, busy=5.0))
        first = model.open(SCENE, 1, 1)
        first.step(time.monotonic)
        second = model.open(replace(SCENE, prompt="dunes"), 2, 2)
        chunk = second.step(time.monotonic)
        second.close()
        assert eventually(lambda: server.sessions[0].close_code == 1000)
        assert (chunk.session_id, chunk.prompt) == (2, "dunes")
        assert [log.init["prompt"] for log in server.sessions] == ["a green meadow", "dunes"]


def test_a_snapshot_begins_another_session_with_the_last_picture_and_the_same_prompt(tmp_path: Path) -> None:
    path = tmp_path / "world.snapshot"
    with SGLangServer(Levers(chunk_seconds=0.02)) as server:
        model = model_on(server, replace(QUICK, busy=5.0))
        world = model.open(SCENE, 1, 1)
        ask(world, 1, prompt="snow")
        last = until(world, answering(1))[-1]
        world.save(path)
        again = model.restore(SCENE, 1, 2, path)
        chunk = again.step(time.monotonic)
        again.close()
        init = server.sessions[1].init
    assert (init["prompt"], chunk.chunk, chunk.session_id) == ("snow", last.chunk + 1, 2)
    from engine.remote.pictures import first_frame

    assert init["first_frame"] == first_frame(last.frames[-1], model.picture)


def test_a_snapshot_of_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other"
    path.write_bytes(b"not a snapshot")
    with SGLangServer() as server, pytest.raises(FileProblem, match="cannot be read"):
        model_on(server).restore(SCENE, 1, 1, path)


def test_the_model_is_named_by_the_server_and_a_server_without_names_is_no_trouble() -> None:
    with SGLangServer() as server:
        assert model_on(server).card.model == "stand-in"
    with SGLangServer(Levers(fault="absent_model")) as server:
        assert model_on(server).card.model == "model of the server"


def test_the_format_is_chosen_by_the_measured_line() -> None:
    with SGLangServer() as server:
        model = model_on(server, output_format="auto")
        world = model.open(SCENE, 1, 1)
        world.step(time.monotonic)
        world.close()
        assert model.traffic.bytes_per_second is not None
        assert log_of(server).init["realtime_output_format"] == "raw", "loopback carries anything"


def test_a_scene_without_a_picture_cannot_begin() -> None:
    with SGLangServer() as server, pytest.raises(BadValue, match="picture to begin with"):
        model_on(server).open(SceneSpec("card", "a meadow"), 1, 1)


def test_sizes_are_multiples_of_sixteen() -> None:
    with SGLangServer() as server, pytest.raises(BadValue, match=r"engine\.remote\.width_px"):
        model_on(server, width_px=70)
