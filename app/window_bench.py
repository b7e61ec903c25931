"""``bench window``: how even the window's passes are while a world is made, and how soon a turn is seen, on the real
window."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pygame

from app.app import App
from app.details import percentile

SETTLE_SECONDS = 3.0
MOST_SECONDS = 18.0
"""The window keeps the passes of its last twenty seconds."""
GIVE_UP_SECONDS = 120.0
TURN_EVERY_SECONDS, TURN_SECONDS = 1.5, 0.2
"""It looks to the left and to the right in turn, so often and so long."""
TURNS = ((pygame.K_LEFT, 80), (pygame.K_RIGHT, 79))
"""(key, scancode)"""


@dataclass(slots=True)
class Walker:
    """A clock that also walks: once the world is there it holds W and looks left and right, and after ``seconds`` of
    that it closes the window.

    It is called as the window's clock, so it needs no thread and changes nothing in the window.
    """

    seconds: float
    at_end: Callable[[], None] = lambda: None
    app: App | None = None
    walking_since: float | None = None
    began: float = field(default_factory=time.monotonic)
    closed: bool = False
    turns: int = 0
    """How often a key that turns was pressed or let go."""
    made: tuple[tuple[float, int], ...] = ()
    """(when, frames) of the chunks that came while it walked."""

    def __call__(self) -> float:
        now = time.monotonic()
        if self.app is None or self.closed:
            return now
        walking = self.app.state.walking and bool(self.app.state.measured.shown)
        if self.walking_since is None and walking:
            self.walking_since = now
            pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=pygame.K_w, mod=0, unicode="w", scancode=26))
        if self.walking_since is not None:
            self._turn(now - self.walking_since)
        over = self.walking_since is not None and now - self.walking_since > SETTLE_SECONDS + self.seconds
        if over or now - self.began > GIVE_UP_SECONDS:
            self.closed = True
            self.made = tuple((at, frames) for at, frames in self.app.state.measured.made if at >= self.began)
            self.at_end()
            pygame.event.post(pygame.event.Event(pygame.QUIT))
        return now

    def _turn(self, since: float) -> None:
        """Press or let go the key that is due ``since`` seconds after the walk began."""
        pair, left = divmod(self.turns, 2)
        if since < (pair + 1) * TURN_EVERY_SECONDS + left * TURN_SECONDS:
            return
        key, scancode = TURNS[pair % len(TURNS)]
        kind = pygame.KEYUP if left else pygame.KEYDOWN
        pygame.event.post(pygame.event.Event(kind, key=key, mod=0, unicode="", scancode=scancode))
        self.turns += 1


def result(app: App, walker: Walker) -> dict[str, object]:
    """What was measured; ``window_ms`` is None where no world was ever walked through."""
    passes = passes_ms(app, walker.seconds)
    made = walker.made
    fps = sum(frames for _, frames in made[1:]) / (made[-1][0] - made[0][0]) if len(made) > 1 else None
    return {
        "window_ms": None if walker.walking_since is None else {f"p{p}": _rounded(passes, p) for p in (50, 95, 99)},
        "window_ms_max": round(max(passes), 3) if passes else None,
        "key_to_motion_ms": _milliseconds(app.state.instant.latencies),
        "key_to_frame_ms": _milliseconds(app.state.measured.latencies),
        "passes": len(passes),
        "fps_generated": None if fps is None else round(fps, 2),
        "first_picture_seconds": app.first_picture_seconds,
    }


def passes_ms(app: App, seconds: float) -> list[float]:
    """Milliseconds between the passes of the last ``seconds``."""
    kept: list[float] = []
    total = 0.0
    for interval in reversed(app.pass_seconds):
        total += interval
        if total > seconds:
            break
        kept.append(interval * 1000)
    return kept[::-1]


def _milliseconds(seconds: Sequence[float]) -> dict[str, object]:
    """Of turns to the first picture that turns, or of keys to the first frame of the model that answers them."""
    values = [1000 * value for value in seconds]
    return {**{f"p{p}": _rounded(values, p) for p in (50, 95)}, "count": len(values)}


def _rounded(values: Sequence[float], percent: int) -> float | None:
    found = percentile(tuple(values), percent)
    return None if found is None else round(found, 3)
