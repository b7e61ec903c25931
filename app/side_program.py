"""Small programs of the system's that are asked for one answer: no shell, nothing to read, a bounded answer."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_NO_CONSOLE = 0x08000000 if sys.platform == "win32" else 0
"""CREATE_NO_WINDOW: else a console flashes up beside the window."""


@dataclass(frozen=True, slots=True)
class Answer:
    """``output``: what it wrote, or None where that was more than it may be."""

    code: int
    output: bytes | None


class SideProgram:
    """One that runs. Its output goes to a file, so that it never waits for a reader, and nobody for it."""

    def __init__(self, arguments: Sequence[str], environ: Mapping[str, str], most_bytes: int) -> None:
        """Start it. Raises OSError where it cannot be started."""
        self._most_bytes = most_bytes
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - it is closed with the program
        try:
            self._process = subprocess.Popen(
                list(arguments),
                stdin=subprocess.DEVNULL,
                stdout=self._file,
                stderr=subprocess.DEVNULL,
                env=dict(environ),
                creationflags=_NO_CONSOLE,
            )
        except OSError:
            self._file.close()
            raise

    def poll(self) -> Answer | None:
        """Its answer, once; None while it runs."""
        return None if self._process.poll() is None else self._end()

    def wait(self, seconds: float) -> Answer | None:
        """Its answer; None where it took longer, and was ended for that."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.close()
            return None
        return self._end()

    def close(self) -> None:
        """End it, if it runs still."""
        self._process.kill()
        self._process.wait()
        self._file.close()

    def _end(self) -> Answer:
        self._file.seek(0)
        output = self._file.read(self._most_bytes + 1)
        self._file.close()
        return Answer(self._process.returncode, output if len(output) <= self._most_bytes else None)
