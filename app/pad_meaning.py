"""What a gamepad's button means, by what is open. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from app import bindings, things
from app.beginnings import BrowseAsked
from app.bindings import ANYWHERE, COMMANDS
from app.gestures import (
    Command,
    Commanded,
    Edit,
    Edited,
    Focus,
    KeyCaught,
    MenuAct,
    MenuActed,
    MenuChosen,
    TabMoved,
)
from app.messages import Message
from app.pad_buttons import CHOOSES, DPAD, LEADS_BACK, PadBindings

TABS: Mapping[str, int] = {"left_shoulder": -1, "right_shoulder": 1}
ACTS: Mapping[str, MenuAct] = {"x": MenuAct.CLEAR, "y": MenuAct.PIN}
IN_MENUS = (*ANYWHERE, "menu", "reset", "prompt", "photo", "branches")
"""What works in menus too, on a button that has no meaning of its own there."""


SOURCE = "pad "
"""What sources begin with that are buttons."""


def source(button: str) -> str:
    """What holds that a button was pressed for, until it is let go of."""
    return f"{SOURCE}{button}"


def pressed(button: str, focus: Focus, now: float, bound: PadBindings) -> Message | None:
    """The message of a button that went down; None where it means nothing."""
    match focus:
        case Focus.KEY:
            return KeyCaught(None, now) if button == LEADS_BACK else KeyCaught(button, now, by_pad=True)
        case Focus.TEXT:
            return _in_text(button, now)
        case Focus.MENU:
            return _in_menu(button, now, bound)
    if button == LEADS_BACK:
        return Commanded(Command.BACK, now)
    return things.asked(bindings.meanings(bound).get(button, ""), source(button), now)


def _in_text(button: str, now: float) -> Message | None:
    if button == "x":
        return BrowseAsked(now)
    edits = {LEADS_BACK: Edit.CANCEL, CHOOSES: Edit.APPLY}
    return Edited(edits[button], now) if button in edits else None


def _in_menu(button: str, now: float, bound: PadBindings) -> Message | None:
    if button.startswith(DPAD):
        return None  # it leads through the menu, again and again while it is held
    if button == CHOOSES:
        return MenuChosen(now)
    if button == LEADS_BACK:
        return Commanded(Command.BACK, now)
    if button in ACTS:
        return MenuActed(ACTS[button], now)
    if button in TABS:
        return TabMoved(TABS[button], now)
    thing = bindings.meanings(bound).get(button, "")
    return Commanded(COMMANDS[thing], now) if thing in IN_MENUS else None
