"""The ring of moments, with a world that is a number."""

from __future__ import annotations

from functools import partial

from engine.moments import Moment, MomentRing, RewindableWorld


class Counter:
    """A world whose state is how often it was stepped; its moments share 100 bytes and hold ``size`` of their own."""

    def __init__(self, size: int = 10) -> None:
        self.steps, self.size = 0, size

    @property
    def moment_bytes(self) -> int:
        return self.size

    def keep(self) -> Moment:
        return Moment(self.steps - 1, {-1: 100, self.steps: self.size}, partial(setattr, self, "steps", self.steps))


def filled(limit_bytes: int, steps: int) -> tuple[Counter, MomentRing]:
    world, ring = Counter(), MomentRing(limit_bytes)
    for _ in range(steps):
        world.steps += 1
        assert ring.keep(world)
    return world, ring


def test_what_moments_share_is_counted_once() -> None:
    _, ring = filled(1000, 5)
    assert ring.byte_count == 100 + 5 * 10


def test_the_limit_holds_and_the_reach_grows() -> None:
    _, ring = filled(300, 500)
    assert ring.byte_count <= 300
    assert (ring.chunks[0], ring.chunks[-1]) == (0, 499)
    assert len(ring.chunks) == 20


def test_the_newest_moment_that_is_not_later_is_gone_back_to_and_the_way_on_is_another_line() -> None:
    world, ring = filled(300, 500)
    moment = ring.nearest(ring.chunks[3] + 1)
    assert moment is not None
    ring.go(world, 499, moment)
    assert world.steps == moment.chunk + 1
    assert (ring.line, ring.chunks[-1]) == (1, moment.chunk)


def test_the_end_of_what_was_left_is_gone_to_and_walked_on_from() -> None:
    world, ring = filled(1000, 7)
    world.steps = 9  # two more were made, of which none is kept
    there = ring.nearest(3)
    assert there is not None
    ring.go(world, 8, there)
    world.steps = 6
    end = ring.nearest(99, 0)
    assert end is not None
    ring.go(world, 5, end, 0)
    assert (world.steps, ring.line, ring.chunks) == (9, 0, (0, 1, 2, 3, 4, 5, 6, 8))
    assert [(line.number, line.parent, line.after, line.newest, line.kept) for line in ring.lines] == [
        (0, None, -1, 8, (0, 1, 2, 3, 4, 5, 6, 8)),
        (1, 0, 3, 5, (5,)),
    ]


def test_going_back_twice_to_one_place_leaves_no_empty_line() -> None:
    world, ring = filled(1000, 7)
    for newest in (6, 3):
        there = ring.nearest(3)
        assert there is not None
        ring.go(world, newest, there)
    assert [(line.number, line.parent) for line in ring.lines] == [(0, None), (2, 0)]


def test_ends_are_given_up_after_all_else_but_take_no_more_than_half_of_the_room() -> None:
    world, ring = filled(300, 10)
    for newest in range(9, 60):
        there = ring.nearest(4)
        assert there is not None
        ring.go(world, newest, there)
        for step in range(6, newest + 3):
            world.steps = step
            ring.keep(world)
    ends = [line for line in ring.lines if line.newest in line.kept and line.number != ring.line]
    assert 4 <= len(ends) <= 10
    assert ring.byte_count <= 300
    assert ends[-1].newest == 59  # the newest ones
    assert len(ring.chunks) >= 8


def test_an_end_is_forgotten_back_to_where_another_line_leaves_it() -> None:
    world, ring = filled(1000, 7)
    for chunk, line, newest in ((3, None, 6), (5, 0, 8)):
        there = ring.nearest(chunk, line)
        assert there is not None
        ring.go(world, newest, there, line)
        world.steps = newest + 3
        ring.keep(world)
    ring.forget(0)
    assert [(line.number, line.parent, line.newest, line.kept) for line in ring.lines if line.number != ring.line] == [
        (0, None, 5, (0, 1, 2, 3, 4, 5)),
        (1, 0, 8, (8,)),
    ]
    ring.forget(1)
    ring.forget(ring.line)
    assert [line.number for line in ring.lines] == [0, 2]


def test_where_there_is_room_for_one_moment_it_is_the_one_gone_back_to() -> None:
    world, ring = filled(125, 5)
    there = ring.nearest(3)
    assert there is not None
    ring.go(world, 9, there)
    assert (world.steps, ring.chunks, ring.byte_count <= 125) == (4, (3,), True)


def test_a_saved_moment_outlives_those_around_it() -> None:
    world, ring = filled(300, 20)
    assert ring.mark(world, 19)
    for step in range(21, 200):
        world.steps = step
        assert ring.keep(world)
    assert 19 in ring.chunks


def test_a_moment_that_alone_is_too_large_is_not_kept_and_what_there_is_stays() -> None:
    world, ring = filled(300, 3)
    world.size = 301
    assert not ring.keep(world)
    assert ring.chunks == (0, 1, 2)
    assert MomentRing(0).nearest(5) is None


def test_a_counter_is_a_rewindable_world() -> None:
    assert isinstance(Counter(), RewindableWorld)
