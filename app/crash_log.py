"""The last resort: an error of the program itself is kept where its author can read it."""

from __future__ import annotations

import sys
import traceback
from datetime import datetime
from pathlib import Path

import platformdirs


def keep_traceback(command: str) -> str:
    """Append the traceback of the error in hand to the log. Returns one sentence that says where it is."""
    folder = Path(platformdirs.user_log_dir("worldwalk", appauthor=False))
    text = f"{datetime.now().isoformat(timespec='seconds')} {command}\n{traceback.format_exc()}\n"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "errors.log"
        with path.open("a", encoding="utf-8") as file:
            file.write(text)
    except OSError:
        sys.stderr.write(text)
        return "Please report it with the lines above."
    return f"Please report it with the last lines of {path}."
