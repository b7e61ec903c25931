"""One line of text over the running world: caret, selection, composition, history. Pure values.

Positions count code points, but the caret steps over whole characters as they are seen: a letter with its combining
marks, an emoji with its joiners.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, replace

from app.gestures import Edit

MOST_CHARACTERS = 2000
MOST_HISTORY = 100
_JOINER = "\u200d"


@dataclass(frozen=True, slots=True)
class PromptBox:
    """``anchor`` is where the selection began; equal to ``caret`` where nothing is selected."""

    text: str = ""
    caret: int = 0
    anchor: int = 0
    composition: str = ""
    composition_caret: int = 0
    history: tuple[str, ...] = ()
    """Oldest first."""
    recalled: int | None = None
    draft: str = ""
    """What stood here before the history was looked through."""
    swallow: str = ""
    """The character of the key that opened the box, which may still arrive as text."""

    @property
    def selection(self) -> tuple[int, int]:
        return min(self.caret, self.anchor), max(self.caret, self.anchor)

    @property
    def selected(self) -> str:
        start, end = self.selection
        return self.text[start:end]

    @property
    def room(self) -> int:
        return MOST_CHARACTERS - len(self.text)


def clean(text: str) -> str:
    """Text as one line: line ends and tabs become spaces, other controls and lone surrogates go."""
    kept = (" " if c in "\n\r\t\u2028\u2029" else c for c in text.replace("\r\n", "\n"))
    return "".join(c for c in kept if unicodedata.category(c) not in ("Cc", "Cs"))


def type_text(box: PromptBox, text: str) -> PromptBox:
    """Put text in the place of the selection; what would go over the limit is cut off."""
    if box.swallow and text.casefold() == box.swallow:
        return replace(box, swallow="")
    start, end = box.selection
    room = MOST_CHARACTERS - (len(box.text) - (end - start))
    added = clean(text)[:room]
    caret = start + len(added)
    return replace(
        box,
        text=box.text[:start] + added + box.text[end:],
        caret=caret,
        anchor=caret,
        composition="",
        composition_caret=0,
        swallow="",
    )


def compose_text(box: PromptBox, text: str, caret: int) -> PromptBox:
    """What an input method shows before it is final; it does not belong to the text yet."""
    shown = clean(text)
    return replace(box, composition=shown, composition_caret=max(0, min(caret, len(shown))), swallow="")


def edit(box: PromptBox, key: Edit, *, selecting: bool = False, by_word: bool = False) -> PromptBox:
    """One editing key. While an input method composes, the keys are its own."""
    if box.composition:
        return box
    if key is Edit.ALL:
        return replace(box, anchor=0, caret=len(box.text))
    if key in (Edit.OLDER, Edit.NEWER):
        return _recall(box, -1 if key is Edit.OLDER else 1)
    start, end = box.selection
    if key in (Edit.BACKSPACE, Edit.DELETE, Edit.CUT):
        if start == end and key is not Edit.CUT:
            start, end = _stretch(box, key, by_word)
        return replace(box, text=box.text[:start] + box.text[end:], caret=start, anchor=start)
    if key not in (Edit.LEFT, Edit.RIGHT, Edit.HOME, Edit.END):
        return box
    if start != end and not selecting and key in (Edit.LEFT, Edit.RIGHT):
        caret = start if key is Edit.LEFT else end
    else:
        caret = _moved(box, key, by_word)
    return replace(box, caret=caret, anchor=box.anchor if selecting else caret)


def remember(history: tuple[str, ...], text: str) -> tuple[str, ...]:
    """The history with ``text`` as its newest line, each line once."""
    return (*(line for line in history if line != text), text)[-MOST_HISTORY:]


def _recall(box: PromptBox, step: int) -> PromptBox:
    place = (len(box.history) if box.recalled is None else box.recalled) + step
    if not 0 <= place <= len(box.history) or (place == len(box.history) and box.recalled is None):
        return box
    draft = box.text if box.recalled is None else box.draft
    text = draft if place == len(box.history) else box.history[place]
    recalled = None if place == len(box.history) else place
    return replace(box, text=text, caret=len(text), anchor=len(text), recalled=recalled, draft=draft)


def _stretch(box: PromptBox, key: Edit, by_word: bool) -> tuple[int, int]:
    if key is Edit.BACKSPACE:
        return _moved(box, Edit.LEFT, by_word), box.caret
    return box.caret, _moved(box, Edit.RIGHT, by_word)


def _moved(box: PromptBox, key: Edit, by_word: bool) -> int:
    if key is Edit.HOME:
        return 0
    if key is Edit.END:
        return len(box.text)
    step = _before if key is Edit.LEFT else _after
    caret = step(box.text, box.caret)
    while by_word and 0 < caret < len(box.text) and not (box.text[caret - 1] == " " and box.text[caret] != " "):
        caret = step(box.text, caret)
    return caret


def _after(text: str, caret: int) -> int:
    caret += 1
    while caret < len(text) and (_attached(text[caret]) or text[caret - 1] == _JOINER):
        caret += 1
    return min(caret, len(text))


def _before(text: str, caret: int) -> int:
    caret -= 1
    while caret > 0 and (_attached(text[caret]) or text[caret - 1] == _JOINER):
        caret -= 1
    return max(caret, 0)


def _attached(character: str) -> bool:
    """Whether it belongs to the character before it: marks, variation selectors, joiners, skin tones."""
    return (
        character == _JOINER
        or unicodedata.category(character) in ("Mn", "Me", "Mc")
        or "\U0001f3fb" <= character <= "\U0001f3ff"
    )
