"""The line to a server: one thread whose event loop owns the socket, from the first message to the last.

It sends what the listener has to say as soon as there is something, takes batches apart, has pictures decoded beside
the loop, and turns whatever goes wrong into one RemoteProblem, told once, after everything that came before it. (Never
``asyncio.wait_for``: in Python 3.11 it can lose the cancellation that ends a session.)
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import threading
import time
from dataclasses import dataclass
from typing import Protocol

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, WebSocketException

from engine.errors import RemoteProblem
from engine.protocol import Pixels
from engine.remote import faults
from engine.remote.address import Address
from engine.remote.assembly import Assembler, WholeChunk
from engine.remote.helm import Sampled
from engine.remote.traffic import Traffic
from engine.remote.wire import (
    Batch,
    ChunkStats,
    Ignored,
    Message,
    Picture,
    ServerError,
    WireProblem,
    check_payload,
    parse_message,
)

MOST_ERRORS = 64
"""Error messages in a row, without a picture between them, after which the session is given up."""
UNDECODED_CHUNKS = 2
FRAMES_IN_SOCKET = 8
DRAIN_SECONDS = 5.0
_UNFORESEEN = "The line to the server ended with an error of the program itself."


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds. ``dead``: without an answer to a ping; ``busy``: how long a server may take to let go of a session."""

    connect: float = 10.0
    picture: float = 60.0
    ping_every: float = 4.0
    dead: float = 20.0
    close: float = 2.0
    busy: float = 15.0
    busy_every: float = 1.0
    refresh: float = 20.0
    """After so long without an event what is held is said again, as some servers end idle sessions."""


class Listener(Protocol):
    """Who uses a link. All calls come from the link's thread."""

    def first_message(self) -> bytes: ...

    def next_message(self) -> bytes | None: ...

    def refresh(self) -> None: ...

    def came(self, chunk: WholeChunk) -> Sampled:
        """A chunk is here, not yet decoded."""

    def measured(self, stats: ChunkStats, now: float) -> None: ...

    def deliver(self, chunk: WholeChunk, sampled: Sampled, frames: Pixels) -> None: ...

    def note(self, line: str) -> None:
        """For the log."""

    def ended(self, problem: RemoteProblem) -> None: ...

    @property
    def has_room(self) -> bool: ...


