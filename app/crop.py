"""A picture of the user's own before it becomes a world: which part of it is taken, and the prompt. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

from app.menu import Rect, Room
from app.prompt_box import PromptBox
from engine.protocol import Pixels
from engine.wording import PICTURE_PROMPT

STEP = 0.1
DEFAULT_PROMPT = PICTURE_PROMPT
"""What stands in the line until its owner says more; in English, which every model reads."""


@dataclass(frozen=True, slots=True)
class CropPage:
    """``size``: what the model makes, in pixels; the picture is cropped to its shape. ``shift`` -1 to 1 along the
    picture's longer way, 0 for its middle. ``line``: the prompt while it is typed."""

    path: str
    picture: Pixels
    size: tuple[int, int]
    prompt: str
    shift: float = 0.0
    line: PromptBox | None = None


def kept(page: CropPage) -> tuple[float, float, float, float]:
    """The part that is taken, as (left, top, width, height) in parts of the picture."""
    height, width, _ = page.picture.shape
    return part(width / height, page.size[0] / page.size[1], page.shift)


def part(shape: float, wanted: float, shift: float) -> tuple[float, float, float, float]:
    """The largest part of the shape ``wanted`` (width / height) in one of ``shape``, moved by ``shift`` of its room."""
    if shape > wanted:
        across = wanted / shape
        return (1.0 - across) * (1.0 + shift) / 2, 0.0, across, 1.0
    down = shape / wanted
    return 0.0, (1.0 - down) * (1.0 + shift) / 2, 1.0, down


def move(page: CropPage, columns: int, rows: int) -> CropPage:
    """A step along the way that has room; rounded, so that the middle is met again."""
    height, width, _ = page.picture.shape
    step = columns if width / height > page.size[0] / page.size[1] else rows
    return replace(page, shift=round(max(-1.0, min(1.0, page.shift + step * STEP)), 3))


def point(page: CropPage, x: int, y: int, room: Room) -> CropPage:
    """The part whose middle is where the pointer is, as nearly as it goes."""
    rect = picture_rect(page, room)
    _, _, across, down = kept(page)
    along, size = ((x - rect.x) / rect.width, across) if across < 1.0 else ((y - rect.y) / rect.height, down)
    if size >= 1.0:
        return page
    return replace(page, shift=max(-1.0, min(1.0, 2 * (along - size / 2) / (1.0 - size) - 1.0)))


def picture_rect(page: CropPage, room: Room) -> Rect:
    """Where the whole picture lies in the window."""
    height, width, _ = page.picture.shape
    inner_width, inner_height = room.width - 2 * room.px(64), max(1, room.height - room.px(100 + 132))
    factor = min(inner_width / width, inner_height / height)
    size = max(1, round(width * factor)), max(1, round(height * factor))
    return Rect((room.width - size[0]) // 2, room.px(100) + (inner_height - size[1]) // 2, *size)
