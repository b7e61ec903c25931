"""Prompts beside the line that is typed: a second one mixed in by a slider, and prepared ones on keys. Pure values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from app.menu import Rect, Room
from app.prompt_box import PromptBox
from engine.protocol import Prompt, PromptMix

STEPS = 20
"""Of the slider, 5 % each: shares that are said in whole numbers are meant exactly."""
HALF = STEPS // 2
CAPTURED_PX_PER_STEP = 24
"""Of a captured pointer, which has no place on the slider."""
QUICK_COUNT = 9
HINT_AFTER_SECONDS = 0.4
"""Ctrl is held so long before the prepared prompts are shown, so that a quick hand does not see them."""


@dataclass(frozen=True, slots=True)
class QuickAsked:
    """The prepared prompt of this number, 1 to 9, is wanted."""

    number: int
    at: float


@dataclass(frozen=True, slots=True)
class QuickListed:
    """The list of prepared prompts is wanted, to choose from."""

    at: float


@dataclass(frozen=True, slots=True)
class ControlHeld:
    """Ctrl went down, while walking."""

    source: str
    at: float


PromptMessage = QuickAsked | QuickListed | ControlHeld


class Place(StrEnum):
    """Which part of the box gets the keys."""

    FIRST = "first"
    SECOND = "second"
    SLIDER = "slider"


@dataclass(frozen=True, slots=True)
class Mixing:
    """A second line in the prompt box, with a slider between it and the first, which is the box itself.

    ``before``: the prompt in force when the box was opened. ``sent``: the mix that was asked for last, from this box.
    """

    second: PromptBox
    place: Place = Place.SECOND
    step: int = HALF
    dragging: bool = False
    carried_px: int = 0
    """Of a captured pointer, towards the next step."""
    before: Prompt | None = None
    sent: PromptMix | None = None

    @property
    def share(self) -> float:
        """Of the second prompt."""
        return self.step / STEPS

    def of(self, first: str) -> PromptMix | None:
        """What the box asks for; None while one of its lines is blank."""
        text, other = first.strip(), self.second.text.strip()
        return PromptMix(text, other, self.share) if text and other else None

    def moved(self, steps: int) -> Mixing:
        return replace(self, step=max(0, min(STEPS, self.step + steps)))

    def carried(self, dx_px: int) -> Mixing:
        """A captured pointer moved sideways."""
        steps = int((self.carried_px + dx_px) / CAPTURED_PX_PER_STEP)
        return replace(self.moved(steps), carried_px=self.carried_px + dx_px - steps * CAPTURED_PX_PER_STEP)


@dataclass(frozen=True, slots=True)
class Prompts:
    """What is known of prompts beside the newest one and its state."""

    mixing: Mixing | None = None
    mix: PromptMix | None = None
    """The newest prompt, where it is two at once."""
    again: PromptMix | None = None
    """To be asked for once the world has begun anew."""
    control: str | None = None
    """The Ctrl key that is held."""
    control_at: float = 0.0
    hinted: bool = False
    """Whether the prepared prompts are shown because it is held for some time."""
    chosen: int | None = None
    """The chosen line of their list, 0 to 8, while it is open."""


def line_of(text: str, history: tuple[str, ...]) -> PromptBox:
    """A line that is changed, its caret at the end."""
    return PromptBox(text=text, caret=len(text), anchor=len(text), history=history)


# ---- where it lies -----------------------------------------------------------------------------------------------

_LINE, _SLIDER_ROW, _FOOT = 60, 44, 56
_SHARE_WIDTH = 70


def box_rect(room: Room, *, mixing: bool) -> Rect:
    """The prompt box at the foot of the window."""
    width = min(room.px(860), room.width - room.px(64))
    height = room.px(_LINE + (_LINE - 10 + _SLIDER_ROW if mixing else 0))
    return Rect((room.width - width) // 2, room.height - room.px(_FOOT) - height, width, height)


def line_rect(room: Room, index: int, *, mixing: bool) -> Rect:
    """The first or the second line of text in it."""
    box, pad = box_rect(room, mixing=mixing), room.px(22)
    top = box.y + room.px(10) + index * room.px(_LINE - 10)
    return Rect(box.x + pad, top, box.width - 2 * pad, room.px(_LINE - 20))


def slider_rect(room: Room) -> Rect:
    """The slider's way from left (the first prompt alone) to right; the shares stand at its sides."""
    box, side = box_rect(room, mixing=True), room.px(22 + _SHARE_WIDTH)
    return Rect(box.x + side, box.y + box.height - room.px(_SLIDER_ROW), box.width - 2 * side, room.px(30))


def step_at(room: Room, x: int) -> int:
    """The step that is nearest to a place on the slider."""
    way = slider_rect(room)
    return max(0, min(STEPS, round((x - way.x) / max(1, way.width) * STEPS)))


def on_slider(room: Room, x: int, y: int) -> bool:
    """A little beside its ends counts too."""
    way, reach = slider_rect(room), room.px(16)
    return Rect(way.x - reach, way.y, way.width + 2 * reach, way.height).contains(x, y)


def quick_rect(room: Room) -> Rect:
    """The list of prepared prompts."""
    width, height = min(room.px(600), room.width - room.px(64)), room.px(16) + QUICK_COUNT * _quick_step(room)
    return Rect((room.width - width) // 2, room.height - room.px(_FOOT) - height, width, height)


def quick_line_rect(room: Room, index: int) -> Rect:
    panel, step = quick_rect(room), _quick_step(room)
    return Rect(panel.x + room.px(8), panel.y + room.px(8) + index * step, panel.width - room.px(16), step)


def quick_line_at(room: Room, x: int, y: int) -> int | None:
    return next((i for i in range(QUICK_COUNT) if quick_line_rect(room, i).contains(x, y)), None)


def _quick_step(room: Room) -> int:
    return min(room.px(33), (room.height - room.px(2 * _FOOT)) // QUICK_COUNT)
