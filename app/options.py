"""The settings pages as values: which rows there are, what a step changes, where everything lies. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from app import bindings, settings
from app.menu import Rect, Room
from app.prompt_box import PromptBox
from app.settings import Settings
from engine.config import ENGINE_SETTINGS, Value


class Tab(StrEnum):
    LOOK = "look"
    CONTROLS = "controls"
    KEYS = "keys"
    GAMEPAD = "gamepad"
    WORLD = "world"
    PROMPTS = "prompts"
    ENGINE = "engine"
    LARGE = "large"
    SERVER = "server"


class When(StrEnum):
    """From when on a change counts."""

    LIVE = "live"
    NEXT_WORLD = "next_world"
    NEXT_START = "next_start"


class Deed(StrEnum):
    """Rows that do something instead of holding a value."""

    TRY_LOOK = "try_look"
    ONE_HAND = "one_hand"
    RESET_TAB = "reset_tab"
    RESET_ALL = "reset_all"


PRESET = "preset"
"""The row that chooses a whole set of keys."""

_LARGE, _SERVER, _PROMPT = "engine.lingbot.", "engine.remote.", "engine.prompt."
_BUTTONS = "app.pad."


def _engine_rows(tab: Tab) -> tuple[str, ...]:
    names = (f"engine.{name}" for name in ENGINE_SETTINGS)
    homes = {name: Tab.LARGE if name.startswith((_LARGE, "engine.image.")) else Tab.SERVER for name in names}
    names_of_tab = []
    for name, home in homes.items():
        plain = home is Tab.SERVER and not name.startswith(_SERVER)
        home = Tab.PROMPTS if name.startswith(_PROMPT) else Tab.ENGINE if plain else home
        if home is tab:
            names_of_tab.append(name)
    return tuple(names_of_tab)


ROWS: Mapping[Tab, tuple[str, ...]] = {
    Tab.LOOK: (
        "app.language",
        "app.text_size",
        "app.colours",
        "app.reduced_motion",
        "app.instant_camera",
        "app.input_overlay",
        "app.fullscreen",
        "app.window_width",
        "app.window_height",
    ),
    Tab.CONTROLS: (
        Deed.TRY_LOOK,
        "app.mouse_degrees_per_100_px",
        "app.invert_y",
        "app.mouse_smoothing_ms",
        "app.turn_cap_degrees_per_second",
        Deed.ONE_HAND,
    ),
    Tab.KEYS: (PRESET, "app.key_labels", *(f"app.keys.{thing}" for thing in bindings.THINGS)),
    Tab.GAMEPAD: (
        *("app.pad_degrees_per_second", "app.pad_dead_zone"),
        *(f"app.pad.{thing}" for thing in bindings.PAD_THINGS),
    ),
    Tab.WORLD: ("app.scene", "app.seed", "app.recordings_dir", "app.captions"),
    Tab.PROMPTS: (*(f"app.quick_{number}" for number in range(1, 10)), *_engine_rows(Tab.PROMPTS)),
    Tab.ENGINE: _engine_rows(Tab.ENGINE),
    Tab.LARGE: _engine_rows(Tab.LARGE),
    Tab.SERVER: _engine_rows(Tab.SERVER),
}
"""Every row of each page; two deeds follow on each."""

TABS = tuple(Tab)

_NEXT_START = frozenset(("app.scene", "app.window_width", "app.window_height", "app.recordings_dir", "app.captions"))

_STEPS: Mapping[str, tuple[float, ...]] = {
    "app.text_size": (0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 1.75, 2.0),
    "app.window_width": (960, 1280, 1600, 1920, 2560, 3840),
    "app.window_height": (540, 720, 900, 1080, 1440, 2160),
    "app.mouse_degrees_per_100_px": (*range(1, 21), 22, 25, 28, 32, 36, 40, 50, 60, 80, 100),
    "app.mouse_smoothing_ms": (0, 10, 20, 30, 50, 80, 120, 200, 300),
    "app.turn_cap_degrees_per_second": (0, 30, 45, 60, 90, 120, 180, 360),
    "app.pad_degrees_per_second": (30, 45, 60, 75, 90, 110, 130, 150, 180, 220, 270, 360),
    "app.pad_dead_zone": (0.0, 0.05, 0.08, 0.1, 0.12, 0.15, 0.18, 0.2, 0.25, 0.3, 0.4),
    "engine.snapshot_every_chunks": (1, 2, 4, 8, 16, 32, 64),
    "engine.moments_every_chunks": (1, 2, 4, 8, 16, 32),
    "engine.moments_limit_mb": (0, 128, 256, 512, 1024, 2048, 4096, 8192),
    "engine.remote.patience_seconds": (10, 20, 30, 60, 120, 300),
    "engine.lingbot.snapshot_limit_mb": (0, 256, 512, 1024, 2048, 4096, 8192),
    "engine.window.look_threshold_degrees": (0.0, 0.01, 0.05, 0.1, 0.2, 0.5, 1.0),
}
"""Round numbers that a step goes through; any other may be typed."""


@dataclass(frozen=True, slots=True)
class SettingsPage:
    """What is open and chosen. ``slot``: which of a row's two keys. ``first`` is the uppermost row that is shown."""

    tab: Tab = Tab.LOOK
    selected: int = 0
    first: int = 0
    slot: int = 0
    catching: bool = False
    """The next key that is pressed becomes the key of the chosen row."""
    line: PromptBox | None = None
    """A value that is being typed."""
    problem: str | None = None
    """Why what was typed is not taken."""
    trying: bool = False
    """The pointer is captured, to feel how far the mouse turns."""
    tried_yaw: float = 0.0
    tried_pitch: float = 0.0

    @property
    def row(self) -> str:
        return rows(self.tab)[self.selected]


