"""A walk without a window: events at chunk boundaries, chunk after chunk, into a video, pictures and a report."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TextIO

from app.recorder import Recorder
from app.recordings import save_picture
from app.report import Report
from app.session_log import SessionLog
from engine.errors import WorldwalkError
from engine.protocol import EventAccepted, EventRejected, FrameChunk, Pixels

FRAME_DIGITS = 6


class SteppedWorld(Protocol):
    """A world that makes its next chunk when it is asked to, in this process."""

    @property
    def prompt(self) -> str: ...

    def apply(
        self, wire: Mapping[str, object], pressed_at: float | None, now: float
    ) -> EventAccepted | EventRejected: ...

    def step(self, clock: Callable[[], float]) -> FrameChunk: ...


@dataclass(frozen=True, slots=True)
class Plan:
    """``chunks`` to make; those before ``first_kept`` only bring the world to where the video begins."""

    chunks: int
    events_at: Callable[[int], Iterable[Mapping[str, object]]]
    first_kept: int = 0


@dataclass(slots=True)
class Sinks:
    """Where the walk goes; each may be absent."""

    recorder: Recorder | None = None
    log: SessionLog | None = None
    frames: Path | None = None
    pictures: int = 0

    def take(self, chunk: FrameChunk) -> None:
        """Keep a chunk's frames. Raises WorldwalkError where a picture cannot be written or the encoder failed."""
        if self.recorder is not None:
            self.recorder.note_prompt(chunk.prompt)
            self.recorder.write(chunk.frames)
            if self.recorder.error is not None:
                raise WorldwalkError(self.recorder.error)
        if self.frames is not None:
            self._save_pictures(self.frames, chunk.frames)

    def _save_pictures(self, folder: Path, frames: Pixels) -> None:
        for frame in frames:
            save_picture(folder / f"{self.pictures:0{FRAME_DIGITS}d}.png", frame)
            self.pictures += 1


def run(
    world: SteppedWorld,
    plan: Plan,
    sinks: Sinks,
    report: Report,
    *,
    clock: Callable[[], float],
    since_start: Callable[[], float],
    progress: Callable[[int, int], None],
) -> None:
    """Make every chunk of the plan. ``since_start`` gives the seconds since the command."""
    for number in range(plan.chunks):
        began = clock()
        for wire in plan.events_at(number):
            report.add_event(world.apply(wire, None, clock()))
        chunk = world.step(clock)
        seconds = clock() - began
        if sinks.log is not None:
            for event in chunk.events:
                sinks.log.write(chunk.chunk, event)
        if number >= plan.first_kept:
            report.add_chunk(chunk, seconds, since_start())
            sinks.take(chunk)
        progress(number + 1, plan.chunks)


class ProgressLine:
    """One line on a terminal that is written over; on a file, a line every tenth of the way."""

    def __init__(self, stream: TextIO = sys.stderr) -> None:
        self._stream, self._terminal, self._tenth = stream, stream.isatty(), 0

    def __call__(self, done: int, total: int) -> None:
        end = "\n" if done == total else ""
        if self._terminal:
            self._stream.write(f"\rchunk {done} of {total}{end}")
            self._stream.flush()
        elif done * 10 // total > self._tenth:
            self._tenth = done * 10 // total
            self._stream.write(f"chunk {done} of {total}\n")
            self._stream.flush()
