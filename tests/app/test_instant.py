from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest

from app import instant
from app.instant import MOST_AHEAD, FrameChosen, Instant
from engine.controls import ControlQueues
from engine.protocol import ActionState, CompositeEvent, Look, Optics, Transition

OPTICS = Optics(6.0, 4.0, 60.0, 500 / 832)
STILL = (0.0, 0.0)
PASS = 1 / 60


def pose_of(yaw: float, pitch: float = 0.0) -> tuple[float, ...]:
    y, p = math.radians(yaw), math.radians(pitch)
    sy, cy, sp, cp = math.sin(y), math.cos(y), math.sin(p), math.cos(p)
    return (cy, sy * sp, sy * cp, 0.0, 0.0, cp, -sp, 0.0, -sy, cy * sp, cy * cp, 0.0, 0.0, 0.0, 0.0, 1.0)


def looking(event_id: int, yaw: float, pitch: float = 0.0) -> CompositeEvent:
    return CompositeEvent(event_id, ("look",), look=Look(yaw, pitch), pressed_at=0.0)


def holding(event_id: int, *actions: str) -> CompositeEvent:
    return CompositeEvent(event_id, ("camera_actions",), ActionState((Transition(actions),)), pressed_at=0.0)


def tapping(event_id: int, *held: Sequence[str]) -> CompositeEvent:
    """Several sets of keys, one after the other, within one pass."""
    transitions = tuple(Transition(tuple(actions)) for actions in held)
    return CompositeEvent(event_id, ("camera_actions",), ActionState(transitions), pressed_at=0.0)


@dataclass
class Walk:
    """A model that answers after ``delay`` passes with chunks of four frames, and a window of 60 passes a second."""

    delay: int = 20
    wanted: bool = True
    value: Instant = field(default_factory=lambda: instant.begin(OPTICS, 1))
    now: float = 0.0
    yaw: float = 0.0
    chunk: int = 0
    views: list[float] = field(default_factory=list)
    _asked: list[tuple[int, CompositeEvent]] = field(default_factory=list)
    _held: tuple[str, ...] = ()
    _sent: tuple[str, ...] = ()
    _frames: list[float] = field(default_factory=list)
    _passes: int = 0

    def __post_init__(self) -> None:
        self._make()
        self._show()

    def live(self, passes: int, *events: CompositeEvent) -> Walk:
        """The events in the first of these passes; then time goes on."""
        for event in events:
            self._asked.append((self._passes, event))
            if isinstance(event.camera_actions, ActionState):
                self._sent = event.camera_actions.transitions[-1].actions
        sent: Sequence[CompositeEvent] = events
        for _ in range(passes):
            self.now += PASS
            self._passes += 1
            if self._passes % 15 == 0:
                self._make()
            self.value = instant.ask(self.value, sent, self.now, wanted=self.wanted)
            sent = ()
            if self.wanted:
                self.value = instant.pass_time(self.value, instant.keys_of(self._sent), self.now)
            else:
                self.value = instant.fade(self.value, self.now)
            if self._frames and self._passes * 16 // 60 != (self._passes - 1) * 16 // 60:
                self._show()
            self.views.append(self.value.shown[0] + (self.value.turn or STILL)[0])
        return self

    @property
    def largest_step(self) -> float:
        return max(abs(b - a) for a, b in zip(self.views, self.views[1:], strict=False))

    def _make(self) -> None:
        tapped: tuple[str, ...] = ()
        due = [event for at, event in self._asked if at <= self._passes - self.delay]
        self._asked = [(at, event) for at, event in self._asked if at > self._passes - self.delay]
        for event in due:
            self.yaw += 0.0 if event.look is None else event.look.yaw_degrees
            if isinstance(event.camera_actions, ActionState):
                *before, last = event.camera_actions.transitions
                self._held, tapped = last.actions, before[-1].actions if before else ()
        self.yaw += OPTICS.yaw_degrees * instant.keys_of(tapped or self._held)[0]
        ids = {event.event_id for event in due}
        keys = instant.keys_of(self._held)
        pose = pose_of(self.yaw)
        self.value = instant.receive(self.value, self.chunk, pose, ids, keys=keys, frames_per_latent=4)
        self._frames += [self.chunk + (i + 1) / 4 for i in range(4)]
        self.chunk += 1

    def _show(self) -> None:
        self.value = instant.show(self.value, FrameChosen(self._frames.pop(0), 1 / 16), wanted=self.wanted)


