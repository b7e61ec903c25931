"""Films that carry their walk, made by the real encoder."""

from __future__ import annotations

import gzip
import json
import os
import random
import signal
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from app import mp4, session_box
from app.recorder import Recorder
from app.repair import Repair, repair
from app.session_box import BOX_ID
from app.session_log import read_session
from engine import events
from engine.errors import BadValue, FileProblem
from tests.app.test_recorder import FACTS, patches, read
from tests.app.test_session_log import HEADER, prompt, same_scene, written

ITEMS = [(0, prompt("snow", 1)), (2, prompt("雪")), (5, prompt("c"))]


def film(folder: Path, name: str = "walk.mp4", frames: int = 20) -> Path:
    """A finished film of six chunks that carries its walk."""
    path = folder / name
    journal = written(mp4.journal_path(path), *ITEMS, chunks=6)
    recorder = Recorder(path, 64, 48, 16.0, FACTS, blocking=True, session=journal)
    recorder.write(patches(64, 48, frames))
    assert recorder.stop().error is None
    return path


def box(content: bytes, kind: bytes = b"uuid") -> bytes:
    return struct.pack(">I4s", 8 + len(content), kind) + content


def test_a_film_carries_its_walk_and_nothing_lies_beside_it(tmp_path: Path) -> None:
    path = film(tmp_path)
    session = read_session(path, events.parse)
    assert list(tmp_path.iterdir()) == [path]
    assert (session.header.seed, session.header.card, session.torn) == (HEADER.seed, HEADER.card, False)
    assert same_scene(session.header.scene, HEADER.scene)
    assert session.runs[0].events == tuple(ITEMS)
    assert session_box.carries_session(path)


def test_the_film_plays_as_before_and_its_index_stands_in_front(tmp_path: Path) -> None:
    path = film(tmp_path)
    data = path.read_bytes()
    assert len(read(path)) == 20
    assert data.index(b"moov") < data.index(b"mdat") < data.index(BOX_ID)
    assert mp4.read_walk(path)["seed"] == "7"


def test_a_film_made_of_another_carries_the_same_walk(tmp_path: Path) -> None:
    first = film(tmp_path)
    again = Recorder(tmp_path / "again.mp4", 64, 48, 16.0, FACTS, blocking=True, session=first)
    again.write(patches(64, 48, 4))
    assert again.stop().error is None
    told = read_session(tmp_path / "again.mp4").runs[0]
    assert (told.events, told.chunks, told.seed) == (tuple(ITEMS), 6, HEADER.seed)
    assert first.exists()


def test_each_frame_is_known_by_the_chunk_that_made_it(tmp_path: Path) -> None:
    lines = written(tmp_path / "s").read_text("utf-8").splitlines()[:1]
    first = json.loads(lines[0])
    again = {"seed": first["seed"], "after_chunk": 5, "scene": {**first["scene"], "image": None}}
    for content in ({"made": 4, "frames": 13}, {"made": 5, "frames": 29}, {"made": 7, "frames": 61}, {"world": again}):
        lines.append(json.dumps(content))
    lines.append(json.dumps({"made": 6, "frames": 77}))
    (tmp_path / "s").write_text("\n".join(lines) + "\n", encoding="utf-8")
    session = read_session(tmp_path / "s")
    assert [session.chunk_at(frame) for frame in (0, 12, 13, 28, 29, 60, 61, 76, 77, 10**6)] == [
        *((0, 4), (0, 4), (0, 5), (0, 5), (0, 7), (0, 7), (1, 6), (1, 6), (1, 6), (1, 6))
    ]


@pytest.mark.parametrize(
    ("lines", "place"),
    [
        ([{"made": 4, "frames": -1}], ":2, frames"),
        ([{"made": 4, "frames": 10**12}], ":2, frames"),
        ([{"made": 4, "frames": 9}, {"made": 4, "frames": 12}], ":3, made"),
        ([{"made": 4, "frames": 9}, {"made": 5, "frames": 8}], ":3, frames"),
    ],
)
def test_chunks_and_frames_of_a_film_only_grow(tmp_path: Path, lines: list[object], place: str) -> None:
    path = written(tmp_path / "s")
    with path.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
    with pytest.raises(BadValue) as caught:
        read_session(path)
    assert place in str(caught.value)


