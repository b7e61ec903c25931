"""Reads session files (``session_log`` tells what is in them) and films that carry one. All of it is checked before
any of it is used."""

from __future__ import annotations

import base64
import binascii
import gzip
import hashlib
import io
import json
import warnings
import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

import numpy as np
from PIL import Image

from app import session_box
from engine.errors import BadValue, FileProblem
from engine.protocol import ModelCard, Pixels, SceneSpec, SessionHeader, StartPose
from engine.wording import prompt_problem, shown

SCHEMA = 1
SAME_IMAGE = "as in the first line"
MAX_IMAGE_CHARACTERS = 4 * 1024 * 1024
MAX_IMAGE_PX = 4096 * 4096
MAX_LINE_BYTES = 8 * 1024 * 1024
MAX_LINES = 2_000_000
MAX_BYTES = 1024 * 1024 * 1024
MAX_CHUNK = 10_000_000
MAX_FRAMES = 1_000_000_000
MAX_WHOLE = 2**64

_CARD_FIELDS = tuple(one.name for one in fields(ModelCard))
_START_FIELDS = tuple(one.name for one in fields(StartPose))


@dataclass(frozen=True, slots=True)
class WorldRun:
    """One world from its beginning. To walk it again: open ``scene`` with ``seed``, make ``chunks`` chunks, and apply
    ``at(n)`` before chunk n. Those before ``first_chunk`` were seen in the run before this one, which it continues.
    """

    scene: SceneSpec
    seed: int
    first_chunk: int = 0
    chunks: int = 0
    events: tuple[tuple[int, Mapping[str, object]], ...] = field(default=(), repr=False)
    film: tuple[tuple[int, int], ...] = field(default=(), repr=False)
    """(chunk, frames in the film with its last one) for each chunk that is in the film."""

    def at(self, chunk: int) -> tuple[Mapping[str, object], ...]:
        first = bisect_left(self.events, chunk, key=lambda item: item[0])
        after = bisect_right(self.events, chunk, key=lambda item: item[0])
        return tuple(wire for _, wire in self.events[first:after])


@dataclass(frozen=True, slots=True)
class Session:
    """A session file: its header and its worlds, at least one. ``torn``: its last line was cut off and is left out."""

    header: SessionHeader
    runs: tuple[WorldRun, ...]
    torn: bool

    def chunk_at(self, frame: int) -> tuple[int, int] | None:
        """(number of the run, chunk) that made this frame of the film, the last one for frames behind the end.

        None where the session does not say which chunk made which frame.
        """
        last = None
        for number, run in enumerate(self.runs):
            place = bisect_right(run.film, frame, key=lambda item: item[1])
            if place < len(run.film):
                return number, run.film[place][0]
            if run.film:
                last = number, run.film[-1][0]
        return last


def read_session(path: Path, check_event: Callable[[object], object] | None = None) -> Session:
    """Read and check a session file, or the session in a film. ``check_event`` raises ``BadValue`` for an event that no
    engine would take.

    Raises ``FileProblem`` where this is neither, and ``BadValue`` with file and line for a mistake in one.
    """
    lines = _lines(path)
    header = _header(path, next(lines, None))
    reader = _Runs(header)
    torn = False
    for line in lines:
        if line.content is None:
            torn = True
        else:
            reader.take(line, check_event)
    return Session(header, reader.finished(), torn)


@dataclass(frozen=True, slots=True)
class _Line:
    """``content`` is None for a last line that was cut off."""

    where: str
    content: Mapping[str, object] | None


def _lines(path: Path) -> Iterator[_Line]:
    try:
        with session_box.open_session(path) if session_box.is_film(path) else path.open("rb") as file:
            left = MAX_BYTES
            for number in range(1, MAX_LINES + 2):
                where = f"{path}:{number}"
                data = file.readline(MAX_LINE_BYTES + 1)
                left -= len(data)
                if not data:
                    return
                if number > MAX_LINES or len(data) > MAX_LINE_BYTES or left < 0:
                    limit = f"at most {MAX_LINES} lines of at most {MAX_LINE_BYTES} bytes, {MAX_BYTES} in all"
                    raise BadValue(where, "a longer file or line", limit)
                yield _Line(where, _decoded(where, data, number))
    except FileNotFoundError:
        raise FileProblem(path, "no such file", "Check the name.") from None
    except IsADirectoryError:
        raise FileProblem(
            path, "is a folder, not a session file", f"Name a file that ends in {session_box.SUFFIX}."
        ) from None
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise FileProblem(path, "carries a walk that is damaged", "Choose an undamaged copy of the film.") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise FileProblem(path, f"cannot be read: {reason}", "Check the name and its permissions.") from None


