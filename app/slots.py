"""Saved worlds as values: what one says of itself, what is asked of their files, what is told. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.config import EngineConfig, to_dict
from engine.protocol import ModelCard, Pixels, SceneSpec

QUICK = "quick"
"""The slot of the keys that save and load without a question."""

_DECISIVE: tuple[str, ...] = (
    *("steps", "camera.", "window.", "image.", "lingbot.schedule", "lingbot.chunk_"),
    *("lingbot.window_", "lingbot.sink_", "lingbot.position_"),
)
"""Settings of the engine that decide how a world goes on, by the beginnings of their names."""


@dataclass(frozen=True, slots=True)
class SlotLine:
    """What a list shows of a saved world. ``saved_at``: local time as text, ``picture``: small, RGB [H, W, 3]."""

    name: str
    saved_at: str
    picture: Pixels | None = None


@dataclass(frozen=True, slots=True)
class Slot:
    """A saved world: its state after ``chunk`` lies in the file ``state``. ``engine``: the dotted settings of then."""

    line: SlotLine
    chunk: int
    scene: SceneSpec
    seed: int
    card: ModelCard
    state: str
    engine: Mapping[str, object] = field(default_factory=dict)


# ---- what is asked of the files ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PrepareSlot:
    """Make room for a slot; the answer is ``SlotReady``."""

    name: str


@dataclass(frozen=True, slots=True)
class KeepSlot:
    """The engine has written its state to ``path``: write the rest beside it, and only then replace what was there."""

    name: str
    path: str
    chunk: int


@dataclass(frozen=True, slots=True)
class ReadSlot:
    name: str


@dataclass(frozen=True, slots=True)
class ListSlots:
    pass


@dataclass(frozen=True, slots=True)
class DeleteSlot:
    name: str


SlotAsk = PrepareSlot | KeepSlot | ReadSlot | ListSlots | DeleteSlot


# ---- what they tell ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SlotReady:
    name: str
    path: str


@dataclass(frozen=True, slots=True)
class SlotKept:
    line: SlotLine
    at: float


@dataclass(frozen=True, slots=True)
class SlotRead:
    slot: Slot
    at: float


@dataclass(frozen=True, slots=True)
class SlotsListed:
    slots: tuple[SlotLine, ...]
    at: float


@dataclass(frozen=True, slots=True)
class SlotKeyed:
    """A key that saves or loads went down; ``thing`` is what it is bound to."""

    thing: str
    at: float


SlotMessage = SlotReady | SlotKept | SlotRead | SlotsListed | SlotKeyed

SLOT_KEYS = ("quick_save", "quick_load", "worlds")


def misfit(slot: Slot, card: ModelCard | None, engine: EngineConfig) -> tuple[str, str, str] | None:
    """What differs between the world that was saved and what runs, as (what, saved, now); None where it goes on."""
    if card is not None:
        pairs = (
            ("model", f"{slot.card.model} {slot.card.model_sha256[:8]}", f"{card.model} {card.model_sha256[:8]}"),
            ("dtype", slot.card.dtype, card.dtype),
            ("size", f"{slot.card.width}x{slot.card.height}", f"{card.width}x{card.height}"),
        )
        for what, saved, now in pairs:
            if saved != now:
                return what, saved, now
    for name, value in to_dict(engine).items():
        saved_value = slot.engine.get(name, value)
        if name.startswith(_DECISIVE) and saved_value != value:
            return f"engine.{name}", str(saved_value), str(value)
    return None
