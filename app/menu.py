"""The menu and the scene gallery as values, and where their parts lie in the window. Pure; ``pages`` draws them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum


class MenuItem(StrEnum):
    """The table of words has what each is called."""

    RESUME = "resume"
    BACK = "back"
    RESET = "reset"
    PHOTO = "photo"
    SCENES = "scenes"
    BRANCHES = "branches"
    WORLDS = "worlds"
    FILMS = "films"
    MODELS = "models"
    SETTINGS = "settings"
    HELP = "help"
    QUIT = "quit"


@dataclass(frozen=True, slots=True)
class Menu:
    """``title`` is a key of the table of words."""

    title: str
    items: tuple[MenuItem, ...]
    selected: int = 0

    @property
    def choice(self) -> MenuItem:
        return self.items[self.selected]


OWN_CARDS = ("words", "own")
"""The cards behind those of the scenes: a world from words, and from a picture of the user's own."""

LEAST_DESIGN = (680, 424)
"""However large the text, so much of the design's own pixels must fit into the window; the longest menu does."""
MARGIN, GAP = 56, 18
TOP, FOOT, WORDS = 136, 60, 84
"""What the gallery has above its cards and below them, and a card below its picture."""
LEAST_CARD_WIDTH = 168
FLATTEST, TALLEST = 7 / 12, 0.82
"""Height by width of a card's picture: the bundled model's frames, and what fills the window if there is room."""

_END = (MenuItem.WORLDS, MenuItem.FILMS, MenuItem.MODELS, MenuItem.SETTINGS, MenuItem.HELP, MenuItem.QUIT)
_WALK = (MenuItem.RESUME, MenuItem.PHOTO, MenuItem.BRANCHES, MenuItem.RESET, MenuItem.SCENES)
WALK_MENU = Menu("menu.paused", (*_WALK, *_END))
WAIT_MENU = Menu("name", (MenuItem.BACK, MenuItem.SCENES, *_END))
START_MENU = Menu("name", (MenuItem.BACK, *_END))


@dataclass(frozen=True, slots=True)
class Rect:
    """Window pixels."""

    x: int
    y: int
    width: int
    height: int

    def contains(self, x: int, y: int) -> bool:
        return self.x <= x < self.x + self.width and self.y <= y < self.y + self.height


@dataclass(frozen=True, slots=True)
class Room:
    """The window's size in pixels and how large the user wants text and panels."""

    width: int
    height: int
    text_size: float = 1.0

    @property
    def scale(self) -> float:
        """How much larger than on a 1280x720 window everything is, in steps of a twentieth."""
        fits = max(0.6, min(3.0, self.width / 1280, self.height / 720))
        most = max(fits, min(self.width / LEAST_DESIGN[0], self.height / LEAST_DESIGN[1]))
        return int(min(most, fits * self.text_size) * 20 + 0.5) / 20

    def px(self, length: float) -> int:
        """A length of the design, at scale 1, in window pixels."""
        return round(length * self.scale)


@dataclass(frozen=True, slots=True)
class Gallery:
    """Which scene card is chosen, and which row is the uppermost one shown."""

    count: int = 0
    selected: int = 0
    first_row: int = 0


@dataclass(frozen=True, slots=True)
class GalleryLayout:
    columns: int
    rows_shown: int
    card_width: int
    picture_height: int
    card_height: int
    gap: int
    left: int
    top: int


def move(menu: Menu, rows: int) -> Menu:
    return replace(menu, selected=(menu.selected + rows) % len(menu.items))


