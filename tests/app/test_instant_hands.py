from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
import pygame
import pytest

from app import gestures, instant_hands, settings
from app.instant import FrameChosen, MotionShown
from app.messages import Message, Ticked
from app.rewind import Rewind
from app.settings import Settings
from app.values import AppState
from app.view import View
from engine.protocol import EventRejected, Optics, WentBack
from tests.app.test_instant import pose_of
from tests.app.walks import after, frame_chunk, opened, sampled, walking

OPTICS = Optics(6.0, 4.0, 60.0, 500 / 832)


def walk(**values: object) -> AppState:
    """Walks on a model whose camera is known; the pointer is captured."""
    chosen = settings.changed(Settings(), {f"app.{name}": value for name, value in values.items()})
    state = replace(walking(), settings=chosen, captured=True)
    first = replace(frame_chunk(), pose=pose_of(0.0))
    return told(state, [replace(opened(), optics=OPTICS), first, FrameChosen(1.0, 1 / 16), Ticked(0.0)])


def told(state: AppState, messages: Iterable[Message]) -> AppState:
    return after(state, messages)[0]


def moved(state: AppState, px: int, at: float) -> AppState:
    return told(state, [gestures.MouseMoved(0, 0, px, 0, at), Ticked(at)])


def test_the_mouse_turns_the_picture_in_the_same_pass() -> None:
    state = moved(walk(), 50, 0.1)
    assert state.instant.ahead[0] == pytest.approx(6.0)
    warp = instant_hands.warp_of(state)
    assert warp is not None
    assert warp.yaw_degrees == pytest.approx(6.0, abs=0.2)


def test_the_chunk_that_answers_takes_its_place() -> None:
    state = moved(walk(), 50, 0.1)
    event = state.in_flight[0]
    chunk = replace(frame_chunk(1, events=(sampled(1, event.to_wire()),)), pose=pose_of(6.0))
    state = told(state, [chunk, Ticked(0.11), *(FrameChosen(1 + i / 4, 1 / 16) for i in (1, 2, 3, 4))])
    assert state.instant.ahead[0] == pytest.approx(0.0, abs=1e-6)
    assert instant_hands.warp_of(state) is None


def test_keys_that_turn_begin_at_once_and_those_that_walk_do_nothing() -> None:
    state = told(walk(), [gestures.ActionPressed("w", "W", 0.1), Ticked(0.1), Ticked(0.2)])
    assert instant_hands.warp_of(state) is None
    assert state.instant.motion is None
    state = told(state, [gestures.ActionPressed("j", "J", 0.3), Ticked(0.3), Ticked(0.35)])
    assert state.instant.ahead[0] == pytest.approx(-24 * (1 / 60 + 0.05))
    assert state.instant.motion is not None


@pytest.mark.parametrize("values", [{"instant_camera": False}, {"reduced_motion": True}])
def test_it_is_off_where_the_settings_say_so(values: dict[str, object]) -> None:
    state = moved(walk(**values), 50, 0.1)
    assert state.in_flight
    assert instant_hands.warp_of(state) is None


def test_a_model_whose_camera_is_not_known_is_never_foreseen() -> None:
    assert instant_hands.warp_of(moved(replace(walking(), captured=True), 50, 0.1)) is None


def test_a_pause_shows_the_models_own_picture_after_a_moment() -> None:
    state = told(moved(walk(), 50, 0.1), [gestures.Commanded(gestures.Command.PAUSE, 0.2)])
    state = told(state, [Ticked(0.2 + i / 60) for i in range(60)])
    assert instant_hands.warp_of(state) is None


def test_the_past_is_shown_as_it_was() -> None:
    state = moved(walk(), 50, 0.1)
    assert instant_hands.warp_of(replace(state, time=replace(state.time, rewind=Rewind("B", 0.1, 0.1)))) is None
    assert instant_hands.warp_of(told(state, [WentBack(1, 0, "")])) is None


def test_a_rejected_turn_goes_away_again() -> None:
    state = told(moved(walk(), 50, 0.1), [EventRejected(1, "look", "x", "y")])
    assert instant_hands.warp_of(told(state, [Ticked(0.1 + i / 60) for i in range(200)])) is None


def test_the_time_to_the_first_motion_is_kept_apart_from_that_to_the_models_frame() -> None:
    state = told(moved(walk(), 50, 0.1), [MotionShown(0.116)])
    assert state.instant.latencies == pytest.approx((0.016,))
    assert state.measured.latencies == ()


def test_an_idle_window_stays_the_same_state() -> None:
    state = told(walk(), [Ticked(1.0)])
    assert told(state, [Ticked(1.1)]) is state


def test_a_chunk_says_how_many_frames_a_latent_frame_has() -> None:
    state = told(walk(), [replace(frame_chunk(1, frames=12), pose=pose_of(0.0))])
    assert state.instant.frames_per_latent == 12
    assert np.isfinite(state.instant.interval_seconds)


def test_a_key_that_is_pressed_and_let_go_of_within_one_pass_is_seen_in_it() -> None:
    tap = [gestures.ActionPressed("l", "L", 0.1), gestures.ActionReleased("L", 0.1)]
    state = told(walk(), [*tap, Ticked(0.1)])
    assert instant_hands.warp_of(state) is not None
    assert told(state, [MotionShown(0.112)]).instant.latencies == pytest.approx((0.012,))


@pytest.fixture
def display() -> Iterator[pygame.Surface]:
    pygame.display.init()
    pygame.font.init()
    yield pygame.display.set_mode((640, 400))
    pygame.display.quit()


def test_what_is_drawn_is_turned_and_the_frame_that_films_and_pictures_keep_is_not(display: pygame.Surface) -> None:
    frame = np.random.default_rng(1).integers(0, 255, (144, 256, 3), np.uint8)
    kept, still, turned = frame.copy(), walk(), moved(walk(), 50, 0.1)
    pictures = []
    for state in (still, turned):
        View().draw(display, replace(state, width=display.get_width(), height=display.get_height()), frame, 0.1)
        pictures.append(pygame.surfarray.array3d(display))
    assert not np.array_equal(*pictures)
    assert np.array_equal(frame, kept)


def test_a_key_is_seen_in_the_pass_in_which_it_is_pressed() -> None:
    state = told(walk(), [gestures.ActionPressed("l", "L", 0.1), Ticked(0.1), MotionShown(0.112)])
    assert state.instant.latencies == pytest.approx((0.012,))
