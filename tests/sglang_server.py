"""A stand-in for SGLang-Diffusion's realtime server, byte for byte on the wire, with every fault that one can have.

For the tests it makes stripes. By hand it makes a real walk, with the bundled model behind the wire::

    python -m tests.sglang_server --port 30000
    python main.py --backend sglang --server ws://127.0.0.1:30000
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import http
import io
import json
import os
import ssl
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

import msgpack
import numpy as np
from numpy.typing import NDArray
from PIL import Image
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

ENDPOINT = "/v1/realtime_video/generate"
BUSY = "another realtime session is already active"
BUSY_WAIT_SECONDS, BUSY_POLL_SECONDS = 1.0, 0.1
INLINE_BYTES = 65536
RAW_FRAMES, ENCODED_FRAMES = 16, 6
CONTENT_TYPES = {"raw": "application/x-raw-rgb", "webp": "image/webp", "jpeg": "image/jpeg"}
FAULTS = (
    "absent_model", "bad_picture", "busy", "close_1011", "die", "endless_event_errors", "garbage", "half_open", "huge",
    "init_errors", "loop_error", "lying_lengths", "lying_payload", "lying_total", "many_frames", "not_a_map",
    "old_encoding", "skipped_chunk", "slow", "some_event_errors", "text", "wrong_size",
)  # fmt: skip

Frames = NDArray[np.uint8]


@dataclass(frozen=True)
class Levers:
    """How this server behaves. ``latent_frames`` 3 gives a first chunk of 9 frames, 4 one of 13.

    ``form``: auto, or inline and split whatever the payload's size. ``fault`` happens in chunk ``at_chunk``.
    """

    latent_frames: int = 3
    chunk_seconds: float = 0.0
    echo: bool = True
    form: str = "auto"
    unknown_messages: bool = False
    fault: str | None = None
    at_chunk: int = 1
    max_chunks: int | None = None


@dataclass(frozen=True)
class ChunkRequest:
    """What a chunk is made from: one list of actions for each latent frame."""

    index: int
    actions: Sequence[Sequence[str]]
    prompt: str
    video_frames: int
    width: int
    height: int


class Maker(Protocol):
    """What makes pictures: one object a session."""

    def chunk(self, request: ChunkRequest) -> Frames: ...


MakeMaker = Callable[[Mapping[str, object], int], Maker]
"""From the init message and the number of latent frames in a chunk."""


class Stripes:
    """Frames that tell what they were made from: red the chunk, green the frame in it, blue whether anything moves."""

    def __init__(self, init: Mapping[str, object], latent_frames: int) -> None:
        pass

    def chunk(self, request: ChunkRequest) -> Frames:
        frames = np.zeros((request.video_frames, request.height, request.width, 3), np.uint8)
        frames[..., 0] = request.index * 16 % 256
        frames[..., 1] = (np.arange(request.video_frames) * 8 % 256)[:, None, None]
        frames[..., 2] = 255 if any(request.actions) else 0
        return frames


@dataclass
class Log:
    """What one session was told and what its chunks followed."""

    init: Mapping[str, object]
    events: list[Mapping[str, object]] = field(default_factory=list)
    actions: list[list[list[str]]] = field(default_factory=list)
    prompts: list[str] = field(default_factory=list)
    close_code: int | None = None

    def turned(self, plus: str, minus: str, degrees: float) -> float:
        """What these keys have turned in all latent frames together."""
        return degrees * sum((plus in held) - (minus in held) for chunk in self.actions for held in chunk)


class Controls:
    """What a chunk is given of the events before it, by the rules of SGLang's LingBot adapter."""

    def __init__(self) -> None:
        self._prompt: tuple[str, int | None] | None = None
        self._script: deque[tuple[list[str], int | None]] = deque(maxlen=512)
        self._pending: deque[tuple[list[str], int | None]] = deque(maxlen=512)
        self._held: tuple[list[str], int | None] = ([], None)
        self.echo: int | None = None

    def take(self, event: Mapping[str, object]) -> None:
        """Raises ValueError, with nothing applied."""
        event_id = event.get("event_id")
        assert event_id is None or isinstance(event_id, int)
        parts = list(_checked_parts(event))
        for name, value in parts:
            if name == "prompt":
                self._prompt = (str(value), event_id)
            elif isinstance(value, dict):
                self._script.clear()
                self._pending.extend((list(change["actions"]), event_id) for change in value["transitions"])
            else:
                assert isinstance(value, list)
                self._pending.clear()
                self._held = ([], None)
                self._script = deque(((list(frame), event_id) for frame in value), maxlen=512)

    def sample(self, latent_frames: int, chunk: int) -> tuple[list[list[str]], str | None, int | None]:
        """(actions of each latent frame, a new prompt or None, the id to echo)."""
        prompt = None
        if chunk >= 1 and self._prompt is not None:
            (prompt, self.echo), self._prompt = self._prompt, None
        if self._script:
            taken = [self._script.popleft() for _ in range(min(latent_frames, len(self._script)))]
            self.echo = taken[-1][1]
            return [held for held, _ in taken] + [[]] * (latent_frames - len(taken)), prompt, self.echo
        newest = next((held for held, _ in reversed(self._pending) if held), None)
        if self._pending:
            self._held = self._pending[-1]
            self._pending.clear()
        if self._held[1] is not None:
            self.echo = self._held[1]
        actions = [list(self._held[0]) for _ in range(latent_frames)]
        if newest is not None and newest != self._held[0]:
            actions[0] = newest
        return actions, prompt, self.echo


