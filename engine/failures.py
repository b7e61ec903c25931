"""What went wrong, as a report: one sentence of what happened and one of the cure."""

from __future__ import annotations

import re

from engine.errors import BadValue, FileProblem, RemoteProblem, WorldwalkError
from engine.protocol import Failed

_NO_MEMORY = re.compile(r"not enough memory|out of memory|can't allocate memory", re.IGNORECASE)


def failed(error: Exception) -> Failed:
    """One sentence of what happened and one of the cure."""
    again = "Press R to try once more."
    match error:
        case FileProblem():
            return Failed(f"{error.path}: {error.problem}.", error.cure)
        case BadValue(cure=str(cure)):
            return Failed(f"{error.where}: got {error.got}, expected {error.expected}.", cure)
        case RemoteProblem():
            return Failed(error.what, error.cure)
        case WorldwalkError():
            return Failed(str(error), again)
        case ImportError():
            return Failed(
                f"A part of the program is missing ({error}).", "Install it again: python -m pip install -e ."
            )
    if isinstance(error, MemoryError) or _NO_MEMORY.search(str(error)):
        return Failed("The machine has not enough free memory for this world.", f"Close other programs. {again}")
    first_line = (str(error).splitlines() or [""])[0][:200]
    kind = type(error).__name__
    return Failed(f"The world stopped with an error of the program itself ({kind}: {first_line}).", again)
