"""Saved worlds on disk: a folder for each, whose small ``slot.json`` names the files that count.

    worlds/quick/slot.json                       {"worldwalk_slot": 1, "name": ..., "saved_at": ..., "chunk": 41, ...}
    worlds/quick/world-20260131-180509.safetensors    the engine's state (``engine.state``)
    worlds/quick/walk-20260131-180509.worldwalk.jsonl how it came to be (``session_log``), so that films can go on
    worlds/quick/picture-20260131-180509.png          what was on show

``slot.json`` is replaced in one step, after the others are there; then those of before are removed. So at any moment
the world of before or the new one is whole.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np
import platformdirs
from PIL import Image

from app.journal import Events
from app.recordings import plain_name, save_picture
from app.session_box import SUFFIX
from app.session_log import SessionLog
from app.session_reader import read_session
from app.slots import Slot, SlotLine
from app.small_pictures import small
from app.whole_file import FOLDER_VARIABLE, write_whole
from engine.errors import BadValue, FileProblem
from engine.protocol import Pixels, SampledEvent, SessionHeader

SCHEMA = 1
SHEET = "slot.json"
MOST_SLOTS = 200


@dataclass(frozen=True, slots=True)
class Walked:
    """How the world that is saved came to be, and what was on show."""

    header: SessionHeader
    events: Events
    picture: Pixels | None


def default_folder(environ: Mapping[str, str]) -> Path:
    """Where saved worlds are kept. It may not exist yet."""
    named = environ.get(FOLDER_VARIABLE)
    return Path(named or platformdirs.user_data_dir("worldwalk", appauthor=False)) / "worlds"


class SlotFiles:
    """One owner, the window's thread. All of it raises FileProblem."""

    def __init__(self, folder: Path, now: Callable[[], datetime] = datetime.now) -> None:
        self.folder, self._now = folder, now

    def prepare(self, name: str) -> Path:
        """Where the engine may write its state."""
        home = self._home(name)
        try:
            home.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _unwritable(home, error) from error
        return home / f"world-{self._now():%Y%m%d-%H%M%S-%f}.safetensors"

    def keep(self, name: str, state: Path, chunk: int, walked: Walked) -> SlotLine:
        """Write what belongs to a state that the engine has written, and let the slot be that one."""
        stamp = state.stem.removeprefix("world-")
        session, picture = state.with_name(f"walk-{stamp}{SUFFIX}"), state.with_name(f"picture-{stamp}.png")
        log = SessionLog(session, walked.header)
        for number, event in walked.events:
            log.write(number, event)
        log.made(chunk)
        log.close()
        if log.error is not None:
            raise FileProblem(session, log.error, "Free some space, or save again.")
        shown = None if walked.picture is None else small(walked.picture)
        if shown is not None:
            save_picture(picture, shown)
        line = SlotLine(plain_name(name), f"{self._now():%Y-%m-%d %H:%M}", shown)
        named = {"state": state.name, "session": session.name, "picture": None if shown is None else picture.name}
        sheet = {"worldwalk_slot": SCHEMA, "name": line.name, "saved_at": line.saved_at, "chunk": chunk, **named}
        write_whole(state.with_name(SHEET), json.dumps(sheet, indent=1) + "\n")
        for path in state.parent.iterdir():
            if path.name not in (SHEET, *named.values()):
                with contextlib.suppress(OSError):
                    path.unlink()
        return line

    def read(self, name: str) -> tuple[Slot, Events]:
        """A saved world, and what was asked of it from its beginning on."""
        home = self._home(name)
        sheet = _sheet(home)
        session = read_session(home / sheet["session"])
        run, chunk = session.runs[-1], _number(home, sheet["chunk"])
        state = home / sheet["state"]
        if not state.is_file():
            raise FileProblem(state, "this part of the saved world is missing", "Save the world anew.")
        events = [(number, _known(wire)) for number, wire in run.events]
        engine = session.header.settings.get("engine")
        line = SlotLine(sheet["name"], sheet["saved_at"], _picture(home, sheet))
        kept = engine if isinstance(engine, Mapping) else {}
        return Slot(line, chunk, run.scene, run.seed, session.header.card, str(state), kept), events

    def lines(self) -> tuple[SlotLine, ...]:
        """All that can be read, the newest first."""
        found = []
        homes = sorted(self.folder.iterdir())[:MOST_SLOTS] if self.folder.is_dir() else []
        for home in homes:
            with contextlib.suppress(FileProblem, BadValue):
                sheet = _sheet(home)
                found.append(SlotLine(sheet["name"], sheet["saved_at"], _picture(home, sheet)))
        return tuple(sorted(found, key=lambda line: line.saved_at, reverse=True))

    def delete(self, name: str) -> None:
        home = self._home(name)
        try:
            (home / SHEET).unlink(missing_ok=True)  # from here on it is none, whatever happens to the rest
            shutil.rmtree(home)
        except OSError as error:
            raise _unwritable(home, error) from error

    def _home(self, name: str) -> Path:
        return self.folder / plain_name(name)


def _sheet(home: Path) -> dict[str, str]:
    path = home / SHEET
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise FileProblem(home, "no world is saved here", "Save one first.") from None
    except (OSError, ValueError) as error:
        raise FileProblem(path, f"cannot be read ({error})", "Save the world anew.") from None
    schema = found.get("worldwalk_slot") if isinstance(found, dict) else None
    if schema != SCHEMA:
        problem = f"is not a saved world of this version ({schema!r} instead of {SCHEMA})"
        raise FileProblem(path, problem, "Open it with the version that made it, or save anew.")
    names = ("name", "saved_at", "state", "session")
    if not all(isinstance(found.get(name), str) for name in names) or not _plain_files(found):
        raise FileProblem(path, "is damaged", "Save the world anew.")
    return {**{name: found[name] for name in names}, "chunk": str(found.get("chunk")), "picture": found.get("picture")}


def _plain_files(found: Mapping[str, object]) -> bool:
    """Whether it names files of its own folder and nothing else."""
    names = [found.get(name) for name in ("state", "session", "picture")]
    return all(name is None or (isinstance(name, str) and name == os.path.basename(name) and name) for name in names)


def _number(home: Path, text: str) -> int:
    if not text.isdigit():
        raise FileProblem(home / SHEET, "is damaged", "Save the world anew.")
    return int(text)


def _picture(home: Path, sheet: Mapping[str, str]) -> Pixels | None:
    if not sheet["picture"]:
        return None
    try:
        with Image.open(home / sheet["picture"], formats=["PNG"]) as image:
            return np.array(image.convert("RGB"), dtype=np.uint8)
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None  # the world is whole without it


def _known(wire: Mapping[str, object]) -> SampledEvent:
    number = wire.get("event_id")
    return SampledEvent(number if isinstance(number, int) else None, wire, None, 0.0, 0.0)


def _unwritable(path: Path, error: OSError) -> FileProblem:
    reason = (error.strerror or str(error)).lower()
    return FileProblem(path, f"cannot be written ({reason})", "Free some space, or see to its folder.")
