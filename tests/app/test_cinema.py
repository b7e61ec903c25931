"""Films for real: decoded, listed, renamed, kept as clips and walked on, with the real encoder."""

from __future__ import annotations

import gc
import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from app import choices, film_files, films, mp4, picture_files
from app.cinema import Cinema, CinemaParts
from app.clips import ClipBuffer, PackedFrame, unpacked
from app.films import FilmMoved, FilmOpened, FilmsListed, WheelReady, WheelRefused
from app.messages import Message, Told
from app.projector import Projector
from app.recorder import Recorder
from app.session_log import read_session
from app.takes import Takes
from engine.config import EngineConfig
from engine.errors import BadValue, FileProblem
from engine.protocol import OpenWorld, Pixels
from tests.app.test_recorder import FACTS, read, wait_until
from tests.app.test_session_box import film
from tests.app.walks import CARD, MEADOW, frame_chunk, opened, sampled, walking

SNOW = {"event_id": 4, "input_types": ["prompt"], "prompt": "snow"}


def grey_film(path: Path, frames: int = 32) -> Path:
    """Frame n is grey of 6 n."""
    recorder = Recorder(path, 64, 48, 16.0, FACTS, blocking=True)
    grey = np.arange(frames, dtype=np.uint8)[:, None, None, None] * 6
    recorder.write(np.broadcast_to(grey, (frames, 48, 64, 3)).copy())
    assert recorder.stop().error is None
    return path


def number_of(frame: Pixels) -> int:
    return round(float(frame.mean()) / 6)


class House:
    """A cinema on the test's clock; ``tell`` waits for what is told."""

    def __init__(self, folder: Path) -> None:
        self.now = 100.0
        start = choices.clips_of(folder, EngineConfig)
        parts = CinemaParts(folder, lambda: self.now, start, choices.fitting_engine)
        self.cinema = Cinema(parts, lambda key, **values: f"{key} {values}")

    def ask(self, ask: films.FilmAsk, takes: Takes | None = None) -> None:
        self.cinema.perform(ask, EngineConfig(), None if takes is None else takes.clip())

    def told(self, kind: type, until: Callable[[Message], bool] = lambda message: True) -> Message:
        found: list[Message] = []

        def look() -> bool:
            message = self.cinema.poll(self.now)
            if isinstance(message, kind) and until(message):
                found.append(message)
            return bool(found)

        wait_until(look)
        return found[0]


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    house = House(tmp_path)
    yield house
    house.cinema.close()


def test_a_film_plays_every_frame_in_its_beat_and_ends(tmp_path: Path) -> None:
    projector = Projector(film_files.probe(grey_film(tmp_path / "walk.mp4")))
    seen, now = [], 0.0
    begun = time.monotonic()
    while not projector.ended and time.monotonic() - begun < 20.0:
        if projector.due(now):
            assert projector.frame is not None
            seen.append((number_of(projector.frame), round(projector.seconds * 16), now))
            now += 1 / 16
        else:
            time.sleep(0.002)
    projector.close()
    assert [number for number, _, _ in seen] == list(range(32))
    assert [place for _, place, _ in seen] == list(range(32))


def test_seeking_shows_just_the_frame_of_that_moment_even_while_it_stands(tmp_path: Path) -> None:
    projector = Projector(film_files.probe(grey_film(tmp_path / "walk.mp4")))
    projector.play(False)
    for frame in (17, 3, 30, 0, 31):
        projector.seek(frame / 16)
        wait_until(lambda: projector.due(0.0))
        assert projector.frame is not None
        assert (number_of(projector.frame), projector.seconds) == (frame, frame / 16)
        assert not projector.due(5.0)
    projector.close()


def test_a_film_is_opened_and_moves(house: House, tmp_path: Path) -> None:
    path = grey_film(tmp_path / "walk.mp4")
    house.ask(films.OpenFilm(str(path)))
    told = house.told(FilmOpened)
    assert isinstance(told, FilmOpened)
    facts = told.facts
    assert (facts.width, facts.height, facts.fps, facts.seconds, facts.walks) == (64, 48, 16.0, 2.0, False)
    wait_until(lambda: house.cinema.poll(house.now) is None and house.cinema.frame is not None)
    house.now += 1 / 16
    assert isinstance(house.told(FilmMoved), FilmMoved)
    house.ask(films.CloseFilm())
    assert house.cinema.frame is None


