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


def test_the_newest_moment_that_is_not_later_is_gone_back_to_and_what_was_after_it_forgotten() -> None:
    world, ring = filled(300, 500)
    moment = ring.nearest(ring.chunks[3] + 1)
    assert moment is not None
    moment.go_back()
    ring.forget_after(moment.chunk)
    assert world.steps == moment.chunk + 1
    assert ring.chunks[-1] == moment.chunk


def test_a_moment_that_alone_is_too_large_is_not_kept_and_what_there_is_stays() -> None:
    world, ring = filled(300, 3)
    world.size = 301
    assert not ring.keep(world)
    assert ring.chunks == (0, 1, 2)
    assert MomentRing(0).nearest(5) is None


def test_a_counter_is_a_rewindable_world() -> None:
    assert isinstance(Counter(), RewindableWorld)
