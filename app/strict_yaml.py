"""YAML without its traps, for settings, walk scripts and scenes.

What is read is the part of YAML that everybody reads the same way: maps with text keys, lists, and plain values. What
means one thing to the writer and another to the reader is refused with a sentence: ``no``, ``on`` and ``y`` (booleans
in old YAML, words to people), doubled keys, tabs, anchors and aliases, tags, numbers with a leading zero. Numbers are
those of YAML 1.2 (``1e-3`` is one); dates stay text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from engine.errors import BadValue, FileProblem
from engine.wording import Path as ValuePath
from engine.wording import shown

MAX_BYTES = 1_000_000
MAX_DEPTH = 20

_OLD_BOOLEANS = frozenset(("y", "n", "yes", "no", "on", "off"))
_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None, "~": None, "": None}
_WHOLE = re.compile(r"[-+]?[0-9]{1,100}\Z")
_OCTAL_LOOK = re.compile(r"[-+]?0[0-9]+\Z")
_HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]{1,80}\Z")
_REAL = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
_SPECIAL = re.compile(r"([-+]?)\.(inf|Inf|INF|nan|NaN|NAN)\Z")
_TAB_IN_INDENTATION = re.compile(r"^[ \r]*\t", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class StrictDocument:
    """``value`` is made of dict, list, str, int, float, bool and None."""

    value: object
    name: str
    lines: dict[ValuePath, int] = field(repr=False)
    """The line of each value, counted from 1; of a map's entry, its key's."""

    def where(self, path: ValuePath = ()) -> str:
        """``file:line`` of the value at ``path``, or of the innermost value on the way to it that there is."""
        while path and path not in self.lines:
            path = path[:-1]
        return f"{self.name}:{self.lines.get(path, 1)}"


def load(text: str, where: str) -> StrictDocument:
    """The one document in ``text``; ``where`` is the file's name. Raises ``BadValue`` that names file and line."""
    if len(text) > MAX_BYTES or len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise _too_long(where)
    tab = _TAB_IN_INDENTATION.search(text)
    if tab is not None:
        line = text.count("\n", 0, tab.end()) + 1
        raise BadValue(f"{where}:{line}", "a tab in the indentation", "spaces", "Replace the tab by spaces.")
    reader = _Reader(where)
    try:
        value = reader.document(yaml.parse(text, Loader=yaml.SafeLoader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark is not None else 1
        raise BadValue(
            f"{where}:{line}",
            error.problem or "something else",
            "YAML",
            "Look for a missing quote, bracket, colon or indentation here or in the line above.",
        ) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise BadValue(f"{where}:{line}", "a character that is not text", "printable text", "Remove it.") from None
    except (ValueError, OverflowError):  # the parser's own, for an escape such as "\\UFFFFFFFF" that is no character
        raise BadValue(where, "an escape or a directive with an impossible number", "YAML", "Remove it.") from None
    return StrictDocument(value, where, reader.lines)


def load_file(path: Path) -> StrictDocument:
    """``load`` for a file in UTF-8. Raises ``FileProblem`` where it cannot be read, ``BadValue`` for what it says."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise FileProblem(path, "no such file", "Check the name.") from None
    except IsADirectoryError:
        raise FileProblem(path, "is a folder, not a file", "Name a YAML file.") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise FileProblem(path, f"cannot be read: {reason}", "Check the name and its permissions.") from None
    if len(data) > MAX_BYTES:
        raise _too_long(str(path))
    try:
        return load(data.decode("utf-8"), str(path))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadValue(
            f"{path}:{line}", "bytes that are not UTF-8", "text in UTF-8", "Save the file as UTF-8."
        ) from None


def _too_long(name: str) -> BadValue:
    return BadValue(f"{name}:1", f"over {MAX_BYTES} bytes", f"at most {MAX_BYTES} bytes")


class _Reader:
    """Builds the value from the parser's events, so that anchors, tags and doubles are seen before they act."""

    def __init__(self, where: str) -> None:
        self.lines: dict[ValuePath, int] = {}
        self._where = where

    def document(self, events: Iterator[yaml.Event]) -> object:
        value: object = None
        documents = 0
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise self._bad(event, "a second document", "one document", "Remove the line '---'.")
                first = next(events)
                self.lines[()] = _line(first)
                value = self._value(first, events, ())
        return value

    def _value(self, event: yaml.Event, events: Iterator[yaml.Event], path: ValuePath) -> object:
        self._refuse_reference(event)
        if len(path) > MAX_DEPTH:
            raise self._bad(event, f"values nested over {MAX_DEPTH} deep", "fewer levels")
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._list(events, path)
        assert isinstance(event, yaml.MappingStartEvent), event
        return self._map(events, path)

    def _list(self, events: Iterator[yaml.Event], path: ValuePath) -> list[object]:
        items: list[object] = []
        while not isinstance(event := next(events), yaml.SequenceEndEvent):
            inner = (*path, len(items))
            self.lines[inner] = _line(event)
            items.append(self._value(event, events, inner))
        return items

    def _map(self, events: Iterator[yaml.Event], path: ValuePath) -> dict[str, object]:
        found: dict[str, object] = {}
        while not isinstance(event := next(events), yaml.MappingEndEvent):
            self._refuse_reference(event)
            key = self._scalar(event) if isinstance(event, yaml.ScalarEvent) else ()
            if not isinstance(key, str):
                got = "a list or map" if key == () else shown(key)
                raise self._bad(event, f"{got} as a key", "a text", "Put quotes around it." if key != () else None)
            if key in found:
                first = self.lines[(*path, key)]
                raise self._bad(event, f"the key {key!r:.80} again (first in line {first})", "each key once")
            self.lines[(*path, key)] = _line(event)
            found[key] = self._value(next(events), events, (*path, key))
        return found

    def _scalar(self, event: yaml.ScalarEvent) -> object:
        text = event.value
        if event.style is not None:  # quoted, or a block of text
            return text
        if text.lower() in _OLD_BOOLEANS:
            cure = f'Write "{text}" in quotes for the word, or true or false.'
            raise self._bad(
                event, f"{text}, which some read as a word and some as true or false", "one or the other", cure
            )
        if text.lower() in _WORDS:
            return _WORDS[text.lower()]
        if _OCTAL_LOOK.match(text):
            raise self._bad(event, text[:40], "a number without leading zeros", "Put quotes around it if it is text.")
        if _WHOLE.match(text):
            return int(text)
        if _HEXADECIMAL.match(text):
            return int(text, 16)
        if special := _SPECIAL.match(text):
            return float(special[1] + special[2])
        return float(text) if _REAL.match(text) else text

    def _refuse_reference(self, event: yaml.Event) -> None:
        assert isinstance(event, yaml.NodeEvent), event
        if isinstance(event, yaml.AliasEvent):
            raise self._bad(event, f"the alias *{event.anchor!s:.40}", "the value itself", "Write the value out here.")
        if event.anchor is not None:
            raise self._bad(event, f"the anchor &{event.anchor!s:.40}", "a value without anchor", "Remove the anchor.")
        assert isinstance(event, (yaml.ScalarEvent, yaml.CollectionStartEvent)), event
        if event.tag is not None:
            raise self._bad(event, f"the tag {event.tag!s:.60}", "a value without tag", "Remove the tag.")

    def _bad(self, event: yaml.Event, got: str, expected: str, cure: str | None = None) -> BadValue:
        return BadValue(f"{self._where}:{_line(event)}", got, expected, cure)


def _line(event: yaml.Event) -> int:
    assert event.start_mark is not None, event
    return event.start_mark.line + 1
