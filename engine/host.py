"""The engine in a process of its own, seen from both sides of the pipe.

``EngineHost`` is the window's side: nothing in it waits, and torch is never imported there. ``serve`` is the other
side's main function. When either process dies, the other one notices by the end of the pipe.
"""

from __future__ import annotations

import atexit
import contextlib
import multiprocessing
import os
import queue
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from shutil import disk_usage
from typing import TYPE_CHECKING

from engine.channel import (
    NO_FRAMES,
    SLOTS,
    ChunkTaken,
    FrameRing,
    RingReady,
    RingWanted,
    Shutdown,
    SlottedChunk,
    ToEngine,
    ToWindow,
)
from engine.config import EngineConfig
from engine.errors import EngineLost, NeedsHardware
from engine.geometry import ChunkGeometry
from engine.pacing import let_idle_threads_sleep
from engine.protocol import Failed, FrameChunk, Loading, Pause, Report, Request

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    Pipe = Connection[object, object]

PATIENCE_SECONDS = 1.0
"""For an engine that was asked to end, then told to, then made to."""
_TEMPORAL_SCALE = ChunkGeometry(16, 16, 1).temporal_scale
"""The first latent frame of a world is one frame, every other one so many."""

NICENESS = 5
"""On two cores the window's 16 ms beat must win against the model's threads; alone, the model loses nothing."""


class EngineHost:
    """Implements ``engine.protocol.Engine``. One owner, the window's thread; the process starts at construction.

    Raises NeedsHardware where no process can be started.
    """

    def __init__(self, config: EngineConfig, runtime_dir: Path) -> None:
        self._config, self._runtime_dir = config, runtime_dir
        self._paused: Pause | None = None
        self._line: _Line | None = self._start()

    def send(self, request: Request) -> None:
        if isinstance(request, Pause):
            self._paused = request
        if self._line is not None:
            self._line.send(request)

    def poll(self) -> Report | None:
        return None if self._line is None else self._line.poll()

    def restart(self) -> None:
        """A new process in the place of one that was lost. Raises NeedsHardware."""
        self.close()
        self._line = self._start()
        if self._paused is not None:
            self._line.send(self._paused)

    def close(self) -> None:
        """End the process within 4 s at worst, at any moment; nothing of it is left. May be called twice."""
        if self._line is not None:
            self._line.close()
            self._line = None
            atexit.unregister(self.close)

    @property
    def pid(self) -> int | None:
        """The engine's process, for those who measure it."""
        return None if self._line is None else self._line.process.pid

    def _start(self) -> _Line:
        try:
            line = _Line(self._config, self._runtime_dir)
        except OSError as error:
            what = f"The engine's process cannot be started ({error.strerror})."
            raise NeedsHardware(what, "Close other programs, then try again.") from error
        atexit.register(self.close)  # for a window that was interrupted while it was closing
        return line


class _Line:
    """One process of the engine and the pipe to it: a thread that writes, a thread that reads, and queues between."""

    def __init__(self, config: EngineConfig, runtime_dir: Path) -> None:
        context = multiprocessing.get_context("spawn")  # the same everywhere, and nothing of the window is copied
        self._pipe, engines_end = context.Pipe()
        self.process = context.Process(
            target=serve, args=(engines_end, config, runtime_dir), name="worldwalk-engine", daemon=True
        )
        try:
            with _no_interrupts():
                self.process.start()
        except OSError:
            self._pipe.close()
            raise
        finally:
            engines_end.close()  # else its end would never show as an end of the pipe
        self._outgoing: queue.SimpleQueue[ToEngine] = queue.SimpleQueue()
        self._reports: deque[Report] = deque([Loading("Starting the engine", 0.0)])
        self._ring: FrameRing | None = None
        self._closing = False
        self._threads = [
            threading.Thread(target=work, name=f"engine-{work.__name__.strip('_')}", daemon=True)
            for work in (self._write, self._read)
        ]
        for thread in self._threads:
            thread.start()

    def send(self, message: ToEngine) -> None:
        self._outgoing.put(message)

    def poll(self) -> Report | None:
        if not self._reports:
            return None
        report = self._reports.popleft()
        if isinstance(report, FrameChunk):
            self.send(ChunkTaken())
        return report

    def close(self) -> None:
        self._closing = True
        self.send(Shutdown())
        self.process.join(PATIENCE_SECONDS)
        for insist in (self.process.terminate, self.process.kill):
            if self.process.exitcode is None:
                insist()
                self.process.join(PATIENCE_SECONDS)
        self.send(Shutdown())  # wakes the writer, which finds the pipe broken
        for thread in self._threads:
            thread.join(0.5)
        self._pipe.close()
        if self._ring is not None:
            self._ring.remove()
            self._ring = None
        if self.process.exitcode is not None:
            self.process.close()

    def _write(self) -> None:
        with contextlib.suppress(OSError, ValueError):  # the engine is gone; the reader says so
            while True:
                message = self._outgoing.get()
                self._pipe.send(message)
                if self._closing and isinstance(message, Shutdown):
                    return

    def _read(self) -> None:
        try:
            while True:
                message = self._pipe.recv()
                match message:
                    case RingWanted(slot_bytes):
                        self.send(self._new_ring(slot_bytes))
                    case SlottedChunk(chunk, slot, shape):
                        assert self._ring is not None
                        self._reports.append(replace(chunk, frames=self._ring.read(slot, shape)))
                    case _:
                        self._reports.append(message)
        except (EOFError, OSError):
            if not self._closing:
                self._reports.append(self._loss())

    def _new_ring(self, slot_bytes: int) -> RingReady:
        if self._ring is not None:
            self._ring.remove()
            self._ring = None
        try:
            _check_shared_memory(SLOTS * slot_bytes)
            self._ring = FrameRing.create(slot_bytes)
        except OSError as error:
            return RingReady(None, slot_bytes, error.strerror or str(error))
        return RingReady(self._ring.name, slot_bytes)

    def _loss(self) -> Failed:
        """What to tell of a process that ended without having been asked to."""
        self.process.join(0.3)
        status = self.process.exitcode
        message, _, cure = str(EngineLost(status)).partition(". ")
        if status == -getattr(signal, "SIGKILL", 9):
            message += ", most likely because memory ran out"
        return Failed(f"{message}.", cure, engine_lost=True)


