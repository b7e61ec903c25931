"""The menu and the scene gallery as values, and where their parts lie in the window. Pure; ``pages`` draws them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum


class MenuItem(StrEnum):
    """The words are what the menu shows."""

    RESUME = "Resume"
    BACK = "Back"
    RESET = "Reset the world"
    SCENES = "Other scenes"
    HELP = "Keys"
    QUIT = "Quit"


@dataclass(frozen=True, slots=True)
class Menu:
    title: str
    items: tuple[MenuItem, ...]
    selected: int = 0

    @property
    def choice(self) -> MenuItem:
        return self.items[self.selected]


MARGIN = 64
LEAST_CARD_WIDTH = 220

WALK_MENU = Menu("Paused", (MenuItem.RESUME, MenuItem.RESET, MenuItem.SCENES, MenuItem.HELP, MenuItem.QUIT))
WAIT_MENU = Menu("Worldwalk", (MenuItem.BACK, MenuItem.SCENES, MenuItem.HELP, MenuItem.QUIT))
START_MENU = Menu("Worldwalk", (MenuItem.BACK, MenuItem.HELP, MenuItem.QUIT))


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


def ui_scale(width: int, height: int) -> float:
    """How much larger than on a 1280x720 window text and panels are, in steps of a twentieth."""
    return round(max(0.6, min(3.0, width / 1280, height / 720)) * 20) / 20


def move(menu: Menu, rows: int) -> Menu:
    return replace(menu, selected=(menu.selected + rows) % len(menu.items))


def menu_panel(menu: Menu, width: int, height: int) -> Rect:
    scale = ui_scale(width, height)
    panel_width, panel_height = round(360 * scale), round((104 + 52 * len(menu.items)) * scale)
    return Rect((width - panel_width) // 2, (height - panel_height) // 2, panel_width, panel_height)


def menu_item_rect(menu: Menu, index: int, width: int, height: int) -> Rect:
    scale, panel = ui_scale(width, height), menu_panel(menu, width, height)
    inset = round(20 * scale)
    top = panel.y + round((84 + 52 * index) * scale)
    return Rect(panel.x + inset, top, panel.width - 2 * inset, round(46 * scale))


def menu_item_at(menu: Menu, x: int, y: int, width: int, height: int) -> int | None:
    hits = (i for i in range(len(menu.items)) if menu_item_rect(menu, i, width, height).contains(x, y))
    return next(hits, None)


def gallery_layout(count: int, width: int, height: int) -> GalleryLayout:
    """The largest cards with which all ``count`` are seen at once; if there are none, good ones and rows to scroll."""
    scale = ui_scale(width, height)
    most = max(1, (width - 2 * round(MARGIN * scale)) // round(LEAST_CARD_WIDTH * scale))
    first = max(1, min(most, width // round(320 * scale)))
    layouts = [_columns(columns, width, height) for columns in range(first, most + 1)]
    fitting = (layout for layout in layouts if layout.columns * layout.rows_shown >= count)
    return next(fitting, layouts[0])


def _columns(columns: int, width: int, height: int) -> GalleryLayout:
    """Pictures have the shape of the bundled model's frames."""
    scale = ui_scale(width, height)
    margin, gap, top, bottom = (round(px * scale) for px in (MARGIN, 20, 148, 64))
    inner = max(1, width - 2 * margin)
    card_width = max(1, min((inner - (columns - 1) * gap) // columns, round(340 * scale)))
    picture_height = card_width * 7 // 12
    card_height = picture_height + round(82 * scale)
    rows_shown = max(1, (height - top - bottom + gap) // (card_height + gap))
    left = (width - columns * card_width - (columns - 1) * gap) // 2
    return GalleryLayout(columns, rows_shown, card_width, picture_height, card_height, gap, left, top)


def card_rect(gallery: Gallery, index: int, width: int, height: int) -> Rect | None:
    """Where a card lies; None while its row is not shown."""
    layout = gallery_layout(gallery.count, width, height)
    row, column = divmod(index, layout.columns)
    row -= gallery.first_row
    if not 0 <= row < layout.rows_shown:
        return None
    x = layout.left + column * (layout.card_width + layout.gap)
    y = layout.top + row * (layout.card_height + layout.gap)
    return Rect(x, y, layout.card_width, layout.card_height)


def card_at(gallery: Gallery, x: int, y: int, width: int, height: int) -> int | None:
    for index in range(gallery.count):
        rect = card_rect(gallery, index, width, height)
        if rect is not None and rect.contains(x, y):
            return index
    return None


def select(gallery: Gallery, index: int, width: int, height: int) -> Gallery:
    """Choose a card and bring its row into view."""
    layout = gallery_layout(gallery.count, width, height)
    index = max(0, min(gallery.count - 1, index))
    row = index // layout.columns
    first_row = max(row - layout.rows_shown + 1, min(gallery.first_row, row))
    return replace(gallery, selected=index, first_row=max(0, first_row))


def step(gallery: Gallery, columns: int, rows: int, width: int, height: int) -> Gallery:
    """Move the choice; a step that leads outside stays where it is."""
    target = gallery.selected + columns + rows * gallery_layout(gallery.count, width, height).columns
    return select(gallery, target, width, height) if 0 <= target < gallery.count else gallery


def rows_below(gallery: Gallery, width: int, height: int) -> int:
    """How many rows of cards lie below those that are shown."""
    layout = gallery_layout(gallery.count, width, height)
    return max(0, -(-gallery.count // layout.columns) - layout.rows_shown - gallery.first_row)


def scroll(gallery: Gallery, rows: int, width: int, height: int) -> Gallery:
    layout = gallery_layout(gallery.count, width, height)
    last = max(0, -(-gallery.count // layout.columns) - layout.rows_shown)
    return replace(gallery, first_row=max(0, min(last, gallery.first_row + rows)))
