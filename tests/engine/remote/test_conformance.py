"""Our messages against SGLang-Diffusion's own classes, where that package is installed."""

from __future__ import annotations

import importlib

import msgpack
import pytest

from engine.remote.wire import Init, Picture, pack_event, pack_init

MODULE = "sglang.multimodal_gen.runtime.entrypoints.openai.protocol"


@pytest.fixture(scope="module")
def protocol():
    try:
        return importlib.import_module(MODULE)
    except ImportError as error:
        pytest.skip(f"the package sglang with its diffusion part is not installed ({error})")


def test_the_init_is_one_that_the_server_accepts(protocol) -> None:
    init = Init("a meadow", b"\x89PNG", Picture(832, 480), 16, 7, "jpeg", True, 90, 6, 18)
    request = protocol.RealtimeVideoGenerationsRequest(**msgpack.unpackb(pack_init(init)))
    assert (request.prompt, request.size, request.realtime_output_format) == ("a meadow", "832x480", "jpeg")
    assert (request.realtime_causal_sink_size, request.realtime_causal_kv_cache_num_frames) == (6, 18)
    assert request.realtime_output_pacing is True


def test_an_event_is_one_that_the_server_accepts(protocol) -> None:
    state = {"mode": "state", "transitions": [{"actions": ["w"]}]}
    event = protocol.RealtimeEvent(**msgpack.unpackb(pack_event(3, "snow", state)))
    assert (event.kind, event.event_id) == ("composite_input", 3)
    assert event.payload["camera_actions"] == state
