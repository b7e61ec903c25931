"""How a bad value is shown to a person: what it was, in bounded and printable words, and where it stood.

Values from outside may be endless, nested a million deep, or hold half a surrogate pair; what is said about them is one
short line all the same, and saying it never fails.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from itertools import islice

Path = tuple[str | int, ...]
"""The way to a value inside a decoded document: keys and list indices, outermost first."""

PROMPT_CHARACTERS = 2000
PICTURE_PROMPT = "a walk through the picture"
"""What a world from the user's picture is told to be where its owner says nothing: no place, no light, no weather."""

_SHOWN_CHARACTERS = 96
_TEXT_CHARACTERS = 40
_ITEMS = 4
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,39}\Z")


def shown(value: object) -> str:
    """The value's kind and its beginning, e.g. ``the text 'no'`` or ``the list ['w', 'x', …] of 700 items``."""
    short = _short(value, depth=2)
    if value is None or isinstance(value, bool):
        return short
    if isinstance(value, str):
        return f"the text {short}" + (f" of {len(value)} characters" if len(value) > _TEXT_CHARACTERS else "")
    if isinstance(value, int):
        return f"the whole number {short}"
    if isinstance(value, float):
        return f"the number {short}"
    if isinstance(value, (list, tuple)):
        return f"the list {_cut(short)}" + (f" of {len(value)} items" if len(value) > _ITEMS else "")
    if isinstance(value, Mapping):
        return f"the map {_cut(short)}" + (f" of {len(value)} entries" if len(value) > _ITEMS else "")
    return short


def dotted(path: Path) -> str:
    """The path as people write it: ``camera_actions.transitions[3].actions[0]``; odd keys stand quoted in brackets."""
    text = ""
    for part in path:
        if isinstance(part, str) and _PLAIN_KEY.match(part):
            text += f".{part}" if text else part
        else:
            text += f"[{_short(part, depth=0)}]"
    return text


def key_part(key: object) -> str | int:
    """A map's key as a part of a path, whatever it is."""
    return key if isinstance(key, (str, int)) else _short(key, depth=1)


def prompt_problem(prompt: str) -> tuple[str, str] | None:
    """(got, expected) where the text cannot be a prompt: blank, over 2,000 characters, or with lone surrogates."""
    if len(prompt) > PROMPT_CHARACTERS:
        return f"a text of {len(prompt)} characters", f"at most {PROMPT_CHARACTERS} characters"
    if any(0xD800 <= ord(character) <= 0xDFFF for character in prompt):
        return shown(prompt), "text without half characters (lone surrogates)"
    if all(character.isspace() or unicodedata.category(character) in ("Cc", "Cf") for character in prompt):
        return shown(prompt) if prompt else "an empty text", "a prompt that is not blank"
    return None


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 1] + "…"


def _short(value: object, depth: int) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        begun = repr(value[:_TEXT_CHARACTERS])
        if len(begun) > 2 * _TEXT_CHARACTERS:  # unprintable characters take up to ten in writing
            return f"{begun[: 2 * _TEXT_CHARACTERS]}{begun[0]}…"
        return begun + ("…" if len(value) > _TEXT_CHARACTERS else "")
    if isinstance(value, int):
        # Python refuses to print integers of more than 4,300 digits
        return str(int(value)) if value.bit_length() <= 64 else f"of about {value.bit_length() * 0.30103:.0f} digits"
    if isinstance(value, float):
        return repr(float(value))
    if isinstance(value, (list, tuple)):
        items = [_short(item, depth - 1) for item in value[:_ITEMS]] if depth > 0 else ["…"] if value else []
        return f"[{', '.join(items)}{', …' if depth > 0 and len(value) > _ITEMS else ''}]"
    if isinstance(value, Mapping):
        entries = islice(value.items(), _ITEMS) if depth > 0 else ()
        items = [f"{_short(key, 0)}: {_short(item, depth - 1)}" for key, item in entries]
        return f"{{{', '.join(items)}{', …' if len(value) > len(items) else ''}}}"
    return f"a value of type {type(value).__name__[:_TEXT_CHARACTERS]}"