def rows(tab: Tab) -> tuple[str, ...]:
    return (*ROWS[tab], Deed.RESET_TAB, Deed.RESET_ALL)


def is_setting(row: str) -> bool:
    return row.startswith(("app.", "engine."))


def is_keys(row: str) -> bool:
    """Whether the row holds keys, or a gamepad's buttons."""
    return row.startswith(("app.keys.", _BUTTONS))


def is_buttons(row: str) -> bool:
    return row.startswith(_BUTTONS)


def bound_of(chosen: Settings, row: str) -> bindings.Bound:
    """What the keys, or the buttons, of such a row belong to."""
    return chosen.app.pad if is_buttons(row) else chosen.app.keys


def thing_of(row: str) -> str:
    """What the keys of a row stand for."""
    return row.rpartition(".")[2]


def name_key(row: str) -> str:
    """The key of the table of words for what a row is called: what a button does is called as what a key does."""
    thing = thing_of(row)
    return f"name.app.keys.{thing}" if is_buttons(row) and thing in bindings.THINGS else f"name.{row}"


def when(row: str) -> When | None:
    """From when on a change of the row counts; None where nothing is kept."""
    if not is_setting(row):
        return When.LIVE if row in (PRESET, Deed.ONE_HAND) else None
    if row in _NEXT_START:
        return When.NEXT_START
    return When.NEXT_WORLD if row == "app.seed" or row.startswith("engine.") else When.LIVE


def stepped(chosen: Settings, row: str, step: int) -> Value:
    """The value after a step to the right (1) or left (-1); choices go round, numbers stop at their ends."""
    rule, value = settings.rule_of(row), settings.flat(chosen)[row]
    if rule.kind is bool or rule.choices:
        words: tuple[Value, ...] = (True, False) if rule.kind is bool else rule.choices
        words = (None, *words) if rule.optional else words
        return words[(words.index(value) + step) % len(words)]
    if rule.kind is str or isinstance(value, str | tuple):
        return value
    return _stepped_number(row, value, step)


def _stepped_number(row: str, value: Value, step: int) -> Value:
    rule = settings.rule_of(row)
    low, high = rule.minimum or 0, rule.maximum if rule.maximum is not None else 1e9
    assert value is None or isinstance(value, int | float), value
    if value is None:
        return rule.kind(low) if step > 0 else None
    if row in _STEPS:
        others = [number for number in _STEPS[row] if (number > value if step > 0 else number < value)]
        moved: float = (min(others) if step > 0 else max(others)) if others else value
    else:
        stride = 16 if row.endswith("_px") else 1
        moved = value + step * stride
    if moved < low and rule.optional:
        return None
    return rule.kind(min(high, max(low, moved)))


# ---- moving about ------------------------------------------------------------------------------------------------


def open_tab(page: SettingsPage, step: int) -> SettingsPage:
    return SettingsPage(TABS[(TABS.index(page.tab) + step) % len(TABS)])


def choose(page: SettingsPage, index: int, room: Room) -> SettingsPage:
    """Another row, brought into view; what was typed or tried in the one before is dropped."""
    index = index % len(rows(page.tab))
    shown = rows_shown(room)
    first = max(index - shown + 1, min(page.first, index))
    slot = page.slot if is_keys(rows(page.tab)[index]) else 0
    return SettingsPage(page.tab, index, max(0, first), slot)


def scroll(page: SettingsPage, step: int, room: Room) -> SettingsPage:
    last = max(0, len(rows(page.tab)) - rows_shown(room))
    return replace(page, first=max(0, min(last, page.first + step)))


# ---- where it lies -----------------------------------------------------------------------------------------------

_MARGIN, _TOP, _FOOT, _ROW = 48, 118, 104, 42
_TAB_MARGIN, _TABS = 16, 1060


def column(room: Room) -> Rect:
    """The rows' column, in the middle of the window."""
    width = min(room.width - 2 * room.px(_MARGIN), room.px(920))
    return Rect((room.width - width) // 2, room.px(_TOP), width, max(1, room.height - room.px(_TOP + _FOOT)))


def row_height(room: Room) -> int:
    return room.px(_ROW)


def rows_shown(room: Room) -> int:
    return max(1, column(room).height // row_height(room))


def row_rect(page: SettingsPage, index: int, room: Room) -> Rect | None:
    """Where a row lies; None while it is not shown."""
    place = index - page.first
    if not 0 <= place < rows_shown(room):
        return None
    area, height = column(room), row_height(room)
    return Rect(area.x, area.y + place * height, area.width, height - room.px(4))


def value_rect(row: Rect) -> Rect:
    """The part of a row that holds the value, with an arrow at either end."""
    width = row.width * 45 // 100
    return Rect(row.x + row.width - width, row.y, width, row.height)


def tab_rect(tab: Tab, room: Room) -> Rect:
    whole = min(room.width - 2 * room.px(_TAB_MARGIN), room.px(_TABS))
    width = whole // len(TABS)
    return Rect((room.width - whole) // 2 + TABS.index(tab) * width, room.px(66), width, room.px(36))


def tab_at(x: int, y: int, room: Room) -> Tab | None:
    return next((tab for tab in TABS if tab_rect(tab, room).contains(x, y)), None)


def row_at(page: SettingsPage, x: int, y: int, room: Room) -> int | None:
    for index in range(len(rows(page.tab))):
        rect = row_rect(page, index, room)
        if rect is not None and rect.contains(x, y):
            return index
    return None


def step_at(rect: Rect, x: int) -> int:
    """What a click at ``x`` in a row means: -1 and 1 on the arrows at the value's ends, 0 elsewhere."""
    value = value_rect(rect)
    edge = value.height
    if value.x <= x < value.x + edge:
        return -1
    return 1 if x >= value.x + value.width - edge else 0
