"""The messages: what is sent, and what of the received is believed."""

from __future__ import annotations

import random

import msgpack
import pytest

from engine.remote.wire import (
    Batch,
    ChunkStats,
    Ignored,
    Picture,
    ServerError,
    SizeProblem,
    WireProblem,
    check_payload,
    pack_event,
    parse_message,
)

PICTURE = Picture(4, 2)
RAW = {
    "type": "frame_batch_header",
    "request_id": "s_1",
    "chunk_index": 1,
    "content_type": "application/x-raw-rgb",
    "num_frames": 2,
    "total_size": 48,
    "frame_batch_index": 0,
    "num_frame_batches": 1,
    "is_final_frame_batch": True,
    "event_id": 5,
    "format": "rgb24",
    "width": 4,
    "height": 2,
    "channels": 3,
    "bytes_per_frame": 24,
    "raw_size": 48,
    "encoding": "raw",
}
JPEG = {**RAW, "content_type": "image/jpeg", "total_size": 30, "payload_lengths": [10, 20], "format": "jpeg"}


def parsed(message: object) -> object:
    return parse_message(msgpack.packb(message), PICTURE)


def test_a_composite_event_is_the_map_that_the_server_knows() -> None:
    sent = msgpack.unpackb(pack_event(2, "snow", {"mode": "state", "transitions": [{"actions": []}]}))
    assert sent == {
        "type": "event",
        "kind": "composite_input",
        "event_id": 2,
        "payload": {
            "input_types": ["prompt", "camera_actions"],
            "prompt": "snow",
            "camera_actions": {"mode": "state", "transitions": [{"actions": []}]},
        },
    }


def test_a_header_and_a_whole_batch_say_the_same() -> None:
    header = parsed(RAW)
    assert header == Batch(1, 0, 1, 5, "raw", 2, 48, (), None)
    whole = parsed({**RAW, "type": "frame_batch", "payload": bytes(48)})
    assert whole == Batch(1, 0, 1, 5, "raw", 2, 48, (), bytes(48))
    compressed = parsed(JPEG)
    assert isinstance(compressed, Batch)
    assert (compressed.encoding, compressed.lengths) == ("jpeg", (10, 20))


def test_older_headers_without_batches_size_and_event_are_understood() -> None:
    gone = ("frame_batch_index", "num_frame_batches", "is_final_frame_batch", "event_id", "width", "height")
    assert parsed({key: value for key, value in RAW.items() if key not in gone}) == Batch(
        1, 0, 1, None, "raw", 2, 48, (), None
    )


def test_other_messages() -> None:
    stats = {"type": "chunk_stats", "chunk_index": 3, "scheduler_forward": 120, "pace_wait_ms": 4, "ws_write": "x"}
    assert parsed(stats) == ChunkStats(3, {"scheduler_forward": 120, "pace_wait": 4})
    assert parsed({"type": "error", "content": "a\nb" + "c" * 999}) == ServerError("a b" + "c" * 197)
    assert parsed({"type": "trace_event", "event": {}}) == Ignored("trace_event")


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"type": 5}, "a message's type"),
        ({"content_type": "application/x-raw-rgb-delta-gzip"}, "content_type"),
        ({"num_frames": 0}, "num_frames"),
        ({"num_frames": 2.0}, "num_frames"),
        ({"num_frames": True}, "num_frames"),
        ({"total_size": 47}, "total_size"),
        ({"total_size": 2**40}, "total_size"),
        ({"total_size": -1}, "total_size"),
        ({"chunk_index": None}, "chunk_index"),
        ({"frame_batch_index": 1}, "frame_batch_index"),
        ({"num_frame_batches": 65}, "num_frame_batches"),
        ({"event_id": "5"}, "event_id"),
        ({"width": 6}, "the size of the pictures"),
        ({"width": 4.0}, "the size of the pictures"),
        ({"type": "frame_batch"}, "payload"),
        ({"type": "frame_batch", "payload": bytes(47)}, "payload"),
        ({"type": "frame_batch", "payload": "x" * 48}, "payload"),
    ],
)
def test_what_is_wrong_is_named(change: dict[str, object], where: str) -> None:
    with pytest.raises(WireProblem) as caught:
        parsed({**RAW, **change})
    assert caught.value.where == where


@pytest.mark.parametrize("lengths", [None, [], [30], [10, 10, 10], [10, 21], [-1, 31], [10.0, 20.0], ["a", "b"], {}])
def test_lengths_that_lie_are_not_used(lengths: object) -> None:
    with pytest.raises(WireProblem, match="payload_lengths"):
        parsed({**JPEG, "payload_lengths": lengths})


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xc1",
        b"\x81\xa4type",
        msgpack.packb({"type": "error"}) + b"\x00",
        msgpack.packb([1]),
        msgpack.packb({1: 2}),
        msgpack.packb({b"type": "error"}),
        msgpack.packb({"type": msgpack.ExtType(5, b"x")}),
        msgpack.packb({"type": msgpack.Timestamp(5)}),
        b"\x91" * 5000 + b"\xc0",
        b"\xdd\xff\xff\xff\xff",
        b"\xa4\xff\xff\xff\xff",
        "text",
    ],
)
def test_what_is_no_message_is_said_to_be_none(data: bytes | str) -> None:
    with pytest.raises(WireProblem, match=r"a message"):
        parse_message(data, PICTURE)


def test_nothing_random_gets_through_as_anything_but_a_wire_problem() -> None:
    chance = random.Random(3)
    whole = msgpack.packb({**JPEG, "type": "frame_batch", "payload": bytes(30)})
    said: list[str] = []
    for _ in range(3000):
        data = bytearray(whole)
        for _ in range(chance.randrange(1, 4)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        try:
            parse_message(bytes(data[: chance.randrange(1, len(data) + 1)]), PICTURE)
        except WireProblem as problem:
            said.append(str(problem))
    assert len(said) > 1000
    assert max(len(sentence) for sentence in said) < 600


def test_a_payload_is_as_long_as_it_was_said_to_be() -> None:
    header = parsed(RAW)
    assert isinstance(header, Batch)
    assert check_payload(header, bytes(48)) == bytes(48)
    for wrong in (bytes(47), bytes(49), "x" * 48):
        with pytest.raises(WireProblem, match="a payload"):
            check_payload(header, wrong)


def test_another_size_is_a_problem_of_its_own() -> None:
    with pytest.raises(SizeProblem, match="4x3"):
        parsed({**RAW, "height": 3})
