"""Films that a crash left behind, finished at the next start.

A film's marker is locked as long as its window or its encoder lives. After a kill that takes a moment: a process that
is dead already holds its files until its last thread is cleared away (up to 48 ms were measured), and an encoder whose
window died writes down what it was given. So a film whose marker is locked is tried again for a while; what is locked
even then belongs to another window, which is recording.
"""

from __future__ import annotations

import contextlib
import threading
import time
from enum import Enum, auto
from pathlib import Path

from app import mp4, session_box

PATIENCE_SECONDS = 15.0
_AGAIN_SECONDS = 0.2


class Outcome(Enum):
    FINISHED = auto()
    PUT_AWAY = auto()
    """There was nothing to finish, or it cannot be finished and plays as it is, or never will."""
    BUSY = auto()


def leftovers(folder: Path) -> list[Path]:
    """The films in ``folder`` that are being written, or that a crash has left. Raises nothing."""
    return [found.with_name(found.name[1 : -len(".recording")]) for found in sorted(folder.glob(".*.mp4.recording"))]


def repair_film(film: Path) -> Outcome:
    """Finish ``film``, unless somebody is writing it. Raises nothing."""
    try:
        marker = mp4.Marker(film, create=False)
    except FileNotFoundError:
        return Outcome.PUT_AWAY  # its window has finished it meanwhile
    except OSError:
        return Outcome.BUSY
    outcome, problem = Outcome.PUT_AWAY, True
    with contextlib.suppress(OSError):
        if film.exists() and film.stat().st_size == 0:
            film.unlink()  # only the name was taken
        elif session_box.is_whole(film):
            problem = False  # finished in full; only the marker was still to go
        elif film.exists():
            journal = mp4.journal_path(film)
            problem = mp4.finish(film, lambda process: None, journal if journal.is_file() else None) is not None
            outcome = Outcome.PUT_AWAY if problem else Outcome.FINISHED
    mp4.put_journal_away(film, kept=not problem)
    marker.close(remove=True)
    return outcome


def repair(folder: Path) -> list[Path]:
    """Finish what a crash left behind in ``folder``, without patience; the films that were finished. Raises nothing."""
    return [film for film in leftovers(folder) if repair_film(film) is Outcome.FINISHED]


class Repair:
    """Finishes, on a thread of its own, what a crash left in ``folder``."""

    def __init__(self, folder: Path, patience_seconds: float = PATIENCE_SECONDS) -> None:
        self._folder, self._patience_seconds = folder, patience_seconds
        self._told = 0
        self._finished: list[Path] = []
        self._thread = threading.Thread(target=self._run, name="repair", daemon=True)
        self._thread.start()

    @property
    def repaired(self) -> list[Path]:
        """The films finished so far."""
        return list(self._finished)

    def _run(self) -> None:
        until = time.monotonic() + self._patience_seconds
        left = leftovers(self._folder)  # once: what begins later is this window's own
        while left:
            outcomes = {film: repair_film(film) for film in left}
            self._finished += [film for film, outcome in outcomes.items() if outcome is Outcome.FINISHED]
            left = [film for film, outcome in outcomes.items() if outcome is Outcome.BUSY]
            if left and time.monotonic() >= until:
                return
            if left:
                time.sleep(_AGAIN_SECONDS)

    def news(self) -> str | None:
        """A sentence about what was finished since it was asked last; None where there is nothing to tell."""
        fresh = self._finished[self._told :]
        if not fresh:
            return None
        self._told += len(fresh)
        return f"Finished what an interrupted run had recorded: {', '.join(path.name for path in fresh)}."

    def wait(self, timeout_seconds: float) -> bool:
        """Whether it was done within that time."""
        self._thread.join(timeout_seconds)
        return not self._thread.is_alive()
