"""A small engine for tests of the whole window: stripes on the test's own clock, and a hand that types."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pygame

from app.app import App
from app.bindings import KEYS
from app.errands import Take
from app.parts import AppConfig, Parts
from engine.config import EngineConfig
from engine.lines import FIRST, WalkLine, owner
from engine.protocol import (
    EventAccepted,
    Failed,
    GoBack,
    MomentsKept,
    OpenWorld,
    Pause,
    Pixels,
    Report,
    Request,
    Restore,
    SampledEvent,
    SaveWorld,
    SceneSpec,
    SessionHeader,
    SnapshotSaved,
    Steer,
    WentBack,
    WorldOpened,
    WorldSaved,
)
from tests.app.walks import CARD, MEADOW, SCENES, frame_chunk

CHUNK_SECONDS = 0.25


class Clock:
    """Time that passes only while the window sleeps."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class StripesEngine:
    """Opens at once, makes a chunk of four frames every quarter of a second, accepts every event."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._reports: deque[Report] = deque()
        self._world: WorldOpened | None = None
        self._next_chunk, self._next_at, self._paused = 0, 0.0, False
        self._events: list[SampledEvent] = []
        self._prompt, self._saved = "", -1
        self.requests: list[Request] = []
        self.made: list[Pixels] = []
        self.kept: list[int] = []
        self._lines, self._line = {FIRST.number: FIRST}, FIRST.number
        self.closed = False

    @property
    def steers(self) -> list[dict[str, object]]:
        return [dict(request.wire) for request in self.requests if isinstance(request, Steer)]

    def report(self, report: Report) -> None:
        self._reports.append(report)

    def send(self, request: Request) -> None:
        self.requests.append(request)
        match request:
            case OpenWorld(scene, seed, session_id) | Restore(scene, seed, session_id, _):
                self._prompt, self._paused = scene.prompt, False
                self._lines, self._line = {FIRST.number: FIRST}, FIRST.number
                self._world = WorldOpened(session_id, CARD, scene.name, seed, scene.prompt)
                self._next_chunk = self._saved + 1 if isinstance(request, Restore) else 0
                if isinstance(request, Restore) and Path(request.path).is_file():
                    self._next_chunk = int(Path(request.path).read_text()) + 1
                self._next_at = self._clock.now
                self.report(self._world)
            case Pause(paused):
                self._paused, self._next_at = paused, self._clock.now + CHUNK_SECONDS
            case Steer(wire, pressed_at):
                event_id, now = wire["event_id"], self._clock.now
                assert isinstance(event_id, int)
                self._prompt = str(wire.get("prompt", self._prompt))
                self._events.append(SampledEvent(event_id, wire, pressed_at, now, now))
                self.report(EventAccepted(event_id, pressed_at, now))

            case SaveWorld(session_id, path):
                Path(path).write_text(str(self._next_chunk - 1))
                self.report(WorldSaved(session_id, self._next_chunk - 1, path))
            case GoBack(session_id, chunk, line):
                self._go(session_id, chunk, self._line if line is None else line)

    def poll(self) -> Report | None:
        due = self._world is not None and not self._paused and self._clock.now >= self._next_at
        if due and not self._reports:
            self._make()
        return self._reports.popleft() if self._reports else None

    def close(self) -> None:
        self.closed = True

    def die(self) -> None:
        self._world = None
        self.report(Failed("The engine's process ended.", "Press R.", engine_lost=True))

    def save(self, path: str) -> None:
        assert self._world is not None
        self._saved = self._next_chunk - 1
        self.report(SnapshotSaved(self._world.session_id, self._saved, path))

    def _make(self) -> None:
        assert self._world is not None
        chunk = frame_chunk(
            self._next_chunk,
            session_id=self._world.session_id,
            made_at=self._clock.now,
            prompt=self._prompt,
            events=tuple(self._events),
        )
        self._events, self._next_chunk = [], self._next_chunk + 1
        self._next_at += CHUNK_SECONDS
        self.made.append(chunk.frames)
        self.report(chunk)
        if chunk.chunk % 2 == 0:
            self.kept.append(chunk.chunk)
            self._tell_kept(chunk.session_id)

    def _go(self, session_id: int, chunk: int, line: int) -> None:
        """To any chunk on the way to the end of a line; the end of the present one is kept."""
        origin, newest = owner(self._lines, line, chunk), self._next_chunk - 1
        self._lines[self._line] = replace(self._lines[self._line], newest=newest, kept=(*self.kept, newest))
        self._line = origin
        if chunk != self._lines[origin].newest:
            self._line = len(self._lines)
            self._lines[self._line] = WalkLine(self._line, origin, chunk, chunk)
        self._next_chunk, self._next_at = chunk + 1, self._clock.now
        self.kept = [kept for kept in self.kept if kept <= chunk]
        self.report(WentBack(session_id, chunk, self._prompt, line=self._line, origin=origin))
        self._tell_kept(session_id)

    def _tell_kept(self, session_id: int) -> None:
        lines = tuple(self._lines.values())
        self.report(MomentsKept(session_id, tuple(self.kept), 1000 * len(self.kept), line=self._line, lines=lines))


@dataclass
class KeptVideo:
    """A recorder that keeps frames in a list. It is done one look after it was asked to stop."""

    path: Path
    dropped: int = 0
    error: str | None = None
    written: list[Pixels] = field(default_factory=list)
    prompts: list[str] = field(default_factory=list)
    stopping: bool = False

    @dataclass(frozen=True)
    class Result:
        path: Path | None
        frames: int
        dropped: int
        error: str | None

    @property
    def frames(self) -> int:
        return len(self.written)

    @property
    def result(self) -> Result | None:
        return self.stop() if self.stopping else None

    def write(self, frames: Pixels) -> None:
        assert not self.stopping
        self.written.extend(frames)

    def note_prompt(self, prompt: str) -> None:
        self.prompts.append(prompt)

    def request_stop(self) -> None:
        self.stopping = True

    def stop(self, timeout_seconds: float = 0.0) -> Result:
        self.stopping = True
        return self.Result(self.path, len(self.written), self.dropped, self.error)


@dataclass
class KeptLog:
    lines: list[tuple[int, int | None]] = field(default_factory=list)
    chunks: list[int] = field(default_factory=list)
    restarts: list[int | None] = field(default_factory=list)
    error: str | None = None
    closed: bool = False

    def write(self, chunk: int, event: SampledEvent) -> None:
        self.lines.append((chunk, event.event_id))

    def made(self, chunk: int, film_frames: int | None = None) -> None:
        self.chunks.append(chunk)

    def restarted(self, scene: SceneSpec, seed: int, after_chunk: int | None) -> None:
        self.restarts.append(after_chunk)

    def resumed(
        self, scene: SceneSpec, seed: int, after_chunk: int, events: Sequence[tuple[int, SampledEvent]]
    ) -> None:
        self.restarts.append(after_chunk)
        self.lines.extend((chunk, event.event_id) for chunk, event in events)

    def close(self) -> None:
        self.closed = True


class Stage:
    """A window, its engine and its recordings; ``play`` lets it run while hands do things at their times."""

    def __init__(self, folder: Path, *, scene: SceneSpec | None = MEADOW, record: bool = False) -> None:
        self.clock = Clock()
        self.engine = StripesEngine(self.clock)
        self.restarts = 0
        self.configs: list[EngineConfig] = []
        self.kept: list[dict[str, object]] = []
        self.takes: list[tuple[SessionHeader, KeptVideo, KeptLog]] = []
        self.hands: deque[tuple[float, Callable[[], object]]] = deque()
        parts = Parts(
            engine=self._start_engine,
            restart=self._restart,
            scenes=lambda: SCENES,
            start_take=self._start_take,
            keep_settings=lambda values: self.kept.append(dict(values)),
            clock=self.clock,
            sleep=self._sleep,
        )
        self.app = App(
            AppConfig(recordings=folder, worlds=folder / "worlds", seed=7, record=record, width=640, height=400),
            parts,
            scene,
        )

    def play(self, hands: Sequence[tuple[float, Callable[[], object]]], seconds: float = 3.0) -> int:
        """``hands``: (seconds after the start, what is done). The window is closed after ``seconds``."""
        close = (seconds, lambda: post(pygame.QUIT))
        self.hands = deque(sorted([*hands, close], key=lambda item: item[0]))
        return self.app.run()

    def _sleep(self, seconds: float) -> None:
        self.clock.now += seconds
        while self.hands and self.clock.now - 100.0 >= self.hands[0][0]:
            self.hands.popleft()[1]()

    def _start_engine(self, config: EngineConfig) -> StripesEngine:
        self.configs.append(config)
        return self.engine

    def _restart(self) -> None:
        self.restarts += 1

    def _start_take(self, header: SessionHeader) -> Take:
        take = header, KeptVideo(Path(f"take{len(self.takes)}.mp4")), KeptLog()
        self.takes.append(take)
        return Take(take[1], take[2])


def post(kind: int, **facts: object) -> None:
    """An event as the window system would send it."""
    pygame.event.post(pygame.event.Event(kind, facts))


def scancode(key: int) -> int:
    """Where a key is on a US keyboard; SDL makes the codes of keys without a letter from their places."""
    name = pygame.key.name(key).upper() if key < 1 << 30 else ""
    named = {"RETURN": "Enter", "SPACE": "Space", "TAB": "Tab", "BACKSPACE": "Backspace", "DELETE": "Delete"}
    if name == "ESCAPE":
        return pygame.KSCAN_ESCAPE
    return KEYS[named.get(name, name)] if name else key & ~(1 << 30)


def down(key: int, mod: int = 0) -> Callable[[], None]:
    return lambda: post(pygame.KEYDOWN, key=key, mod=mod, unicode="", scancode=scancode(key))


def up(key: int) -> Callable[[], None]:
    return lambda: post(pygame.KEYUP, key=key, mod=0, scancode=scancode(key))


def tap(key: int) -> Callable[[], None]:
    """Down and up within one pass of the window's loop."""

    def hands() -> None:
        down(key)()
        up(key)()

    return hands


def write(text: str) -> Callable[[], None]:
    return lambda: post(pygame.TEXTINPUT, text=text)


def red_and_green(frames: Sequence[Pixels]) -> list[tuple[int, int]]:
    """What tells the frames of a test apart."""
    return [(int(frame[0, 0, 0]), int(frame[0, 0, 1])) for frame in np.asarray(frames)]