def test_a_look_is_seen_in_the_same_pass_and_is_all_the_models_in_the_end() -> None:
    walk = Walk().live(1, looking(1, 5.0))
    assert walk.value.ahead[0] == pytest.approx(5.0)
    walk.live(90)
    assert walk.value.shown[0] == pytest.approx(5.0)
    assert walk.value.ahead == STILL
    assert walk.value.turn is None


def test_nothing_jumps_when_the_answering_frames_come() -> None:
    walk = Walk().live(1, looking(1, 5.0))
    walk.views.clear()
    walk.live(90)
    assert walk.largest_step < 0.4  # softness lets a frame of 1.25 degrees through by a part
    assert walk.views[-1] == pytest.approx(5.0)


@pytest.mark.parametrize("delay", [5, 20, 40])
def test_a_held_key_turns_evenly_and_its_errors_are_gone_in_the_end(delay: int) -> None:
    walk = Walk(delay=delay).live(1, looking(1, 0.001)).live(100, holding(2, "l"))
    assert walk.largest_step < 1.5  # less than the model's own frames
    assert 0.0 < walk.value.ahead[0] < 24 * (delay + 15) * PASS + 2
    walk.live(240, holding(3))
    assert walk.largest_step < 1.5
    assert walk.views[-1] == pytest.approx(walk.yaw)
    assert walk.value.ahead == STILL


def test_a_key_that_is_held_for_long_leads_by_no_more_than_at_the_beginning() -> None:
    walk = Walk().live(80, holding(1, "l"))
    lead = walk.value.ahead[0]
    walk.live(600)
    assert walk.value.ahead[0] == pytest.approx(lead, abs=2.0)


def test_a_tap_ends_where_the_model_ends() -> None:
    walk = Walk().live(3, holding(1, "l")).live(200, holding(2))
    assert walk.views[-1] == pytest.approx(walk.yaw)
    assert walk.largest_step < 1.0


@pytest.mark.parametrize("delay", [5, 20, 40])
def test_a_tap_within_one_pass_is_seen_in_it_and_drawn_smoothly_to_where_the_model_ends(delay: int) -> None:
    walk = Walk(delay=delay).live(1, tapping(1, "l", ""))
    assert walk.value.turn is not None
    walk.live(200)
    assert walk.views[-1] == pytest.approx(OPTICS.yaw_degrees) == walk.yaw
    assert walk.largest_step < 1.0
    assert min(b - a for a, b in zip(walk.views, walk.views[1:], strict=False)) > -0.2
    assert walk.value.ahead == STILL


def test_a_second_tap_is_not_foreseen_before_the_first_is_answered() -> None:
    walk = Walk(delay=60).live(6, tapping(1, "l", "")).live(20, tapping(2, "l", ""))
    assert walk.value.known == (OPTICS.yaw_degrees, 0.0)
    walk.live(300)
    assert walk.views[-1] == pytest.approx(walk.yaw)
    assert walk.value.ahead == STILL
    assert walk.live(1, tapping(3, "j", "")).value.known == (-OPTICS.yaw_degrees, 0.0)


@pytest.mark.parametrize(
    ("before", "held"),
    [
        ("", ("l", "")),
        ("", ("i", "")),
        ("w", ("wl", "w")),
        ("", ("j", "", "l", "")),
        ("", ("l", "", "w", "")),
        ("w", ("wl", "wd", "w")),
        ("", ("wl", "w", "")),
    ],
)
def test_a_tap_is_foreseen_as_the_engine_samples_it(before: str, held: tuple[str, ...]) -> None:
    queues = ControlQueues()
    for event in (tapping(1, before), tapping(2, *held)):
        queues.apply(event, 0.0, event.to_wire())
        sampled = queues.sample(3, event.event_id or 0, 0.0)
    assert sampled.actions is not None
    yaw, pitch = instant.keys_of(sampled.actions[0])
    value = instant.ask(instant.begin(OPTICS, 1), [tapping(2, *held)], 0.0, wanted=True)
    assert value.known == (yaw * OPTICS.yaw_degrees, pitch * OPTICS.pitch_degrees)


