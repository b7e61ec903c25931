"""Photo mode as a value, and where its pictures lie in the window. Pure; ``photo_hands`` has its rules.

The moment on show is made again in other ways, which fill a grid as they come; the original is the first in it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from app import bindings
from app.menu import Rect, Room
from engine.config import EngineConfig
from engine.protocol import Pixels, Retake

COLUMNS, SEEDS = 3, 3
MORE_STEPS = (4, 8, 16)
MODEL_STEPS = {"lingbot": 4}
"""Of models that say nothing else in the settings; of all others two."""
MOST_SEED = 2**53 - 1
FLIP_SECONDS = 0.7
SPACE = f"key {bindings.KEYS['Space']}"
"""What lets go of a comparison when it comes up."""
TOP, FOOT, SIDE, GAP, CAPTION = 108, 62, 48, 22, 34
"""Lengths of the design, in its pixels at scale 1."""


@dataclass(frozen=True, slots=True)
class LookAtShow:
    """What is on show? The answer is ``Looked``."""


@dataclass(frozen=True, slots=True)
class SavePhoto:
    """Write ``picture`` of ``chunk`` with its recipe, of which ``retake`` is a part."""

    picture: Pixels
    chunk: int
    retake: Retake


PhotoAsk = LookAtShow | SavePhoto


@dataclass(frozen=True, slots=True)
class Looked:
    """The frame on show ends at ``position`` of the walk, in chunks; None where there is none of this world."""

    picture: Pixels | None
    position: float
    at: float


@dataclass(frozen=True, slots=True)
class Shot:
    """One way to make the moment; the original asks for nothing. ``differs``: from the original, in percent."""

    retake: Retake
    picture: Pixels | None = None
    differs: float = 0.0


@dataclass(frozen=True, slots=True)
class Compare:
    """The chosen picture at full size, in turn with the original. ``original``: that one is on show now."""

    began_at: float
    original: bool = True
    first_original: bool = True
    """Which of the two the key began with; without motion nothing else follows, so the next press has the other."""


@dataclass(frozen=True, slots=True)
class Photo:
    """``round``: how often other seeds were asked for. ``taken``: the world is on its way to the chosen one."""

    position: float = 0.0
    shots: tuple[Shot, ...] = ()
    selected: int = 0
    round: int = 0
    compare: Compare | None = None
    first_original: bool = True
    taken: bool = False

    @property
    def chosen(self) -> Shot | None:
        return self.shots[self.selected] if self.shots else None

    @property
    def original(self) -> Pixels | None:
        return self.shots[0].picture if self.shots else None

    @property
    def next_made(self) -> int | None:
        """The shot that is being made now."""
        return next((number for number, shot in enumerate(self.shots) if shot.picture is None), None)


def variants(chunk: int, seed: int, engine: EngineConfig, turn: int) -> tuple[Retake, ...]:
    """The ways in which to make ``chunk`` of a world with this seed: other seeds, in each ``turn`` others again, and
    more steps than the model takes."""
    own = engine.steps or MODEL_STEPS.get(engine.backend, 2)
    first = seed + 1 + SEEDS * (chunk + turn)
    seeds = tuple(Retake(seed=(first + i) % MOST_SEED) for i in range(SEEDS))
    more = [steps for steps in MORE_STEPS if steps > own][:2]
    return (*seeds, *(Retake(steps=steps) for steps in more))


def laid_out(photo: Photo, ways: tuple[Retake, ...]) -> Photo:
    """The grid with the original and an empty place for each way."""
    return replace(photo, shots=(photo.shots[0], *(Shot(way) for way in ways)), selected=0)


def filled(photo: Photo, number: int, picture: Pixels) -> Photo:
    """Way ``number`` was made; where the grid has no such place (others were asked for since), nothing changes."""
    place, original = number + 1, photo.original
    if place >= len(photo.shots) or original is None:
        return photo
    shot = replace(photo.shots[place], picture=picture, differs=difference(original, picture))
    return replace(photo, shots=(*photo.shots[:place], shot, *photo.shots[place + 1 :]))


def difference(first: Pixels, second: Pixels) -> float:
    """Mean distance of two pictures [H, W, 3] in percent of all there is between black and white."""
    if first.shape != second.shape:
        return 100.0
    return float(np.abs(first.astype(np.int16) - second.astype(np.int16)).mean()) / 2.55


def moved(photo: Photo, columns: int, rows: int) -> Photo:
    """Choose the next picture that way; a step that leads outside stays where it is."""
    place = photo.selected + columns + rows * COLUMNS
    return replace(photo, selected=place) if 0 <= place < len(photo.shots) else photo


def cell(photo: Photo, place: int, room: Room) -> Rect:
    """Where a picture lies; its caption stands below it. All have the original's shape."""
    rows = max(1, -(-len(photo.shots) // COLUMNS))
    gap, caption = room.px(GAP), room.px(CAPTION)
    free_width = (room.width - 2 * room.px(SIDE) - (COLUMNS - 1) * gap) // COLUMNS
    free_height = (room.height - room.px(TOP) - room.px(FOOT) - (rows - 1) * gap) // rows - caption
    height_px, width_px = (7, 12) if photo.original is None else photo.original.shape[:2]
    factor = max(1e-6, min(free_width / width_px, free_height / height_px))
    width, height = max(1, int(width_px * factor)), max(1, int(height_px * factor))
    left = (room.width - COLUMNS * width - (COLUMNS - 1) * gap) // 2
    row, column = divmod(place, COLUMNS)
    return Rect(left + column * (width + gap), room.px(TOP) + row * (height + caption + gap), width, height)


def cell_at(photo: Photo, x: int, y: int, room: Room) -> int | None:
    return next((place for place in range(len(photo.shots)) if cell(photo, place, room).contains(x, y)), None)
