"""What a path that is being typed may become: folders and pictures, as the disk has them now."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

import platformdirs

from app.beginnings import PathsListed
from app.pasted_path import plain_path

SUFFIXES = (
    *(".png", ".jpg", ".jpeg", ".webp", ".bmp", ".gif", ".tif", ".tiff", ".ppm", ".pgm", ".tga", ".jp2", ".avif"),
)
MOST_LOOKED_AT, MOST_LISTED = 20_000, 400
"""Names of a folder, and names of a kind that are told."""


def start_folder() -> Path:
    """Where a search for a picture begins: the user's pictures, or the home folder where there are none."""
    pictures = Path(platformdirs.user_pictures_dir())
    return pictures if pictures.is_dir() else Path.home()


def folder_of(text: str, start: Path) -> str:
    """The folder that a typed path lies in, if it is there, else ``start``; with a separator at its end."""
    folder, _ = _parts(text, start)
    return folder if os.path.isdir(folder) else _closed(str(start))


def listed(text: str, start: Path, *, dialog: bool) -> PathsListed:
    """Folders and pictures whose names begin with what stands behind the last separator; of a blank text, ``start``'s.

    Hidden ones only where a dot was typed. What cannot be read is as if it were empty.
    """
    folder, beginning = _parts(text, start)
    folders, files = [], []
    try:
        with os.scandir(folder) as found:
            for entry in itertools.islice(found, MOST_LOOKED_AT):
                name = entry.name
                if not name.lower().startswith(beginning.lower()) or (name[0] == "." and beginning[:1] != "."):
                    continue
                if _is_folder(entry):
                    folders.append(name)
                elif name.lower().endswith(SUFFIXES):
                    files.append(name)
    except (OSError, ValueError):
        folder = _closed(str(start)) if not text.strip() else folder
    return PathsListed(text, folder, _first(folders), _first(files), dialog)


def _first(names: list[str]) -> tuple[str, ...]:
    return tuple(sorted(names, key=str.casefold)[:MOST_LISTED])


def _parts(text: str, start: Path) -> tuple[str, str]:
    """(folder with a separator at its end, beginning of a name)."""
    if not text.strip():
        return _closed(str(start)), ""
    if text.strip().startswith(("'", '"', "file://")):
        path = str(plain_path(text))
        path = _closed(path) if text.strip("\"' \t").endswith("/") else path
    else:
        path = os.path.expanduser(text.lstrip())
    head, tail = os.path.split(path)
    return _closed(os.path.abspath(head or str(start))), tail


def _closed(folder: str) -> str:
    return folder if folder.endswith(os.sep) else folder + os.sep


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False
