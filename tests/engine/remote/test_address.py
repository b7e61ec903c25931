"""Addresses as users write them."""

from __future__ import annotations

import pytest

from engine import backends
from engine.config import EngineConfig, RemoteConfig
from engine.errors import BadValue, NeedsLibrary
from engine.remote.address import Address, parse_address, tls_context


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("ws://gpu-box:30000", "ws://gpu-box:30000/v1/realtime_video/generate"),
        ("ws://gpu-box:30000/", "ws://gpu-box:30000/v1/realtime_video/generate"),
        ("wss://worlds.example", "wss://worlds.example:443/v1/realtime_video/generate"),
        ("wss://worlds.example/seat-2", "wss://worlds.example:443/seat-2/v1/realtime_video/generate"),
        ("ws://[::1]:30000", "ws://[::1]:30000/v1/realtime_video/generate"),
        ("ws://10.0.0.5:1/v1/realtime_video/generate", "ws://10.0.0.5:1/v1/realtime_video/generate"),
    ],
)
def test_an_address_leads_to_the_endpoint(text: str, url: str) -> None:
    assert parse_address(text, "--server").url == url


NO_ADDRESSES = (
    *(None, "", "gpu-box:30000", "http://gpu-box:30000", "ws://", "ws://a:99999", "ws://a:b", "ws://a b", "ws://[::1"),
    *("ws://me:secret@host:1", "ws://host:1/?user=me", "ws://host:1/#x", "ws://host\n:1", "ws://" + "a" * 3000),
)


@pytest.mark.parametrize("text", NO_ADDRESSES)
def test_what_is_no_address_is_refused_with_an_example(text: str | None) -> None:
    with pytest.raises(BadValue, match=r"ws://gpu-box:30000") as caught:
        parse_address(text, "engine.remote.server")
    assert len(str(caught.value)) < 500
    assert "secret" not in str(caught.value), "a password is not repeated"


def test_certificates_and_names_are_always_checked() -> None:
    context = tls_context(Address(True, "host", 443, ""), None, "engine.remote.ca_file")
    assert context is not None
    assert context.check_hostname
    assert tls_context(Address(False, "host", 80, ""), None, "engine.remote.ca_file") is None


@pytest.mark.parametrize("missing", ["websockets", "msgpack"])
def test_a_missing_library_is_one_sentence_with_what_to_install(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backends, "find_spec", lambda name: None if name == missing else object())
    config = EngineConfig(backend="sglang", remote=RemoteConfig(server="ws://localhost:1"))
    with pytest.raises(NeedsLibrary, match=rf"needs the library {missing}.*\.\[remote\]"):
        backends.load(config, lambda stage, fraction: None, lambda line: None)