@pytest.mark.parametrize("content", [b"", b"no film", b"\0\0\0\x18ftypmp42" + b"\0" * 400])
def test_what_is_no_film_is_one_sentence(house: House, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "walk.mp4").write_bytes(content)
    house.ask(films.OpenFilm(str(tmp_path / "walk.mp4")))
    told = house.told(Told)
    assert isinstance(told, Told)
    assert "no film that can be shown" in told.sentence
    assert told.bad


def test_films_are_listed_newest_first_with_their_pictures(house: House, tmp_path: Path) -> None:
    for age, name in enumerate(["new.mp4", "older.mp4"]):
        os.utime(grey_film(tmp_path / name), (10**9 - age, 10**9 - age))
    (tmp_path / "broken.mp4").write_bytes(b"x")
    os.utime(tmp_path / "broken.mp4", (1, 1))
    (tmp_path / ".hidden.mp4").write_bytes(b"x")
    house.ask(films.ListFilms())
    told = house.told(FilmsListed, lambda message: isinstance(message, FilmsListed) and message.done)
    assert isinstance(told, FilmsListed)
    assert [card.facts.title for card in told.films] == ["new", "older", "broken"]
    assert told.films[0].picture is not None
    assert told.films[0].picture.shape == (240, 320, 3)
    assert told.films[2].problem == "this is no film that can be shown"


def test_a_name_is_made_one_that_every_system_takes(tmp_path: Path) -> None:
    path, other = grey_film(tmp_path / "walk.mp4", 2), tmp_path / "taken.mp4"
    other.write_bytes(b"mine")
    assert film_files.rename(path, "a/b: c.mp4") == tmp_path / "a b c.mp4"
    with pytest.raises(FileProblem, match="already"):
        film_files.rename(tmp_path / "a b c.mp4", "taken")
    with pytest.raises(BadValue):
        film_files.rename(tmp_path / "a b c.mp4", " .mp4")
    film_files.delete(tmp_path / "a b c.mp4")
    with pytest.raises(FileProblem, match="cannot be deleted"):
        film_files.delete(tmp_path / "a b c.mp4")
    assert other.read_bytes() == b"mine"


def test_the_wheel_leads_to_the_chunk_of_that_frame(house: House, tmp_path: Path) -> None:
    takes = walked(9)
    house.ask(films.SaveClip(), takes)
    house.told(Told)
    path = next(tmp_path.glob("*.mp4"))
    house.ask(films.TakeWheel(str(path), 21 / 16, 16.0))
    told = house.told(WheelReady)
    assert isinstance(told, WheelReady)
    again = told.rewalking
    assert (again.chunks, again.seed, again.engine, again.model_sha256) == (6, 7, None, CARD.model_sha256)
    assert again.events == ((2, SNOW),)
    house.ask(films.TakeWheel(str(path), 0.0, 16.0))
    told = house.told(WheelReady)
    assert isinstance(told, WheelReady)
    assert (told.rewalking.chunks, told.rewalking.events) == (1, ())


def test_a_wheel_that_cannot_be_taken_says_why(house: House, tmp_path: Path) -> None:
    plain, without = grey_film(tmp_path / "plain.mp4", 2), film(tmp_path, "old.mp4")
    for path, why in (
        (plain, "carries its walk"),
        (without, "film.no_moments"),
        (tmp_path / "gone.mp4", "no such file"),
    ):
        house.ask(films.TakeWheel(str(path), 0.0, 16.0))
        told = house.told(WheelRefused)
        assert isinstance(told, WheelRefused)
        assert why in told.sentence
        assert "\n" not in told.sentence


def walked(chunks: int) -> Takes:
    """A walk of so many chunks with four frames each; snow is asked for before chunk 2."""
    takes = Takes(lambda header: pytest.fail("nothing is recorded here"))
    takes.will_open(MEADOW)
    takes.opened(opened())
    for number in range(chunks):
        takes.add(frame_chunk(number, events=(sampled(4, SNOW),) if number == 2 else ()), 0.0)
    return takes


