"""Small files of the user's: written whole or not at all, in a folder that can be named."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from engine.errors import FileProblem

FOLDER_VARIABLE = "WORLDWALK_CONFIG_DIR"
"""Names another folder than the system's own, for a program on a stick, and for tests."""


def write_whole(path: Path, text: str) -> None:
    """Write a text file so that at any moment the old one or the new one is there. Raises FileProblem."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with draft.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)
        reason = (error.strerror or str(error)).lower()
        cure = "Free some space, or see to its folder."
        raise FileProblem(path, f"what you chose cannot be kept ({reason})", cure) from error