def _checked_parts(event: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    kind, payload = event.get("kind"), event.get("payload")
    if kind in ("prompt", "camera_actions"):
        payload = {"input_types": [kind], str(kind): payload}
    elif kind != "composite_input":
        raise ValueError("unsupported event kind")
    if not isinstance(payload, dict) or not isinstance(payload.get("input_types"), list) or not payload["input_types"]:
        raise ValueError("composite_input requires input_types")
    for name in payload["input_types"]:
        if name not in ("prompt", "camera_actions"):
            raise ValueError(f"unsupported composite type {name}")
        if name not in payload:
            raise ValueError(f"composite_input requires {name}")
        value = payload[name]
        if name == "prompt" and not (isinstance(value, str) and value):
            raise ValueError("prompt must be a non-empty string")
        if name == "camera_actions":
            changes = value.get("transitions") if isinstance(value, dict) and value.get("mode") == "state" else None
            lists = value if not isinstance(value, dict) else [c.get("actions") for c in changes or [{}]]
            if not isinstance(lists, list) or not all(isinstance(held, list) for held in lists):
                raise ValueError("camera_actions must be list[list[str]]")
        yield name, value


class SGLangServer:
    """Serves on loopback from a thread of its own, between ``with`` and its end."""

    def __init__(
        self,
        levers: Levers | None = None,
        maker: MakeMaker = Stripes,
        *,
        port: int = 0,
        context: ssl.SSLContext | None = None,
        workshop: ThreadPoolExecutor | None = None,
    ) -> None:
        self.levers, self._maker, self._context = levers or Levers(), maker, context
        self.port = port
        self._workshop = workshop or ThreadPoolExecutor(1, "workshop")
        self.sessions: list[Log] = []
        self._active = False
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)

    @property
    def url(self) -> str:
        return f"{'ws' if self._context is None else 'wss'}://localhost:{self.port}"

    def __enter__(self) -> SGLangServer:
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._loop is not None
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        options = {"max_size": 64 * 2**20, "compression": None, "ping_interval": None, "close_timeout": 0.5}
        async with serve(
            self._session, "localhost", self.port, process_request=self._http, ssl=self._context, **options
        ) as server:
            self.port = server.sockets[0].getsockname()[1]
            self._ready.set()
            await self._stop.wait()
            server.close(code=1001)

    def _http(self, connection: ServerConnection, request: Request) -> Response | None:
        path = request.path.partition("?")[0]
        if path == "/v1/models" and self.levers.fault != "absent_model":
            return connection.respond(http.HTTPStatus.OK, json.dumps({"data": [{"id": "stand-in"}]}))
        if path == "/openapi.json":
            return connection.respond(http.HTTPStatus.OK, json.dumps({"text": "x" * 200_000}))
        return None if path == ENDPOINT else connection.respond(http.HTTPStatus.NOT_FOUND, "not found\n")

    # ---- one connection -----------------------------------------------------------------------------------------

    async def _session(self, socket: ServerConnection) -> None:
        deadline = time.monotonic() + BUSY_WAIT_SECONDS
        while (self._active or self.levers.fault == "busy") and time.monotonic() < deadline:
            await asyncio.sleep(BUSY_POLL_SECONDS)
        if self._active or self.levers.fault == "busy":
            await _send(socket, {"type": "error", "content": BUSY})
            await socket.close(1008)
            return
        self._active = True
        try:
            await self._serve_session(socket)
        except ConnectionClosed:
            pass
        finally:
            self._active = False
            if self.sessions:
                self.sessions[-1].close_code = socket.close_code

    async def _serve_session(self, socket: ServerConnection) -> None:
        while True:
            init = _unpacked(await socket.recv())
            if self.levers.fault != "init_errors" and _is_init(init):
                break
            await _send(socket, {"type": "error", "content": "invalid generate request"})
        assert init is not None
        log, controls = Log(init), Controls()
        self.sessions.append(log)
        if self.levers.fault == "half_open":
            socket.transport.pause_reading()
        listening = asyncio.create_task(self._listen(socket, log, controls))
        try:
            await self._generate(socket, log, controls)
        finally:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)

    async def _listen(self, socket: ServerConnection, log: Log, controls: Controls) -> None:
        async for data in socket:
            event = _unpacked(data)
            try:
                if event is None or event.get("type") != "event":
                    raise ValueError("not an event")
                controls.take(event)
                log.events.append(event)
            except (ValueError, AssertionError):
                await _send(socket, {"type": "error", "content": "invalid event"})

    async def _generate(self, socket: ServerConnection, log: Log, controls: Controls) -> None:
        """Free-running: the next chunk is made while the last one is sent; sends stay in order."""
        work = partial(asyncio.get_running_loop().run_in_executor, self._workshop)
        maker = await work(self._maker, log.init, self.levers.latent_frames)
        width, height = (int(side) for side in str(log.init["size"]).split("x"))
        prompt, index, slot, sending = str(log.init["prompt"]), 0, [0.0, -1.0], None
        try:
            while self.levers.max_chunks is None or index < self.levers.max_chunks:
                actions, new_prompt, echo = controls.sample(self.levers.latent_frames, index)
                prompt = new_prompt or prompt
                log.actions.append(actions)
                log.prompts.append(prompt)
                count = self.levers.latent_frames * 4 - (3 if index == 0 else 0)
                request = ChunkRequest(index, actions, prompt, count, width, height)
                began = time.monotonic()
                frames = await work(maker.chunk, request)
                await asyncio.sleep(max(0.0, self.levers.chunk_seconds - (time.monotonic() - began)))
                forward = time.monotonic() - began
                if sending is not None:
                    await sending
                chunk = _Chunk(index, frames, echo if self.levers.echo else None, forward)
                sending = asyncio.create_task(self._send_chunk(socket, log.init, chunk, slot))
                index += 1
            if sending is not None:
                await sending
            await socket.close(1000, "generation complete")
        finally:
            if sending is not None and not sending.done():
                sending.cancel()
                await asyncio.gather(sending, return_exceptions=True)

    async def _send_chunk(
        self, socket: ServerConnection, init: Mapping[str, object], chunk: _Chunk, slot: list[float]
    ) -> None:
        pace_wait = await _pace(init, chunk, slot)
        began = time.monotonic()
        faulty = self.levers.fault if chunk.index == self.levers.at_chunk else None
        name = str(init["realtime_output_format"])
        messages = await asyncio.to_thread(_batches, chunk, name, init.get("output_compression"))
        built = time.monotonic()
        if self.levers.unknown_messages:
            await _send(socket, {"type": "trace_event", "event": "server.chunk_complete"})
        if faulty is not None and await _misbehave(faulty, socket, messages):
            return
        for header, payload in messages:
            await self._send_batch(socket, header, payload)
        wrote = time.monotonic()
        echo = {} if chunk.echo is None else {"event_id": chunk.echo}
        times = {
            "request_prepare_ms": 0.0, "scheduler_forward_ms": chunk.forward, "pace_wait_ms": pace_wait,
            "header_write_ms": 0.0, "raw_payload_build_ms": built - began, "raw_write_ms": wrote - built,
            "ws_write_ms": wrote - built, "chunk_total_ms": chunk.forward + pace_wait + wrote - began,
        }  # fmt: skip
        size = sum(len(payload) for _, payload in messages)
        await _send(
            socket,
            {"type": "chunk_stats", "session_id": "s", "request_id": f"s_{chunk.index}", "chunk_index": chunk.index}
            | echo
            | {"num_frames": len(chunk.frames), "num_batches": len(messages), "raw_bytes": chunk.frames.nbytes}
            | {"ws_payload_bytes": size, "content_type": CONTENT_TYPES[name]}
            | {stage: max(0, int(seconds * 1000 + 0.5)) for stage, seconds in times.items()},
        )

    async def _send_batch(self, socket: ServerConnection, header: dict[str, object], payload: bytes) -> None:
        inline = {"auto": len(payload) < INLINE_BYTES, "inline": True, "split": False}[self.levers.form]
        if inline:
            await _send(socket, {**header, "type": "frame_batch", "payload": payload})
        else:
            await _send(socket, {"type": "frame_batch_header", **header})
            await socket.send(payload)


