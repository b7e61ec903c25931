"""Moments of a world that one can go back to, kept in memory: as many as fit, closer together the newer they are.

Whoever goes back and walks on leaves a line of the walk (see ``lines``). Its end is kept, and given up last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from engine.lines import FIRST, WalkLine, ends, owner
from engine.thinning import least_needed


@dataclass(frozen=True, slots=True)
class Moment:
    """The whole state of a world after ``chunk``. ``parts``: bytes of each piece of memory by a number that is its own,
    as moments share what has not changed between them. ``go_back`` sets the world to it, as often as one likes."""

    chunk: int
    parts: Mapping[int, int]
    go_back: Callable[[], None]


@runtime_checkable
class RewindableWorld(Protocol):
    """A world that can be set back to what it was."""

    @property
    def moment_bytes(self) -> int:
        """What a moment of now would take at most."""

    def keep(self) -> Moment:
        """The state after the newest chunk; the world goes on from it bit for bit as it did the first time."""


@dataclass(frozen=True, slots=True, eq=False)
class _Held:
    """``marked``: the user saved the world there."""

    line: int
    moment: Moment
    marked: bool = False


class MomentRing:
    """The moments of one world, in the order in which they were kept. No more than ``limit_bytes`` are ever held."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._held: list[_Held] = []
        self._lines = {FIRST.number: FIRST}
        self._next_line = 1
        self.line = FIRST.number
        """The line that is walked now."""

    @property
    def chunks(self) -> tuple[int, ...]:
        """Of the line that is walked now, and of those that led to it; oldest first."""
        return tuple(held.moment.chunk for held in self._path(self.line))

    @property
    def lines(self) -> tuple[WalkLine, ...]:
        """All lines that lead anywhere, each with what is kept of it."""
        return tuple(
            replace(line, kept=tuple(sorted(held.moment.chunk for held in self._held if held.line == line.number)))
            for line in self._lines.values()
        )

    @property
    def byte_count(self) -> int:
        return _bytes(self._held)

    def keep(self, world: RewindableWorld, *, marked: bool = False) -> bool:
        """Keep the present moment of ``world``; older ones make room for it. False where it alone is too large."""
        if not self._make_room(world.moment_bytes):
            return False
        self._held.append(_Held(self.line, world.keep(), marked))
        return True

    def mark(self, world: RewindableWorld, newest: int) -> bool:
        """Keep the present moment, after chunk ``newest``, as one that the user wants. False where it is too large."""
        found = next((held for held in self._held if (held.line, held.moment.chunk) == (self.line, newest)), None)
        if found is None:
            return self.keep(world, marked=True)
        self._held[self._held.index(found)] = replace(found, marked=True)
        return True

    def nearest(self, chunk: int, line: int | None = None) -> Moment | None:
        """The newest moment that is not after ``chunk`` on the way to the end of ``line``, or of the present one."""
        number = self.line if line is None else line
        path = self._path(number) if number in self._lines else []
        return next((held.moment for held in reversed(path) if held.moment.chunk <= chunk), None)

    def go(self, world: RewindableWorld, newest: int, moment: Moment, line: int | None = None) -> int:
        """Set ``world`` to ``moment``, which lies on the way to the end of ``line`` (None: of the present one).

        What is left behind ends with ``newest``; its end is kept where the moment itself leaves room for it. Returns
        the line that made the moment's chunk: its end is gone on from, anywhere else another line begins.
        """
        target = owner(self._lines, self.line if line is None else line, moment.chunk)
        left, end = self._lines[self.line], (target, moment.chunk)
        self._lines[self.line] = replace(left, newest=newest)
        has_end = newest > left.after and end != (self.line, newest) and newest not in self.chunks
        if has_end and self._make_room(world.moment_bytes, spare=moment):
            self._held.append(_Held(self.line, world.keep()))
        moment.go_back()
        if moment.chunk == self._lines[target].newest:
            self.line = target
        else:
            self.line, self._next_line = self._next_line, self._next_line + 1
            self._lines[self.line] = WalkLine(self.line, target, moment.chunk, moment.chunk)
        self._prune()
        return target

    def forget(self, line: int) -> None:
        """Give up the end of a line that is not walked now, back to where another one leaves it."""
        if line not in self._lines or line == self.line:
            return
        last = max((other.after for other in self._lines.values() if other.parent == line), default=-1)
        self._held = [held for held in self._held if held.line != line or held.moment.chunk <= last]
        self._lines[line] = replace(self._lines[line], newest=last)
        self._prune()

    def _path(self, number: int) -> list[_Held]:
        """What is held on the way to the end of a line, oldest first."""
        last = ends(self._lines, number)
        path = [held for held in self._held if held.moment.chunk <= last.get(held.line, -1)]
        return sorted(path, key=lambda held: held.moment.chunk)

    def _prune(self) -> None:
        """Lines that lead nowhere any more are gone: nothing is held of them, and none goes on from them."""
        while True:
            needed = {self.line, *(held.line for held in self._held), *(line.parent for line in self._lines.values())}
            if self._lines.keys() <= needed:
                return
            self._lines = {number: line for number, line in self._lines.items() if number in needed}

    # ---- room -----------------------------------------------------------------------------------------------------

    def _make_room(self, size: int, spare: Moment | None = None) -> bool:
        """Give up what is needed least until ``size`` fits in; ``spare`` stays. False where that is not enough."""
        fixed = 0 if spare is None else sum(spare.parts.values())
        if size + fixed > self._limit_bytes:
            return False
        while self.byte_count + size > self._limit_bytes:
            gone = self._least_needed([held for held in self._held if held.moment is not spare])
            if gone is None:
                return False
            self._held.remove(gone)
        self._prune()
        return True

    def _least_needed(self, held: list[_Held]) -> _Held | None:
        """First what lies along lines that were left; then moments of the present line, by their age; then where lines
        part and where the user saved; the ends of lines last. But all these may take no more than half of the room."""
        path = self._path(self.line)
        parts = {(line.parent, line.after) for line in self._lines.values()}
        left_ends = {(line.number, line.newest) for line in self._lines.values() if line.number != self.line}
        tips = [one for one in held if (one.line, one.moment.chunk) in left_ends]
        places = [one for one in held if one not in tips and (one.marked or (one.line, one.moment.chunk) in parts)]
        plain = [one for one in held if one not in tips and one not in places]
        walked = [one for one in path if one in plain]
        along = [one for one in plain if one not in walked]
        crowded = tips + places if _bytes(places + tips) * 2 > self._limit_bytes else []
        if walked and not along and not crowded:
            return walked[least_needed([one.moment.chunk for one in walked])]
        return next(iter(along + crowded + places + tips), None)


def _bytes(held: Iterable[_Held]) -> int:
    """What is shared counts once."""
    parts: dict[int, int] = {}
    for one in held:
        parts |= one.moment.parts
    return sum(parts.values())