def _decoded(where: str, data: bytes, number: int) -> Mapping[str, object] | None:
    # a process killed while writing leaves half a line, a lost power supply a tail of zeros
    may_be_torn = not data.endswith(b"\n") and number > 1
    try:
        found: object = json.loads(data, object_pairs_hook=_without_doubles, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):  # UnicodeDecodeError is a ValueError
        found = None
    if isinstance(found, dict):
        return found
    if may_be_torn:
        return None
    if number == 1:
        return {}
    raise BadValue(where, shown(data[:60].decode("utf-8", "replace").strip()), "one JSON map")


def _without_doubles(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


class _Runs:
    """Collects lines into worlds; a world that goes on from a snapshot gets the events that led there."""

    def __init__(self, header: SessionHeader) -> None:
        self._image = header.scene.image
        self._done: list[WorldRun] = []
        self._run = WorldRun(header.scene, header.seed)
        self._events: list[tuple[int, Mapping[str, object]]] = []
        self._film: list[tuple[int, int]] = []
        self._frames = 0
        self._earliest = 0
        """The first chunk of which an event may be told: those before are known, or part of what led here."""

    def take(self, line: _Line, check_event: Callable[[object], object] | None) -> None:
        assert line.content is not None
        found = _Fields(line.where, line.content)
        if "event" in line.content:
            found.only("chunk", "event")
            chunk, wire = found.whole("chunk", MAX_CHUNK), found.map("event")
            first = self._events[-1][0] if self._events else 0
            found.expect(chunk >= max(first, self._earliest), "chunk", "no earlier chunk than the lines before")
            if check_event is not None:
                try:
                    check_event(wire)
                except BadValue as bad:
                    raise BadValue(f"{line.where}, {bad.where}", bad.got, bad.expected) from None
            self._events.append((chunk, wire))
            self._run = replace(self._run, chunks=max(self._run.chunks, chunk + 1))
        elif "made" in line.content:
            found.only("made", "frames")
            chunk = found.whole("made", MAX_CHUNK)
            self._run = replace(self._run, chunks=max(self._run.chunks, chunk + 1))
            if "frames" in line.content:
                self._filmed(found, chunk)
        else:
            found.only("world")
            self._begin(found.inner("world"))

    def finished(self) -> tuple[WorldRun, ...]:
        return (*self._done, self._whole())

    def _whole(self) -> WorldRun:
        return replace(self._run, events=tuple(self._events), film=tuple(self._film))

    def _filmed(self, found: _Fields, chunk: int) -> None:
        frames = found.whole("frames", MAX_FRAMES)
        first = self._film[-1][0] + 1 if self._film else self._run.first_chunk
        found.expect(chunk >= first, "made", f"no chunk before {first}, as the lines before tell of those")
        found.expect(frames >= self._frames, "frames", f"no less than {self._frames}, as in the lines before")
        self._frames = frames
        self._film.append((chunk, frames))

    def _begin(self, found: _Fields) -> None:
        found.only("seed", "after_chunk", "scene", "first_chunk")
        scene = _scene(found.inner("scene"), self._image)
        seed = found.whole("seed", MAX_WHOLE)
        self._done.append(self._whole())
        self._film = []
        if found["after_chunk"] is None:
            first = found.whole("first_chunk", MAX_CHUNK) if found.has("first_chunk") else 0
            self._events, self._run, self._earliest = [], WorldRun(scene, seed, first, first), 0
            return
        kept = found.whole("after_chunk", MAX_CHUNK)
        found.expect(seed == self._run.seed, "seed", f"{self._run.seed}, that of the world which goes on")
        found.expect(kept < self._run.chunks, "after_chunk", f"a chunk before {self._run.chunks}, the last one made")
        self._events = [item for item in self._events if item[0] <= kept]
        # scene and seed are those with which the world that goes on was opened
        self._run, self._earliest = replace(self._run, first_chunk=kept + 1, chunks=kept + 1), kept + 1


class _Fields:
    """A map of which each value is taken with its type. Raises ``BadValue`` that names the line and the value."""

    def __init__(self, where: str, content: Mapping[str, object]) -> None:
        self.where, self._content = where, content

    def __getitem__(self, name: str) -> object:
        if name not in self._content:
            raise BadValue(f"{self.where}, {name}", "nothing", "a value")
        return self._content[name]

    def has(self, name: str) -> bool:
        return name in self._content

    def only(self, *names: str) -> None:
        for key in self._content:
            if key not in names:
                raise BadValue(
                    f"{self.where}, {key[:40]!r}", shown(self._content[key]), f"only {', '.join(names)} here"
                )

    def expect(self, holds: bool, name: str, expected: str) -> None:
        if not holds:
            raise BadValue(f"{self.where}, {name}", shown(self._content.get(name)), expected)

    def text(self, name: str) -> str:
        value = self[name]
        if not isinstance(value, str):
            raise BadValue(f"{self.where}, {name}", shown(value), "a text")
        return value

    def whole(self, name: str, most: int) -> int:
        value = self[name]
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
            raise BadValue(f"{self.where}, {name}", shown(value), f"a whole number from 0 to {most}")
        return value

    def number(self, name: str) -> float:
        value = self[name]
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) <= 1e9:
            raise BadValue(f"{self.where}, {name}", shown(value), "a number")
        return float(value)

    def truth(self, name: str) -> bool:
        value = self[name]
        if not isinstance(value, bool):
            raise BadValue(f"{self.where}, {name}", shown(value), "true or false")
        return value

    def map(self, name: str) -> Mapping[str, object]:
        value = self[name]
        if not isinstance(value, dict):
            raise BadValue(f"{self.where}, {name}", shown(value), "a map")
        return value

    def inner(self, name: str) -> _Fields:
        return _Fields(f"{self.where}, {name}", self.map(name))


