"""The last half minute, always kept: frames as they are where they are small, as JPEG where they are not.

A clip never crosses the beginning of a world; what was gone back from is not in it.
"""

from __future__ import annotations

import io
import queue
import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image

from engine.protocol import FrameChunk, Pixels, SampledEvent, SessionHeader

CLIP_SECONDS = 30.0
MOST_RAW_BYTES = 96 * 1024 * 1024
"""Half a minute of the bundled model's frames takes 31 MB; of 832 x 480 it would take 575 MB, and as JPEG some 70."""
MOST_BYTES = 160 * 1024 * 1024
JPEG_QUALITY = 95


@dataclass(frozen=True, slots=True)
class PackedFrame:
    """A frame as JPEG without colour subsampling."""

    jpeg: bytes

    def unpacked(self) -> Pixels:
        return np.asarray(Image.open(io.BytesIO(self.jpeg)))


KeptFrame = Pixels | PackedFrame


@dataclass(slots=True)
class KeptChunk:
    """A chunk of the clip; packing replaces its frames on the packer's thread, all at once."""

    chunk: int
    prompt: str
    frames: tuple[KeptFrame, ...]
    byte_count: int


@dataclass(frozen=True, slots=True)
class Clip:
    """The end of a walk: how it began, all that was asked, and the chunks that are kept."""

    header: SessionHeader
    journal: Sequence[tuple[int, SampledEvent]]
    chunks: Sequence[KeptChunk]


class ClipBuffer:
    """The latest chunks of one world. One owner, the window's thread; packing has a thread of its own."""

    def __init__(self, seconds: float = CLIP_SECONDS, most_bytes: int = MOST_BYTES) -> None:
        self._seconds, self._most_bytes = seconds, most_bytes
        self._chunks: deque[KeptChunk] = deque()
        self._fps, self._packs = 16.0, False
        self._packer: Packer | None = None

    @property
    def chunks(self) -> tuple[KeptChunk, ...]:
        return tuple(self._chunks)

    @property
    def frames(self) -> int:
        return sum(len(kept.frames) for kept in self._chunks)

    @property
    def byte_count(self) -> int:
        return sum(kept.byte_count for kept in self._chunks)

    def begin(self, width: int, height: int, fps: float) -> None:
        """Another world, with frames of this size and rate."""
        self._chunks.clear()
        self._fps = fps
        self._packs = width * height * 3 * fps * self._seconds > MOST_RAW_BYTES

    def add(self, chunk: FrameChunk) -> None:
        kept = KeptChunk(chunk.chunk, chunk.prompt, tuple(chunk.frames), chunk.frames.nbytes)
        self._chunks.append(kept)
        if self._packs:
            if self._packer is None:
                self._packer = Packer()
            self._packer.pack(kept)
        most_frames = int(self._seconds * self._fps)
        while len(self._chunks) > 1 and (
            self.frames - len(self._chunks[0].frames) >= most_frames or self.byte_count > self._most_bytes
        ):
            self._chunks.popleft()

    def forget_after(self, chunk: int) -> None:
        """The world went back to what it was after ``chunk``."""
        while self._chunks and self._chunks[-1].chunk > chunk:
            self._chunks.pop()

    def close(self) -> None:
        if self._packer is not None:
            self._packer.close()
            self._packer = None


class Packer:
    """Makes JPEGs of frames, one chunk after the other; Pillow lets go of Python's lock meanwhile."""

    def __init__(self) -> None:
        self._waiting: queue.SimpleQueue[KeptChunk | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="packer", daemon=True)
        self._thread.start()

    def pack(self, kept: KeptChunk) -> None:
        self._waiting.put(kept)

    def close(self) -> None:
        self._waiting.put(None)
        self._thread.join(1.0)

    def _run(self) -> None:
        while (kept := self._waiting.get()) is not None:
            packed = tuple(frame if isinstance(frame, PackedFrame) else packed_of(frame) for frame in kept.frames)
            kept.frames, kept.byte_count = packed, sum(len(frame.jpeg) for frame in packed)


def packed_of(frame: Pixels) -> PackedFrame:
    data = io.BytesIO()
    Image.fromarray(frame).save(data, "JPEG", quality=JPEG_QUALITY, subsampling=0)
    return PackedFrame(data.getvalue())


def unpacked(frame: KeptFrame) -> Pixels:
    return frame.unpacked() if isinstance(frame, PackedFrame) else frame
