"""Everything that a server can do wrong: one sentence, the cure, and a program that lives on."""

from __future__ import annotations

import re
import shutil
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from engine.config import EngineConfig
from engine.errors import FileProblem, RemoteProblem
from engine.host import EngineHost
from engine.protocol import Failed, FrameChunk, OpenWorld, Report, Restore, SnapshotSaved
from tests.engine.remote.walks import CONFIG, QUICK, SCENE, model_on, until, world_on
from tests.sglang_server import Levers, SGLangServer

PATIENCE = {"slow": replace(QUICK, picture=0.6), "half_open": replace(QUICK, dead=0.4)}
SAID = {
    "busy": "is busy: it serves one walk at a time",
    "init_errors": "refused to begin this world",
    "slow": "has sent no picture for 0.6 seconds",
    "half_open": "is dead: no sign of life",
    "die": "broke off in the middle of a chunk",
    "close_1011": r"broke off \(code 1011\)",
    "loop_error": r"stopped generating \(error during generate loop: CUDA out of memory\)",
    "wrong_size": "sends pictures of 64x32, 64x48 were asked for",
    "garbage": "a message was 3 bytes, expected MessagePack",
    "not_a_map": "expected a map",
    "text": "a message was text",
    "huge": "a message was longer than any can be",
    "lying_lengths": "payload_lengths was the list",
    "lying_payload": "expected the 110592 bytes that its header names",
    "lying_total": "total_size was",
    "many_frames": "num_frames was the whole number 1000000000",
    "skipped_chunk": "chunk_index was 7, expected 1",
    "old_encoding": "content_type was",
    "bad_picture": "cannot be decoded",
    "endless_event_errors": "refuses whatever it is told",
}


def problem_of(levers: Levers, **changes: object) -> RemoteProblem:
    """How a walk with such a server ends."""
    with SGLangServer(levers) as server:
        world = world_on(server, PATIENCE.get(levers.fault or "", QUICK), **changes)
        with pytest.raises(RemoteProblem) as caught:
            until(world, lambda chunk: False, most=50)
        world.close()
    return caught.value


@pytest.mark.parametrize("fault", SAID)
def test_a_fault_is_one_sentence_with_its_cure(fault: str) -> None:
    encoding = "jpeg" if fault in ("lying_lengths", "bad_picture") else "raw"
    problem = problem_of(Levers(fault=fault, chunk_seconds=0.01), output_format=encoding)
    assert re.search(SAID[fault], problem.what), problem.what
    assert "ws://localhost" in problem.what
    assert problem.what.endswith(".")
    assert problem.cure


def test_what_came_before_the_fault_is_shown() -> None:
    with SGLangServer(Levers(fault="die", at_chunk=3)) as server:
        world = world_on(server)
        assert [world.step(time.monotonic).chunk for _ in range(3)] == [0, 1, 2]
        with pytest.raises(RemoteProblem):
            world.step(time.monotonic)


def test_the_end_of_a_session_is_told_with_its_reason() -> None:
    problem = problem_of(Levers(max_chunks=2))
    assert "ended the walk (generation complete)" in problem.what


def test_a_few_errors_about_events_are_no_end() -> None:
    with SGLangServer(Levers(fault="some_event_errors")) as server:
        world = world_on(server)
        assert [world.step(time.monotonic).chunk for _ in range(4)] == [0, 1, 2, 3]
        world.close()


# ---- no connection at all ----------------------------------------------------------------------------------------


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        assert isinstance(port, int)
        return port