def test_the_last_half_minute_becomes_a_film_with_its_walk(house: House, tmp_path: Path) -> None:
    house.ask(films.SaveClip(), walked(200))
    told = house.told(Told)
    assert isinstance(told, Told)
    assert not told.bad
    path = next(tmp_path.iterdir())
    assert len(read(path)) == 480
    run = read_session(path).runs[0]
    assert run.film[0] == (80, 4)
    assert run.film[-1] == (199, 480)
    assert run.events == ((2, SNOW),)
    assert read_session(path).header.settings["first_recorded_chunk"] == 80
    assert [text for _, text in mp4.read_walk(path)["prompts"]] == [MEADOW.prompt]
    assert list(tmp_path.iterdir()) == [path]


def test_without_a_world_there_is_no_clip(house: House) -> None:
    house.ask(films.SaveClip())
    told = house.told(Told)
    assert isinstance(told, Told)
    assert told.bad


def test_a_clip_holds_half_a_minute_and_nothing_that_was_gone_back_from() -> None:
    buffer = ClipBuffer()
    buffer.begin(32, 16, 16.0)
    for number in range(300):
        buffer.add(frame_chunk(number))
    assert (buffer.frames, buffer.chunks[0].chunk) == (480, 180)
    buffer.forget_after(250)
    assert buffer.chunks[-1].chunk == 250
    buffer.begin(32, 16, 16.0)
    assert buffer.frames == 0


def test_large_frames_are_kept_as_jpeg_within_their_bound() -> None:
    buffer = ClipBuffer(seconds=3000.0, most_bytes=200_000)
    buffer.begin(32, 16, 64.0)
    for number in range(40):
        buffer.add(frame_chunk(number))
    wait_until(lambda: all(isinstance(frame, PackedFrame) for kept in buffer.chunks for frame in kept.frames))
    assert buffer.byte_count <= 200_000
    wanted = frame_chunk(39).frames[3].astype(int)
    assert np.abs(unpacked(buffer.chunks[-1].frames[3]).astype(int) - wanted).max() <= 4
    buffer.close()


def test_a_walk_that_was_made_again_can_be_recorded_and_kept_like_any_other() -> None:
    takes = Takes(lambda header: pytest.fail("nothing is recorded here"))
    takes.will_open(MEADOW, again=OpenWorld(MEADOW, 7, 1, 5, ((2, SNOW), (4, SNOW))))
    takes.opened(opened())
    takes.add(frame_chunk(4, events=(sampled(4, SNOW),)), 0.0)
    takes.add(frame_chunk(5), 0.0)
    clip = takes.clip()
    assert clip is not None
    assert [(chunk, event.wire) for chunk, event in clip.journal] == [(2, SNOW), (4, SNOW)]
    assert clip.header.settings["first_recorded_chunk"] == 4


def test_a_picture_tells_how_its_world_is_found_again(tmp_path: Path) -> None:
    state = walking()
    path = picture_files.save(tmp_path, state, np.zeros((16, 32, 3), np.uint8))
    with Image.open(path) as picture:
        texts = picture.text
    recipe = json.loads(texts["worldwalk"])
    assert (recipe["scene"], recipe["seed"], recipe["prompt"]) == ("meadow", 7, MEADOW.prompt)
    assert (recipe["model"], recipe["model_sha256"]) == (CARD.model, CARD.model_sha256)
    assert "chunk" in recipe
    assert (texts["Title"], texts["Software"]) == ("Worldwalk: meadow", "Worldwalk")
    assert f"{datetime.now():%Y}" in path.name


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def children() -> list[str]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except (FileNotFoundError, ProcessLookupError):
                continue
            if int(fields[1]) == os.getpid():
                found.append(entry.name)
    return found


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs /proc")
def test_fifty_recordings_leave_no_process_thread_or_file_handle(tmp_path: Path) -> None:
    def cycle(number: int) -> None:
        takes = Takes(choices.takes_of(None, tmp_path, EngineConfig))
        takes.will_open(MEADOW)
        takes.opened(opened())
        takes.start(0.0)
        takes.add(frame_chunk(0), 0.0)
        if number % 10 == 9:
            assert takes.finish() is None  # the program ends
            return
        takes.request_stop()
        wait_until(lambda: takes.poll(0.0) is None)

    cycle(0)
    gc.collect()  # what earlier tests left is not this one's
    handles, threads, processes = descriptors(), threading.active_count(), children()
    for number in range(50):
        cycle(number)
    wait_until(lambda: threading.active_count() <= threads)
    assert (descriptors(), threading.active_count(), children()) == (handles, threads, processes)
    assert len(list(tmp_path.iterdir())) == 51
