"""The user's own changes of settings: a small file in the user's config folder, written whole or not at all.

``settings.yaml`` beside the program stays what it is, the commented defaults. This file holds only what was changed in
the window, and may be edited by hand. One that cannot be used is set aside under another name, its good values kept.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import platformdirs

from app import settings, strict_yaml
from app.whole_file import FOLDER_VARIABLE, write_whole
from engine import config as engine_config
from engine.errors import BadValue, FileProblem

HEADER = "# What was changed in Worldwalk's window. All settings, with what they do: settings.yaml beside main.py.\n"
MOST_LINES = 400


@dataclass(frozen=True, slots=True)
class Own:
    """``values``: changed settings by their full dotted names, each checked. ``notice``: a sentence for the user."""

    values: Mapping[str, object] = field(default_factory=dict)
    notice: str | None = None


def default_path(environ: Mapping[str, str]) -> Path:
    """Where the file is. It may not exist yet, nor its folder."""
    named = environ.get(FOLDER_VARIABLE)
    return Path(named or platformdirs.user_config_dir("worldwalk", appauthor=False)) / "settings.yaml"


def read(path: Path, now: datetime) -> Own:
    """What the file holds. Never raises: a broken file is renamed, its good values are kept, the notice says so."""
    if not path.exists():
        return Own()
    try:
        found, places = settings.read_file(path)
        return Own({name: settings.check_one(name, value, places[name]) for name, value in found.items()})
    except FileProblem as error:
        return Own({}, f"Your settings could not be read, so the defaults hold: {error}")
    except BadValue as error:
        return _rescue(path, error, now)


def write(path: Path, values: Mapping[str, object]) -> None:
    """Write the values in the place of the file, in one step. Raises FileProblem."""
    write_whole(path, as_yaml(values))


def as_yaml(values: Mapping[str, object]) -> str:
    """Dotted names as sections; a value is written as JSON, which is YAML that everybody reads the same way."""
    lines, open_sections = [HEADER], tuple[str, ...]()
    for name in sorted(values):
        *sections, leaf = name.split(".")
        shared = 0
        while shared < min(len(open_sections), len(sections)) and open_sections[shared] == sections[shared]:
            shared += 1
        lines += [f"{'  ' * depth}{sections[depth]}:\n" for depth in range(shared, len(sections))]
        open_sections = tuple(sections)
        lines.append(f"{'  ' * len(sections)}{leaf}: {json.dumps(values[name], ensure_ascii=False)}\n")
    return "".join(lines)


def _rescue(path: Path, error: BadValue, now: datetime) -> Own:
    text = path.read_bytes()[: strict_yaml.MAX_BYTES // 2].decode("utf-8", errors="replace")
    kept = _good_values(text)
    aside = path.with_name(f"{path.stem} broken {now:%Y-%m-%d %H-%M-%S}{path.suffix}")
    try:
        path.replace(aside)
        write(path, kept)
    except (OSError, FileProblem) as trouble:
        return Own(
            kept, f"Your settings are damaged and could not be set aside ({trouble}). What is good in them holds."
        )
    reason = str(error).replace(str(path), path.name)
    return Own(
        kept,
        f"Your settings were damaged: {reason} They are kept as {aside.name}; {_count(len(kept))} of them still hold.",
    )


def _count(number: int) -> str:
    return "none" if number == 0 else str(number)


def _good_values(text: str) -> dict[str, object]:
    """Lines that make the lines before them unreadable are left out, then every value that its rule refuses."""
    lines: list[str] = []
    tree: object = None
    readable = [line for line in text.splitlines()[:MOST_LINES] if "\ufffd" not in line]  # no lost bytes in it
    for line in readable:
        try:
            tree = strict_yaml.load("\n".join([*lines, line]), "settings").value
        except BadValue:
            continue
        lines.append(line)
    kept: dict[str, object] = {}
    for name, value in engine_config.flatten(tree if isinstance(tree, dict) else {}).items():
        try:
            kept[name] = settings.check_one(name, value, name)
        except BadValue:
            continue
    return kept
