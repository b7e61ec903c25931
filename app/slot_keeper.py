"""Does what is asked of saved worlds: the files, and what recordings must know of a world that goes on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from app.slot_files import SlotFiles, Walked
from app.slots import (
    DeleteSlot,
    KeepSlot,
    ListSlots,
    PrepareSlot,
    ReadSlot,
    SlotAsk,
    SlotKept,
    SlotMessage,
    SlotRead,
    SlotReady,
    SlotsListed,
)
from app.takes import Takes
from engine.config import EngineConfig, to_dict
from engine.protocol import Pixels


@dataclass(frozen=True, slots=True)
class SlotKeeper:
    """One owner, the window's thread. ``perform`` raises FileProblem and BadValue."""

    files: SlotFiles
    takes: Takes
    clock: Callable[[], float]

    def perform(self, ask: SlotAsk, on_show: Pixels | None, engine: EngineConfig) -> SlotMessage:
        """Do it, and tell what came of it. ``engine``: the settings of the one that runs."""
        match ask:
            case PrepareSlot(name):
                return SlotReady(name, str(self.files.prepare(name)))
            case KeepSlot(name, path, chunk):
                header, events = self.takes.history(chunk)
                header = replace(header, settings={"engine": to_dict(engine)})
                return SlotKept(self.files.keep(name, Path(path), chunk, Walked(header, events, on_show)), self.clock())
            case ReadSlot(name):
                slot, events = self.files.read(name)
                self.takes.may_resume(slot.state, slot.chunk, events)
                return SlotRead(slot, self.clock())
            case DeleteSlot(name):
                self.files.delete(name)
            case ListSlots():
                pass
        return SlotsListed(self.files.lines(), self.clock())
