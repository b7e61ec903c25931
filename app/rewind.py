"""Going back in time as a value, and what happens to it. Pure; ``rewind_hands`` has the rules."""

from __future__ import annotations

from dataclasses import dataclass

from app.branches import PlaceSeen
from app.slots import SlotMessage

FASTEST = 4.0
SECONDS_TO_FASTEST = 6.0


@dataclass(frozen=True, slots=True)
class RewindPressed:
    """The key that leads back in time went down; its release is an ``ActionReleased`` of the same source."""

    source: str
    at: float


@dataclass(frozen=True, slots=True)
class LookedBack:
    """While the key is held: the frame on show ends at ``position`` of the walk, the newest one at ``newest``, both in
    chunks, and ``seconds`` are between them.

    ``is_first``: there is none before it. ``frame_bytes``: of all frames that are kept for this.
    """

    position: float
    newest: float
    seconds: float
    is_first: bool
    frame_bytes: int


TimeMessage = RewindPressed | LookedBack | PlaceSeen | SlotMessage


@dataclass(frozen=True, slots=True)
class Rewind:
    """Time goes backwards. ``steps``: frames gone back. ``asked``: the key was let go, and the world is on its way to
    what it was after this chunk."""

    source: str
    began_at: float
    at: float
    steps: float = 0.0
    seen: LookedBack | None = None
    asked: int | None = None


@dataclass(frozen=True, slots=True)
class TimeMachine:
    """What there is to go back to: moments after each of ``chunks``, which the engine keeps in ``byte_count`` bytes."""

    chunks: tuple[int, ...] = ()
    byte_count: int = 0
    problem: str | None = None
    rewind: Rewind | None = None
    resumed: bool = False
    """The world that is being opened goes on from a saved one, which may hold keys that nobody holds now."""


def wound(rewind: Rewind, now: float, fps: float) -> Rewind:
    """The tape runs on to ``now``, the faster the longer the key is held."""
    held = now - rewind.began_at
    speed = 1.0 + (FASTEST - 1.0) * min(1.0, max(0.0, held / SECONDS_TO_FASTEST))
    steps = rewind.steps + max(0.0, now - rewind.at) * fps * speed
    return Rewind(rewind.source, rewind.began_at, now, steps, rewind.seen, rewind.asked)


def nearest(chunks: tuple[int, ...], position: float) -> int | None:
    """The moment (the chunk that it follows) that is closest to a position in chunks; of two the earlier one."""
    return min(chunks, key=lambda chunk: abs(chunk + 1 - position), default=None)