@dataclass(frozen=True)
class _Chunk:
    index: int
    frames: Frames
    echo: int | None
    forward: float


async def _pace(init: Mapping[str, object], chunk: _Chunk, slot: list[float]) -> float:
    """Wait for the chunk's slot; a new event id makes it now. ``slot``: when the next one is due, and the last id."""
    now = time.monotonic()
    if not init.get("realtime_output_pacing"):
        return 0.0
    echo = -1.0 if chunk.echo is None else float(chunk.echo)
    at = now if echo != slot[1] else max(now, slot[0])
    fps = init.get("fps", 16)
    assert isinstance(fps, int)
    slot[0], slot[1] = at + len(chunk.frames) / fps, echo
    await asyncio.sleep(at - now)
    return at - now


def _batches(chunk: _Chunk, name: str, quality: object) -> list[tuple[dict[str, object], bytes]]:
    step = RAW_FRAMES if name == "raw" else ENCODED_FRAMES
    parts = [chunk.frames[i : i + step] for i in range(0, len(chunk.frames), step)]
    height, width = chunk.frames.shape[1:3]
    messages: list[tuple[dict[str, object], bytes]] = []
    for index, part in enumerate(parts):
        header: dict[str, object] = {
            "request_id": f"s_{chunk.index}", "chunk_index": chunk.index, "content_type": CONTENT_TYPES[name],
            "num_frames": len(part), "total_size": 0, "frame_batch_index": index, "num_frame_batches": len(parts),
            "is_final_frame_batch": index == len(parts) - 1, "format": "rgb24", "width": width, "height": height,
            "channels": 3, "bytes_per_frame": width * height * 3,
        }  # fmt: skip
        if chunk.echo is not None:
            header["event_id"] = chunk.echo
        if name == "raw":
            payload = part.tobytes()
            header |= {"raw_size": len(payload), "encoding": "raw"}
        else:
            images = [_encoded(frame, name, quality) for frame in part]
            payload = b"".join(images)
            header |= {"format": name, "encoding": name, "source_width": width, "source_height": height}
            header |= {"preview_width": width, "preview_height": height}
            header |= {"payload_lengths": [len(image) for image in images]}
        header["total_size"] = len(payload)
        messages.append((header, payload))
    return messages


