"""A line to type in with what can be chosen below it: the path of a picture, or the words of a world. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from app.beginnings import PathsListed
from app.menu import Rect, Room
from app.prompt_box import PromptBox

MOST_SHOWN = 8
WIDTH, TOP, STEP, FOOT = 760, 108, 31, 58
"""Of the panel, in the design's pixels: where the choices begin, from one to the next, and what is below them."""


class Purpose(StrEnum):
    PATH = "path"
    WORDS = "words"


class Kind(StrEnum):
    """What a choice is. BROWSE: the system's file dialog; UP: the folder above."""

    BROWSE = "browse"
    UP = "up"
    FOLDER = "folder"
    FILE = "file"
    WORDS = "words"


@dataclass(frozen=True, slots=True)
class Choice:
    kind: Kind
    text: str = ""
    """A name in the folder that is listed, or words of a world."""


@dataclass(frozen=True, slots=True)
class LinePage:
    """``selected``: which of the choices, None for the line itself; ``first``: the uppermost that is shown."""

    purpose: Purpose
    line: PromptBox
    choices: tuple[Choice, ...] = ()
    selected: int | None = None
    first: int = 0
    folder: str = ""
    """What is listed, with its separator at the end; empty before the first answer."""
    dialog: bool = True
    """Whether this system has a file dialog."""
    draft: str = ""
    """What was typed before words were chosen."""

    @property
    def choice(self) -> Choice | None:
        return None if self.selected is None else self.choices[self.selected]


def of_words(suggested: tuple[str, ...]) -> LinePage:
    return LinePage(Purpose.WORDS, PromptBox(), tuple(Choice(Kind.WORDS, words) for words in suggested))


def typed(page: LinePage, line: PromptBox) -> LinePage:
    """The line was edited: what was chosen below it is no longer meant."""
    if line.text == page.line.text:
        return replace(page, line=line)
    return replace(page, line=line, selected=None, first=0)


def put(page: LinePage, text: str) -> LinePage:
    """``text`` in the line, the caret behind it."""
    return typed(page, replace(page.line, text=text, caret=len(text), anchor=len(text), composition=""))


def listed(page: LinePage, found: PathsListed) -> LinePage:
    """What the folder has, the dialog before it; an answer about an earlier text is not taken."""
    if page.purpose is not Purpose.PATH or found.text != page.line.text:
        return page
    ways = [Choice(Kind.BROWSE)] if found.dialog else []
    ways += [Choice(Kind.UP)] if parent(found.folder) != found.folder else []
    folders = (Choice(Kind.FOLDER, name) for name in found.folders)
    choices = (*ways, *folders, *(Choice(Kind.FILE, name) for name in found.files))
    page = replace(page, choices=choices, folder=found.folder, dialog=found.dialog, selected=None, first=0)
    return page if page.line.text else put(page, found.folder)


def parent(folder: str) -> str:
    """The folder above, both with their separator at the end; the topmost one is its own."""
    mark = "\\" if "\\" in folder and "/" not in folder else "/"
    above = folder.rstrip(mark).rpartition(mark)[0]
    return f"{above}{mark}" if folder.strip(mark) and (above or folder.startswith(mark)) else folder


def inside(page: LinePage, choice: Choice) -> str:
    """The path of a choice; a folder's with its separator at the end."""
    mark = page.folder[-1:] or "/"
    match choice.kind:
        case Kind.UP:
            return parent(page.folder)
        case Kind.FOLDER:
            return f"{page.folder}{choice.text}{mark}"
    return page.folder + choice.text


def completed(page: LinePage) -> LinePage:
    """As much as all choices that fit have in common; the chosen one, or the only one, whole."""
    fitting = [choice for choice in page.choices if choice.kind in (Kind.FOLDER, Kind.FILE)]
    if page.choice is not None and page.choice.kind is not Kind.BROWSE:
        return put(page, page.choice.text if page.purpose is Purpose.WORDS else inside(page, page.choice))
    if page.purpose is Purpose.WORDS or not fitting:
        return page
    if len(fitting) == 1:
        return put(page, inside(page, fitting[0]))
    shared = _common([choice.text for choice in fitting])
    typed_name = page.line.text[len(page.folder) :] if page.line.text.startswith(page.folder) else ""
    return put(page, page.folder + shared) if len(shared) > len(typed_name) else page


def move(page: LinePage, rows: int, room: Room) -> LinePage:
    """Up and down through the line and its choices, around at both ends."""
    places = len(page.choices) + 1
    at = (0 if page.selected is None else page.selected + 1) + rows
    return select(page, at % places - 1, room)


def select(page: LinePage, index: int, room: Room) -> LinePage:
    """The choice of that number, in view; -1 is the line itself. Chosen words stand in the line, to be changed."""
    first = 0
    if index >= 0:
        first = max(index - rows_shown(page, room) + 1, min(page.first, index), 0)
    if page.purpose is Purpose.WORDS:
        draft = page.line.text if page.selected is None else page.draft
        page = replace(put(page, draft if index < 0 else page.choices[index].text), draft=draft)
    return replace(page, selected=None if index < 0 else index, first=first)


def scroll(page: LinePage, rows: int, room: Room) -> LinePage:
    last = max(0, len(page.choices) - rows_shown(page, room))
    return replace(page, first=max(0, min(last, page.first + rows)))


# ---- where its parts lie -----------------------------------------------------------------------------------------


def rows_shown(page: LinePage, room: Room) -> int:
    """How many choices are shown; as many as there are and as fit into the window."""
    return max(1, min(len(page.choices), _rows(room)))


def panel(room: Room) -> Rect:
    """As high as for as many choices as can be shown, so that it does not jump while a list gets shorter."""
    width, height = min(room.px(WIDTH), room.width - 2 * room.px(24)), room.px(TOP + FOOT) + _rows(room) * room.px(STEP)
    return Rect((room.width - width) // 2, max(0, (room.height - height) // 2), width, height)


def line_rect(room: Room) -> Rect:
    """Where the line that is typed lies."""
    outer, inset = panel(room), room.px(26)
    return Rect(outer.x + inset, outer.y + room.px(52), outer.width - 2 * inset, room.px(44))


def choice_rect(page: LinePage, index: int, room: Room) -> Rect | None:
    """Where a choice lies; None while it is not shown."""
    row, inset, outer = index - page.first, room.px(22), panel(room)
    if not 0 <= row < rows_shown(page, room):
        return None
    return Rect(outer.x + inset, outer.y + room.px(TOP) + row * room.px(STEP), outer.width - 2 * inset, room.px(STEP))


def choice_at(page: LinePage, x: int, y: int, room: Room) -> int | None:
    rects = ((index, choice_rect(page, index, room)) for index in range(len(page.choices)))
    return next((index for index, rect in rects if rect is not None and rect.contains(x, y)), None)


def _rows(room: Room) -> int:
    fits = (room.height - room.px(TOP + FOOT) - 2 * room.px(10)) // max(1, room.px(STEP))
    return max(1, min(MOST_SHOWN, fits))


def _common(names: list[str]) -> str:
    """The longest beginning that all names share, small and large letters alike, as the first one writes it."""
    length = 0
    for signs in zip(*(name.lower() for name in names), strict=False):
        if len(set(signs)) > 1:
            break
        length += 1
    return names[0][:length]
