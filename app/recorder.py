"""Frames -> MP4, on a thread of its own. The window hands over what it shows and never waits.

A video at the model's frame size and nominal rate: each generated frame is one frame of the file, so the walk plays at
its right speed however fast it was made. See ``app.mp4`` for how the file survives a kill.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np

from app import mp4
from app.recordings import file_problem
from engine.errors import FileProblem
from engine.protocol import Pixels

_QUEUE_SECONDS = 4.0
_QUEUE_BYTES = 256 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class RecordingResult:
    """``frames`` were encoded into the file at ``path`` (None where nothing was kept); ``error`` is one sentence.

    Where the encoder failed, the last second or two of them may not be in the file.
    """

    path: Path | None
    frames: int
    dropped: int
    error: str | None


class Recorder:
    """Writes one video file. Nothing here raises: what goes wrong is said once in ``error``, and the walk goes on.

    ``metadata`` goes into the file as a JSON map under ``worldwalk``, and in plain words as its title and comment; the
    keys used are scene, seed, model, model_sha256, prompt, and what else is given. ``blocking``: ``write`` waits for
    the encoder instead of dropping frames (for ``render`` and ``replay``). ``overwrite``: a file of this name may be
    replaced. ``session``: the session file, complete when the recording is stopped, that the film shall carry.
    ``captions``: the prompts become a subtitle track.
    """

    def __init__(
        self,
        path: Path,
        width: int,
        height: int,
        fps: float,
        metadata: Mapping[str, str],
        *,
        blocking: bool = False,
        overwrite: bool = False,
        session: Path | None = None,
        captions: bool = False,
    ) -> None:
        self.path, self._width, self._height, self._fps = path, width, height, fps
        self._metadata, self._blocking, self._overwrite = dict(metadata), blocking, overwrite
        self._session, self._captions = session, captions
        self._prompts: list[tuple[int, str]] = []
        fits = min(_QUEUE_SECONDS * fps, _QUEUE_BYTES / (width * height * 3))
        self._capacity_frames = max(8, int(fits))
        self._changed = threading.Condition()  # guards everything below
        self._queue: deque[Pixels] = deque()
        self._accepted, self._written, self._dropped = 0, 0, 0
        self._tags_are_old = False
        self._stopping, self._abandoned, self._kept = False, False, False
        self._error: str | None = None
        self._result: RecordingResult | None = None
        self._process: subprocess.Popen[bytes] | None = None
        if "prompt" in metadata:
            self.note_prompt(metadata["prompt"])
        self._thread = threading.Thread(target=self._run, name="recorder", daemon=True)
        self._thread.start()

    @property
    def dropped(self) -> int:
        """Frames that found the queue full."""
        return self._dropped

    @property
    def frames(self) -> int:
        """Frames taken so far."""
        return self._accepted

    @property
    def error(self) -> str | None:
        """One sentence, once the recording has failed; from then on frames are ignored."""
        return self._error

    @property
    def result(self) -> RecordingResult | None:
        """How it ended; None until then. ``request_stop`` and look here, where waiting is not allowed."""
        return self._result

    def write(self, frames: Pixels) -> None:
        """Take RGB frames [T, H, W, 3]; their memory must stay as it is. Never waits unless ``blocking``."""
        assert frames.shape[1:] == (self._height, self._width, 3), frames.shape
        with self._changed:
            for frame in frames:
                while self._blocking and self._is_full() and self._error is None and not self._stopping:
                    self._changed.notify_all()
                    self._changed.wait()
                if self._error is not None or self._stopping:
                    return
                if self._is_full():
                    self._dropped += 1
                else:
                    self._queue.append(frame)
                    self._accepted += 1
            self._changed.notify_all()

    def note_prompt(self, prompt: str) -> None:
        """From the next frame on the world follows ``prompt``; it will stand in the file's metadata."""
        with self._changed:
            if not self._prompts or self._prompts[-1][1] != prompt:
                self._prompts.append((self._accepted, prompt))
                self._tags_are_old = True
                self._changed.notify_all()

    def request_stop(self) -> None:
        """Take no more frames and finish the file; ``result`` says when that is done. Never waits."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()

    def stop(self, timeout_seconds: float = 60.0) -> RecordingResult:
        """Finish the file and wait for it. What is not finished in time stays playable as it was recorded."""
        self.request_stop()
        self._thread.join(timeout_seconds)
        if self._result is None:
            with self._changed:
                self._abandoned = True
                if self._process is not None:
                    self._process.kill()
            self._thread.join(2.0)
        late = "The recording could not be finished in time; it plays up to its last second."
        return self._result or RecordingResult(self.path, self._written, self._dropped, self._error or late)

    # ---- the recorder's own thread ------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            self._record()
        except FileProblem as error:
            self._fail(str(error))
        except OSError as error:
            self._fail(str(file_problem(self.path, error)))
        with self._changed:
            self._queue.clear()
            path, frames = (self.path, self._written) if self._kept else (None, 0)
            self._result = RecordingResult(path, frames, self._dropped, self._error)
            self._changed.notify_all()

    def _record(self) -> None:
        """Record until stopped, then finish."""
        ffmpeg = mp4.find_ffmpeg()
        self._claim_name()
        try:
            marker = mp4.Marker(self.path)
            try:
                self._encode(ffmpeg, marker)
                self._kept = self._written > 0 and self.path.exists()
                if self._kept and not self._abandoned:
                    marker.write(self._tags())
                    self._finish()
            finally:
                marker.close(remove=not (self._kept and self._abandoned))
        finally:
            if not self._kept and self.path.is_file() and not self.path.is_symlink():
                self.path.unlink()
            if not self._kept:
                self._put_journal_away(kept=False)
        if not self._kept and self._error is None:
            self._fail(f"{self.path}: nothing was recorded, because no frame was shown. No file was kept.")

    def _claim_name(self) -> None:
        """Make the file, so that nobody else takes its name and a folder that cannot be used is found at once."""
        try:
            with open(self.path, "ab" if self._overwrite else "xb"):
                pass
        except FileExistsError as error:
            cure = "Choose another name, or move that file away."
            raise FileProblem(self.path, "there is a file of this name already", cure) from error

    def _encode(self, ffmpeg: str, marker: mp4.Marker) -> None:
        """Feed the encoder until the queue is empty and the recording stopped, or the encoder has died."""
        marker.write(self._tags())
        size = {"width": self._width + self._width % 2, "height": self._height + self._height % 2}
        arguments = mp4.encode_arguments(ffmpeg, self.path, fps=self._fps, **size)
        said: list[bytes] = []
        broken = False
        with mp4.start_ffmpeg(arguments, marker.shared_descriptors) as process:
            self._own(process)
            listener = threading.Thread(target=_listen, args=(process, said), name="recorder-errors", daemon=True)
            listener.start()
            assert process.stdin is not None
            try:
                while (frame := self._next_frame(marker)) is not None:
                    _write_all(process.stdin, self._padded(frame))
                    self._written += 1
            except OSError:
                broken = True
            with contextlib.suppress(OSError):
                process.stdin.close()
            status = process.wait()
            listener.join()
        if (status != 0 or broken) and not self._abandoned:
            reason = mp4.said_reason(b"".join(said)) or f"it ended with status {status}"
            kept = " What was recorded until then is kept." if self._written else ""
            self._fail(f"{self.path}: the recording stopped, because the encoder failed ({reason}).{kept}")

    def _finish(self) -> None:
        session = self._session if self._session is not None and self._session.is_file() else None
        problem = mp4.finish(self.path, self._own, session)
        if not self._abandoned:
            self._put_journal_away(kept=problem is None)
        if problem is not None and not self._abandoned and self._error is None:
            self._fail(f"{self.path}: the recording is kept and plays, but is slow to open ({problem}).")

    def _put_journal_away(self, *, kept: bool) -> None:
        if self._session == mp4.journal_path(self.path):
            mp4.put_journal_away(self.path, kept=kept)

    def _next_frame(self, marker: mp4.Marker) -> Pixels | None:
        """The next frame to encode, waiting for it; None when there will be no more."""
        while True:
            with self._changed:
                while not (self._queue or self._stopping or self._tags_are_old):
                    self._changed.wait()
                tags = self._tags() if self._tags_are_old else None
                self._tags_are_old = False
                if tags is None:
                    frame = self._queue.popleft() if self._queue and not self._abandoned else None
                    self._changed.notify_all()
                    return frame
            marker.write(tags)

    def _tags(self) -> dict[str, str]:
        with self._changed:
            prompts = list(self._prompts)
        facts: dict[str, object] = {**self._metadata, "prompts": [[frame, text] for frame, text in prompts]}
        if self._captions:
            facts["captions"] = {"fps": self._fps, "frames": self._written if self._stopping else None}
        return {
            "title": f"Worldwalk: {self._metadata.get('scene', self.path.stem)}",
            "comment": " / ".join(text for _, text in prompts),
            "worldwalk": json.dumps(facts, ensure_ascii=False, separators=(",", ":")),
        }

    def _padded(self, frame: Pixels) -> Pixels:
        """H.264 in 4:2:0 has even sizes: the last row or column is repeated once where need be."""
        odd = ((0, self._height % 2), (0, self._width % 2), (0, 0))
        return np.ascontiguousarray(np.pad(frame, odd, mode="edge") if self._height % 2 or self._width % 2 else frame)

    def _own(self, process: subprocess.Popen[bytes]) -> None:
        """Remember the process that runs now, so that ``stop`` can end it."""
        with self._changed:
            self._process = process
            if self._abandoned:
                process.kill()

    def _fail(self, sentence: str) -> None:
        with self._changed:
            self._error = sentence
            self._queue.clear()
            self._changed.notify_all()

    def _is_full(self) -> bool:
        return len(self._queue) >= self._capacity_frames


def _listen(process: subprocess.Popen[bytes], said: list[bytes]) -> None:
    """Keep the encoder's last words; an unread pipe would fill up and stop it."""
    assert process.stderr is not None
    for line in process.stderr:
        said.append(line)
        del said[:-20]


def _write_all(pipe: IO[bytes], pixels: Pixels) -> None:
    """Raises OSError when the encoder is gone."""
    rest = memoryview(pixels.data).cast("B")
    while rest:
        rest = rest[pipe.write(rest) :]