def _encoded(frame: Frames, name: str, quality: object) -> bytes:
    buffer = io.BytesIO()
    if name == "webp":
        Image.fromarray(frame).save(buffer, "WEBP", quality=quality or 90, method=0)
    else:
        Image.fromarray(frame).save(buffer, "JPEG", quality=quality or 95, subsampling=0)
    return buffer.getvalue()


async def _misbehave(fault: str, socket: ServerConnection, messages: list[tuple[dict[str, object], bytes]]) -> bool:
    """Do the one wrong thing; True where nothing right may follow it."""
    header, payload = messages[0]
    changes: dict[str, dict[str, object]] = {
        "wrong_size": {"width": 64, "height": 32},
        "old_encoding": {"content_type": "application/x-raw-rgb-delta-gzip"},
        "lying_lengths": {"payload_lengths": [1, 2]},
        "lying_total": {"total_size": len(payload) + 7},
        "many_frames": {"num_frames": 10**9},
        "skipped_chunk": {"chunk_index": 7},
    }
    raw: dict[str, bytes | str] = {"garbage": b"\xc1\xff\x00", "text": "hello"}
    if fault in changes:
        header.update(changes[fault])
    elif fault in raw:
        await socket.send(raw[fault])
    elif fault == "huge":  # a frame that claims 100 MB, and begins to come
        socket.transport.write(b"\x82\x7f" + (100 * 2**20).to_bytes(8, "big") + bytes(2**16))
        await socket.wait_closed()
    elif fault == "not_a_map":
        await socket.send(msgpack.packb([1, 2, 3]))
    elif fault == "bad_picture":
        messages[0] = (header, bytes(len(payload)))
    elif fault == "lying_payload":
        await _send(socket, {"type": "frame_batch_header", **header})
        await socket.send(payload + b"more")
    elif fault == "loop_error":
        await _send(socket, {"type": "error", "content": "error during generate loop: CUDA out of memory"})
        await socket.close(1011)
    elif fault in ("some_event_errors", "endless_event_errors"):
        for _ in range(200 if fault == "endless_event_errors" else 20):
            await _send(socket, {"type": "error", "content": "invalid event"})
    elif fault == "close_1011":
        await socket.close(1011)
    elif fault == "die":
        await _send(socket, {"type": "frame_batch_header", **header})
        await asyncio.sleep(0.05)
        socket.transport.abort()
    elif fault in ("slow", "half_open"):
        await socket.wait_closed()
    return fault in (*raw, "lying_payload", "loop_error", "close_1011", "die", "not_a_map", "slow", "half_open", "huge")


