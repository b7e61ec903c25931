"""Recordings as they are made: one at a time, and the journal without which none could be replayed.

A recording may begin in the middle of a walk, but the world of that moment follows from everything that was asked
before. So what was applied since the world opened is kept, and a session file begins with it.
"""

from __future__ import annotations

from collections.abc import Iterable

from app.clips import Clip, ClipBuffer
from app.errands import StartTake, Take
from app.journal import Events, Journal, asked, folded
from app.messages import Message, RecordingEnded, RecordingProgressed, RecordingStarted, Told
from engine.errors import WorldwalkError
from engine.protocol import (
    FrameChunk,
    OpenWorld,
    SceneSpec,
    SessionHeader,
    SnapshotSaved,
    WorldOpened,
)

FIRST_CHUNK = "first_recorded_chunk"
"""The setting in a session file's header that says which chunk is the first one in the video."""

FINISH_SECONDS = 2.5
"""How long the end of the program waits for the video's file; what is not finished by then plays all the same."""


class Takes:
    """One owner, the window's thread. Nothing here waits, except ``finish``."""

    def __init__(self, start_take: StartTake) -> None:
        self._start_take = start_take
        self._journal = Journal()
        self._kept_chunk: int | None = None
        self._saved: tuple[str, int, Events] | None = None
        self._resumed: tuple[str, int, Events] | None = None
        self._snapshot_chunks: dict[str, int] = {}
        self._world: WorldOpened | None = None
        self._scene: SceneSpec | None = None
        self._next_chunk = 0
        self._take: Take | None = None
        self._size: tuple[int, int] | None = None
        self._stopping = False
        self._clips = ClipBuffer()
        self._walked: OpenWorld | None = None

    def will_open(self, scene: SceneSpec, snapshot: str | None = None, again: OpenWorld | None = None) -> None:
        """A world is asked for: a new one, one that goes on after the chunk of ``snapshot``, or one that is made
        ``again`` up to a moment."""
        self._scene, self._walked = scene, again
        self._kept_chunk = None if snapshot is None else self._snapshot_chunks.get(snapshot)
        self._resumed = self._saved if self._saved is not None and self._saved[0] == snapshot else None

    def opened(self, world: WorldOpened) -> None:
        """A world has begun, or gone on from a snapshot; a recording goes on with it."""
        kept, again = self._kept_chunk, self._walked
        self._snapshot_chunks.clear()
        self._world, self._next_chunk = world, 0 if kept is None else kept + 1
        if kept is None:
            self._journal.begin()
            self._clips.begin(world.card.width, world.card.height, world.card.fps_nominal)
        else:
            self._journal.forget_after(kept)
            self._clips.forget_after(kept)
        if self._resumed is not None:
            _, chunk, events = self._resumed
            self._journal.begin(events)
            self._next_chunk = chunk + 1
        if again is not None:
            # its last chunk is told, with its events, like any other
            self._next_chunk = again.chunks - 1
            self._journal.begin((chunk, asked(wire)) for chunk, wire in again.events if chunk < self._next_chunk)
            self.request_stop()  # a film that began before cannot tell of it
        if self._take is None or self._size is None:
            return
        if self._size != (world.card.width, world.card.height):
            self.request_stop()  # one file holds pictures of one size
        elif self._take.log is not None and self._scene is not None:
            if self._resumed is None:
                self._take.log.restarted(self._scene, world.seed, kept)
            else:
                self._take.log.resumed(self._scene, world.seed, *self._resumed[1:])

    def may_resume(self, path: str, chunk: int, events: Events) -> None:
        """The world that was saved at ``path`` after ``chunk`` was asked for ``events`` until then."""
        self._saved = path, chunk, events

    def history(self, chunk: int) -> tuple[SessionHeader, Events]:
        """How the world that runs came to be what it is after ``chunk``."""
        assert self._world is not None
        assert self._scene is not None
        header = SessionHeader(self._scene, self._world.seed, self._world.card, {})
        return header, tuple((number, event) for number, event in self._journal.events() if number <= chunk)

    def snapshot_saved(self, saved: SnapshotSaved) -> None:
        if self._world is not None and saved.session_id == self._world.session_id:
            self._snapshot_chunks = {saved.path: saved.chunk}

    def went(self, chunk: int, line: int, origin: int) -> None:
        """The world is again what it was after ``chunk``, which line ``origin`` of the walk made, and goes on as
        ``line``. Along the way that led here, what was asked later has not happened; elsewhere, other things were."""
        assert self._world is not None
        assert self._scene is not None
        behind = self._journal.go(chunk, line, origin)
        self._snapshot_chunks.clear()
        self._next_chunk = chunk + 1
        if behind:
            self._clips.forget_after(chunk)
        else:
            self._clips.begin(self._world.card.width, self._world.card.height, self._world.card.fps_nominal)
        if self._take is None or self._take.log is None:
            return
        if behind:
            self._take.log.restarted(self._scene, self._world.seed, chunk)
        else:
            self._take.log.resumed(self._scene, self._world.seed, chunk, self._journal.events())

    def keep_only(self, lines: Iterable[int]) -> None:
        """Of other lines of the walk none can be gone to any more."""
        self._journal.keep_only(lines)

    def left_unseen(self, chunk: FrameChunk) -> None:
        """A chunk came too late to be shown or filmed; but the line of the walk that is being left ends with it."""
        self._journal.add(chunk.chunk, folded(chunk.events))

    def start(self, now: float) -> Message:
        """Begin a recording of the world that runs."""
        assert self._take is None
        assert self._world is not None
        assert self._scene is not None
        header = SessionHeader(self._scene, self._world.seed, self._world.card, {FIRST_CHUNK: self._next_chunk})
        try:
            take = self._start_take(header)
        except WorldwalkError as error:
            return Told(str(error), now, bad=True)
        self._take, self._stopping = take, False
        self._size = self._world.card.width, self._world.card.height
        if take.log is not None:
            for chunk, event in self._journal.events():
                take.log.write(chunk, event)
            if self._next_chunk > 0:  # it can be gone back to, before the film's first chunk
                take.log.made(self._next_chunk - 1)
        return RecordingStarted(str(take.recorder.path), now)

    def add(self, chunk: FrameChunk, now: float) -> Message | None:
        """Take a chunk of the world that runs: its events, and its frames as the model made them."""
        events = folded(chunk.events)
        self._journal.add(chunk.chunk, events)
        self._next_chunk = chunk.chunk + 1
        self._clips.add(chunk)
        if self._take is None or self._stopping:
            return None
        self._take.recorder.note_prompt(chunk.prompt)
        self._take.recorder.write(chunk.frames)
        log = self._take.log
        if log is None:
            return None
        for event in events:
            log.write(chunk.chunk, event)
        log.made(chunk.chunk, self._take.recorder.frames)
        if log.error is None:
            return None
        self._close_log()
        return Told(log.error, now, bad=True)

    def request_stop(self) -> None:
        if self._take is not None and not self._stopping:
            self._stopping = True
            self._close_log()
            self._take.recorder.request_stop()

    def poll(self, now: float) -> Message | None:
        """How the recording is doing; None while there is none."""
        if self._take is None:
            return None
        recorder = self._take.recorder
        if recorder.error is not None:
            self.request_stop()
        if (result := recorder.result) is None:
            return RecordingProgressed(recorder.frames, recorder.dropped)
        self._close_log()
        self._take = None
        path = None if result.path is None else str(result.path)
        return RecordingEnded(path, result.frames, result.dropped, result.error, now)

    def clip(self) -> Clip | None:
        """The last half minute as it is now; None before there is anything of it."""
        chunks = self._clips.chunks
        if not chunks or self._world is None or self._scene is None:
            return None
        header = SessionHeader(self._scene, self._world.seed, self._world.card, {FIRST_CHUNK: chunks[0].chunk})
        return Clip(header, self._journal.events(), chunks)

    def finish(self) -> str | None:
        """At the end of the program: wait for the file. Returns what went wrong, in one sentence."""
        self._clips.close()
        if self._take is None:
            return None
        self.request_stop()
        result, self._take = self._take.recorder.stop(timeout_seconds=FINISH_SECONDS), None
        return result.error

    def _close_log(self) -> None:
        if self._take is not None and self._take.log is not None:
            self._take.log.close()
            self._take = Take(self._take.recorder, None)