def test_a_film_without_a_walk_is_told(tmp_path: Path) -> None:
    path = tmp_path / "walk.mp4"
    recorder = Recorder(path, 32, 32, 16.0, FACTS, blocking=True)
    recorder.write(patches(32, 32, 2))
    recorder.stop()
    assert not session_box.carries_session(path)
    with pytest.raises(FileProblem, match="nor a film that carries its walk") as caught:
        read_session(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("tail", "says"),
    [
        (box(BOX_ID), "is empty"),
        (box(BOX_ID + b"no gzip"), "damaged"),
        (box(BOX_ID + gzip.compress(b"{}")[:-3]), "damaged"),
        (box(BOX_ID + gzip.compress(b"[1]\n")), "not a session file"),
        (box(BOX_ID + gzip.compress(b" " * 9_000_000)), "longer"),
        (struct.pack(">I4s", 10**6, b"uuid") + BOX_ID + b"cut", "cut off"),
        (struct.pack(">I4sQ", 1, b"uuid", 2**63) + BOX_ID, "which no walk has"),
        (struct.pack(">I4s", 4, b"uuid") + BOX_ID, "carries its walk"),
        (b"\0" * 400, "carries its walk"),
        (box(b"", b"free") * 100_001 + box(BOX_ID), "carries its walk"),
    ],
)
def test_a_hostile_film_is_one_sentence(tmp_path: Path, tail: bytes, says: str) -> None:
    path = tmp_path / "walk.mp4"
    path.write_bytes(box(b"isom", b"ftyp") + tail)
    with pytest.raises((FileProblem, BadValue), match=says) as caught:
        read_session(path)
    assert "\n" not in str(caught.value)


def test_any_damage_gives_a_session_or_one_sentence(tmp_path: Path) -> None:
    generator, path = random.Random(3), film(tmp_path)
    whole = path.read_bytes()
    begin = whole.index(BOX_ID) - 8
    for _ in range(300):
        data = bytearray(whole)
        for _ in range(generator.randint(1, 3)):
            place = generator.randrange(begin, len(data))
            data[place : place + generator.randint(0, 3)] = generator.choice([b"", b"\0", b"\xff", b"ab"])
        path.write_bytes(data)
        try:
            read_session(path, events.parse)
        except (BadValue, FileProblem) as error:
            assert "\n" not in str(error)  # noqa: PT017 - some damage does not show


KILLED = """
import sys, time
from pathlib import Path
from app import mp4
from app.recorder import Recorder
from app.session_log import SessionLog
from tests.app.test_recorder import FACTS, patches
from tests.app.test_session_log import HEADER, prompt, sampled
path = Path(sys.argv[1])
log = SessionLog(mp4.journal_path(path), HEADER)
recorder = Recorder(path, 64, 48, 16.0, FACTS, session=log.path)
for chunk in range(100):
    recorder.write(patches(64, 48, 8))
    log.write(chunk, sampled(prompt(f"text {chunk}")))
    log.made(chunk, recorder.frames)
    print(chunk, recorder._process.pid if recorder._process else 0, flush=True)
    time.sleep(0.1)
"""


@pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL")
def test_a_repaired_film_carries_what_was_known_when_the_program_was_killed(tmp_path: Path) -> None:
    path = tmp_path / "walk.mp4"
    command = [sys.executable, "-c", KILLED, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]) as window:
        assert window.stdout is not None
        chunk = encoder = 0
        while chunk < 20:
            chunk, encoder = (int(word) for word in window.stdout.readline().split())
        os.kill(encoder, signal.SIGKILL)
        window.kill()
    repairer = Repair(tmp_path)
    assert repairer.wait(20.0)
    assert repairer.repaired == [path]
    run = read_session(path).runs[0]
    assert run.chunks >= 21
    assert run.events[20] == (20, prompt("text 20"))
    assert run.film[20] == (20, 8 * 21)
    assert len(read(path)) > 0
    assert list(tmp_path.iterdir()) == [path]


def test_the_walk_of_a_film_that_cannot_be_repaired_lies_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "walk.mp4"
    path.write_bytes(b"no film at all")
    mp4.Marker(path).close(remove=False)
    written(mp4.journal_path(path), *ITEMS)
    assert repair(tmp_path) == []
    assert {entry.name for entry in tmp_path.iterdir()} == {"walk.mp4", "walk.worldwalk.jsonl"}
    assert read_session(tmp_path / "walk.worldwalk.jsonl").runs[0].events == tuple(ITEMS)


def test_a_recording_without_frames_leaves_no_journal(tmp_path: Path) -> None:
    path = tmp_path / "walk.mp4"
    Recorder(path, 32, 32, 16.0, FACTS, session=written(mp4.journal_path(path))).stop()
    assert list(tmp_path.iterdir()) == []


def test_the_scenes_picture_comes_back_as_it_was(tmp_path: Path) -> None:
    image = read_session(film(tmp_path)).header.scene.image
    assert image is not None
    assert np.array_equal(image, HEADER.scene.image)