@contextmanager
def mute_server(answer: bytes | None) -> Iterator[int]:
    """Accepts connections and answers all of them the same, or never."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        kept: list[socket.socket] = []

        def accept() -> None:
            while True:
                try:
                    line, _ = listening.accept()
                except OSError:
                    return
                kept.append(line)
                if answer is not None:
                    line.recv(4096)
                    line.sendall(answer)
                    line.shutdown(socket.SHUT_WR)  # not close, which would take the answer back

        threading.Thread(target=accept, daemon=True).start()
        yield listening.getsockname()[1]
        listening.shutdown(socket.SHUT_RDWR)
        for line in kept:
            line.close()


class At:
    """A server that is only an address."""

    def __init__(self, url: str) -> None:
        self.url = url


def test_a_server_that_is_absent_is_named_with_what_to_start() -> None:
    with pytest.raises(RemoteProblem) as caught:
        model_on(At(f"ws://127.0.0.1:{free_port()}"))  # type: ignore[arg-type]
    assert "No server answers at ws://127.0.0.1" in caught.value.what
    assert "docs/cluster.md" in caught.value.cure


def test_a_name_that_nobody_has_is_said_to_be_one() -> None:
    with pytest.raises(RemoteProblem, match="no computer of the name"):
        model_on(At("ws://no-such-host.invalid:30000"))  # type: ignore[arg-type]


def test_something_else_that_answers_is_not_taken_for_a_server() -> None:
    with mute_server(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n") as port:
        world = model_on(At(f"ws://127.0.0.1:{port}")).open(SCENE, 1, 1)  # type: ignore[arg-type]
        with pytest.raises(RemoteProblem, match=r"no SGLang realtime server \(HTTP 404\)"):
            world.step(time.monotonic)
    with mute_server(b"SSH-2.0-OpenSSH_9.6\r\n") as port:
        world = model_on(At(f"ws://127.0.0.1:{port}")).open(SCENE, 1, 1)  # type: ignore[arg-type]
        with pytest.raises(RemoteProblem, match="no WebSocket answer"):
            world.step(time.monotonic)


def test_a_server_that_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.remote.probe.TIMEOUT_SECONDS", 0.3)
    with mute_server(None) as port, pytest.raises(RemoteProblem, match="in time"):
        model_on(At(f"ws://127.0.0.1:{port}"))  # type: ignore[arg-type]


# ---- TLS ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate for localhost that nobody has signed, and its key."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed, and makes the certificate")
    folder = tmp_path_factory.mktemp("tls")
    made = folder / "cert.pem", folder / "key.pem"
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    order = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *subject]
    subprocess.run([*order, "-out", made[0], "-keyout", made[1]], check=True, capture_output=True, timeout=60)
    return made


def serving(certificate: tuple[Path, Path]) -> SGLangServer:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    return SGLangServer(context=context)


def test_a_certificate_that_nobody_vouches_for_is_refused(certificate: tuple[Path, Path]) -> None:
    with serving(certificate) as server, pytest.raises(RemoteProblem) as caught:
        model_on(server)
    assert "is not to be trusted (self-signed certificate)" in caught.value.what
    assert "engine.remote.ca_file" in caught.value.cure


def test_a_certificate_for_another_name_is_refused(certificate: tuple[Path, Path]) -> None:
    with serving(certificate) as server:
        other = At(server.url.replace("localhost", "127.0.0.1"))
        with pytest.raises(RemoteProblem, match="is not to be trusted"):
            model_on(other, ca_file=str(certificate[0]))  # type: ignore[arg-type]


def test_with_its_authority_named_the_walk_goes_through_tls(certificate: tuple[Path, Path]) -> None:
    with serving(certificate) as server:
        world = world_on(server, ca_file=str(certificate[0]))
        assert world.step(time.monotonic).chunk == 0
        world.close()


def test_a_file_that_holds_no_authority_is_named(certificate: tuple[Path, Path], tmp_path: Path) -> None:
    empty = tmp_path / "empty.pem"
    empty.write_text("nothing")
    with serving(certificate) as server, pytest.raises(FileProblem, match=r"empty\.pem"):
        world_on(server, ca_file=str(empty))


# ---- the program lives on ----------------------------------------------------------------------------------------


def take(host: EngineHost, kind: type[Report], seconds: float = 20.0) -> list[Report]:
    """All reports up to the first of this kind."""
    end, found = time.monotonic() + seconds, list[Report]()
    while time.monotonic() < end:
        report = host.poll()
        if report is None:
            time.sleep(0.005)
            continue
        found.append(report)
        if isinstance(report, kind):
            return found
    raise AssertionError(f"no {kind.__name__} among {[type(report).__name__ for report in found]}")


def test_after_a_fault_one_request_goes_on_from_the_last_picture(tmp_path: Path) -> None:
    with SGLangServer(Levers(1, fault="die", at_chunk=3)) as server:
        config = EngineConfig(backend="sglang", remote=replace(CONFIG, server=server.url))
        host = EngineHost(config, tmp_path)
        try:
            host.send(OpenWorld(SCENE, 1, 1))
            reports = take(host, Failed)
            [failed] = [report for report in reports if isinstance(report, Failed)]
            assert "broke off in the middle of a chunk" in failed.message
            assert failed.cure == "Press R to go on from the last picture."
            assert not failed.engine_lost
            shown = [report.chunk for report in reports if isinstance(report, FrameChunk)]
            [saved] = [report for report in reports if isinstance(report, SnapshotSaved)]
            assert saved.chunk == shown[-1] == 2
            server.levers = Levers(1, fault="init_errors")
            host.send(Restore(SCENE, 1, 2, saved.path))
            reports = take(host, Failed)
            [kept] = [report for report in reports if isinstance(report, SnapshotSaved)]
            assert (kept.session_id, kept.chunk) == (2, 2), "what was seen is not lost when that fails too"
            server.levers = Levers(1)
            host.send(Restore(SCENE, 1, 3, kept.path))
            chunk = take(host, FrameChunk)[-1]
            assert isinstance(chunk, FrameChunk)
            assert (chunk.session_id, chunk.chunk, chunk.prompt) == (3, 3, "a green meadow")
        finally:
            host.close()
    assert len(server.sessions) == 2
