"""Films that a kill left behind, with the real encoder."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from app import mp4, session_box
from app.recorder import Recorder
from app.repair import Repair, leftovers, repair
from tests.app.test_recorder import FACTS, patches, read, record, subtitles, wait_until
from tests.app.test_session_log import written

WALK = """
import sys, time
from pathlib import Path
import numpy as np
from app.recorder import Recorder
recorder = Recorder(Path(sys.argv[1]), 192, 112, 16.0, {"scene": "meadow", "seed": "7", "prompt": "fog"})
rng = np.random.default_rng(0)
for i in range(40):
    recorder.write(rng.integers(0, 256, (1, 112, 192, 3), dtype=np.uint8))
    if i == 10:
        recorder.note_prompt("snow")
    time.sleep(1 / 16)
print(recorder._process.pid, flush=True)
time.sleep(1000)
"""


def wait_until_still(path: Path) -> None:
    """The encoder has done what it was given, however slow the machine: its film has not grown for a second."""
    size, since = -1, time.monotonic()
    while time.monotonic() - since < 1.0:
        now = path.stat().st_size
        if now != size:
            size, since = now, time.monotonic()
        time.sleep(0.05)


def wait_until_let_go(path: Path) -> None:
    """A killed encoder holds its film for a moment after its death."""

    def is_free() -> bool:
        try:
            mp4.Marker(path, create=False).close(remove=False)
        except OSError:
            return False
        return True

    wait_until(is_free)


@pytest.fixture
def killed_walk(tmp_path: Path) -> tuple[Path, int]:
    """A recording of 40 frames whose window and encoder were both killed; its path, and the number of frames."""
    path = tmp_path / "walk.mp4"
    command = [sys.executable, "-c", WALK, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]) as window:
        assert window.stdout is not None
        encoder = int(window.stdout.readline())
        wait_until_still(path)
        os.kill(encoder, signal.SIGKILL)
        window.kill()
    return path, 40


@pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL")
def test_after_a_kill_all_but_the_last_second_plays_and_is_repaired(killed_walk: tuple[Path, int]) -> None:
    path, frames = killed_walk
    assert len(read(path)) >= frames - 16
    assert mp4.read_walk(path)["scene"] == "meadow"
    repairer = Repair(path.parent)
    assert repairer.wait(20.0)
    assert repairer.repaired == [path]
    assert b"moof" not in path.read_bytes()
    assert len(read(path)) >= frames - 16
    assert mp4.read_walk(path)["prompts"] == [[0, "fog"], [11, "snow"]]
    assert list(path.parent.iterdir()) == [path]


def test_repair_leaves_a_recording_alone_that_is_still_written(tmp_path: Path) -> None:
    recorder = record(tmp_path / "walk.mp4", patches(32, 32, 20))
    wait_until(lambda: mp4.marker_path(recorder.path).exists())
    assert repair(tmp_path) == []
    assert recorder.stop().error is None
    assert len(read(recorder.path)) == 20


def test_repair_of_a_folder_that_is_not_there_does_nothing(tmp_path: Path) -> None:
    assert repair(tmp_path / "gone") == []


def test_a_recording_that_cannot_be_finished_in_time_is_left_for_the_next_start(tmp_path: Path) -> None:
    recorder = record(tmp_path / "walk.mp4", patches(32, 32, 40))
    wait_until(lambda: recorder._written == 40)
    assert recorder._process is not None
    os.kill(recorder._process.pid, signal.SIGSTOP)
    result = recorder.stop(timeout_seconds=0.2)
    assert result.frames > 0
    wait_until_let_go(recorder.path)
    assert repair(tmp_path) == [recorder.path]


def test_what_was_repaired_is_told_once(killed_walk: tuple[Path, int]) -> None:
    path, _ = killed_walk
    repairer = Repair(path.parent)
    assert repairer.wait(20.0)
    assert path.name in (repairer.news() or "")
    assert repairer.news() is None


@pytest.fixture
def left_film(tmp_path: Path) -> Path:
    """A film of 40 frames whose window is gone."""
    recorder = Recorder(tmp_path / "walk.mp4", 32, 32, 16.0, FACTS, blocking=True)
    recorder.write(patches(32, 32, 40))
    wait_until(lambda: recorder._written == 40)
    assert recorder._process is not None
    os.kill(recorder._process.pid, signal.SIGSTOP)
    recorder.stop(timeout_seconds=0.2)
    wait_until_let_go(recorder.path)
    return recorder.path


def test_a_film_whose_encoder_still_holds_it_at_the_start_is_finished_when_it_lets_go(left_film: Path) -> None:
    encoder = mp4.Marker(left_film)
    repairer = Repair(left_film.parent)
    time.sleep(0.3)
    assert (repairer.repaired, repairer.news()) == ([], None)
    encoder.close(remove=False)
    assert repairer.wait(20.0)
    assert repairer.repaired == [left_film]
    assert left_film.name in (repairer.news() or "")
    assert len(read(left_film)) > 0


def test_patience_with_another_window_that_records_has_an_end(left_film: Path) -> None:
    other = mp4.Marker(left_film)
    repairer = Repair(left_film.parent, patience_seconds=0.3)
    assert repairer.wait(20.0)
    assert repairer.repaired == []
    other.close(remove=False)
    assert leftovers(left_film.parent) == [left_film]


def test_a_film_that_another_window_finishes_meanwhile_is_left_alone(left_film: Path) -> None:
    other = mp4.Marker(left_film)
    repairer = Repair(left_film.parent)
    time.sleep(0.1)
    other.close(remove=True)
    assert repairer.wait(20.0)
    assert repairer.repaired == []
    assert list(left_film.parent.iterdir()) == [left_film]


def test_a_film_that_was_finished_before_the_kill_keeps_its_walk(tmp_path: Path) -> None:
    path = tmp_path / "walk.mp4"
    recorder = Recorder(path, 32, 32, 16.0, FACTS, session=written(mp4.journal_path(path)))
    recorder.write(patches(32, 32, 8))
    assert recorder.stop().error is None
    data = path.read_bytes()
    mp4.Marker(path).close(remove=False)
    assert repair(tmp_path) == []
    assert path.read_bytes() == data
    assert session_box.carries_session(path)
    assert list(tmp_path.iterdir()) == [path]


def test_a_repaired_film_has_its_subtitles(tmp_path: Path) -> None:
    path = tmp_path / "walk.mp4"
    recorder = Recorder(path, 32, 32, 16.0, FACTS, blocking=True, captions=True)
    recorder.write(patches(32, 32, 40))
    wait_until(lambda: recorder._written == 40)
    assert recorder._process is not None
    os.kill(recorder._process.pid, signal.SIGSTOP)
    recorder.stop(timeout_seconds=0.2)
    wait_until_let_go(path)
    assert repair(tmp_path) == [path]
    assert "a calm = green; #1" in subtitles(path)
