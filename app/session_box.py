"""The walk inside its film: the session file, compressed, in a box of our own at the end of an MP4.

An MP4 is a row of boxes (ISO/IEC 14496-12, 4.2: 32-bit size, four letters; size 1: 64 bits follow, size 0: to the end).
``uuid`` is the box for what the standard does not know; players step over it. Its content is our 16 bytes, then gzip.
"""

from __future__ import annotations

import gzip
import io
import os
import shutil
import struct
import uuid
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from engine.errors import FileProblem

SUFFIX = ".worldwalk.jsonl"
"""Ends the name of a session file."""

BOX_ID = uuid.UUID("c4b2f1de-6c1c-4f0a-9d5e-776f726c6477").bytes
MOST_COMPRESSED_BYTES = 64 * 1024 * 1024
MOST_BOXES = 100_000
"""A film of an hour that was cut short is some 30 000 boxes."""

_HEAD, _LONG_HEAD = struct.Struct(">I4s"), struct.Struct(">Q")
_OTHER = "Choose a film that Worldwalk recorded and no other program has rewritten."


@dataclass(frozen=True, slots=True)
class _Box:
    kind: bytes
    content_at: int
    end: int


def is_film(path: Path) -> bool:
    """Whether the file begins as an MP4 does. False where it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(8)[4:] == b"ftyp"
    except (OSError, ValueError):
        return False


def carries_session(path: Path) -> bool:
    """Whether there is a session in the film, good or damaged. Raises nothing."""
    try:
        with path.open("rb") as file:
            return _find(file) is not None
    except (OSError, ValueError):
        return False


def is_whole(path: Path) -> bool:
    """Whether the film is finished: pictures, and none of the fragments that it is recorded in. Raises OSError."""
    if not path.exists():
        return False
    with path.open("rb") as file:
        kinds = {box.kind for box in _boxes(file)}
    return b"mdat" in kinds and b"moof" not in kinds


def append(film: Path, session: Path) -> None:
    """Put a session, from its file or from another film, at the end of a film whose last box is whole.

    Raises OSError or FileProblem.
    """
    with film.open("r+b") as file:
        for box in _boxes(file):
            if box.end > file.seek(0, os.SEEK_END):
                raise OSError(0, "the film ends within a box")
        begin = file.seek(0, os.SEEK_END)
        file.write(_HEAD.pack(0, b"uuid") + BOX_ID)
        with gzip.GzipFile(fileobj=file, mode="wb", mtime=0) as packed:
            try:
                with open_session(session) if is_film(session) else session.open("rb") as source:
                    shutil.copyfileobj(source, packed)
            except (EOFError, zlib.error) as error:
                raise OSError(0, "the walk that it should carry is damaged") from error
        size = file.tell() - begin
        if size > MOST_COMPRESSED_BYTES:
            file.truncate(begin)
            raise OSError(0, "the walk is too long to be kept in the film")
        file.seek(begin)
        file.write(_HEAD.pack(size, b"uuid"))
        file.flush()
        os.fsync(file.fileno())


def open_session(film: Path) -> BinaryIO:
    """The session's text, decompressed as it is read. Raises FileProblem where there is none, or it is too large.

    Reading raises OSError, EOFError or zlib.error where it is damaged.
    """
    try:
        with film.open("rb") as file:
            box = _find(file)
            if box is None:
                raise FileProblem(film, "is not a session file, nor a film that carries its walk", _OTHER)
            size = box.end - box.content_at
            if size > MOST_COMPRESSED_BYTES:
                raise FileProblem(film, f"says that it carries a walk of {size} bytes, which no walk has", _OTHER)
            file.seek(box.content_at)
            data = file.read(size)
    except OSError as error:
        problem = f"cannot be read: {error.strerror or error}"
        raise FileProblem(film, problem, "Check the name and its permissions.") from None
    if len(data) < size:
        raise FileProblem(film, "was cut off, and the walk at its end with it", _OTHER)
    return gzip.GzipFile(fileobj=io.BytesIO(data))  # type: ignore[return-value]  # reads as any binary file does


def _find(file: BinaryIO) -> _Box | None:
    """Our box; the last one, should a program have joined films."""
    found = None
    for box in _boxes(file):
        if box.kind == b"uuid":
            file.seek(box.content_at)
            if file.read(16) == BOX_ID:
                found = _Box(box.kind, box.content_at + 16, box.end)
    return found


def _boxes(file: BinaryIO) -> Iterator[_Box]:
    """The top-level boxes, their ends as they claim them; ends where one makes no sense."""
    total = file.seek(0, os.SEEK_END)
    at = 0
    for _ in range(MOST_BOXES):
        if at > total:
            return
        file.seek(at)
        head = file.read(_HEAD.size)
        if len(head) < _HEAD.size:
            return
        size, kind = _HEAD.unpack(head)
        content_at = at + _HEAD.size
        if size == 1:
            more = file.read(_LONG_HEAD.size)
            size = _LONG_HEAD.unpack(more)[0] if len(more) == _LONG_HEAD.size else 0
            content_at += _LONG_HEAD.size
        elif size == 0:
            size = total - at
        if size < content_at - at:
            return
        yield _Box(kind, content_at, at + size)
        at += size
