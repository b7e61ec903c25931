from __future__ import annotations

import itertools

import pytest

from app import steering
from app.steering import LookFeel, Steering
from engine.protocol import ActionState, CompositeEvent, Look


def held_sets(event: CompositeEvent | None) -> list[tuple[str, ...]]:
    assert event is not None
    assert isinstance(event.camera_actions, ActionState)
    return [transition.actions for transition in event.camera_actions.transitions]


def test_an_idle_tick_sends_nothing() -> None:
    idle = Steering()
    assert steering.compose(idle, 1.0) == (idle, None)


def test_a_held_key_is_sent_once() -> None:
    hands = steering.press(Steering(), "w", "key w", 0.5)
    hands, event = steering.compose(hands, 1.0)
    assert held_sets(event) == [("w",)]
    assert event is not None
    assert event.pressed_at == 0.5
    assert steering.compose(hands, 1.1)[1] is None


def test_key_repeat_changes_nothing() -> None:
    hands = steering.press(Steering(), "w", "key w", 0.5)
    assert steering.press(hands, "w", "key w", 0.6) is hands


def test_a_tap_within_one_tick_is_sent_as_two_transitions() -> None:
    hands = steering.press(Steering(), "w", "key w", 0.5)
    hands = steering.release(hands, "key w", 0.51)
    hands, event = steering.compose(hands, 1.0)
    assert held_sets(event) == [("w",), ()]
    assert hands.sent == ()


def test_two_keys_of_one_action_hold_it_until_both_are_up() -> None:
    hands = steering.press(Steering(), "i", "up", 0.1)
    hands = steering.press(hands, "i", "key i", 0.2)
    hands, _ = steering.compose(hands, 0.3)
    hands, event = steering.compose(steering.release(hands, "up", 0.4), 0.5)
    assert event is None
    _, event = steering.compose(steering.release(hands, "key i", 0.6), 0.7)
    assert held_sets(event) == [()]


def test_keys_mouse_and_prompt_of_one_tick_are_one_event() -> None:
    hands = steering.press(Steering(), "w", "key w", 0.5)
    hands = steering.turn(hands, 10, -5, 0.4, LookFeel(0.12))
    hands = steering.turn(hands, 10, 0, 0.6, LookFeel(0.12))
    hands = steering.submit(hands, "snow", 0.7)
    hands, event = steering.compose(hands, 1.0)
    assert event is not None
    assert event.input_types == ("camera_actions", "look", "prompt")
    assert event.look is not None
    assert event.look.yaw_degrees == pytest.approx(2.4)
    assert event.look.pitch_degrees == pytest.approx(0.6), "pointing up looks up"
    assert (event.prompt, event.pressed_at, event.event_id) == ("snow", 0.4, 1)
    assert steering.compose(hands, 1.1)[1] is None


def test_the_newer_prompt_of_a_tick_wins() -> None:
    _, event = steering.compose(steering.submit(steering.submit(Steering(), "rain", 0.1), "snow", 0.2), 1.0)
    assert event is not None
    assert event.prompt == "snow"


def test_a_turn_beyond_what_one_event_may_carry_goes_on_in_the_next() -> None:
    hands = steering.turn(Steering(), 2000, 0, 0.1, LookFeel(0.12))
    hands, first = steering.compose(hands, 0.2)
    hands, second = steering.compose(hands, 0.3)
    assert first is not None
    assert first.look == Look(180.0, 0.0)
    assert second is not None
    assert second.look is not None
    assert second.look.yaw_degrees == pytest.approx(60.0)
    assert steering.compose(hands, 0.4)[1] is None


def test_no_more_transitions_than_the_engine_takes() -> None:
    hands = Steering()
    for tap in range(400):
        hands = steering.release(steering.press(hands, "w", "key w", tap), "key w", tap)
    _, event = steering.compose(hands, 401.0)
    assert len(held_sets(event)) == 512


def test_a_pause_leaves_no_drift() -> None:
    hands, _ = steering.compose(steering.press(Steering(), "w", "key w", 0.1), 0.2)
    hands = steering.turn(steering.release(hands, "key w", 0.3), 500, 0, 0.3, LookFeel(0.12))
    hands = steering.press(hands, "d", "key d", 0.35)
    hands, event = steering.compose(hands, 0.4, standing=True)
    assert event is None
    _, event = steering.compose(hands, 0.5)
    assert held_sets(event) == [("d",)]
    assert event is not None
    assert event.look is None


def test_a_prompt_goes_out_while_paused() -> None:
    hands = steering.submit(steering.press(Steering(), "w", "key w", 0.1), "snow", 0.1)
    hands, event = steering.compose(hands, 0.2, standing=True)
    assert event is not None
    assert event.input_types == ("prompt",)


def test_a_new_world_is_told_what_is_held() -> None:
    hands, _ = steering.compose(steering.press(Steering(), "w", "key w", 0.1), 0.2)
    _, event = steering.compose(steering.forget_sent(hands), 0.3)
    assert held_sets(event) == [("w",)]


def test_inverted_looks_down_when_the_mouse_goes_up() -> None:
    feel = LookFeel(0.1, invert_y=True)
    assert steering.turn(Steering(), 10, -10, 0.0, feel).look == Look(1.0, -1.0)


def turned(feel: LookFeel, degrees: float, ticks: int) -> list[float]:
    """The yaw of each tick's event after one movement of the mouse."""
    hands, yaws = steering.turn_degrees(Steering(), degrees, 0.0, 1.0), []
    for n in range(ticks):
        hands, event = steering.compose(hands, 1.0 + n / 60, feel=feel)
        yaws.append(0.0 if event is None or event.look is None else event.look.yaw_degrees)
    return yaws


def test_without_smoothing_a_movement_is_one_event() -> None:
    assert turned(LookFeel(), 10.0, 3) == [10.0, 0.0, 0.0]


def test_smoothing_spreads_a_movement_and_loses_nothing() -> None:
    yaws = turned(LookFeel(smoothing_seconds=0.05), 10.0, 60)
    assert sum(yaws) == pytest.approx(10.0)
    assert all(later <= earlier for earlier, later in itertools.pairwise(yaws[:15]))
    assert yaws[-1] == 0.0, "it comes to an end"


def test_the_cap_holds_for_every_tick_and_nothing_turns_after_the_hand_has_stopped() -> None:
    assert turned(LookFeel(cap_degrees_per_second=60.0), 90.0, 3) == pytest.approx([1.0, 0.0, 0.0])
