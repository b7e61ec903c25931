"""Photo mode: what the keys do, and what the engine answers. Part of ``state.update``; pure."""

from __future__ import annotations

import math
from dataclasses import replace

from app import gestures, messages, photo
from app.gestures import Command, MenuAct, Pointed
from app.photo import FLIP_SECONDS, SPACE, Compare, LookAtShow, Looked, Photo, SavePhoto, Shot
from app.steps import let_go, tell
from app.values import AppState, Change
from engine.protocol import MakeVariants, NoVariants, Retake, StopVariants, TakeVariant, VariantMade

WHILE_IT_IS_OPEN = (Command.FULLSCREEN, Command.RECORD)
"""What other keys may do meanwhile."""


def handle(state: AppState, message: messages.Message) -> Change | None:
    """The change, or None where the message is not about photo mode."""
    open_now = state.photo
    match message:
        case gestures.Commanded(Command.PHOTO, at) if open_now is None:
            return begin(replace(state, touched_at=at), at)
        case NoVariants(session_id, why):
            if open_now is None or session_id != state.session_id:
                return state, ()
            return tell(replace(state, photo=None), state.say(f"photo.not_{why}"), state.touched_at, bad=True), ()
        case VariantMade(session_id, chunk, number, picture):
            if open_now is None or session_id != state.session_id or chunk != _chunk(open_now):
                return state, ()
            return replace(state, photo=photo.filled(open_now, number, picture)), ()
        case Looked():
            return (state, ()) if open_now is None else _lay_out(state, open_now, message)
    if open_now is None or state.page is not None or state.menu is not None:
        return None
    return _in_photo(state, open_now, message)


def begin(state: AppState, at: float) -> Change:
    """Stand still and look at what is on show; nothing where there is no walk to look at."""
    busy = state.behind or state.prompt_box is not None or state.time.rewind is not None
    if not state.walking or busy or state.help:
        return state, ()
    return replace(let_go(state, at), photo=Photo()), (LookAtShow(),)


def tick(state: AppState, now: float) -> AppState:
    """While two pictures are compared, they are shown in turn; with reduced motion each press shows one of them."""
    open_now = state.photo
    if open_now is None or open_now.compare is None or state.settings.app.reduced_motion:
        return state
    compare = open_now.compare
    even = int(max(0.0, now - compare.began_at) / FLIP_SECONDS) % 2 == 0
    original = compare.first_original if even else not compare.first_original
    if original == compare.original:
        return state
    return replace(state, photo=replace(open_now, compare=replace(compare, original=original)))


def _chunk(shown: Photo) -> int:
    """The chunk that the frame at the position belongs to."""
    return math.ceil(shown.position - 1e-6) - 1


def _lay_out(state: AppState, open_now: Photo, looked: Looked) -> Change:
    if looked.picture is None or state.world is None:
        return tell(replace(state, photo=None), state.say("photo.no_picture"), looked.at, bad=True), ()
    original = Shot(Retake(), looked.picture)
    return _ask(state, replace(open_now, position=looked.position, shots=(original,)))


def _ask(state: AppState, shown: Photo) -> Change:
    """Have the moment made in the ways of this round; what was being made before is not wanted any more."""
    assert state.world is not None
    engine = state.settings.engine if state.engine is None else state.engine
    ways = photo.variants(_chunk(shown), state.world.seed, engine, shown.round)
    shown = photo.laid_out(shown, ways)
    return replace(state, photo=shown), (MakeVariants(state.session_id, shown.position, ways),)


def _in_photo(state: AppState, shown: Photo, message: messages.Message) -> Change | None:
    match message:
        case gestures.ActionReleased(source):
            if source == SPACE and shown.compare is not None:
                return replace(state, photo=replace(shown, compare=None)), ()
            return None
        case gestures.FocusLost(at):
            return replace(let_go(state, at), photo=replace(shown, compare=None)), ()
        case gestures.Commanded(command) if command in WHILE_IT_IS_OPEN:
            return None
        case gestures.Commanded(command, at):
            return _command(replace(state, touched_at=at), shown, command)
    if shown.taken or not shown.shots:
        return (state, ()) if isinstance(message, Pointed) else None
    match message:
        case gestures.MenuMoved(columns, rows, at):
            return replace(state, photo=photo.moved(shown, columns, rows), touched_at=at), ()
        case gestures.Scrolled(notches):
            return replace(state, photo=photo.moved(shown, -notches, 0)), ()
        case gestures.MouseMoved(x, y):
            over = photo.cell_at(shown, x, y, state.room)
            if over in (None, shown.selected) or shown.compare is not None:
                return state, ()
            return replace(state, photo=replace(shown, selected=over)), ()
        case gestures.MouseClicked(x, y, at):
            over = photo.cell_at(shown, x, y, state.room)
            return (state, ()) if over is None else _take(state, replace(shown, selected=over), at)
        case gestures.MenuChosen(at, space=True):
            return replace(state, photo=_compared(shown, at)), ()
        case gestures.MenuChosen(at):
            return _take(state, shown, at)
        case gestures.MenuActed(MenuAct.CLEAR, at):
            after = _compared(shown, at) if shown.compare is None else replace(shown, compare=None)
            return replace(state, photo=after), ()
        case gestures.MenuActed(MenuAct.PIN):
            return _save(state, shown)
        case gestures.TabMoved(step, at):
            state = replace(state, touched_at=at)
            return _ask(state, replace(shown, round=max(0, shown.round + step), compare=None))
        case gestures.MenuActed():
            return state, ()
    return None


def _command(state: AppState, shown: Photo, command: Command) -> Change:
    match command:
        case Command.BACK | Command.PHOTO | Command.MENU:
            return (state, ()) if shown.taken else _leave(state)
        case Command.SNAPSHOT:
            return _save(state, shown)
    return state, ()


def _leave(state: AppState) -> Change:
    """Go on from the original, which the world has been all the time."""
    return replace(state, photo=None), (StopVariants(state.session_id),)


def _take(state: AppState, shown: Photo, at: float) -> Change:
    """Go on from the chosen one, once it is there; walking, even if the world had stood still before."""
    state, chosen = replace(state, touched_at=at, photo=shown), shown.chosen
    if chosen is None or chosen.picture is None:
        return state, ()
    if shown.selected == 0:
        return _leave(replace(state, paused=False))
    taken = replace(shown, taken=True, compare=None)
    state = tell(state, state.say("photo.goes_on", name=name_of(state, chosen.retake)), at)
    return replace(state, photo=taken, paused=False), (TakeVariant(state.session_id, chosen.retake),)


def _save(state: AppState, shown: Photo) -> Change:
    chosen = shown.chosen
    if chosen is None or chosen.picture is None:
        return state, ()
    return state, (SavePhoto(chosen.picture, _chunk(shown), chosen.retake),)


def _compared(shown: Photo, at: float) -> Photo:
    """The chosen one and the original in turn; each press begins with the other one of the two."""
    chosen = shown.chosen
    if shown.compare is not None or chosen is None or chosen.picture is None:
        return shown
    first = shown.first_original
    return replace(shown, compare=Compare(at, first, first), first_original=not first)


def name_of(state: AppState, retake: Retake) -> str:
    """What a way of making the moment is called."""
    if retake.seed is not None:
        return state.say("photo.seed", seed=retake.seed)
    return state.say("photo.original") if retake.steps is None else state.say("photo.steps", steps=retake.steps)