def test_what_is_shown_is_bounded_however_much_was_asked() -> None:
    walk = Walk().live(1, looking(1, 170.0, 50.0))
    assert walk.value.turn is not None
    assert 0 < walk.value.turn[0] <= MOST_AHEAD[0]
    assert 0 < walk.value.turn[1] <= MOST_AHEAD[1]
    walk.live(400)
    assert walk.value.turn is None
    assert walk.value.shown[0] == pytest.approx(170.0)


def test_a_look_that_was_rejected_or_never_answered_fades_away() -> None:
    refused = Walk(delay=10_000).live(1, looking(1, 5.0))
    refused.value = instant.refuse(refused.value, 1)
    assert refused.live(200).value.ahead == STILL
    assert Walk(delay=10_000).live(900, looking(1, 5.0)).value.ahead == STILL


def test_switched_off_it_fades_at_once_and_shows_nothing_of_a_look() -> None:
    walk = Walk().live(1, looking(1, 6.0))
    walk.wanted = False
    assert walk.live(40).value.turn is None
    assert walk.live(1, looking(2, 6.0)).value.turn is None
    assert walk.live(100).views[-1] == pytest.approx(12.0)


def test_switched_on_in_the_middle_of_a_turn_it_comes_softly() -> None:
    walk = Walk(wanted=False).live(1, looking(1, 9.0))
    walk.wanted = True
    walk.views.clear()
    walk.live(60)
    assert walk.largest_step < 0.5


def test_the_view_goes_no_further_up_than_the_model() -> None:
    walk = Walk()
    walk.value = replace(walk.value, shown=(0.0, 58.0), newest=(0.0, 58.0))
    value = instant.ask(walk.value, [looking(1, 0.0, 20.0)], 0.0, wanted=True)
    assert instant.pass_time(value, STILL, 0.0).ahead[1] == pytest.approx(2.0)


def test_a_world_that_begins_turned_is_not_a_turn() -> None:
    value = instant.receive(instant.begin(OPTICS, 1), 7, pose_of(134.0), (), keys=None, frames_per_latent=4)
    value = instant.show(value, FrameChosen(7.25, 1 / 16), wanted=True)
    assert value.ahead == STILL
    assert value.known == STILL


def test_a_turn_across_the_south_is_no_turn_all_the_way_round() -> None:
    value = instant.receive(instant.begin(OPTICS, 1), 0, pose_of(175.0), (), keys=None, frames_per_latent=4)
    value = instant.receive(value, 1, pose_of(-175.0), (), keys=None, frames_per_latent=4)
    assert value.newest == pytest.approx((185.0, 0.0))


def test_the_time_to_the_first_motion_is_measured_once_a_turn() -> None:
    value = instant.ask(instant.begin(OPTICS, 1), [looking(1, 3.0)], 0.004, wanted=True)
    value = instant.measure(value, 0.02, unseen=[1])
    assert value.latencies == pytest.approx((0.02,))
    assert instant.measure(value, 0.5, unseen=[]).latencies == value.latencies


def test_switched_off_the_first_motion_is_the_models() -> None:
    value = instant.ask(instant.begin(OPTICS, 1), [looking(1, 3.0)], 0.0, wanted=False)
    value = instant.measure(value, 0.02, unseen=[1])
    assert value.latencies == ()
    assert instant.measure(value, 0.4, unseen=[]).latencies == pytest.approx((0.4,))


def test_an_idle_window_stays_the_same_value() -> None:
    value = instant.pass_time(instant.begin(OPTICS, 1), STILL, 1.0)
    assert instant.pass_time(value, STILL, 2.0) == value
    assert instant.fade(value, 3.0) == value
