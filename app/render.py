"""A walk without a window: events at chunk boundaries, chunk after chunk, into a video, pictures and a report."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TextIO

from app.outputs import Outputs, start_recorder, start_session_log
from app.recorder import Recorder
from app.recordings import save_picture
from app.report import Report, write_json
from app.session_log import SessionLog
from engine.errors import WorldwalkError
from engine.protocol import EventAccepted, EventRejected, FrameChunk, Pixels, SceneSpec, SessionHeader

FRAME_DIGITS = 6


class SteppedWorld(Protocol):
    """A world that makes its next chunk when it is asked to, in this process."""

    @property
    def notice(self) -> str | None: ...

    @property
    def text_encodes(self) -> int: ...

    @property
    def cross_attention_resets(self) -> int: ...

    def apply(
        self, wire: Mapping[str, object], pressed_at: float | None, now: float
    ) -> EventAccepted | EventRejected: ...

    def step(self, clock: Callable[[], float]) -> FrameChunk: ...


@dataclass(frozen=True, slots=True)
class Plan:
    """One world: ``chunks`` to make; those before ``first_kept`` only lead to where the video begins."""

    scene: SceneSpec
    seed: int
    chunks: int
    events_at: Callable[[int], Iterable[Mapping[str, object]]]
    first_kept: int = 0


@dataclass(frozen=True, slots=True)
class Clocks:
    """``now`` in seconds of any origin; ``since_start`` in seconds since the command was given."""

    now: Callable[[], float]
    since_start: Callable[[], float]
    peak_rss_mb: Callable[[], float | None]


@dataclass(slots=True)
class Sinks:
    """Where the walk goes; each may be absent."""

    recorder: Recorder | None = None
    log: SessionLog | None = None
    frames: Path | None = None
    pictures: int = 0

    def note(self, chunk: FrameChunk) -> None:
        """Say in the session file what this chunk followed."""
        if self.log is not None:
            for event in chunk.events:
                self.log.write(chunk.chunk, event)

    def take(self, chunk: FrameChunk) -> None:
        """Keep a chunk's frames. Raises WorldwalkError where a picture cannot be written or the encoder failed."""
        if self.recorder is not None:
            self.recorder.note_prompt(chunk.prompt)
            self.recorder.write(chunk.frames)
            if self.log is not None:
                self.log.made(chunk.chunk, self.recorder.frames)
        if self.frames is not None:
            self._save_pictures(self.frames, chunk.frames)
        self.check()

    def check(self) -> None:
        """Raises WorldwalkError with the sentence of what failed."""
        for failed in (self.recorder, self.log):
            if failed is not None and failed.error is not None:
                raise WorldwalkError(failed.error)

    def _save_pictures(self, folder: Path, frames: Pixels) -> None:
        for frame in frames:
            save_picture(folder / f"{self.pictures:0{FRAME_DIGITS}d}.png", frame)
            self.pictures += 1


class ProgressLine:
    """One line on a terminal that is written over; in a file, a line every tenth of the way."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._terminal, self._tenth = self._stream.isatty(), 0

    def __call__(self, done: int, total: int) -> None:
        end = "\n" if done == total else ""
        if self._terminal:
            self._stream.write(f"\rchunk {done} of {total}{end}")
            self._stream.flush()
        elif done * 10 // total > self._tenth:
            self._tenth = done * 10 // total
            self._stream.write(f"chunk {done} of {total}\n")
            self._stream.flush()

    def say(self, sentence: str) -> None:
        print(sentence, file=self._stream)


def render(
    header: SessionHeader,
    plans: Sequence[Plan],
    open_world: Callable[[SceneSpec, int], SteppedWorld],
    outputs: Outputs,
    clocks: Clocks,
) -> Report:
    """Walk the plans one after the other into ``outputs``; each is finished when this returns, or raises."""
    report = Report(header.card, header.seed, startup_seconds=clocks.since_start())
    sinks, encodes, resets = Sinks(frames=outputs.frames), 0, 0
    with contextlib.ExitStack() as stack:
        if outputs.video is not None:
            session = outputs.source
            if outputs.session:
                sinks.log = start_session_log(outputs.video, header)
                session = sinks.log.path
            sinks.recorder = start_recorder(
                outputs.video, header, blocking=True, overwrite=outputs.overwrite, session=session
            )
            stack.callback(sinks.recorder.stop)
            if sinks.log is not None:
                stack.callback(sinks.log.close)  # before the film, which takes it in, is finished
        sinks.check()
        for plan in plans:
            world = open_world(plan.scene, plan.seed)
            walk(world, plan, sinks, report, clocks)
            encodes, resets = encodes + world.text_encodes, resets + world.cross_attention_resets
    sinks.check()
    if outputs.report is not None:
        peak = clocks.peak_rss_mb()
        write_json(outputs.report, report.build(peak_rss_mb=peak, text_encodes=encodes, cross_attention_resets=resets))
    return report


def walk(world: SteppedWorld, plan: Plan, sinks: Sinks, report: Report, clocks: Clocks) -> None:
    """Make every chunk of one plan."""
    progress = ProgressLine()
    if world.notice:
        progress.say(world.notice)
    for number in range(plan.chunks):
        began = clocks.now()
        for wire in plan.events_at(number):
            answer = world.apply(wire, None, clocks.now())
            report.add_event(answer)
            if isinstance(answer, EventRejected):
                progress.say(answer.sentence())
        chunk = world.step(clocks.now)
        if chunk.notice:
            progress.say(chunk.notice)
        seconds = clocks.now() - began
        sinks.note(chunk)
        if number >= plan.first_kept:
            report.add_chunk(chunk, seconds, clocks.since_start())
            sinks.take(chunk)
        progress(number + 1, plan.chunks)
