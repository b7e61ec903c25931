"""Lines of a walk: which made a chunk, and how far each is walked on the way to the end of one."""

from __future__ import annotations

from engine.lines import WalkLine, ends, owner

LINES = {
    0: WalkLine(0, None, -1, 40),
    1: WalkLine(1, 0, 20, 30),
    2: WalkLine(2, 1, 25, 50),
}


def test_a_chunk_belongs_to_the_line_that_made_it() -> None:
    assert [owner(LINES, 2, chunk) for chunk in (0, 20, 21, 25, 26, 99)] == [0, 0, 1, 1, 2, 2]


def test_the_way_to_an_end_leads_along_each_line_up_to_where_the_next_one_leaves_it() -> None:
    assert ends(LINES, 2) == {0: 20, 1: 25, 2: float("inf")}
    assert ends(LINES, 0) == {0: float("inf")}
