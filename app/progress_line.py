"""How far a long job has come, on a terminal: one line that is written over, or in a file a line now and then."""

from __future__ import annotations

from typing import TextIO

_STEPS = 10
"""Lines that one job leaves in a file."""


class ProgressLine:
    """Takes stages in plain words, such as "Reading the weights: 1 of 7 GB" and a fraction. A new job begins a line."""

    def __init__(self, out: TextIO) -> None:
        self._out, self._live = out, out.isatty()
        self._job, self._step, self._open = "", -1, False

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def show(self, stage: str, fraction: float | None) -> None:
        job, step = stage.partition(":")[0], int((fraction or 0.0) * _STEPS)
        new = job != self._job or (fraction is None and stage != self._job)
        if self._live:
            self._out.write(("\n" if new and self._open else "\r") + "\x1b[K" + stage)
            self._open = True
        elif new or (step > self._step and ":" in stage):
            self._out.write(stage + "\n")
        self._job, self._step = job, step
        self._out.flush()

    def end(self) -> None:
        """Leave the line, so that what is written next stands on its own."""
        if self._open:
            self._out.write("\n")
            self._out.flush()
        self._open = False
