"""What a thing that has a key or a button asks for while one walks. Pure."""

from __future__ import annotations

from app.bindings import ACTIONS, COMMANDS
from app.gestures import ActionPressed, Commanded
from app.messages import Message
from app.prompts import QuickListed
from app.rewind import RewindPressed
from app.slots import SLOT_KEYS, SlotKeyed

REWIND, QUICK = "rewind", "quick"


def asked(thing: str, source: str, now: float) -> Message | None:
    """The message of a thing of ``Bindings`` or ``PadBindings``; ``source`` is what was pressed. None for no thing."""
    if thing in ACTIONS:
        return ActionPressed(ACTIONS[thing], source, now)
    if thing in SLOT_KEYS:
        return SlotKeyed(thing, now)
    if thing == REWIND:
        return RewindPressed(source, now)
    if thing == QUICK:
        return QuickListed(now)
    return Commanded(COMMANDS[thing], now) if thing in COMMANDS else None
