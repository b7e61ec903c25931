"""Films as files: what ffmpeg tells of one, its frames, its picture for the page, its name. No threads here."""

from __future__ import annotations

import contextlib
import re
from datetime import datetime
from pathlib import Path

import numpy as np

from app import mp4, session_box
from app.films import SUFFIXES, FilmCard, FilmFacts
from app.recordings import file_problem, plain_name
from engine.errors import BadValue, FileProblem
from engine.protocol import Pixels

MOST_FILMS = 500
MOST_SHOWN_PX = 1280 * 720
"""A film with larger pictures is shown at this size: a window has no use for more."""
PICTURE_WIDTH = 320
_PATIENCE_SECONDS = 20.0

_SIZE = re.compile(r"Video: .*?[ ,](\d{2,5})x(\d{2,5})[ ,\[]")
_RATE = re.compile(r"([\d.]+k?) (?:fps|tbr)")
_LENGTH = re.compile(r"Duration: (\d+):(\d\d):(\d\d(?:\.\d+)?)")


def probe(path: Path) -> FilmFacts:
    """Size, rate and length of a film. Raises FileProblem where it is none that can be shown."""
    if not path.is_file():
        raise FileProblem(path, "there is no such file", "Check the name.")
    _, told = mp4.output_of([mp4.find_ffmpeg(), "-hide_banner", "-nostdin", "-i", mp4.url(path)], _PATIENCE_SECONDS)
    said = told.decode("utf-8", "replace")
    size, length = _SIZE.search(said), _LENGTH.search(said)
    rate = _RATE.search(said, size.end()) if size is not None else None
    if size is None or length is None:
        raise FileProblem(path, "this is no film that can be shown", "Choose an MP4 file.")
    fps = 0.0
    with contextlib.suppress(ValueError):
        fps = float(rate[1]) if rate is not None else 0.0
    hours, minutes, seconds = int(length[1]), int(length[2]), float(length[3])
    return FilmFacts(
        path=str(path),
        width=int(size[1]),
        height=int(size[2]),
        fps=fps if 0.0 < fps <= 240.0 else 25.0,
        seconds=3600.0 * hours + 60.0 * minutes + seconds,
        walks=session_box.carries_session(path),
    )


def shown_size(facts: FilmFacts) -> tuple[int, int]:
    """(width, height) of the frames that ``frames_arguments`` gives."""
    factor = min(1.0, (MOST_SHOWN_PX / (facts.width * facts.height)) ** 0.5)
    return max(2, round(facts.width * factor)), max(2, round(facts.height * factor))


def frames_arguments(facts: FilmFacts, from_seconds: float) -> list[str]:
    """The film's frames from a second on, RGB, one after the other, at its own even rate."""
    width, height = shown_size(facts)
    return [
        *(mp4.find_ffmpeg(), "-hide_banner", "-nostdin", "-nostats", "-loglevel", "error", "-threads", "1"),
        *("-ss", f"{max(0.0, from_seconds):.3f}", "-i", mp4.url(Path(facts.path)), "-map", "0:v:0"),
        *("-vf", f"scale={width}:{height}:in_color_matrix=auto", "-r", f"{facts.fps:.6g}"),
        *("-f", "rawvideo", "-pix_fmt", "rgb24", "pipe:1"),
    ]


def picture(facts: FilmFacts) -> Pixels | None:
    """A small picture from the beginning of a film; None where it has none."""
    width = PICTURE_WIDTH
    height = max(2, round(facts.height * width / facts.width))
    at = min(1.0, facts.seconds / 2)
    arguments = [
        *(mp4.find_ffmpeg(), "-hide_banner", "-nostdin", "-loglevel", "error", "-threads", "1", "-ss", f"{at:.3f}"),
        *("-i", mp4.url(Path(facts.path)), "-map", "0:v:0", "-frames:v", "1", "-vf", f"scale={width}:{height}"),
        *("-f", "rawvideo", "-pix_fmt", "rgb24", "pipe:1"),
    ]
    data, _ = mp4.output_of(arguments, _PATIENCE_SECONDS)
    size = width * height * 3
    return None if len(data) < size else np.frombuffer(data[:size], np.uint8).reshape(height, width, 3)


def listed(folder: Path) -> list[Path]:
    """The films of a folder, the newest first. An absent folder has none."""
    found = []
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            if path.suffix.lower() in SUFFIXES and not path.name.startswith("."):
                with contextlib.suppress(OSError):
                    found.append((path.stat().st_mtime, path))
    return [path for _, path in sorted(found, reverse=True)[:MOST_FILMS]]


def card(path: Path) -> FilmCard:
    """All about a film but its picture. Raises nothing: what cannot be played says why."""
    made, size, problem = "", 0, None
    with contextlib.suppress(OSError):
        status = path.stat()
        made, size = f"{datetime.fromtimestamp(status.st_mtime):%Y-%m-%d %H:%M}", status.st_size
    try:
        facts = probe(path)
    except FileProblem as error:
        facts, problem = FilmFacts(str(path), 16, 9, 25.0, 0.0, walks=False), error.problem
    return FilmCard(facts, made, size, problem=problem)


def rename(path: Path, name: str) -> Path:
    """Give a film another name in its folder. Raises BadValue for a name that is none, FileProblem."""
    stem = name[: -len(path.suffix)] if name.lower().endswith(path.suffix.lower()) else name
    if not stem.strip():
        raise BadValue("the film's name", "nothing", "a few letters")
    target = path.with_name(plain_name(stem) + path.suffix)
    if target == path:
        return path
    try:
        if target.exists() and not (path.exists() and target.samefile(path)):  # only the case of letters may differ
            raise FileProblem(target, "there is a file of this name already", "Choose another name.")
        path.rename(target)
    except OSError as error:
        raise file_problem(target, error) from error
    return target


def delete(path: Path) -> None:
    """Raises FileProblem."""
    try:
        path.unlink()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise FileProblem(path, f"it cannot be deleted ({reason})", "Close what uses it, and try again.") from error
