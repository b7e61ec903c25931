"""The page of a walk's branches: what the keys do, and what is told of places. Part of ``state.update``; pure."""

from __future__ import annotations

from dataclasses import replace

from app import branches, gestures, messages
from app.branches import Kind, Node, PlaceSeen, TreePage
from app.gestures import Command, MenuAct
from app.rewind import Rewind
from app.slots import QUICK, ReadSlot
from app.steps import let_go, tell
from app.values import AppState, Change
from engine.protocol import ForgetLine, GoBack


def handle(state: AppState, message: messages.Message) -> Change | None:
    """The change, or None where the message is not about branches."""
    match message:
        case PlaceSeen():
            return replace(state, tree=branches.seen(state.tree, message)), ()
        case gestures.Commanded(Command.BRANCHES, at) if state.branches is None:
            return open_page(state, at), ()
    return None if state.branches is None else _in_page(state, state.branches, message)


def open_page(state: AppState, at: float) -> AppState:
    """The tree of this walk, the present place chosen; the world behind it stands still."""
    state = replace(state, touched_at=at)
    busy = state.behind or state.prompt_box is not None or state.time.rewind is not None
    if busy or not state.walking:
        return state
    if not state.time.chunks:
        return tell(state, state.time.problem or state.say("told.nothing_back"), at, bad=True)
    found = shown(state)
    here = next((i for i, node in enumerate(found) if node.kind is Kind.HERE), 0)
    page = branches.choose(TreePage(), found, here, state.room)
    return replace(let_go(state, at), branches=page, help=False)


def shown(state: AppState) -> tuple[Node, ...]:
    """The nodes of the tree as it is."""
    world = state.world
    chunk = -1 if world is None or world.chunk is None else world.chunk
    return branches.nodes(state.tree, chunk, "" if world is None else world.prompt or "")


def name_of(state: AppState, node: Node) -> str:
    if node.name is None:
        return state.say(f"branches.{node.kind}")
    return state.say("worlds.quick") if node.name == QUICK else node.name


def _in_page(state: AppState, page: TreePage, message: messages.Message) -> Change | None:
    found = shown(state)
    match message:
        case gestures.Commanded(Command.BACK | Command.MENU | Command.BRANCHES):
            return replace(state, branches=replace(page, asking=False) if page.asking else None), ()
        case gestures.MenuMoved(columns, rows) if found:
            number = branches.step(found, min(page.selected, len(found) - 1), columns, rows)
            return replace(state, branches=branches.choose(page, found, number, state.room)), ()
        case gestures.Scrolled(notches) if found:
            number = page.selected - notches
            return replace(state, branches=branches.choose(page, found, number, state.room)), ()
        case gestures.MouseMoved(x, y):
            over = branches.node_at(page, found, x, y, state.room)
            if over is None or over == page.selected:
                return state, ()
            return replace(state, branches=branches.choose(page, found, over, state.room)), ()
        case gestures.MouseClicked(x, y, at):
            over = branches.node_at(page, found, x, y, state.room)
            if over is None:
                return replace(state, branches=replace(page, asking=False)), ()
            asking = page.asking and over == page.selected
            page = replace(branches.choose(page, found, over, state.room), asking=asking)
            return _choose(state, page, found, at)
        case gestures.MenuChosen(at):
            return _choose(state, page, found, at)
        case gestures.MenuActed(MenuAct.CLEAR):
            node = found[page.selected] if page.selected < len(found) else None
            return replace(state, branches=replace(page, asking=node is not None and node.kind is Kind.END)), ()
    return None


def _choose(state: AppState, page: TreePage, found: tuple[Node, ...], at: float) -> Change:
    """Forget what was asked about, stay here, or go there."""
    state = replace(state, branches=page, touched_at=at)
    if page.selected >= len(found):
        return state, ()
    node = found[page.selected]
    if page.asking:
        before = 0 if node.before is None else node.before
        return replace(state, branches=branches.choose(page, found, before, state.room)), (
            ForgetLine(state.session_id, node.line),
        )
    if node.kind is Kind.HERE:
        return replace(state, branches=None), ()
    if node.kept:
        way = Rewind("", at, at, asked=node.chunk)  # what comes until the world is there was made before it went
        going = replace(state, branches=None, time=replace(state.time, rewind=way))
        return going, (GoBack(state.session_id, node.chunk, node.line),)
    if node.name is not None:
        return replace(state, branches=None), (ReadSlot(node.name),)
    return tell(state, state.say("told.branch_gone"), at, bad=True), ()
