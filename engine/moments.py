"""Moments of a world that one can go back to, kept in memory: as many as fit, closer together the newer they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

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


class MomentRing:
    """The moments of one world, oldest first. No more than ``limit_bytes`` of them are ever held."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._moments: list[Moment] = []

    @property
    def chunks(self) -> tuple[int, ...]:
        return tuple(moment.chunk for moment in self._moments)

    @property
    def byte_count(self) -> int:
        held: dict[int, int] = {}
        for moment in self._moments:
            held |= moment.parts
        return sum(held.values())

    def keep(self, world: RewindableWorld) -> bool:
        """Keep the present moment of ``world``; older ones make room for it. False where it alone is too large."""
        size = world.moment_bytes
        if size > self._limit_bytes:
            return False
        while self._moments and self.byte_count + size > self._limit_bytes:
            del self._moments[least_needed([moment.chunk for moment in self._moments])]
        self._moments.append(world.keep())
        return True

    def nearest(self, chunk: int) -> Moment | None:
        """The newest moment that is not after ``chunk``."""
        return next((moment for moment in reversed(self._moments) if moment.chunk <= chunk), None)

    def forget_after(self, chunk: int) -> None:
        self._moments = [moment for moment in self._moments if moment.chunk <= chunk]
