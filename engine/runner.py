"""The generation loop: requests in order, events at chunk boundaries, chunks at the pace of the window.

``Runner`` knows no process: it talks to a ``Desk``. Whatever goes wrong becomes a ``Failed`` report, and the runner
stays ready for the next world.
"""

from __future__ import annotations

import contextlib
import sys
import time
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Protocol

from engine import backends
from engine.backends import Log, Progress, StreamedWorld, World, WorldModel
from engine.config import EngineConfig
from engine.errors import OutOfGpuMemory, WorldwalkError
from engine.failures import failed
from engine.moments import Moment, MomentRing, RewindableWorld
from engine.pacing import Pacer
from engine.protocol import (
    CloseWorld,
    EngineLog,
    ForgetLine,
    FrameChunk,
    GoBack,
    Loading,
    MakeVariants,
    MomentsKept,
    OpenWorld,
    Pause,
    Report,
    Request,
    Restore,
    SaveWorld,
    SnapshotSaved,
    StayedHere,
    Steer,
    StopVariants,
    TakeVariant,
    WentBack,
    WorldOpened,
    WorldSaved,
)
from engine.rewalk import STAGE, Rewalk
from engine.variants import RepeatableWorld, Retakes

KEPT_SNAPSHOTS = 2
MEMORY_WAITS_SECONDS = (0.0, 1.0, 3.0)
ELSEWHERE = "A world that is made on a server cannot go back in time: what it remembers is there."

Load = Callable[[EngineConfig, Progress, Log], WorldModel]


class Desk(Protocol):
    """Where requests arrive and reports go."""

    @property
    def untaken(self) -> int:
        """Chunks told that the window has not fetched yet."""

    def take(self, until: float | None) -> list[tuple[Request, float]]:
        """What has arrived, each with its time of arrival. Waits until ``until`` (None: for ever) for a request, and
        returns early when the window fetches a chunk."""

    def tell(self, report: Report) -> None: ...

    def wake(self) -> None:
        """Make ``take`` return early; from any thread."""


