"""The tree of a walk as values: where it began, where it parts, how each way ended, what was saved. Pure.

The engine knows the lines (see ``engine.lines``) and what is kept of them; the window adds what a place looks like.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from app.menu import Rect, Room
from engine.lines import WalkLine
from engine.protocol import MomentsKept, Pixels

MOST_PLACES = 256
TOP, FOOT, SIDE, CELL_WIDTH, CELL_HEIGHT, PICTURE_WIDTH, PICTURE_HEIGHT = 118, 92, 40, 208, 168, 168, 98
"""Lengths of the page's design, in its pixels at scale 1."""


class Kind(StrEnum):
    """The table of words has what each is called."""

    START = "start"
    PARTING = "parting"
    END = "end"
    SAVED = "saved"
    HERE = "here"


@dataclass(frozen=True, slots=True)
class PlaceSeen:
    """What the walk looked like after ``chunk`` of a line, ``seconds`` after its beginning. ``picture``: small."""

    line: int
    chunk: int
    seconds: float
    prompt: str
    picture: Pixels


@dataclass(frozen=True, slots=True)
class SavedPlace:
    """The world was saved as ``name`` after ``chunk`` of a line."""

    name: str
    line: int
    chunk: int
    prompt: str
    picture: Pixels | None = None


@dataclass(frozen=True, slots=True)
class Tree:
    """All that is known of the lines of this walk; ``line`` is walked now."""

    lines: tuple[WalkLine, ...] = ()
    line: int = 0
    places: tuple[PlaceSeen, ...] = ()
    saved: tuple[SavedPlace, ...] = ()
    chunk_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Node:
    """A place in the tree. ``before``: the number of the node from which one comes here. ``way``: the line to name when
    going here. ``kept``: one can go there. ``column`` and ``row`` count from the upper left."""

    kind: Kind
    line: int
    chunk: int
    before: int | None
    column: int
    row: int
    seconds: float
    prompt: str
    picture: Pixels | None = None
    name: str | None = None
    kept: bool = True


@dataclass(frozen=True, slots=True)
class TreePage:
    """``selected`` counts the nodes. ``asking``: whether to forget it is asked."""

    selected: int = 0
    first_column: int = 0
    first_row: int = 0
    asking: bool = False


# ---- what is told ----------------------------------------------------------------------------------------------------


def told(tree: Tree, kept: MomentsKept) -> Tree:
    """The engine said what it keeps; places of lines that are gone are forgotten."""
    known = {line.number for line in kept.lines}
    places = tuple(place for place in tree.places if place.line in known)
    saved = tuple(place for place in tree.saved if place.line in known)
    return replace(tree, lines=kept.lines, line=kept.line, places=places, saved=saved)


def seen(tree: Tree, place: PlaceSeen) -> Tree:
    others = tuple(one for one in tree.places if (one.line, one.chunk) != (place.line, place.chunk))
    return replace(tree, places=(*others, place)[-MOST_PLACES:], chunk_seconds=place.seconds / (place.chunk + 1))


def saved(tree: Tree, name: str, chunk: int, prompt: str) -> Tree:
    """The world that is walked was saved after ``chunk``; what had the name before has it no longer."""
    others = tuple(place for place in tree.saved if place.name != name)
    return replace(tree, saved=(*others, SavedPlace(name, tree.line, chunk, prompt)))


def pictured(tree: Tree, name: str, picture: Pixels | None) -> Tree:
    """What a saved world looks like."""
    return replace(tree, saved=tuple(replace(one, picture=picture) if one.name == name else one for one in tree.saved))


# ---- the nodes -------------------------------------------------------------------------------------------------------


def nodes(tree: Tree, chunk: int, prompt: str) -> tuple[Node, ...]:
    """The tree, each line after the one that it comes from. ``chunk`` and ``prompt`` are those on show."""
    lines = {line.number: line for line in tree.lines}
    if not lines:
        return ()
    found: list[Node] = []
    row = 0
    for number in _in_order(lines, min(lines), []):
        line = lines[number]
        column, before = 0, _before(found, lines, line)
        if before is not None:
            column = found[before].column + 1
        here = [_node(tree, lines, line, place, prompt) for place in _places(tree, lines, line, chunk)]
        for node in here:
            found.append(replace(node, before=before, column=column, row=row))
            before, column = len(found) - 1, column + 1
        row += 1 if here else 0
    return tuple(found)


