"""A film's frames, decoded ahead on a thread of their own, and which of them is due.

The thread never decodes more than about a second ahead. Nothing here raises: a film that breaks off has ended.
"""

from __future__ import annotations

import contextlib
import subprocess
import threading
from collections import deque
from typing import IO

import numpy as np

from app import film_files, mp4
from app.films import FilmFacts
from engine.errors import FileProblem
from engine.protocol import Pixels

AHEAD_SECONDS = 1.0
AHEAD_BYTES = 64 * 1024 * 1024


class Decoder:
    """The frames of one film from a second on. One owner, the window's thread."""

    def __init__(self, facts: FilmFacts, from_seconds: float) -> None:
        self._facts, self._from_seconds = facts, from_seconds
        self._width, self._height = film_files.shown_size(facts)
        fits = min(AHEAD_SECONDS * facts.fps, AHEAD_BYTES / (self._width * self._height * 3))
        self._most = max(2, int(fits))
        self._changed = threading.Condition()  # guards everything below
        self._frames: deque[Pixels] = deque()
        self._ended, self._closed = False, False
        self._process: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._run, name="decoder", daemon=True)
        self._thread.start()

    @property
    def ended(self) -> bool:
        """Whether there will be no more frames."""
        with self._changed:
            return self._ended and not self._frames

    def next(self) -> Pixels | None:
        """The next frame, RGB [H, W, 3]; None while it is not there yet, or there will be no more."""
        with self._changed:
            if not self._frames:
                return None
            self._changed.notify_all()
            return self._frames.popleft()

    def close(self) -> None:
        """End the decoder. Waits for a moment at most; nothing of it is left."""
        with self._changed:
            self._closed = True
            self._frames.clear()
            if self._process is not None:
                self._process.kill()
            self._changed.notify_all()
        self._thread.join(1.0)

    def _run(self) -> None:
        with contextlib.suppress(FileProblem, OSError):
            self._decode()
        with self._changed:
            self._ended = True

    def _decode(self) -> None:
        with mp4.start_ffmpeg(film_files.frames_arguments(self._facts, self._from_seconds)) as process:
            with self._changed:
                self._process = process
                if self._closed:
                    process.kill()
            assert process.stdin is not None
            assert process.stdout is not None
            assert process.stderr is not None
            process.stdin.close()
            process.stderr.close()  # what it says of a broken film is nobody's business, and would fill the pipe
            size = self._width * self._height * 3
            while (data := _read_exactly(process.stdout, size)) is not None:
                frame = np.frombuffer(data, np.uint8).reshape(self._height, self._width, 3)
                if not self._hold(frame):
                    break
            process.kill()

    def _hold(self, frame: Pixels) -> bool:
        """Keep a frame until it is due; False where nobody wants it any more."""
        with self._changed:
            while len(self._frames) >= self._most and not self._closed:
                self._changed.wait()
            if not self._closed:
                self._frames.append(frame)
            return not self._closed


class Projector:
    """Which frame of a film is due. The clock is passed in. One owner, the window's thread."""

    def __init__(self, facts: FilmFacts) -> None:
        self.facts = facts
        self.frame: Pixels | None = None
        """The frame on show."""
        self.seconds = 0.0
        """Where in the film it is."""
        self._decoder = Decoder(facts, 0.0)
        self._begin, self._number = 0.0, 0
        self._next_at: float | None = None
        self._playing, self._fresh = True, True

    @property
    def ended(self) -> bool:
        return self._decoder.ended

    def play(self, playing: bool) -> None:
        self._playing, self._next_at = playing, None

    def seek(self, seconds: float) -> None:
        """Go on from there; the picture of the moment is shown even where the film stands."""
        self._decoder.close()
        last = max(0.0, self.facts.seconds - 1.0 / self.facts.fps)
        frame = int(max(0.0, min(seconds, last)) * self.facts.fps + 0.5)
        self._begin, self._number = frame / self.facts.fps, 0
        self.seconds = self._begin
        # half a frame early, so that no rounding makes it the one after
        self._decoder = Decoder(self.facts, max(0.0, (frame - 0.5) / self.facts.fps))
        self._next_at, self._fresh = None, True

    def due(self, now: float) -> bool:
        """Whether another frame came on show."""
        if not (self._playing or self._fresh) or (self._next_at is not None and now < self._next_at):
            return False
        frame = self._decoder.next()
        if frame is None:
            self._next_at = None  # it was waited for: the beat begins anew, or a burst would follow
            return False
        period = 1.0 / self.facts.fps
        keeps_beat = self._next_at is not None and now - self._next_at <= 4 * period
        self._next_at = (self._next_at if keeps_beat and self._next_at is not None else now) + period
        self.frame, self._fresh = frame, False
        self.seconds = self._begin + self._number * period
        self._number += 1
        return True

    def close(self) -> None:
        self._decoder.close()


def _read_exactly(pipe: IO[bytes], size: int) -> bytes | None:
    """So many bytes; None where the pipe ends before."""
    data = bytearray()
    while len(data) < size:
        more = pipe.read(size - len(data))
        if not more:
            return None
        data += more
    return bytes(data)