def _header(path: Path, line: _Line | None) -> SessionHeader:
    if line is None:
        raise FileProblem(path, "is empty", "Choose another session file.")
    content = line.content
    if content is None or "worldwalk_session" not in content:
        raise FileProblem(
            path, "is not a session file, or was cut off in its first line", f"Name a *{session_box.SUFFIX} file."
        )
    schema = content["worldwalk_session"]
    if schema != SCHEMA or isinstance(schema, bool):
        problem = f"has schema {shown(schema)}, and this version of Worldwalk reads {SCHEMA}"
        raise FileProblem(path, problem, "Open it with the version that made it, or a newer one.")
    found = _Fields(line.where, content)
    found.only("worldwalk_session", "seed", "scene", "card", "settings")
    return SessionHeader(
        scene=_scene(found.inner("scene"), None),
        seed=found.whole("seed", MAX_WHOLE),
        card=_card(found.inner("card")),
        settings=found.map("settings"),
    )


def _card(found: _Fields) -> ModelCard:
    found.only(*_CARD_FIELDS)
    found.expect(found.number("fps_nominal") > 0, "fps_nominal", "more than 0")
    return ModelCard(
        backend=found.text("backend"),
        model=found.text("model"),
        model_sha256=found.text("model_sha256"),
        device=found.text("device"),
        dtype=found.text("dtype"),
        threads=found.whole("threads", MAX_CHUNK),
        width=found.whole("width", MAX_CHUNK),
        height=found.whole("height", MAX_CHUNK),
        fps_nominal=found.number("fps_nominal"),
        latent_frames_per_chunk=found.whole("latent_frames_per_chunk", MAX_CHUNK),
    )


def _scene(found: _Fields, known_image: Pixels | None) -> SceneSpec:
    found.only("name", "prompt", "own_image", "map_seed", "start", "image_sha256", "image")
    start = found.inner("start")
    start.only(*_START_FIELDS)
    prompt = found.text("prompt")
    if (problem := prompt_problem(prompt)) is not None:
        raise BadValue(f"{found.where}, prompt", *problem)
    return SceneSpec(
        name=found.text("name"),
        prompt=prompt,
        image=_image(found, known_image),
        image_sha256=None if found["image_sha256"] is None else found.text("image_sha256"),
        own_image=found.truth("own_image"),
        map_seed=found.whole("map_seed", MAX_WHOLE),
        start=StartPose(start.number("x_metres"), start.number("z_metres"), start.number("yaw_degrees")),
    )


def _image(found: _Fields, known_image: Pixels | None) -> Pixels | None:
    if found["image"] is None:
        return None
    if found["image"] == SAME_IMAGE:
        found.expect(known_image is not None, "image", "a picture, as the first line has none")
        return known_image
    stored = found.inner("image")
    stored.only("png", "sha256")
    text = stored.text("png")
    if len(text) > MAX_IMAGE_CHARACTERS:
        raise BadValue(f"{stored.where}, png", f"{len(text)} characters", f"at most {MAX_IMAGE_CHARACTERS}")
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise BadValue(f"{stored.where}, png", shown(text), "base64") from None
    stored.expect(hashlib.sha256(data).hexdigest() == stored["sha256"], "sha256", "that of the picture; it was changed")
    return _pixels(stored.where, data)


def _pixels(where: str, data: bytes) -> Pixels:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the size is judged here
            image = Image.open(io.BytesIO(data), formats=["PNG"])
            if image.width * image.height <= MAX_IMAGE_PX:
                return np.array(image.convert("RGB"), dtype=np.uint8)
            got = f"{image.width} x {image.height} pixels"
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        got = "something else"
    raise BadValue(f"{where}, png", got, f"a PNG picture of at most {MAX_IMAGE_PX} pixels")
