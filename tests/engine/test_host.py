"""The engine's process, for real: the test card in it, ended in every way that happens."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from multiprocessing import shared_memory
from pathlib import Path
from typing import TypeVar

import numpy as np
import pytest

from engine.channel import SLOTS, FrameRing
from engine.config import EngineConfig
from engine.fake import TestCardModel
from engine.host import EngineHost
from engine.protocol import (
    CloseWorld,
    Failed,
    FrameChunk,
    Loading,
    OpenWorld,
    Pause,
    Report,
    Restore,
    SceneSpec,
    SnapshotSaved,
    Steer,
    WorldOpened,
)

SCENE = SceneSpec("card", "a meadow")
CONFIG = EngineConfig(backend="test_card", snapshot_every_chunks=2)
ROOT = Path(__file__).parents[2]
Kind = TypeVar("Kind")


@pytest.fixture
def host(tmp_path: Path) -> Iterator[EngineHost]:
    engine = EngineHost(CONFIG, tmp_path)
    yield engine
    engine.close()


def wait_for(host: EngineHost, kind: type[Kind], so: Callable[[Kind], bool] = lambda report: True) -> Kind:
    """The next report of this kind that fits; those before it are thrown away."""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        report: Report | None = host.poll()
        if report is None:
            time.sleep(0.002)
        elif isinstance(report, kind) and so(report):
            return report
    raise AssertionError(f"no {kind.__name__} came")


def is_running(pid: int) -> bool:
    """Whether a process is there and not just a dead one's entry."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False


def test_frames_arrive_as_the_world_made_them(host: EngineHost) -> None:
    host.send(OpenWorld(SCENE, 1, 7))
    assert isinstance(host.poll(), Loading)
    assert wait_for(host, WorldOpened).session_id == 7
    world = TestCardModel(CONFIG).open(SCENE, 1, 7)
    for number in range(4):
        chunk, alone = wait_for(host, FrameChunk), world.step(time.monotonic)
        assert chunk.chunk == number
        assert np.array_equal(chunk.frames, alone.frames)
        assert chunk.frames.flags.owndata


def test_the_engine_stops_two_chunks_ahead_of_a_window_that_does_not_look(host: EngineHost) -> None:
    host.send(OpenWorld(SCENE, 1, 7))
    wait_for(host, WorldOpened)
    time.sleep(0.8)
    waiting = [report for report in iter(host.poll, None) if isinstance(report, FrameChunk)]
    assert 1 <= len(waiting) <= SLOTS


def test_a_flood_of_requests_does_not_stop_the_window(host: EngineHost) -> None:
    begun = time.monotonic()
    for number in range(5000):
        host.send(Steer({"event_id": number, "input_types": ["prompt"], "prompt": "x" * 500}))
    assert time.monotonic() - begun < 0.5
    host.send(OpenWorld(SCENE, 1, 7))
    wait_for(host, FrameChunk)


@pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL")
def test_a_killed_engine_is_told_once_and_the_world_goes_on_from_its_snapshot(host: EngineHost) -> None:
    host.send(OpenWorld(SCENE, 1, 7))
    saved = wait_for(host, SnapshotSaved)
    assert host.pid is not None
    os.kill(host.pid, signal.SIGKILL)
    killed = time.monotonic()
    lost = wait_for(host, Failed)
    assert time.monotonic() - killed < 0.5
    assert lost.engine_lost
    assert "memory" in lost.message
    assert host.poll() is None
    host.send(CloseWorld())  # into the void, without harm
    host.restart()
    host.send(Restore(SCENE, 1, 8, saved.path))
    assert wait_for(host, WorldOpened).session_id == 8
    assert wait_for(host, FrameChunk).chunk == saved.chunk + 1


@pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL")
def test_a_pause_outlives_the_process(host: EngineHost) -> None:
    host.send(Pause(True))
    assert host.pid is not None
    os.kill(host.pid, signal.SIGKILL)
    wait_for(host, Failed)
    host.restart()
    host.send(OpenWorld(SCENE, 1, 7))
    wait_for(host, WorldOpened)
    time.sleep(0.3)
    assert host.poll() is None


