"""The lines of a walk: whoever goes back and walks on begins another one, and the one before stays beside it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WalkLine:
    """One line, which goes on from what ``parent`` was after chunk ``after``; the first one has no parent and -1.

    ``newest``: its last chunk, as far as is known. ``kept``: the chunks of its own after which one can go on.
    """

    number: int
    parent: int | None
    after: int
    newest: int
    kept: tuple[int, ...] = ()


FIRST = WalkLine(0, None, -1, -1)


def owner(lines: Mapping[int, WalkLine], number: int, chunk: int) -> int:
    """The line that made ``chunk`` on the way to the end of line ``number``: this one or one that it comes from."""
    line = lines[number]
    while chunk <= line.after and line.parent is not None:
        line = lines[line.parent]
    return line.number


def ends(lines: Mapping[int, WalkLine], number: int) -> dict[int, float]:
    """How far each line is walked on the way to the end of line ``number``: its last chunk there, for this one all."""
    found, line = {number: float("inf")}, lines[number]
    while line.parent is not None:
        found[line.parent] = line.after
        line = lines[line.parent]
    return found
