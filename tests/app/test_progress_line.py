"""Progress on a terminal and in a file."""

from __future__ import annotations

import io

from app.progress_line import ProgressLine


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_one_line_a_job() -> None:
    out = Terminal()
    with ProgressLine(out) as line:
        for stage, fraction in (("Reading: 1 of 2", 0.5), ("Reading: 2 of 2", 1.0), ("Making the land", 0.9)):
            line.show(stage, fraction)
        line.end()
    assert out.getvalue() == "\r\x1b[KReading: 1 of 2\r\x1b[KReading: 2 of 2\n\x1b[KMaking the land\n"


def test_a_file_gets_each_stage_once_and_a_long_job_ten_times() -> None:
    out = io.StringIO()
    line = ProgressLine(out)
    for stage in ("Loading torch", "Loading torch"):
        line.show(stage, 0.05)
    for number in range(100):
        line.show(f"Reading: {number} of 99", number / 99)
    line.end()
    said = out.getvalue().splitlines()
    assert said[:2] == ["Loading torch", "Reading: 0 of 99"]
    assert 10 <= len(said) <= 13
    assert said[-1] == "Reading: 99 of 99"
