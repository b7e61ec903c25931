"""Frames in, the frame that is due at ``now`` out. Even pacing at the measured rate; the clock is passed in.

Frames come in chunks, one burst each. They are shown one by one at the rate at which chunks are made: never faster
than the model's nominal rate, slower when it is slower. A small slack (the time that is left in the queue when the next
chunk arrives) takes up the unevenness of arrival. When the queue runs dry the last frame stays; when it is over full,
old frames are dropped and counted, so that what is seen never lags far behind what is made.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from statistics import median_low

from engine.protocol import FrameChunk, Pixels

TARGET_SLACK_SECONDS = 0.04
ROOM_SECONDS = 0.15
"""With more than this waiting no further chunk is needed yet: the engine is ahead of the picture."""
MOST_SECONDS_BEYOND_CHUNK = 0.45
REMEMBERED_PERIODS = 5
SURPLUS_CHUNKS = 8
STRETCH_LIMITS = (0.9, 1.1)
KEPT_BEAT_SECONDS = 0.02
"""A frame that comes late by less, one pass of the window's loop, keeps the beat."""


@dataclass(frozen=True, slots=True)
class Due:
    """The frame on show, RGB uint8 [H, W, 3]. ``first_of``: chunks of which it is the first frame to be shown.

    ``position``: where it ends in the walk, in chunks; 5.0 is the end of chunk 4.
    """

    frame: Pixels
    first_of: tuple[FrameChunk, ...] = ()
    position: float = 0.0


@dataclass(slots=True)
class _Waiting:
    frame: Pixels
    first_of: tuple[FrameChunk, ...]
    position: float


class Playback:
    """The queue between engine and screen. One owner, the window's thread."""

    def __init__(self, fps_nominal: float = 16.0) -> None:
        self._queue: deque[_Waiting] = deque()
        self._periods: deque[float] = deque(maxlen=REMEMBERED_PERIODS)
        self._slacks: deque[float] = deque(maxlen=SURPLUS_CHUNKS)
        self._nominal = self._interval = 1.0 / fps_nominal
        self._session: int | None = None
        self._last_made_at: float | None = None
        self._chunk_frames = 1
        self._next_due: float | None = None
        self._paused_at: float | None = None
        self._starved = False
        self.on_show: Pixels | None = None
        self.position: float | None = None
        """Where the frame on show ends in the walk, in chunks; None where it is not of this world, or not walked."""
        self.dropped = 0
        self.underruns = 0

    @property
    def interval_seconds(self) -> float:
        """Time between two frames at present."""
        return self._interval

    @property
    def chunk_seconds(self) -> float:
        """How long a chunk is at the nominal rate."""
        return self._chunk_frames * self._nominal

    @property
    def waiting_frames(self) -> int:
        return len(self._queue)

    @property
    def has_room(self) -> bool:
        """Whether another chunk should be taken from the engine now."""
        return len(self._queue) * self._nominal <= ROOM_SECONDS

    def begin(self, session_id: int, fps_nominal: float) -> None:
        """Another world: what waits of the old one is gone, its last frame stays until the new one's first."""
        self._queue.clear()
        self._periods.clear()
        self._slacks.clear()
        self._session = session_id
        self._nominal = self._interval = 1.0 / fps_nominal
        self._last_made_at = self._next_due = self.position = None
        self._starved = False

    def go_back(self, frame: Pixels | None) -> None:
        """The same world at an earlier moment, whose ``frame`` stays until the next one comes."""
        self._queue.clear()
        self._slacks.clear()
        self._last_made_at = self._next_due = self.position = None
        self._starved = False
        self.on_show = self.on_show if frame is None else frame

    def push(self, chunk: FrameChunk, now: float) -> None:
        """Take the frames of a chunk. Chunks of another world than the one begun are ignored."""
        if chunk.session_id != self._session or not len(chunk.frames):
            return
        slack = self._slack(now)
        self._measure(chunk, slack)
        for index, frame in enumerate(chunk.frames):
            position = chunk.chunk + (index + 1) / len(chunk.frames)
            self._queue.append(_Waiting(frame, (chunk,) if index == 0 else (), position))
        self._chunk_frames = len(chunk.frames)
        if self._paused_at is None:
            self._trim()

    def due(self, now: float) -> Due | None:
        """The frame to put on screen if it is another one than before, else None. At most one frame a call."""
        if self._paused_at is not None:
            return None
        if self._next_due is None:
            if not self._queue:
                return None
            self._next_due = now
        if now < self._next_due:
            return None
        if not self._queue:
            self.underruns += not self._starved
            self._starved = True
            return None
        # a frame that is a little late keeps the beat; after a gap the beat starts anew, or a burst would follow
        keeps_beat = not self._starved and now - self._next_due <= KEPT_BEAT_SECONDS
        self._next_due = (self._next_due if keeps_beat else now) + self._interval
        self._starved = False
        waiting = self._queue.popleft()
        self.on_show = waiting.frame
        self.position = waiting.position
        return Due(waiting.frame, waiting.first_of, waiting.position)

    def pause(self, now: float) -> None:
        if self._paused_at is None:
            self._paused_at = now

    def resume(self, now: float) -> None:
        """Go on where it stopped: the beat moves by the length of the pause, and is not measured across it."""
        if self._paused_at is None:
            return
        if self._next_due is not None:
            self._next_due += now - self._paused_at
        self._paused_at = self._last_made_at = None
        self._slacks.clear()
        self._trim()

    def _slack(self, now: float) -> float | None:
        """Seconds until the queue runs dry; negative where it has; None before anything was shown."""
        if self._next_due is None or self._paused_at is not None:
            return None
        return self._next_due - now + len(self._queue) * self._interval

    def _measure(self, chunk: FrameChunk, slack: float | None) -> None:
        """Learn the rate from when chunks were made, and correct it a little so that the slack stays small."""
        made_before, self._last_made_at = self._last_made_at, chunk.made_at
        if made_before is not None and chunk.made_at > made_before:
            self._periods.append((chunk.made_at - made_before) / len(chunk.frames))
        if not self._periods:
            return
        # the faster half counts: one chunk that took long (a new prompt) must not slow the ones after it
        measured = max(self._nominal, median_low(self._periods))
        factor = 1.0
        if slack is not None:
            self._slacks.append(slack)
            low, high = STRETCH_LIMITS
            correction = (TARGET_SLACK_SECONDS - slack) / (measured * len(chunk.frames))
            factor = max(low, min(high, 1.0 + 0.5 * correction))
        self._interval = max(self._nominal, measured * factor)

    def _trim(self) -> None:
        """Drop what would only delay: anything over the bound, and one frame of a surplus that was never needed."""
        most = self._chunk_frames + int(MOST_SECONDS_BEYOND_CHUNK / self._nominal)
        while len(self._queue) > most:
            self._drop()
        surplus = TARGET_SLACK_SECONDS + 1.5 * self._interval
        if len(self._slacks) == SURPLUS_CHUNKS and min(self._slacks) > surplus and len(self._queue) > 1:
            self._drop()
            self._slacks.clear()

    def _drop(self) -> None:
        gone = self._queue.popleft()
        self._queue[0].first_of = (*gone.first_of, *self._queue[0].first_of)
        self.dropped += 1
