"""What others tell in English, in the window's language: the engine's notices and failures, and errors about files.

Errors are raised far from the window, also for the command line and for logs, which stay English. So, as with gettext,
the English sentence is the key to the others. In a template ``{name}`` stands for what is put in as it is,
``{name:if}`` for what is said in the language too where it is known, and ``{name:said}`` for what has to be known. A
template has words of its own before or after each of them, else there were too many ways to read a sentence.
A test reads all such sentences out of the source and fails when one has no words; what nobody foresaw stays English.
"""

from __future__ import annotations

import string
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache

from app.words import chinese_errors, chinese_large, chinese_remote, chinese_told, chinese_values

SENTENCES: Mapping[str, Mapping[str, str]] = {
    "zh": {
        **chinese_told.SENTENCES,
        **chinese_errors.SENTENCES,
        **chinese_values.SENTENCES,
        **chinese_remote.SENTENCES,
        **chinese_large.SENTENCES,
    }
}
"""For every language but English: what is said there for an English sentence, or for a part of one."""

MOST_CHARACTERS = 1000
"""Nobody tells more at once."""

Piece = tuple[str, str | None, str]
"""Text, the name that follows it (None at the end), and how what it stands for is said: as it is, if known, said."""


def spoken(language: str, english: str) -> str:
    """The sentence, or the sentences, in ``language``; in English where there are no words for all of it."""
    return known(language, english) or english


@lru_cache(maxsize=4096)
def known(language: str, english: str) -> str | None:
    """As ``spoken``, but None where the language has no words for it. Letters' case does not count."""
    if language not in SENTENCES or len(english) > MOST_CHARACTERS:
        return None
    for pieces, said in _templates(language):
        for values in _fits(pieces, english):
            filled = _filled(language, pieces, values)
            if filled is not None:
                return said.format(**filled)
    return _in_two(language, english)


def _in_two(language: str, english: str) -> str | None:
    """Two sentences or more, one after the other."""
    at = english.find(". ")
    while at >= 0:
        first, rest = english[: at + 1], english[at + 2 :]
        begun = known(language, first)
        if begun is not None and (ended := known(language, rest)) is not None:
            return begun + ended
        at = english.find(". ", at + 1)
    return None


@cache
def _templates(language: str) -> tuple[tuple[tuple[Piece, ...], str], ...]:
    """The most particular ones first, each with what it becomes."""
    found = []
    for template, said in SENTENCES[language].items():
        pieces = tuple((text, name, spec or "") for text, name, spec, _ in string.Formatter().parse(template))
        found.append((sum(len(text) for text, _, _ in pieces), pieces, said))
    return tuple((pieces, said) for _, pieces, said in sorted(found, key=lambda one: -one[0]))


def _fits(pieces: tuple[Piece, ...], english: str) -> Iterator[dict[str, str]]:
    """Every way in which the names can stand for parts of ``english``, none of them empty."""
    (text, name, _), rest = pieces[0], pieces[1:]
    if english[: len(text)].casefold() != text.casefold():
        return
    left = english[len(text) :]
    if name is None:
        if not left:
            yield {}
        return
    if not rest:
        if left:
            yield {name: left}
        return
    ahead = rest[0][0].casefold()
    at = left.casefold().find(ahead, 1) if ahead else -1
    while at >= 0:
        for values in _fits(rest, left[at:]):
            yield {name: left[:at], **values}
        at = left.casefold().find(ahead, at + 1)


def _filled(language: str, pieces: tuple[Piece, ...], values: Mapping[str, str]) -> dict[str, str] | None:
    filled = {}
    for _, name, spec in pieces:
        if name is None:
            continue
        said = known(language, values[name]) if spec else None
        if said is None and spec == "said":
            return None
        filled[name] = values[name] if said is None else said
    return filled
