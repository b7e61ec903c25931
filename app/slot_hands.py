"""Saving and loading worlds: what the keys do, and what files and engine answer. Part of ``state.update``; pure."""

from __future__ import annotations

from dataclasses import replace

from app import branches, gestures, hints, messages, slots, slots_page
from app.beginning_hands import Text, typed_into
from app.gestures import Command, Edit, MenuAct
from app.prompt_box import PromptBox
from app.slots import (
    DeleteSlot,
    KeepSlot,
    ListSlots,
    PrepareSlot,
    ReadSlot,
    SlotKept,
    SlotKeyed,
    SlotRead,
    SlotReady,
    SlotsListed,
)
from app.slots_page import SlotsPage
from app.steps import let_go, resume, tell
from app.values import AppState, Change
from engine.protocol import SaveWorld, WorldSaved


def handle(state: AppState, message: messages.Message) -> Change | None:
    """The change, or None where the message is not about saved worlds."""
    match message:
        case SlotKeyed("quick_save", at):
            return save(replace(state, touched_at=at), slots.QUICK, at)
        case SlotKeyed("quick_load", at):
            return load(replace(state, touched_at=at), slots.QUICK)
        case SlotReady(name, path):
            if not state.walking:
                return state, ()
            return replace(state, saving=(*state.saving, (path, name))), (SaveWorld(state.session_id, path),)
        case WorldSaved():
            return _written(state, message)
        case SlotKept(line, at):
            quick = state.say("told.quick_saved", key=hints.key_of(state, "quick_load"))
            words = quick if line.name == slots.QUICK else state.say("told.world_saved", name=line.name)
            seen = branches.pictured(state.tree, line.name, line.picture)
            return tell(replace(state, tree=seen), words, at), ()
        case SlotRead(slot, at):
            return _read(state, slot, at)
        case SlotsListed(found):
            if state.slots is None:
                return state, ()
            page = replace(state.slots, slots=found)
            return replace(state, slots=slots_page.choose(page, page.selected, state.room)), ()
        case SlotKeyed("worlds", at):
            return (state, ()) if state.behind or state.prompt_box is not None else open_page(state, at)
    return None if state.slots is None else _in_page(state, state.slots, message)


def open_page(state: AppState, at: float) -> Change:
    """All saved worlds; the world behind them stands still."""
    return replace(let_go(state, at), slots=SlotsPage(), touched_at=at), (ListSlots(),)


def save(state: AppState, name: str, at: float) -> Change:
    """Keep the world as it is; there is nothing to keep before its first picture."""
    if not state.walking or state.world is None or state.world.chunk is None or state.time.rewind is not None:
        return state, ()
    return state, (PrepareSlot(name),)


def load(state: AppState, name: str) -> Change:
    return (state, (ReadSlot(name),)) if state.time.rewind is None and state.prompt_box is None else (state, ())


def _written(state: AppState, saved: WorldSaved) -> Change:
    name = dict(state.saving).get(saved.path)
    state = replace(state, saving=tuple(item for item in state.saving if item[0] != saved.path))
    if saved.problem is not None:
        return tell(state, saved.problem, state.touched_at, bad=True), ()
    if name is None or saved.session_id != state.session_id:
        return state, ()
    prompt = "" if state.world is None else state.world.prompt or ""
    state = replace(state, tree=branches.saved(state.tree, name, saved.chunk, prompt))
    return state, (KeepSlot(name, saved.path, saved.chunk),)


def _read(state: AppState, slot: slots.Slot, at: float) -> Change:
    """Go on from it, unless what runs would make another world of it."""
    engine = state.settings.engine if state.engine is None else state.engine
    differs = slots.misfit(slot, None if state.world is None else state.world.card, engine)
    if differs is not None:
        what, saved, now = differs
        words = state.say("told.slot_differs", name=slot.line.name, what=what, saved=saved, now=now)
        return tell(state, words, at, bad=True), ()
    return resume(state, slot.scene, slot.seed, slot.state, at)


# ---- the page ----------------------------------------------------------------------------------------------------


def _in_page(state: AppState, page: SlotsPage, message: messages.Message) -> Change | None:
    if page.line is not None and isinstance(message, Text):
        return _name(state, page, page.line, message)
    match message:
        case gestures.Commanded(Command.BACK | Command.MENU):
            open_still = replace(page, asking=False, line=None) if page.asking or page.line is not None else None
            return replace(state, slots=open_still), ()
        case gestures.MenuMoved(_, rows):
            return replace(state, slots=slots_page.choose(page, page.selected + rows, state.room)), ()
        case gestures.Scrolled(notches):
            return replace(state, slots=slots_page.choose(page, page.selected - notches, state.room)), ()
        case gestures.MouseMoved(x, y):
            row = slots_page.row_at(page, x, y, state.room)
            if row is None or row == page.selected or page.line is not None:
                return state, ()
            return replace(state, slots=slots_page.choose(page, row, state.room)), ()
        case gestures.MouseClicked(x, y, at):
            row = slots_page.row_at(page, x, y, state.room)
            if row is None or page.line is not None:
                return replace(state, slots=replace(page, line=None)), ()
            return _choose(state, slots_page.choose(page, row, state.room), at)
        case gestures.MenuChosen(at):
            return _choose(state, page, at)
        case gestures.MenuActed(MenuAct.CLEAR):
            return replace(state, slots=replace(page, asking=page.chosen is not None)), ()
    return None


def _choose(state: AppState, page: SlotsPage, at: float) -> Change:
    """Delete what was asked about, type a name, or go on from a saved world."""
    state = replace(state, slots=page, touched_at=at)
    if page.chosen is None:
        can = state.walking and state.world is not None and state.world.chunk is not None
        return (replace(state, slots=replace(page, line=PromptBox())), ()) if can else (state, ())
    if page.asking:
        return replace(state, slots=replace(page, asking=False)), (DeleteSlot(page.chosen.name),)
    return load(state, page.chosen.name)


def _name(state: AppState, page: SlotsPage, line: PromptBox, message: Text) -> Change:
    line, ended, asks = typed_into(line, message)
    if ended is Edit.CANCEL:
        return replace(state, slots=replace(page, line=None)), ()
    if ended is Edit.APPLY:
        closed, name = replace(state, slots=None), line.text.strip()
        return save(closed, name, state.touched_at) if name else (replace(state, slots=replace(page, line=None)), ())
    return replace(state, slots=replace(page, line=line)), asks
