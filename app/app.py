"""App.run: drain events, update, send, take reports, show the frame that is due. Nothing else."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pygame

from app import details, errands, gestures, hints, keymap, messages, picture_files
from app import state as core
from app.beginning_files import BeginningFiles
from app.beginnings import BeginningAsk, HandChanged
from app.branch_keeper import BranchKeeper
from app.cinema import Cinema, CinemaParts
from app.desktop import Desktop
from app.errands import Ask
from app.films import FilmAsk
from app.instant import FrameChosen, MotionShown
from app.messages import Message
from app.pads import Pads
from app.parts import AppConfig, Parts
from app.past_frames import PastFrames
from app.photo import Looked, PhotoAsk, SavePhoto
from app.playback import Playback
from app.remembered import OwnPicture
from app.slot_files import SlotFiles
from app.slot_keeper import SlotKeeper
from app.slots import SlotAsk
from app.takes import Takes
from app.theme import Glyphs, Theme
from app.values import AppState
from app.view import View
from engine.config import EngineConfig
from engine.errors import WorldwalkError
from engine.protocol import (
    Engine,
    Failed,
    FrameChunk,
    MomentsKept,
    OpenWorld,
    Pixels,
    Report,
    Restore,
    SceneSpec,
    SnapshotSaved,
    WentBack,
    WorldOpened,
)

PASSES_PER_SECOND = 60
MOST_REPORTS_PER_PASS = 64
MEASURE_EVERY_SECONDS = 0.5


class App:
    """The window's program."""

    def __init__(self, config: AppConfig, parts: Parts, scene: SceneSpec | None = None) -> None:
        """``scene``: opened at once; without one the gallery is shown."""
        self._config, self._parts, self._scene = config, parts, scene
        self._clock = parts.clock
        self._state = AppState(
            seed=config.seed,
            settings=config.settings,
            system_language=config.system_language,
            remembered=config.remembered,
            kept=config.remembered,
            history=config.remembered.prompts,
            inputs=config.settings.app.input_overlay,
            record_next=config.record,
            fullscreen=config.fullscreen,
            width=config.width,
            height=config.height,
        )
        self._engine: Engine | None = None
        self._pads: Pads | None = None
        self._playback, self._past = Playback(), PastFrames()
        self._takes = Takes(parts.start_take)
        self._branches = BranchKeeper(self._playback, self._past, self._takes)
        self._slots = SlotKeeper(SlotFiles(config.worlds), self._takes, parts.clock)
        films = CinemaParts(config.recordings, parts.clock, parts.start_clip, parts.engine_of)
        self._cinema = Cinema(films, lambda key, **values: self._state.say(key, **values))
        self._beginnings = BeginningFiles(parts.beginning, lambda: self._desktop.paste(), parts.clock)
        self._passes: deque[float] = deque(maxlen=20 * PASSES_PER_SECOND)
        self._measured_at = 0.0
        self.first_picture_seconds: float | None = None
        """From the start of ``run`` to the first picture of the window on screen."""

    @property
    def state(self) -> AppState:
        return self._state

    @property
    def pass_seconds(self) -> tuple[float, ...]:
        """Time between the latest passes of the loop, each of which may show a picture: the frame intervals."""
        return tuple(self._passes)

    def run(self) -> int:
        """Until the user leaves; returns the exit code. Raises NeedsHardware where there is no display."""
        began = self._clock()
        self._desktop = Desktop(self._config.width, self._config.height)
        self._view = View()
        try:
            self._resize_to_window()
            self._show(self._clock())
            self.first_picture_seconds = self._clock() - began
            self._desktop.set_icon(Theme(1.0, Glyphs()))
            self._pads = Pads()
            self._start()
            self._loop()
        finally:
            if self._pads is not None:
                self._pads.close()
            self._desktop.close()
            self._takes.request_stop()  # the file is finished while the engine goes
            if self._engine is not None:
                self._engine.close()
            self._cinema.close()
            self._beginnings.close()
            trouble = self._takes.finish()
        if trouble is not None:
            print(f"worldwalk: {trouble}", file=sys.stderr)
        return 0

    # ---- the loop -----------------------------------------------------------------------------------------------

    def _start(self) -> None:
        """The engine, the scenes, and the world where one was asked for. The window is on screen already."""
        if self._config.settings.notice is not None:
            self._tell(messages.Told(self._config.settings.notice, self._clock(), bad=True))
        if self._scene is None:
            self._start_engine()  # it gets ready while the user chooses
        self._state, asks = core.begin(self._state, self._scene, self._clock())
        self._perform(asks)
        self._tell(messages.ModelsListed(tuple(self._parts.models())))
        try:
            self._tell(messages.ScenesListed(tuple(self._parts.scenes())))
        except WorldwalkError as error:
            self._tell(messages.ScenesListed(()))
            self._tell(messages.Told(str(error), self._clock(), bad=True))

    def _loop(self) -> None:
        step = 1.0 / PASSES_PER_SECOND
        before = due = self._clock()
        while not self._state.quitting:
            self._pass(self._clock())
            # an absolute beat: sleeping for a fixed time would add the time of the work to each interval
            due += step
            now = self._clock()
            if now < due:
                self._parts.sleep(due - now)
            elif now - due > 4 * step:
                due = now
            now = self._clock()
            self._passes.append(now - before)
            before = now

    def _pass(self, now: float) -> None:
        for event in pygame.event.get():
            hand = keymap.hand_of(event)
            if hand is not None and hand != self._state.by_pad:
                self._tell(HandChanged(hand))
            message = self._translate(event, now)
            if message is not None:
                self._tell(message)
        self._take_reports(now)
        recording = self._takes.poll(now)
        if recording is not None:
            self._tell(recording)
        while (film := self._cinema.poll(now)) is not None:
            self._tell(film)
        while (beginning := self._beginnings.poll()) is not None:
            self._tell(beginning)
        news = self._parts.news()
        if news is not None:
            self._tell(messages.Told(news, now))
        if self._state.details and now - self._measured_at >= MEASURE_EVERY_SECONDS:
            self._measure(now)
        self._tell(messages.Ticked(now))
        self._desktop.follow(self._state, self._view.caret)
        self._resize_to_window()
        self._show(now)

    def _translate(self, event: pygame.event.Event, now: float) -> Message | None:
        assert self._pads is not None
        news = self._pads.hear(event, now)
        if isinstance(news, str):
            return messages.Told(self._state.say("told.pad_unknown", name=news), now, bad=True)
        return news or keymap.translate(event, self._state.focus, now, self._state.settings.app.keys)

    def _tell(self, message: Message) -> None:
        self._state, asks = core.update(self._state, message)
        self._perform(asks)

    # ---- the engine ---------------------------------------------------------------------------------------------

    def _take_reports(self, now: float) -> None:
        """Everything that waits; but with enough frames here no more are fetched, and the engine is not hurried."""
        for _ in range(MOST_REPORTS_PER_PASS):
            if self._engine is None or not (self._playback.has_room or self._state.standing):
                return
            report = self._engine.poll()
            if report is None:
                return
            self._hear(report, now)

    def _hear(self, report: Report, now: float) -> None:
        current = self._state.session_id
        if isinstance(report, WorldOpened) and report.session_id == current:
            self._playback.begin(report.session_id, report.card.fps_nominal)
            self._branches.begin()
            self._takes.opened(report)
        elif isinstance(report, SnapshotSaved):
            self._takes.snapshot_saved(report)
        elif isinstance(report, WentBack) and report.session_id == current:
            for place in self._branches.went(report):
                self._tell(place)
        elif isinstance(report, MomentsKept) and report.session_id == current:
            self._branches.kept(report)
        rewind = self._state.time.rewind
        if isinstance(report, FrameChunk) and rewind is not None and rewind.asked is not None:
            self._branches.came(report, unseen=True)
            return  # made before the world went back
        self._tell(report)
        world = self._state.world
        if isinstance(report, FrameChunk) and world is not None and report.session_id == world.session_id:
            self._playback.push(report, now)
            self._branches.came(report)
            told = self._takes.add(report, now)
            if told is not None:
                self._tell(told)

    def _perform(self, asks: Sequence[Ask]) -> None:
        for ask in asks:
            match ask:
                case errands.SavePicture():
                    self._try(self._save_picture)
                case errands.StartRecording():
                    self._tell(self._takes.start(self._clock()))
                case errands.StopRecording():
                    self._takes.request_stop()
                case errands.CopyText(text):
                    self._desktop.copy(text)
                case errands.PasteText():
                    self._tell(gestures.Pasted(self._desktop.paste()))
                case errands.RestartEngine():
                    self._restart_engine()
                case errands.SwitchEngine(config):
                    if self._engine is not None:
                        self._engine.close()
                        self._engine = None
                    self._start_engine(config)
                case errands.KeepSettings(values):
                    self._try(partial(self._parts.keep_settings, values))
                case errands.Remember(remembered):
                    self._try(partial(self._parts.remember, remembered))
                case errands.ReadPicture(path):
                    self._try(partial(self._read_picture, path))
                case errands.MakePicture(own):
                    self._try(partial(self._make_picture, own))
                case _:
                    if isinstance(ask, SlotAsk):
                        self._try(partial(self._keep_or_load, ask))
                        continue
                    if isinstance(ask, PhotoAsk):
                        self._photograph(ask)
                        continue
                    if isinstance(ask, FilmAsk):
                        self._cinema.perform(ask, self._state.engine or self._state.settings.engine, self._takes.clip())
                        continue
                    if isinstance(ask, BeginningAsk):
                        self._beginnings.perform(ask)
                        continue
                    if isinstance(ask, Restore):
                        self._takes.will_open(ask.scene, ask.path)
                    elif isinstance(ask, OpenWorld):
                        self._takes.will_open(ask.scene, again=ask if ask.chunks else None)
                    if self._engine is not None or self._start_engine():
                        assert self._engine is not None
                        self._engine.send(ask)

    def _start_engine(self, config: EngineConfig | None = None) -> bool:
        """Whether the engine could be started. Where not, the window stays and says why."""
        config = config or self._state.settings.engine
        try:
            self._engine = self._parts.engine(config)
        except WorldwalkError as error:
            self._tell(Failed(str(error), self._retry()))
        else:
            self._tell(messages.EngineStarted(config))
        return self._engine is not None

    def _restart_engine(self) -> None:
        try:
            self._parts.restart()
        except WorldwalkError as error:
            self._tell(Failed(str(error), self._retry(), engine_lost=True))

    def _retry(self) -> str:
        return self._state.say("told.retry", key=hints.key_of(self._state, "reset"))

    # ---- files of the user's --------------------------------------------------------------------------------------

    def _try(self, deed: Callable[[], None]) -> None:
        """Do it, or tell the user why it cannot be done."""
        try:
            deed()
        except WorldwalkError as error:
            self._tell(messages.Told(str(error), self._clock(), bad=True))

    def _read_picture(self, path: str) -> None:
        picture, size = self._parts.read_picture(path, self._state.settings.engine)
        self._tell(messages.PictureRead(path, picture, size, self._clock()))

    def _make_picture(self, own: OwnPicture) -> None:
        scene = self._parts.make_picture(own, self._state.settings.engine)
        self._tell(messages.PictureMade(scene, own, self._clock()))

    def _keep_or_load(self, ask: SlotAsk) -> None:
        engine = self._state.engine or self._state.settings.engine
        self._tell(self._slots.perform(ask, self._playback.on_show, engine))

    def _photograph(self, ask: PhotoAsk) -> None:
        if isinstance(ask, SavePhoto):
            self._try(partial(self._save_photo, ask))
            return
        position = self._playback.position
        picture = None if position is None else self._playback.on_show
        self._tell(Looked(picture, position or 0.0, self._clock()))

    def _save_photo(self, ask: SavePhoto) -> None:
        events = [(chunk, event.wire) for chunk, event in self._takes.history(ask.chunk)[1]]
        self._tell_saved(picture_files.save_photo(self._config.recordings, self._state, ask, events))

    # ---- the picture --------------------------------------------------------------------------------------------

    def _show(self, now: float) -> None:
        (self._playback.pause if self._state.standing else self._playback.resume)(now)
        due = self._playback.due(now)
        if due is not None:
            self._tell(FrameChosen(due.position, self._playback.interval_seconds))
        past = self._look_back()
        frame = self._playback.on_show if past is None else past
        if self._state.film is not None:
            frame = self._cinema.frame
        if self._view.draw(self._desktop.surface, self._state, frame, now):
            pygame.display.flip()
        shown_at = self._clock()
        if due is not None:
            begun = self._branches.shown(due)
            if begun is not None:
                self._tell(begun)
            self._tell(messages.FrameShown(shown_at))
            for chunk in due.first_of:
                events, updated = chunk.events, chunk.prompt_updated
                facts = chunk.session_id, chunk.chunk, chunk.prompt, updated, events
                self._tell(messages.ChunkShown(*facts, shown_at, chunk.fade))
        if self._state.instant.motion is not None:
            self._tell(MotionShown(shown_at))

    def _look_back(self) -> Pixels | None:
        """The frame of the past that is on show while time goes backwards."""
        rewind = self._state.time.rewind
        glance = None if rewind is None else self._past.look(rewind.steps)
        if glance is None:
            return None
        self._tell(glance.told(self._playback.chunk_seconds, self._past.byte_count))
        return glance.frame

    def _resize_to_window(self) -> None:
        self._tell(gestures.WindowResized(*self._desktop.surface.get_size()))

    def _measure(self, now: float) -> None:
        self._measured_at = now
        passes = tuple(self._passes)[-5 * PASSES_PER_SECOND :]
        p50, p99 = details.percentile(passes, 50), details.percentile(passes, 99)
        if p50 is not None and p99 is not None:
            playback = self._playback
            counts = playback.waiting_frames, playback.dropped, playback.underruns
            self._tell(messages.LoopMeasured(p50 * 1000, p99 * 1000, *counts))

    def _save_picture(self) -> None:
        if self._playback.on_show is None:
            return
        self._tell_saved(picture_files.save(self._config.recordings, self._state, self._playback.on_show))

    def _tell_saved(self, path: Path) -> None:
        words = self._state.say("told.saved", name=path.name, folder=str(path.parent))
        self._tell(messages.Told(words, self._clock()))
