"""Does what is asked of films: shows one, lists them, takes the wheel, saves clips; what takes long on a thread."""

from __future__ import annotations

import webbrowser
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from app import film_files, films
from app.clips import Clip, unpacked
from app.errands import StartTake, Take
from app.films import FilmAsk, FilmMoved, FilmOpened, FilmsListed, Rewalking, WheelReady, WheelRefused
from app.messages import Message, Told
from app.projector import Projector
from app.session_reader import read_session
from app.worker import Tell, Worker
from engine.config import EngineConfig
from engine.errors import FileProblem, WorldwalkError
from engine.protocol import Pixels, SessionHeader

Say = Callable[..., str]
"""Words of the window by their key, in the user's language."""


def no_clip(header: SessionHeader) -> Take:
    raise FileProblem("the clip", "clips are not kept here", "Record a film.")


def its_own(header: SessionHeader, running: EngineConfig, place: str) -> EngineConfig:
    return running


@dataclass(frozen=True, slots=True)
class CinemaParts:
    """``engine_of`` (session, engine that runs, file) tells with which settings an engine makes the frames again."""

    folder: Path
    clock: Callable[[], float]
    start_clip: StartTake
    engine_of: Callable[[SessionHeader, EngineConfig, str], EngineConfig] = its_own


class Cinema:
    """One owner, the window's thread."""

    def __init__(self, parts: CinemaParts, say: Say) -> None:
        self._parts, self._say = parts, say
        self._worker = Worker(parts.clock)
        self._projector: Projector | None = None
        self._moved = FilmMoved(0.0, ended=False)

    @property
    def frame(self) -> Pixels | None:
        """The frame of the film that is watched."""
        return None if self._projector is None else self._projector.frame

    def perform(self, ask: FilmAsk, running: EngineConfig, clip: Clip | None) -> None:
        """Begin what is asked. ``running``: the engine that walks on; ``clip``: the last half minute."""
        match ask:
            case films.OpenFilm(path):
                self._worker.ask(partial(self._open, path))
            case films.CloseFilm():
                self._close_film()
            case films.PlayFilm(playing):
                if self._projector is not None:
                    self._projector.play(playing)
            case films.SeekFilm(seconds):
                if self._projector is not None:
                    self._projector.seek(seconds)
            case films.TakeWheel():
                self._worker.ask(partial(self._take_wheel, ask, running))
            case films.ListFilms():
                self._worker.ask(self._list)
            case films.RenameFilm(path, name):
                self._worker.ask(partial(self._rename, path, name))
            case films.DeleteFilm(path):
                self._worker.ask(partial(self._delete, path))
            case films.OpenFolder():
                self._worker.ask(self._open_folder)
            case films.SaveClip():
                self._worker.ask(partial(self._save_clip, clip))

    def poll(self, now: float) -> Message | None:
        """What is to be told, and the film's next frame, when it is due."""
        message = self._worker.poll()
        if isinstance(message, FilmOpened):
            self._close_film()
            self._projector = Projector(message.facts)
        if message is not None or self._projector is None:
            return message
        self._projector.due(now)
        moved = FilmMoved(self._projector.seconds, self._projector.ended)
        if moved == self._moved:
            return None
        self._moved = moved
        return moved

    def close(self) -> None:
        self._close_film()
        self._worker.close()

    def _close_film(self) -> None:
        if self._projector is not None:
            self._projector.close()
            self._projector = None

    # ---- on the worker's thread ---------------------------------------------------------------------------------

    def _open(self, path: str, tell: Tell) -> None:
        tell(FilmOpened(film_files.probe(Path(path)), self._parts.clock()))

    def _take_wheel(self, ask: films.TakeWheel, running: EngineConfig, tell: Tell) -> None:
        try:
            session = read_session(Path(ask.path))
            place = session.chunk_at(round(ask.seconds * ask.fps))
            if place is None:
                tell(WheelRefused(self._say("film.no_moments"), self._parts.clock()))
                return
            config = self._parts.engine_of(session.header, running, ask.path)
        except WorldwalkError as error:
            tell(WheelRefused(str(error), self._parts.clock()))
            return
        run, last = session.runs[place[0]], place[1]
        rewalking = Rewalking(
            scene=run.scene,
            seed=run.seed,
            chunks=last + 1,
            events=tuple(event for event in run.events if event[0] <= last),
            model=session.header.card.model,
            model_sha256=session.header.card.model_sha256,
            engine=None if config == running else config,
        )
        tell(WheelReady(rewalking, self._parts.clock()))

    def _list(self, tell: Tell) -> None:
        """All films at once, then their pictures, a few at a time."""
        cards = [film_files.card(path) for path in film_files.listed(self._parts.folder)]
        tell(FilmsListed(tuple(cards), done=not cards))
        for index, card in enumerate(cards):
            if card.problem is None:
                cards[index] = replace(card, picture=film_files.picture(card.facts))
            if index % 4 == 3 or index == len(cards) - 1:
                tell(FilmsListed(tuple(cards), done=index == len(cards) - 1))

    def _rename(self, path: str, name: str, tell: Tell) -> None:
        film_files.rename(Path(path), name)
        self._list(tell)

    def _delete(self, path: str, tell: Tell) -> None:
        film_files.delete(Path(path))
        tell(Told(self._say("films.deleted", name=Path(path).name), self._parts.clock()))
        self._list(tell)

    def _open_folder(self, tell: Tell) -> None:
        folder = self._parts.folder
        if not folder.is_dir() or not webbrowser.open(folder.absolute().as_uri()):
            tell(Told(self._say("films.folder", folder=str(folder)), self._parts.clock()))

    def _save_clip(self, clip: Clip | None, tell: Tell) -> None:
        if clip is None or not clip.chunks:
            tell(Told(self._say("clip.nothing"), self._parts.clock(), bad=True))
            return
        take = self._parts.start_clip(clip.header)
        assert take.log is not None
        for number, event in clip.journal:
            take.log.write(number, event)
        for kept in clip.chunks:
            take.recorder.note_prompt(kept.prompt)
            take.recorder.write(np.stack([unpacked(frame) for frame in kept.frames]))
            take.log.made(kept.chunk, take.recorder.frames)
        take.log.close()
        result = take.recorder.stop()
        if result.error is not None or result.path is None:
            tell(Told(result.error or self._say("clip.nothing"), self._parts.clock(), bad=True))
            return
        seconds = round(result.frames / clip.header.card.fps_nominal)
        tell(Told(self._say("clip.saved", seconds=seconds, name=result.path.name), self._parts.clock()))