def _check_shared_memory(needed_bytes: int) -> None:
    """Writing into shared memory that does not fit would end the process without a word. Raises OSError."""
    place = Path("/dev/shm")
    if place.is_dir() and disk_usage(place).free < needed_bytes:
        raise OSError(28, f"{place} has less than {needed_bytes // 2**20 + 1} MB free")


@contextlib.contextmanager
def _no_interrupts() -> Iterator[None]:
    """A process started in here ignores Ctrl+C from its first instruction on; it is the window that answers to it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


# ---- the other side ----------------------------------------------------------------------------------------------


def serve(pipe: Pipe, config: EngineConfig, runtime_dir: Path) -> None:
    """The main function of the engine's process. Never returns: the process ends when asked to, or with the window."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    desk = PipeDesk(pipe)
    desk.tell(Loading("Loading the engine", 0.02))
    let_idle_threads_sleep()
    from engine.runner import Runner

    runner = Runner(config, runtime_dir, desk)
    runner.prepare()
    _give_way()  # not before: loading is what the user waits for
    runner.run()


class PipeDesk:
    """The engine's end of the pipe (``engine.runner.Desk``). Its thread stamps what arrives and watches the window."""

    def __init__(self, pipe: Pipe) -> None:
        self._pipe = pipe
        self._changed = threading.Condition()  # guards what follows
        self._requests: list[tuple[Request, float]] = []
        self._told, self._taken = 0, 0
        self._woken = False
        self._ring: FrameRing | None = None
        self._ring_problem = ""
        threading.Thread(target=self._read, name="engine-inbox", daemon=True).start()

    @property
    def untaken(self) -> int:
        return self._told - self._taken

    def take(self, until: float | None) -> list[tuple[Request, float]]:
        with self._changed:
            taken = self._taken
            while not self._requests and self._taken == taken and not self._woken:
                rest = None if until is None else until - time.monotonic()
                if rest is not None and rest <= 0:
                    break
                self._changed.wait(rest)
            self._woken = False
            requests, self._requests = self._requests, []
            return requests

    def wake(self) -> None:
        with self._changed:
            self._woken = True
            self._changed.notify_all()

    def tell(self, report: Report) -> None:
        """Raises MemoryError where there is no shared memory for a chunk's frames."""
        message: ToWindow = report
        if isinstance(report, FrameChunk):
            frames = report.frames
            assert self.untaken < SLOTS, self.untaken
            slot = self._told % SLOTS
            self._ring_for(frames.nbytes, report).write(slot, frames)
            message = SlottedChunk(replace(report, frames=NO_FRAMES), slot, frames.shape)
            with self._changed:
                self._told += 1
        try:
            self._pipe.send(message)
        except OSError:
            os._exit(0)  # the window is gone

    def _ring_for(self, frames_bytes: int, chunk: FrameChunk) -> FrameRing:
        """The ring, made anew where its slots are too small. The first chunk of a world is shorter than the others."""
        if self._ring is not None and frames_bytes <= self._ring.slot_bytes:
            return self._ring
        if self._ring is not None:
            self._ring.close()
        more = _TEMPORAL_SCALE - 1 if chunk.chunk == 0 else 0
        with self._changed:
            self._ring, self._ring_problem = None, ""
            self._pipe.send(RingWanted(frames_bytes + more * frames_bytes // len(chunk.frames)))
            while self._ring is None and not self._ring_problem:
                self._changed.wait()
            if self._ring is None:
                raise MemoryError(self._ring_problem)
            return self._ring

    def _read(self) -> None:
        try:
            while True:
                self._hear(self._pipe.recv())
        except (EOFError, OSError):
            os._exit(0)  # the window is gone: so is the reason to be here

    def _hear(self, message: object) -> None:
        match message:
            case Shutdown():
                os._exit(0)  # at once, whatever is under way; nothing here needs tidying
            case ChunkTaken():
                with self._changed:
                    self._taken += 1
                    self._changed.notify_all()
            case RingReady(name, slot_bytes, problem):
                ring = None if name is None else FrameRing.attach(name, slot_bytes)
                with self._changed:
                    self._ring, self._ring_problem = ring, problem or "no shared memory"
                    self._changed.notify_all()
            case _:
                with self._changed:
                    self._requests.append((message, time.monotonic()))  # type: ignore[arg-type]  # ToEngine only
                    self._changed.notify_all()


def _give_way() -> None:
    """Run a little below the window's priority (see ``NICENESS``)."""
    if sys.platform == "win32":
        import ctypes

        below_normal = 0x4000
        ctypes.windll.kernel32.SetPriorityClass(ctypes.windll.kernel32.GetCurrentProcess(), below_normal)
        return
    # Linux counts niceness by thread, and torch has made its own by now; elsewhere 0 stands for the whole process
    tasks = Path("/proc/self/task")
    for thread in [int(task.name) for task in tasks.iterdir()] if tasks.is_dir() else [0]:
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, thread, NICENESS)
