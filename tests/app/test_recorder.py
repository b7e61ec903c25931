"""Recordings, with the real encoder."""

from __future__ import annotations

import os
import re
import subprocess
import time
from datetime import datetime
from pathlib import Path

import imageio.v3 as iio
import numpy as np
import pytest

from app import mp4
from app.recorder import Recorder
from app.recordings import check_target, save_picture, unused_path
from engine.errors import FileProblem
from engine.protocol import Pixels

FACTS = {"scene": "meadow", "seed": "7", "model": "bundled", "model_sha256": "ab" * 32, "prompt": "a calm = green; #1"}


def patches(width: int, height: int, frames: int, seed: int = 0) -> Pixels:
    """Frames [T, H, W, 3] of flat 16-pixel patches, which 4:2:0 keeps; each frame moved by one patch."""
    rng = np.random.default_rng(seed)
    grid = rng.integers(0, 256, (-(-height // 16), -(-width // 16), 3), dtype=np.uint8)
    frame = grid.repeat(16, 0).repeat(16, 1)[:height, :width]
    return np.stack([np.roll(frame, 16 * i, 1) for i in range(frames)])


def read(path: Path) -> Pixels:
    """Every frame as a player shows it, RGB [T, H, W, 3]."""
    command = [mp4.find_ffmpeg(), "-v", "error", "-i", f"file:{path}", "-f", "rawvideo", "-pix_fmt", "rgb24", "pipe:1"]
    data = subprocess.run(command, capture_output=True, check=True).stdout
    width, height, _ = facts_of(path)
    return np.frombuffer(data, np.uint8).reshape(-1, height, width, 3)


def facts_of(path: Path) -> tuple[int, int, float]:
    """Width, height and frames per second, as ffmpeg tells them."""
    said = subprocess.run([mp4.find_ffmpeg(), "-i", f"file:{path}"], capture_output=True, check=False).stderr.decode()
    found = re.search(r"Video: h264.* yuv420p\(tv, bt709.* (\d+)x(\d+)[, ].* ([\d.]+) fps", said)
    assert found, said
    return int(found[1]), int(found[2]), float(found[3])


def middle_of_patches(frames: Pixels) -> Pixels:
    return frames[:, 8::16, 8::16]


def record(path: Path, frames: Pixels, fps: float = 16.0) -> Recorder:
    recorder = Recorder(path, frames.shape[2], frames.shape[1], fps, FACTS, blocking=True)
    recorder.write(frames)
    return recorder


def test_every_frame_comes_back_in_its_colours_at_its_rate(tmp_path: Path) -> None:
    path, frames = tmp_path / "walk.mp4", patches(192, 112, 21)
    result = record(path, frames).stop()
    assert (result.error, result.frames, result.dropped, result.path) == (None, 21, 0, path)
    back = read(path)
    assert back.shape == frames.shape
    assert facts_of(path) == (192, 112, 16.0)
    assert np.abs(middle_of_patches(back).astype(int) - middle_of_patches(frames)).max() <= 6


def test_a_finished_file_has_its_index_in_front_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "walk.mp4"
    record(path, patches(64, 48, 5)).stop()
    data = path.read_bytes()
    assert 0 < data.index(b"moov") < data.index(b"mdat")
    assert b"moof" not in data
    assert [entry.name for entry in tmp_path.iterdir()] == ["walk.mp4"]


def test_scene_seed_model_and_prompts_are_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "walk.mp4"
    recorder = record(path, patches(64, 48, 4))
    recorder.note_prompt("Schneesturm bei Nacht\n雪, 100 % \\ weiß")
    recorder.write(patches(64, 48, 4))
    recorder.stop()
    walk = mp4.read_walk(path)
    assert {key: walk[key] for key in FACTS} == FACTS
    assert walk["prompts"] == [[0, "a calm = green; #1"], [4, "Schneesturm bei Nacht\n雪, 100 % \\ weiß"]]
    tags = mp4.read_metadata(path)
    assert tags["title"] == "Worldwalk: meadow"
    assert "a calm = green; #1 / Schneesturm" in tags["comment"]


@pytest.mark.parametrize(("width", "height"), [(33, 17), (34, 17), (33, 18)])
def test_odd_sizes_gain_one_pixel_and_are_never_stretched(tmp_path: Path, width: int, height: int) -> None:
    path, frames = tmp_path / "walk.mp4", patches(width, height, 3)
    assert record(path, frames).stop().error is None
    back = read(path)
    assert back.shape == (3, height + height % 2, width + width % 2, 3)
    assert np.abs(back[:, 8, 8::16].astype(int) - frames[:, 8, 8::16])[:, :2].max() <= 12


@pytest.mark.parametrize("name", ["with space.mp4", "größe 雪.mp4", "-dash.mp4", "a:b.mp4", "100%d.mp4"])
@pytest.mark.skipif(os.name == "nt", reason="Windows refuses some of these names")
def test_any_file_name_works(tmp_path: Path, name: str) -> None:
    path = tmp_path / "Größe und mehr" / name
    path.parent.mkdir()
    assert record(path, patches(32, 32, 2)).stop().error is None
    assert len(read(path)) == 2
    assert mp4.read_walk(path)["seed"] == "7"


def test_a_full_queue_drops_and_counts_but_never_waits(tmp_path: Path) -> None:
    frames = np.repeat(patches(832, 480, 1), 400, axis=0)
    recorder = Recorder(tmp_path / "walk.mp4", 832, 480, 16.0, FACTS)
    begun = time.monotonic()
    recorder.write(frames)
    assert time.monotonic() - begun < 0.25
    result = recorder.stop()
    assert result.dropped >= 300
    assert result.frames + result.dropped == 400
    assert len(read(tmp_path / "walk.mp4")) == result.frames


def test_more_frames_than_the_queue_holds_wait_for_the_encoder_when_blocking(tmp_path: Path) -> None:
    result = record(tmp_path / "walk.mp4", patches(32, 32, 500)).stop()
    assert (result.frames, result.dropped, result.error) == (500, 0, None)


def test_an_existing_file_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "walk.mp4"
    path.write_bytes(b"mine")
    result = record(path, patches(32, 32, 2)).stop()
    assert result.path is None
    assert result.error is not None
    assert "already" in result.error
    assert path.read_bytes() == b"mine"
    with pytest.raises(FileProblem, match="already"):
        check_target(path)
    check_target(path, overwrite=True)


def test_an_existing_file_is_replaced_when_asked(tmp_path: Path) -> None:
    path = tmp_path / "walk.mp4"
    path.write_bytes(b"old" * 10_000)
    recorder = Recorder(path, 32, 32, 16.0, FACTS, blocking=True, overwrite=True)
    recorder.write(patches(32, 32, 3))
    assert recorder.stop().error is None
    assert len(read(path)) == 3


def test_no_ffmpeg_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IMAGEIO_FFMPEG_EXE", str(tmp_path / "no-ffmpeg"))
    result = record(tmp_path / "walk.mp4", patches(32, 32, 2)).stop()
    assert result.error is not None
    assert "the video encoder cannot be started" in result.error
    assert "imageio-ffmpeg" in result.error
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "walk.mp4"
    path.symlink_to("/dev/full")
    recorder = Recorder(path, 192, 112, 16.0, FACTS, blocking=True, overwrite=True)
    recorder.write(patches(192, 112, 64))
    error = recorder.stop().error
    assert error is not None
    assert "no space left on device" in error
    assert "\n" not in error


def test_a_folder_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "gone" / "walk.mp4"
    error = record(path, patches(32, 32, 2)).stop().error
    assert error is not None
    assert "no such file or directory" in error
    with pytest.raises(FileProblem, match="does not exist"):
        check_target(path)


@pytest.mark.skipif(not Path("/sys/kernel").is_dir(), reason="needs a folder that nobody can write to")
def test_a_read_only_folder_is_one_sentence() -> None:
    error = record(Path("/sys/kernel/walk.mp4"), patches(32, 32, 2)).stop().error
    assert error is not None
    assert "cannot be written (" in error


def test_a_folder_that_vanishes_during_the_walk_ends_in_a_sentence(tmp_path: Path) -> None:
    folder = tmp_path / "usb stick"
    folder.mkdir()
    recorder = record(folder / "walk.mp4", patches(32, 32, 20))
    wait_until(lambda: (folder / "walk.mp4").exists() and (folder / "walk.mp4").stat().st_size > 0)
    for entry in folder.iterdir():
        entry.unlink()
    folder.rmdir()
    recorder.write(patches(32, 32, 20))
    result = recorder.stop()
    assert result.error is not None
    assert result.path is None


def test_a_killed_encoder_ends_the_recording_but_keeps_it(tmp_path: Path) -> None:
    path = tmp_path / "walk.mp4"
    recorder = record(path, patches(64, 64, 64))
    wait_until(lambda: path.exists() and path.stat().st_size > 4000)
    assert recorder._process is not None
    recorder._process.kill()
    recorder.write(patches(64, 64, 400))
    result = recorder.stop()
    assert result.error is not None
    assert "is kept" in result.error
    assert result.path == path
    assert len(read(path)) > 0


def test_a_recording_without_frames_leaves_no_file(tmp_path: Path) -> None:
    result = Recorder(tmp_path / "walk.mp4", 32, 32, 16.0, FACTS).stop()
    assert result.path is None
    assert result.error is not None
    assert "no frame was shown" in result.error
    assert list(tmp_path.iterdir()) == []


def test_stopping_without_waiting_reports_later(tmp_path: Path) -> None:
    recorder = record(tmp_path / "walk.mp4", patches(32, 32, 4))
    recorder.request_stop()
    recorder.write(patches(32, 32, 4))
    wait_until(lambda: recorder.result is not None)
    assert recorder.result is not None
    assert recorder.result.frames == 4


def test_a_new_name_is_never_one_that_exists(tmp_path: Path) -> None:
    when = datetime(2026, 1, 31, 18, 5, 9)
    first = unused_path(tmp_path / "new", 'a/b: "c"', ".mp4", when)
    assert first.name == "a b c 2026-01-31 18-05-09.mp4"
    first.touch()
    assert unused_path(tmp_path / "new", 'a/b: "c"', ".mp4", when).name == "a b c 2026-01-31 18-05-09 (2).mp4"


def test_a_picture_is_saved_pixel_by_pixel_and_never_over_another(tmp_path: Path) -> None:
    frame = patches(33, 17, 1)[0]
    save_picture(tmp_path / "picture.png", frame)
    assert np.array_equal(iio.imread(tmp_path / "picture.png"), frame)
    with pytest.raises(FileProblem, match="already"):
        save_picture(tmp_path / "picture.png", frame)


@pytest.mark.parametrize("text", ["plain", "a=b;c#d\\e", "two\nlines", "[section]\nkey=value", "", "雪 😀"])
def test_metadata_text_reads_back(text: str) -> None:
    assert mp4._parse_metadata(mp4.metadata_text({"key": text, "title": "t"})) == {"key": text, "title": "t"}


def test_a_file_that_is_no_video_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "x.mp4").write_text("not a video")
    with pytest.raises(FileProblem, match="cannot be read as a video"):
        mp4.read_metadata(tmp_path / "x.mp4")


def wait_until(condition: object, timeout_seconds: float = 10.0) -> None:
    assert callable(condition)
    end = time.monotonic() + timeout_seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.01)


def subtitles(path: Path) -> str:
    """The film's subtitle track as SRT."""
    command = [mp4.find_ffmpeg(), "-v", "error", "-i", f"file:{path}", "-map", "0:s", "-f", "srt", "pipe:1"]
    return subprocess.run(command, capture_output=True, check=True).stdout.decode()


def test_prompts_become_a_subtitle_track(tmp_path: Path) -> None:
    path = tmp_path / "walk.mp4"
    recorder = Recorder(path, 64, 48, 16.0, FACTS, blocking=True, captions=True)
    recorder.write(patches(64, 48, 24))
    recorder.note_prompt("Schnee,\n雪 <b>")
    recorder.write(patches(64, 48, 8))
    assert recorder.stop().error is None
    assert subtitles(path).split("\n\n")[:2] == [
        "1\n00:00:00,000 --> 00:00:01,500\na calm = green; #1",
        "2\n00:00:01,500 --> 00:00:02,000\nSchnee, 雪 ‹b›",
    ]
    said = subprocess.run([mp4.find_ffmpeg(), "-i", f"file:{path}"], capture_output=True, check=False).stderr.decode()
    assert "mov_text" in said
    assert "00:00:02.0" in said
    assert len(read(path)) == 32
    assert list(tmp_path.iterdir()) == [path]
