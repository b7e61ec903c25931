"""The page of saved worlds as a value, and where its rows lie in the window. Pure; ``slot_hands`` has its rules."""

from __future__ import annotations

from dataclasses import dataclass, replace

from app.menu import Rect, Room
from app.prompt_box import PromptBox
from app.slots import SlotLine

TOP, FOOT, ROW, GAP, WIDTH = 118, 76, 84, 10, 860
"""Lengths of the page's design, in its pixels at scale 1."""


@dataclass(frozen=True, slots=True)
class SlotsPage:
    """Row 0 saves the world that runs under a name, which is typed in ``line``; the others are saved worlds."""

    slots: tuple[SlotLine, ...] = ()
    selected: int = 0
    first: int = 0
    line: PromptBox | None = None
    asking: bool = False
    """Whether to delete the chosen one is asked."""

    @property
    def rows(self) -> int:
        return 1 + len(self.slots)

    @property
    def chosen(self) -> SlotLine | None:
        return self.slots[self.selected - 1] if self.selected > 0 else None


def rows_shown(room: Room) -> int:
    free = room.height - room.px(TOP) - room.px(FOOT)
    return max(1, (free + room.px(GAP)) // room.px(ROW + GAP))


def choose(page: SlotsPage, row: int, room: Room) -> SlotsPage:
    """Another row, brought into view; a question that was asked of the one before is withdrawn."""
    row = max(0, min(page.rows - 1, row))
    first = max(0, max(row - rows_shown(room) + 1, min(page.first, row)))
    return replace(page, selected=row, first=first, asking=False)


def row_rect(page: SlotsPage, row: int, room: Room) -> Rect | None:
    """Where a row lies; None while it is not shown."""
    place = row - page.first
    if not 0 <= place < rows_shown(room):
        return None
    width = min(room.px(WIDTH), room.width - 2 * room.px(32))
    y = room.px(TOP) + place * room.px(ROW + GAP)
    return Rect((room.width - width) // 2, y, width, room.px(ROW))


def row_at(page: SlotsPage, x: int, y: int, room: Room) -> int | None:
    for row in range(page.rows):
        rect = row_rect(page, row, room)
        if rect is not None and rect.contains(x, y):
            return row
    return None