def clock(seconds: float) -> str:
    """A time of the walk in minutes and seconds."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def _in_order(lines: dict[int, WalkLine], number: int, found: list[int]) -> list[int]:
    """A line, and those that leave it: the later they leave it the nearer, so that no two cross."""
    found.append(number)
    children = [line for line in lines.values() if line.parent == number]
    for child in sorted(children, key=lambda line: (-line.after, line.number)):
        _in_order(lines, child.number, found)
    return found


def _before(found: Sequence[Node], lines: dict[int, WalkLine], line: WalkLine) -> int | None:
    """The node from which a line comes: the last one at or before where it leaves its parent."""
    while line.parent is not None:
        on_way = [i for i, node in enumerate(found) if node.line == line.parent and node.chunk <= line.after]
        if on_way:
            return max(on_way, key=lambda i: (found[i].chunk, i))
        line = lines[line.parent]
    return None


Place = tuple[int, Kind, SavedPlace | None]


def _places(tree: Tree, lines: dict[int, WalkLine], line: WalkLine, chunk: int) -> list[Place]:
    """What there is to show along a line, in the order of walking: (chunk, kind, what was saved there)."""
    number, found = line.number, list[Place]()
    found += [(place.chunk, Kind.SAVED, place) for place in tree.saved if place.line == number]
    if line.parent is None and line.kept and line.kept[0] not in {place[0] for place in found}:
        found.append((line.kept[0], Kind.START, None))
    taken = {place[0] for place in found}
    if number != tree.line and line.newest in line.kept and line.newest not in taken:
        found.append((line.newest, Kind.END, None))
    leaving = [other.after for other in lines.values() if other.parent == number]
    last = max([chunk if number == tree.line else -1, *leaving, *(place[0] for place in found)])
    for after in sorted(set(leaving) - taken):
        if leaving.count(after) + (last > after) > 1:
            found.append((after, Kind.PARTING, None))
    found.sort(key=lambda place: place[0])
    return [*found, (max(chunk, last), Kind.HERE, None)] if number == tree.line else found


def _node(tree: Tree, lines: dict[int, WalkLine], line: WalkLine, place: Place, here: str) -> Node:
    chunk, kind, kept = place
    look = next((one for one in tree.places if (one.line, one.chunk) == (line.number, chunk)), None)
    if kind is Kind.START and look is None:
        look = next((one for one in tree.places if one.line == line.number), None)
    prompt, picture = ("", None) if look is None else (look.prompt, look.picture)
    if kept is not None:
        prompt, picture = kept.prompt, kept.picture
    if kind is Kind.HERE:
        prompt, picture = here, None
    return Node(
        kind=kind,
        line=line.number,
        chunk=chunk,
        before=None,
        column=0,
        row=0,
        seconds=(chunk + 1) * tree.chunk_seconds,
        prompt=prompt,
        picture=picture,
        name=None if kept is None else kept.name,
        kept=kind is Kind.HERE or chunk in line.kept,
    )


# ---- choosing --------------------------------------------------------------------------------------------------------


def step(found: Sequence[Node], selected: int, columns: int, rows: int) -> int:
    """The node to which an arrow leads: back along the way, on along it, or to the nearest one above or below."""
    node = found[selected]
    if columns < 0:
        return selected if node.before is None else node.before
    if columns > 0:
        on = [i for i, other in enumerate(found) if other.before == selected]
        return min(on, key=lambda i: (found[i].line != node.line, found[i].row), default=selected)
    if rows == 0:
        return selected
    way = [i for i, other in enumerate(found) if (other.row - node.row) * rows > 0]
    return min(way, key=lambda i: (abs(found[i].row - node.row), abs(found[i].column - node.column)), default=selected)


def choose(page: TreePage, found: Sequence[Node], number: int, room: Room) -> TreePage:
    """Another node, brought into view; a question that was asked of the one before is withdrawn."""
    if not found:
        return TreePage()
    number = max(0, min(len(found) - 1, number))
    columns, rows = cells_shown(room)
    node = found[number]
    first_column = max(node.column - columns + 1, min(page.first_column, node.column), 0)
    first_row = max(node.row - rows + 1, min(page.first_row, node.row), 0)
    return TreePage(number, first_column, first_row)


def cells_shown(room: Room) -> tuple[int, int]:
    """How many columns and rows of nodes the window has room for."""
    width, height = room.width - 2 * room.px(SIDE), room.height - room.px(TOP) - room.px(FOOT)
    return max(1, width // room.px(CELL_WIDTH)), max(1, height // room.px(CELL_HEIGHT))


def node_rect(page: TreePage, node: Node, room: Room) -> Rect:
    """Where a node's picture and words lie, for those that are shown."""
    x = room.px(SIDE) + (node.column - page.first_column) * room.px(CELL_WIDTH)
    y = room.px(TOP) + (node.row - page.first_row) * room.px(CELL_HEIGHT)
    return Rect(x, y, room.px(PICTURE_WIDTH), room.px(CELL_HEIGHT) - room.px(16))


def is_shown(page: TreePage, node: Node, room: Room) -> bool:
    columns, rows = cells_shown(room)
    return 0 <= node.column - page.first_column < columns and 0 <= node.row - page.first_row < rows


def node_at(page: TreePage, found: Sequence[Node], x: int, y: int, room: Room) -> int | None:
    shown = (i for i, node in enumerate(found) if is_shown(page, node, room))
    return next((i for i in shown if node_rect(page, found[i], room).contains(x, y)), None)