def _step_px(menu: Menu, room: Room) -> int:
    """From one item to the next; closer together where a long menu would not fit into a low window."""
    return min(room.px(46), (room.height - room.px(94 + 12)) // len(menu.items))


def menu_panel(menu: Menu, room: Room) -> Rect:
    width, height = room.px(360), room.px(94) + _step_px(menu, room) * len(menu.items)
    return Rect((room.width - width) // 2, (room.height - height) // 2, width, height)


def menu_item_rect(menu: Menu, index: int, room: Room) -> Rect:
    panel, inset = menu_panel(menu, room), room.px(20)
    step = _step_px(menu, room)
    return Rect(panel.x + inset, panel.y + room.px(76) + step * index, panel.width - 2 * inset, step - room.px(4))


def menu_item_at(menu: Menu, x: int, y: int, room: Room) -> int | None:
    hits = (i for i in range(len(menu.items)) if menu_item_rect(menu, i, room).contains(x, y))
    return next(hits, None)


def line_rect(index: int, room: Room) -> Rect:
    """A line of the list of models; below six of them is room for what is to be known of one."""
    width = min(room.width - 2 * room.px(48), room.px(860))
    height = max(room.px(37), min(room.px(66), (room.height - room.px(74 + 150)) // 6))
    return Rect((room.width - width) // 2, room.px(74) + index * height, width, height - room.px(5))


def line_at(count: int, x: int, y: int, room: Room) -> int | None:
    return next((index for index in range(count) if line_rect(index, room).contains(x, y)), None)


def gallery_layout(count: int, room: Room) -> GalleryLayout:
    """The largest cards with which all ``count`` are seen at once; if there are none, those of which most are seen."""
    most = max(1, (room.width - 2 * room.px(MARGIN)) // room.px(LEAST_CARD_WIDTH))
    first = max(1, min(most, room.width // room.px(320)))
    layouts = [_columns(columns, count, room) for columns in range(first, most + 1)]
    fitting = (layout for layout in layouts if layout.columns * layout.rows_shown >= count)
    most_seen = max(layouts, key=lambda layout: (layout.columns * layout.rows_shown, -layout.columns))
    return next(fitting, most_seen)


def _columns(columns: int, count: int, room: Room) -> GalleryLayout:
    """As many rows as fit with flat pictures; then these get what height is left."""
    margin, gap, top, bottom, words = (room.px(length) for length in (MARGIN, GAP, TOP, FOOT, WORDS))
    inner, height = max(1, room.width - 2 * margin), room.height - top - bottom
    widest = max(1, round((height - words) / FLATTEST))  # a row fits, however large the text
    card_width = max(1, min((inner - (columns - 1) * gap) // columns, room.px(340), widest))
    flat = max(1, int(card_width * FLATTEST))
    rows_shown = max(1, (height + gap) // (flat + words + gap))
    rows = max(1, min(rows_shown, -(-count // columns)))
    picture_height = max(flat, min(int(card_width * TALLEST), (height - (rows - 1) * gap) // rows - words))
    card_height = picture_height + words
    left = (room.width - columns * card_width - (columns - 1) * gap) // 2
    return GalleryLayout(columns, rows_shown, card_width, picture_height, card_height, gap, left, top)


def card_rect(gallery: Gallery, index: int, room: Room) -> Rect | None:
    """Where a card lies; None while its row is not shown."""
    layout = gallery_layout(gallery.count, room)
    row, column = divmod(index, layout.columns)
    row -= gallery.first_row
    if not 0 <= row < layout.rows_shown:
        return None
    x = layout.left + column * (layout.card_width + layout.gap)
    y = layout.top + row * (layout.card_height + layout.gap)
    return Rect(x, y, layout.card_width, layout.card_height)


def card_at(gallery: Gallery, x: int, y: int, room: Room) -> int | None:
    for index in range(gallery.count):
        rect = card_rect(gallery, index, room)
        if rect is not None and rect.contains(x, y):
            return index
    return None


def select(gallery: Gallery, index: int, room: Room) -> Gallery:
    """Choose a card and bring its row into view."""
    layout = gallery_layout(gallery.count, room)
    index = max(0, min(gallery.count - 1, index))
    row = index // layout.columns
    first_row = max(row - layout.rows_shown + 1, min(gallery.first_row, row))
    return replace(gallery, selected=index, first_row=max(0, first_row))


def step(gallery: Gallery, columns: int, rows: int, room: Room) -> Gallery:
    """Move the choice; a step that leads outside stays where it is."""
    target = gallery.selected + columns + rows * gallery_layout(gallery.count, room).columns
    return select(gallery, target, room) if 0 <= target < gallery.count else gallery


def rows_below(gallery: Gallery, room: Room) -> int:
    """How many rows of cards lie below those that are shown."""
    layout = gallery_layout(gallery.count, room)
    return max(0, -(-gallery.count // layout.columns) - layout.rows_shown - gallery.first_row)


def scroll(gallery: Gallery, rows: int, room: Room) -> Gallery:
    layout = gallery_layout(gallery.count, room)
    last = max(0, -(-gallery.count // layout.columns) - layout.rows_shown)
    return replace(gallery, first_row=max(0, min(last, gallery.first_row + rows)))
