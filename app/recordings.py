"""Where recordings and pictures go, and what they are called: never over a file that is already there."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

import platformdirs
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from engine.errors import FileProblem
from engine.protocol import Pixels


def default_folder() -> Path:
    """The user's folder of videos, ``Worldwalk`` in it. It may not exist yet."""
    return Path(platformdirs.user_videos_dir()) / "Worldwalk"


def unused_path(folder: Path, name: str, suffix: str, when: datetime) -> Path:
    """``folder/name 2026-01-31 18-05-09.mp4``, numbered if that is taken. Makes the folder. Raises FileProblem."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise folder_problem(folder, error) from error
    stem = f"{plain_name(name)} {when:%Y-%m-%d %H-%M-%S}"
    path, count = folder / f"{stem}{suffix}", 1
    while path.exists():
        count += 1
        path = folder / f"{stem} ({count}){suffix}"
    return path


def check_target(path: Path, *, overwrite: bool = False) -> None:
    """Whether a video can be written there, said before the walk begins. Changes nothing. Raises FileProblem."""
    if path.suffix.lower() != ".mp4":
        raise FileProblem(path, "a recording's name must end in .mp4", "Add .mp4 to the name.")
    if path.is_dir():
        raise FileProblem(path, "this is a folder", "Give the name of a file.")
    if not path.parent.is_dir():
        raise FileProblem(path, "its folder does not exist", "Make the folder, or choose another.")
    if path.exists() and not overwrite:
        raise FileProblem(path, "there is a file of this name already", "Choose another name, or move that file away.")
    if not os.access(path.parent, os.W_OK):
        raise FileProblem(path, "its folder cannot be written to", "Choose another folder.")


def save_picture(path: Path, frame: Pixels, texts: Mapping[str, str] | None = None) -> None:
    """Write one frame, RGB [H, W, 3], as a PNG under a new name; whole or not at all. Raises FileProblem.

    ``texts``: what stands in its text chunks, by keyword.
    """
    data, info = io.BytesIO(), PngInfo()
    for keyword, text in (texts or {}).items():
        info.add_itxt(keyword, text)
    Image.fromarray(frame).save(data, "PNG", pnginfo=info)
    try:
        with open(path, "xb") as file:
            file.write(data.getvalue())
    except FileExistsError as error:
        raise FileProblem(path, "there is a file of this name already", "Choose another name.") from error
    except OSError as error:
        raise file_problem(path, error) from error


def folder_problem(folder: Path, error: OSError) -> FileProblem:
    reason = (error.strerror or str(error)).lower()
    return FileProblem(folder, f"this folder cannot be used ({reason})", "Choose another folder.")


def file_problem(path: Path, error: OSError) -> FileProblem:
    reason = (error.strerror or str(error)).lower()
    return FileProblem(path, f"it cannot be written ({reason})", "Free some space, or choose another folder.")


def plain_name(name: str) -> str:
    """Without what some file system refuses in a name; never empty."""
    kept = "".join(" " if c in '<>:"/\\|?*' or ord(c) < 32 else c for c in name)
    return " ".join(kept.split()).strip(". ")[:60] or "walk"