async def _send(socket: ServerConnection, message: Mapping[str, object]) -> None:
    await socket.send(msgpack.packb(message))


def _unpacked(data: bytes | str) -> dict[str, object] | None:
    try:
        found = msgpack.unpackb(data) if isinstance(data, bytes) else None
    except (ValueError, msgpack.UnpackException):
        return None
    return found if isinstance(found, dict) else None


def _is_init(init: Mapping[str, object] | None) -> bool:
    if init is None or init.get("type") != "init" or not isinstance(init.get("prompt"), str):
        return False
    formats = ("raw", "webp", "jpeg", None)
    return init.get("realtime_output_format") in formats and isinstance(init.get("first_frame"), bytes | str)


# ---- by hand -----------------------------------------------------------------------------------------------------


class Walked:
    """A model of this program behind the wire. Its pictures are scaled to the size that was asked for."""

    YAW, PITCH = 6.0, 4.0

    def __init__(self, model: object, init: Mapping[str, object]) -> None:
        from engine.backends import WorldModel
        from engine.protocol import SceneSpec

        assert hasattr(model, "open")
        walkable: WorldModel = model  # type: ignore[assignment]
        first = np.asarray(Image.open(io.BytesIO(bytes(init["first_frame"]))).convert("RGB"))  # type: ignore[call-overload]
        size = walkable.card.width, walkable.card.height
        image = np.array(Image.fromarray(first).resize(size, Image.Resampling.LANCZOS))
        seed = init.get("seed", 42)
        assert isinstance(seed, int)
        self._world = walkable.open(SceneSpec("remote", str(init["prompt"]), image=image), seed, 1)
        self._prompt = str(init["prompt"])

    def chunk(self, request: ChunkRequest) -> Frames:
        turn = {key: sum(key in held for held in request.actions) for key in "ijkl"}
        wire: dict[str, object] = {
            "input_types": ["camera_actions", "look"],
            "camera_actions": [[key for key in held if key in "wasd"] for held in request.actions],
            "look": {
                "yaw_degrees": self.YAW * (turn["l"] - turn["j"]),
                "pitch_degrees": self.PITCH * (turn["i"] - turn["k"]),
            },
        }
        if request.prompt != self._prompt:
            self._prompt = request.prompt
            wire["input_types"], wire["prompt"] = ["prompt", "camera_actions", "look"], request.prompt
        self._world.apply(wire, None, time.monotonic())
        frames = self._world.step(time.monotonic).frames
        if frames.shape[1:3] == (request.height, request.width):
            return frames
        size = request.width, request.height
        return np.stack([np.asarray(Image.fromarray(f).resize(size, Image.Resampling.BILINEAR)) for f in frames])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.sglang_server", description=__doc__)
    parser.add_argument("--port", type=int, default=30000)
    parser.add_argument("--backend", default="bundled", choices=("bundled", "test_card", "stripes"))
    parser.add_argument("--chunk-seconds", type=float, default=0.0, help="a chunk takes at least so long")
    parser.add_argument("--fault", choices=FAULTS)
    parser.add_argument("--at-chunk", type=int, default=20, help="where the fault happens")
    asked = parser.parse_args()
    workshop = ThreadPoolExecutor(1, "workshop")
    maker, latent_frames = workshop.submit(_maker, asked.backend).result()
    levers = Levers(latent_frames, asked.chunk_seconds, fault=asked.fault, at_chunk=asked.at_chunk)
    with SGLangServer(levers, maker, port=asked.port, workshop=workshop) as server:
        print(f"Serving the world '{asked.backend}': python main.py --backend sglang --server {server.url}", flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()


def _maker(backend: str) -> tuple[MakeMaker, int]:
    """To be called on the thread that also makes the chunks: OpenMP gives each thread that computes helpers of its own,
    and with more of them than cores they sleep at every barrier, which halves the speed."""
    if backend == "stripes":
        return Stripes, 3
    os.environ.setdefault("GOMP_SPINCOUNT", "2000")  # before torch is loaded, as the program itself does
    from engine.backends import load
    from engine.config import EngineConfig

    model = load(EngineConfig(backend=backend), lambda stage, _: print(stage, flush=True), print)
    return lambda init, _: Walked(model, init), model.card.latent_frames_per_chunk


if __name__ == "__main__":
    main()