class Link:
    """One session on a server. Started at once; ``previous`` is waited for, as a server knows one session at a time."""

    def __init__(
        self,
        address: Address,
        context: ssl.SSLContext | None,
        picture: Picture,
        listener: Listener,
        *,
        traffic: Traffic,
        patience: Patience,
        previous: Link | None = None,
    ) -> None:
        self._address, self._context, self._picture = address, context, picture
        self._listener, self._traffic, self._patience, self._previous = listener, traffic, patience, previous
        self._errors = 0
        self._ended = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._stop, self._said, self._room = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="remote-link", daemon=True)
        self._thread.start()

    def poke(self) -> None:
        """The listener has something to say, or has made room. From any thread."""
        with contextlib.suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._wake)

    def close(self) -> None:
        """Say good-bye; from any thread, without waiting."""
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._stop.set)

    def join(self, seconds: float) -> bool:
        """Whether the line has ended within ``seconds``."""
        return self._ended.wait(seconds)

    def _wake(self) -> None:
        self._said.set()
        self._room.set()

    def _run(self) -> None:
        problem = RemoteProblem(_UNFORESEEN, faults.AGAIN)
        try:
            if self._previous is not None:
                self._previous.join(self._patience.busy)
                self._previous = None
            with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
                runner.run(self._session())
            problem = RemoteProblem("The walk was ended.", faults.AGAIN)
        except RemoteProblem as error:
            problem = error
        finally:
            self._ended.set()
            self._listener.ended(problem)

    # ---- inside the loop ----------------------------------------------------------------------------------------

    async def _session(self) -> None:
        """Connect and walk; a server that has not let go of an older session is asked again for a while."""
        give_up = time.monotonic() + self._patience.busy
        while not self._stop.is_set():
            try:
                await self._connect_and_walk()
            except faults.Busy:
                if time.monotonic() + self._patience.busy_every > give_up:
                    raise
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(self._patience.busy_every):
                        await self._stop.wait()
            else:
                return

    async def _connect_and_walk(self) -> None:
        patience = self._patience
        try:
            socket = await connect(
                self._address.url,
                ssl=self._context,
                proxy=None,
                compression=None,  # pictures are compressed already, and a small message cannot become a huge one
                open_timeout=patience.connect,
                ping_interval=patience.ping_every,
                ping_timeout=patience.dead,
                close_timeout=patience.close,
                max_size=self._picture.max_message_bytes,
                max_queue=FRAMES_IN_SOCKET,
            )
        except WebSocketException as error:
            raise faults.refused(self._address, error) from None
        except OSError as error:
            raise faults.absent(self._address, error) from None
        async with socket:
            await self._walk(socket)

    async def _walk(self, socket: ClientConnection) -> None:
        with contextlib.suppress(ConnectionClosed):  # whoever reads says why
            try:
                async with asyncio.timeout(self._patience.connect):
                    await (await socket.ping())
            except TimeoutError:
                raise faults.absent(self._address, TimeoutError()) from None
            await socket.send(self._listener.first_message())
        chunks: asyncio.Queue[tuple[WholeChunk, Sampled]] = asyncio.Queue(UNDECODED_CHUNKS)
        reading = asyncio.create_task(self._read(socket, chunks))
        others = [asyncio.create_task(work) for work in (self._write(socket), self._decode(chunks), self._stop.wait())]
        tasks = [reading, *others]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if done == {reading}:
                with contextlib.suppress(TimeoutError):  # what came before the line broke is still shown
                    async with asyncio.timeout(DRAIN_SECONDS):
                        await chunks.join()
            for task in done:
                task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _write(self, socket: ClientConnection) -> None:
        while True:
            while (message := self._listener.next_message()) is not None:
                try:
                    await socket.send(message)
                except ConnectionClosed:
                    await asyncio.Event().wait()  # whoever reads says why
            try:
                async with asyncio.timeout(self._patience.refresh):
                    await self._said.wait()
            except TimeoutError:
                self._listener.refresh()
            self._said.clear()

    async def _decode(self, chunks: asyncio.Queue[tuple[WholeChunk, Sampled]]) -> None:
        while True:
            chunk, sampled = await chunks.get()
            try:
                frames = await asyncio.to_thread(chunk.decoded, self._picture)
            except WireProblem as error:
                raise faults.nonsense(self._address, error) from None
            while not self._listener.has_room:
                self._room.clear()
                if not self._listener.has_room:
                    await self._room.wait()
            self._listener.deliver(chunk, sampled, frames)
            chunks.task_done()

    async def _read(self, socket: ClientConnection, chunks: asyncio.Queue[tuple[WholeChunk, Sampled]]) -> None:
        assembler = Assembler()
        give_up = time.monotonic() + self._patience.picture
        while True:
            data = await self._receive(socket, give_up, inside=assembler.is_inside_a_chunk)
            try:
                message = parse_message(data, self._picture)
                if isinstance(message, Batch):
                    chunk = await self._take_batch(socket, message, assembler, give_up)
                    give_up = time.monotonic() + self._patience.picture
                    self._errors = 0
                    if chunk is not None:
                        self._traffic.answered(socket.latency)
                        await chunks.put((chunk, self._listener.came(chunk)))
                        give_up = time.monotonic() + self._patience.picture
                else:
                    self._hear(message)
            except WireProblem as error:
                raise faults.nonsense(self._address, error) from None

    async def _take_batch(
        self, socket: ClientConnection, batch: Batch, assembler: Assembler, give_up: float
    ) -> WholeChunk | None:
        began_at = time.monotonic()
        payload = batch.payload
        if payload is None:
            payload = check_payload(batch, await self._receive(socket, give_up, inside=True))
            self._traffic.crossed(len(payload), time.monotonic() - began_at)
        return assembler.take(batch, payload, began_at, time.monotonic())

    def _hear(self, message: Message) -> None:
        match message:
            case ChunkStats():
                self._listener.measured(message, time.monotonic())
            case ServerError(content):
                problem = faults.said(self._address, content)
                self._errors += 1
                if problem is None and self._errors > MOST_ERRORS:
                    problem = faults.too_many_errors(self._address, content)
                if problem is not None:
                    raise problem
                self._listener.note(f"The server says: {content}")
            case Ignored(kind):
                self._listener.note(f"A message of the unknown kind '{kind}' was ignored")

    async def _receive(self, socket: ClientConnection, give_up: float, *, inside: bool) -> bytes | str:
        """The next message. ``inside``: of a chunk, some of which has come already."""
        try:
            async with asyncio.timeout_at(self._loop.time() + give_up - time.monotonic()):
                return await socket.recv()
        except TimeoutError:
            raise faults.silent(self._address, self._patience.picture) from None
        except ConnectionClosed as error:
            raise faults.closed(self._address, error, inside) from None