class Runner:
    """One owner, the main thread of the engine's process."""

    def __init__(
        self,
        config: EngineConfig,
        runtime_dir: Path,
        desk: Desk,
        load: Load = backends.load,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._config, self._runtime_dir, self._desk = config, runtime_dir, desk
        self._load, self._clock = load, clock
        self._model: WorldModel | None = None
        self._world: World | None = None
        self._stream: StreamedWorld | None = None
        """The world, where it is one that comes by itself."""
        self._session_id = 0
        self._paused = self._held = False
        self._pacer = Pacer(1.0)
        self._snapshots: list[Path] = []
        self._rewalk: Rewalk | None = None
        """A world that is made up to a moment before it is walked."""
        self._moments = MomentRing(0)
        self._retakes = Retakes(desk.tell)
        self._newest = -1
        """The newest chunk of the world that was made here; -1 before there is one."""

    def prepare(self) -> None:
        """Load the model before anyone asks for a world; a failure is told, and tried again with the first world."""
        self._guarded(self._load_model)

    def run(self) -> None:
        """For ever; the process is ended from outside."""
        while True:
            self.turn()

    def turn(self) -> None:
        """Answer what has arrived, waiting for it as long as no chunk is due; make a chunk if one is."""
        for request, arrived_at in _newest_world(self._desk.take(self._wait_until())):
            self._guarded(partial(self._answer, request, arrived_at))
        if self._rewalk is not None:
            self._guarded(partial(self._walk_again, self._rewalk))
        elif self._retakes.has_work(self._desk.untaken):
            self._guarded(self._retake)
        elif self._is_due():
            self._guarded(self._make_chunk)

    # ---- requests -----------------------------------------------------------------------------------------------

    def _answer(self, request: Request, arrived_at: float) -> None:
        match request:
            case OpenWorld() | Restore():
                self._open(request)
            case Steer(wire, pressed_at):
                if self._world is not None:
                    answer = self._world.apply(wire, pressed_at, arrived_at)
                    self._desk.tell(answer)
                    self._retakes.note(wire, answer)
            case Pause(paused):
                self._paused = paused
                self._pacer.restart()
                if self._stream is not None:
                    self._stream.pause(paused)
            case GoBack(session_id, chunk, line):
                if self._world is not None and session_id == self._session_id:
                    self._go_back(self._world, chunk, line)
            case ForgetLine(session_id, line):
                if session_id == self._session_id:
                    self._moments.forget(line)
                    self._tell_moments()
            case MakeVariants(session_id) | StopVariants(session_id) | TakeVariant(session_id):
                if self._world is not None and session_id == self._session_id:
                    self._retakes.answer(self._world, request, self._moments)
            case SaveWorld(session_id, path):
                if self._world is not None and session_id == self._session_id:
                    self._save(self._world, Path(path))
            case CloseWorld():
                self._leave()

    def _open(self, request: OpenWorld | Restore) -> None:
        self._leave()  # its memory is free before another is made
        model = self._model or self._load_model()
        self._desk.tell(Loading("Opening the world", 0.95))
        scene, seed, session_id = request.scene, request.seed, request.session_id
        if isinstance(request, Restore):
            world = model.restore(scene, seed, session_id, Path(request.path))
        else:
            world = model.open(scene, seed, session_id)
            if request.chunks:
                self._rewalk = Rewalk(world, request, model.card)
                self._session_id = session_id
                return
        self._begin(model, world, request)

    def _begin(self, model: WorldModel, world: World, request: OpenWorld | Restore) -> None:
        """The world is there, as the request wants it."""
        scene, seed, session_id = request.scene, request.seed, request.session_id
        self._world, self._session_id, self._newest = world, session_id, -1
        self._pacer = Pacer(model.card.fps_nominal)
        self._retakes.begin(-1)
        self._moments = MomentRing(self._config.moments_limit_mb * 1_000_000)
        opened = WorldOpened(
            *(session_id, model.card, scene.name, seed, world.prompt, world.notice, world.mix), model.optics
        )
        self._desk.tell(opened)
        if isinstance(world, StreamedWorld):
            self._stream = world
            world.pause(self._paused)
            world.go_live(self._desk.wake)
            self._tell_moments(ELSEWHERE)
        elif isinstance(request, Restore) and isinstance(world, RewindableWorld):
            self._keep_moment(world)

    def _walk_again(self, rewalk: Rewalk) -> None:
        """One chunk nearer to the moment from which the walk goes on; the last one is shown."""
        chunk = rewalk.step(self._clock)
        self._desk.tell(Loading(STAGE, rewalk.fraction))
        if not rewalk.is_done:
            return
        assert self._model is not None
        self._rewalk = None
        self._begin(self._model, rewalk.world, rewalk.request)
        self._desk.tell(chunk)
        self._newest = chunk.chunk
        self._snapshot(rewalk.world, chunk.chunk)
        if isinstance(rewalk.world, RewindableWorld):
            self._keep_moment(rewalk.world)

    def _leave(self) -> None:
        stream, self._world, self._stream = self._stream, None, None
        self._rewalk = None
        self._retakes.stop()
        self._moments = MomentRing(0)
        if stream is not None:
            stream.close()

    def _load_model(self) -> WorldModel:
        def progress(stage: str, fraction: float | None) -> None:
            self._desk.tell(Loading(stage, fraction))

        self._model = self._load(self._config, progress, lambda line: self._desk.tell(EngineLog(line)))
        self._desk.tell(Loading("The engine is ready", 0.9))
        return self._model

    # ---- chunks -------------------------------------------------------------------------------------------------

    @property
    def _is_walking(self) -> bool:
        return self._world is not None and not self._paused

    def _wait_until(self) -> float | None:
        """When the next chunk is due; None where only a request or a fetched chunk brings one."""
        if self._rewalk is not None or self._retakes.has_work(self._desk.untaken):
            return 0.0
        if self._stream is not None:
            return 0.0 if self._is_due() else None
        if not self._is_walking:
            return None
        if self._pacer.may_begin(self._desk.untaken):
            return self._pacer.begin_at
        self._held = self._held or self._clock() >= self._pacer.begin_at
        return None

    def _is_due(self) -> bool:
        if self._stream is not None:
            return self._stream.is_ready and self._desk.untaken == 0
        may = self._is_walking and self._pacer.may_begin(self._desk.untaken)
        return may and self._clock() >= self._pacer.begin_at

    def _make_chunk(self) -> None:
        assert self._world is not None
        began = self._clock()
        if self._held:
            self._pacer.held_until(began)
            self._held = False
        chunk = self._step(self._world)
        self._desk.tell(chunk)
        self._pacer.finished(began, self._clock(), len(chunk.frames))
        self._newest = chunk.chunk
        self._retakes.asked.made(chunk.chunk)
        if (chunk.chunk + 1) % self._config.snapshot_every_chunks == 0:
            self._snapshot(self._world, chunk.chunk)
        if chunk.chunk % self._config.moments_every_chunks == 0 and isinstance(self._world, RewindableWorld):
            self._keep_moment(self._world)

    # ---- going back ---------------------------------------------------------------------------------------------

    def _keep_moment(self, world: RewindableWorld) -> None:
        if self._moments.keep(world):
            self._tell_moments()
            return
        size, limit = world.moment_bytes / 1e6, self._config.moments_limit_mb
        self._tell_moments(
            f"This world's memory is {size:.0f} MB, and engine.moments_limit_mb allows {limit} for going back in time."
        )

    def _tell_moments(self, problem: str | None = None) -> None:
        kept, session_id = self._moments, self._session_id
        self._desk.tell(MomentsKept(session_id, kept.chunks, kept.byte_count, problem, kept.line, kept.lines))

    def _go_back(self, world: World, chunk: int, line: int | None) -> None:
        """What is left is a line of the walk by now, and the snapshots of it are replaced by one of here."""
        moment = self._moments.nearest(chunk, line)
        if moment is None:
            reason = ELSEWHERE if self._stream is not None else "No earlier moment of this world is kept."
            self._desk.tell(StayedHere(self._session_id, reason))
            return
        assert isinstance(world, RepeatableWorld)
        self._be_at(world, moment, line)

    def _be_at(self, world: RepeatableWorld, moment: Moment, line: int | None = None) -> None:
        origin = self._moments.go(world, self._newest, moment, line)
        self._retakes.begin(moment.chunk)
        self._newest = moment.chunk
        self._pacer.restart()
        here = self._moments.line, origin
        self._desk.tell(WentBack(self._session_id, moment.chunk, world.prompt, world.mix, *here))
        self._tell_moments()
        self._snapshot(world, moment.chunk)

    def _retake(self) -> None:
        """Make one more variant of the chunk on show, or go on from the chosen one and tell it."""
        assert isinstance(self._world, RepeatableWorld)
        chosen = self._retakes.step(self._clock)
        if chosen is None:
            return
        before, wires = chosen
        self._be_at(self._world, before)
        if before.chunk not in self._moments.chunks:
            self._keep_moment(self._world)
        for wire in wires:
            self._retakes.note(wire, self._world.apply(wire, None, self._clock()))
        self._make_chunk()

    def _save(self, world: World, path: Path) -> None:
        """For the user; trouble costs the file, not the walk."""
        problem = None
        try:
            world.save(path)
        except OSError as error:
            problem = f"{path}: cannot be written ({error.strerror or error})."
        except WorldwalkError as error:
            problem = str(error)
        if problem is None and isinstance(world, RewindableWorld) and self._newest >= 0:
            self._moments.mark(world, self._newest)
        self._desk.tell(WorldSaved(self._session_id, self._newest, str(path), problem))

    # ---- for the case of an accident ----------------------------------------------------------------------------

    def _step(self, world: World) -> FrameChunk:
        """A chunk for which the graphics card is full is tried again, as other programs come and go."""
        for seconds in MEMORY_WAITS_SECONDS:
            try:
                return world.step(self._clock)
            except OutOfGpuMemory as error:
                self._desk.tell(EngineLog(str(error)))
                time.sleep(seconds)
        return world.step(self._clock)

    def _snapshot(self, world: World, chunk: int) -> None:
        """Keep the state after ``chunk``. A disk that is full costs the snapshot, not the walk."""
        path = self._runtime_dir / f"world-{self._session_id}-{chunk}.snapshot"
        try:
            world.save(path)
        except Exception as error:
            self._desk.tell(EngineLog(f"No snapshot could be saved after chunk {chunk}: {error}"))
            return
        self._desk.tell(SnapshotSaved(self._session_id, chunk, str(path)))
        self._snapshots = [*(one for one in self._snapshots if one != path), path]
        while len(self._snapshots) > KEPT_SNAPSHOTS:
            with contextlib.suppress(OSError):
                self._snapshots.pop(0).unlink()

    # ---- what goes wrong ----------------------------------------------------------------------------------------

    def _guarded(self, work: Callable[[], object]) -> None:
        try:
            work()
        except Exception as error:
            self._keep_last_picture()
            self._leave()
            self._pacer.restart()
            self._desk.tell(failed(error))
            if not isinstance(error, WorldwalkError | MemoryError):
                traceback.print_exc(file=sys.stderr)

    def _keep_last_picture(self) -> None:
        """A world made elsewhere is lost with the line to it; another can begin where it was seen last."""
        stream = self._stream
        if stream is not None and stream.last_chunk is not None:
            self._snapshot(stream, stream.last_chunk)


def _newest_world(requests: list[tuple[Request, float]]) -> list[tuple[Request, float]]:
    """Without worlds that are replaced before they begin, and without what was asked of them."""
    opens = [i for i, (request, _) in enumerate(requests) if isinstance(request, OpenWorld | Restore)]
    newest = opens[-1] if opens else 0
    return [item for i, item in enumerate(requests) if i >= newest or isinstance(item[0], Pause)]