@pytest.mark.parametrize("after_seconds", [0.0, 0.1, 0.3, 0.6])
def test_closing_at_any_moment_ends_the_process_soon(tmp_path: Path, after_seconds: float) -> None:
    host = EngineHost(CONFIG, tmp_path)
    host.send(OpenWorld(SCENE, 1, 7))
    pid = host.pid
    assert pid is not None
    time.sleep(after_seconds)
    begun = time.monotonic()
    host.close()
    host.close()
    assert time.monotonic() - begun < 3.0
    assert not is_running(pid)
    assert host.poll() is None
    host.send(CloseWorld())


@pytest.mark.skipif(os.name == "nt", reason="needs SIGSTOP")
def test_a_stuck_engine_is_ended_too(host: EngineHost) -> None:
    wait_for(host, Loading)
    pid = host.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    begun = time.monotonic()
    host.close()
    assert time.monotonic() - begun < 5.0
    assert not is_running(pid)


PROGRAM = """
import signal, sys, time
from pathlib import Path
from engine.config import EngineConfig
from engine.host import EngineHost
from engine.protocol import FrameChunk, OpenWorld, SceneSpec

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # tests in a shell's background begin with it ignored
    host = EngineHost(EngineConfig(backend="test_card"), Path(sys.argv[1]))
    host.send(OpenWorld(SceneSpec("card", "a meadow"), 1, 7))
    chunks, line = 0, host._line
    while chunks < 3:
        chunks += isinstance(host.poll(), FrameChunk)
        time.sleep(0.002)
    try:
        print(host.pid, line._ring.name, "torch" in sys.modules, flush=True)
        time.sleep(60 if sys.argv[2] == "wait" else 0)
    except KeyboardInterrupt:
        time.sleep(0.1)
        print("running" if line.process.is_alive() else "gone", flush=True)
    if sys.argv[2] != "forget":
        host.close()
"""


def start_program(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """A small window of its own session, so that it can be interrupted like one on a terminal."""
    script = folder / "program.py"
    script.write_text(PROGRAM)
    return subprocess.Popen(
        [sys.executable, str(script), str(folder), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        start_new_session=True,
    )


@pytest.mark.parametrize("how", ["close", "forget"])
def test_a_program_ends_clean_without_a_warning_and_without_torch(tmp_path: Path, how: str) -> None:
    with start_program(tmp_path, how) as program:
        said, wrong = program.communicate(timeout=20)
    pid, ring, torch_was_there = said.split()
    assert (program.returncode, wrong, torch_was_there) == (0, "", "False")
    assert not is_running(int(pid))
    with pytest.raises(FileNotFoundError):
        shared_memory.SharedMemory(name=ring)


@pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL")
def test_an_engine_whose_window_was_killed_ends_by_itself(tmp_path: Path) -> None:
    with start_program(tmp_path, "wait") as program:
        assert program.stdout is not None
        pid = int(program.stdout.readline().split()[0])
        program.kill()
    end = time.monotonic() + 3
    while is_running(pid):
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.skipif(os.name == "nt", reason="needs a process group")
def test_an_interrupt_reaches_the_window_and_not_the_engine(tmp_path: Path) -> None:
    with start_program(tmp_path, "wait") as program:
        assert program.stdout is not None
        program.stdout.readline()
        os.killpg(program.pid, signal.SIGINT)
        said, wrong = program.communicate(timeout=20)
    assert (said.strip(), wrong, program.returncode) == ("running", "", 0)


def test_a_ring_gives_back_what_was_laid_into_it() -> None:
    ring = FrameRing.create(4 * 6 * 5 * 3)
    other = FrameRing.attach(ring.name, ring.slot_bytes)
    frames = np.arange(360, dtype=np.uint32).astype(np.uint8).reshape(4, 6, 5, 3)
    other.write(1, frames)
    other.write(0, frames[:1] + 1)
    assert np.array_equal(ring.read(1, frames.shape), frames)
    assert np.array_equal(ring.read(0, (1, 6, 5, 3)), frames[:1] + 1)
    other.close()
    ring.remove()
