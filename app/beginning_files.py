"""Does what is asked before a world begins: clipboard, file dialog, folders, words. None of it lets the window wait."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import platformdirs

from app import clipboard, file_dialog, path_listing
from app.beginnings import (
    BeginningAsk,
    ClipboardHeld,
    ClipboardRefused,
    DialogEnded,
    Held,
    ListPaths,
    LookInClipboard,
    MakeFromWords,
    OpenDialog,
    WordsMade,
)
from app.clipboard import Copied
from app.file_dialog import Machine
from app.messages import Message
from app.pasted_path import plain_path
from app.remembered import OwnWords
from app.side_program import SideProgram
from app.whole_file import FOLDER_VARIABLE
from app.worker import Tell, Worker
from engine.errors import FileProblem
from engine.protocol import SceneSpec

PASTED = "pasted-"
"""How the files of pasted pictures begin: only these are ever removed."""


def default_folder(environ: Mapping[str, str]) -> Path:
    """Where pasted pictures are kept. It may not exist yet."""
    named = environ.get(FOLDER_VARIABLE)
    return Path(named or platformdirs.user_data_dir("worldwalk", appauthor=False)) / "pictures"


def this_machine() -> Machine:
    """With our own Python where Tk can be asked of it."""
    has_tk = all(importlib.util.find_spec(name) is not None for name in ("tkinter", "_tkinter"))
    return Machine(sys.platform, os.environ, shutil.which, sys.executable if has_tk and sys.executable else None)


def no_words(words: str) -> tuple[OwnWords, SceneSpec]:
    own = OwnWords(words, 0)
    return own, SceneSpec(own.name, words)


@dataclass(frozen=True, slots=True)
class BeginningParts:
    """``pasted``: the folder of pasted pictures; ``words``: makes a world of words, somewhere on the map."""

    pasted: Path
    words: Callable[[str], tuple[OwnWords, SceneSpec]] = no_words
    machine: Machine = field(default_factory=this_machine)
    start_folder: Callable[[], Path] = path_listing.start_folder


class BeginningFiles:
    """One owner, the window's thread. ``paste`` reads the clipboard's text, there."""

    def __init__(self, parts: BeginningParts, paste: Callable[[], str], clock: Callable[[], float]) -> None:
        self._parts, self._paste, self._clock = parts, paste, clock
        self._worker = Worker(clock)
        self._dialog: SideProgram | None = None
        self._has_dialog: bool | None = None
        self._told: list[Message] = []

    def perform(self, ask: BeginningAsk) -> None:
        match ask:
            case MakeFromWords(words):
                own, scene = self._parts.words(words)
                self._told.append(WordsMade(scene, own, self._clock()))
            case LookInClipboard(kept):
                machine = self._parts.machine
                by_program = clipboard.reads_text(machine.platform, machine.environ, machine.which)
                self._worker.ask(partial(self._look, "" if by_program else self._paste(), kept))
            case ListPaths(text):
                self._worker.ask(partial(self._list, text))
            case OpenDialog(title, text):
                self._open_dialog(title, text)

    def poll(self) -> Message | None:
        """What has become of it."""
        if self._told:
            return self._told.pop(0)
        answer = None if self._dialog is None else self._dialog.poll()
        if answer is not None:
            self._dialog = None
            path = file_dialog.chosen(answer)
            return DialogEnded(path or None, self._clock(), "told.dialog_failed" if path is None else None)
        return self._worker.poll()

    def close(self) -> None:
        """End the dialog, if it is open, and what is being done."""
        if self._dialog is not None:
            self._dialog.close()
            self._dialog = None
        self._worker.close()

    # ---- the file dialog --------------------------------------------------------------------------------------------

    def _open_dialog(self, title: str, text: str) -> None:
        if self._dialog is not None:
            return
        folder = path_listing.folder_of(text, self._parts.start_folder())
        opening = file_dialog.opening(self._parts.machine, title, folder)
        if opening is None:
            self._told.append(DialogEnded(None, self._clock(), "told.no_dialog"))
            return
        environ = {**self._parts.machine.environ, **opening.environ}
        try:
            self._dialog = SideProgram(opening.arguments, environ, file_dialog.MOST_BYTES)
        except OSError:
            self._told.append(DialogEnded(None, self._clock(), "told.dialog_failed"))

    # ---- on the worker's thread --------------------------------------------------------------------------------------

    def _list(self, text: str, tell: Tell) -> None:
        start = self._parts.start_folder()
        if self._has_dialog is None:
            self._has_dialog = file_dialog.opening(self._parts.machine, "", str(start)) is not None
        tell(path_listing.listed(text, start, dialog=self._has_dialog))

    def _look(self, text: str, kept: Sequence[str], tell: Tell) -> None:
        machine = self._parts.machine
        found = clipboard.look(text, machine.platform, machine.environ, machine.which, clipboard.run(machine.environ))
        if found.path is not None:
            tell(ClipboardHeld(Held.PICTURE, found.path, self._clock()))
        elif found.picture is not None:
            tell(ClipboardHeld(Held.PICTURE, str(keep(self._parts.pasted, found, kept)), self._clock()))
        elif found.text:
            tell(ClipboardHeld(Held.TEXT, found.text, self._clock()))
        else:
            why = "told.clipboard_nothing" if found.is_readable else "told.clipboard_program"
            tell(ClipboardRefused(why, self._clock()))


def keep(folder: Path, found: Copied, kept: Sequence[str]) -> Path:
    """A pasted picture as a file of its own, the same picture always the same; pasted ones not in ``kept`` go.

    Raises FileProblem.
    """
    assert found.picture is not None
    path = folder / f"{PASTED}{hashlib.sha256(found.picture).hexdigest()[:16]}{found.suffix}"
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        draft.write_bytes(found.picture)
        draft.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)
        reason = (error.strerror or str(error)).lower()
        raise FileProblem(path, f"the pasted picture cannot be kept ({reason})", "Free some space.") from error
    wanted = {plain_path(text).name for text in kept} | {path.name}
    for other in folder.glob(f"{PASTED}*"):
        if other.name not in wanted:
            with contextlib.suppress(OSError):
                other.unlink()
    return path
