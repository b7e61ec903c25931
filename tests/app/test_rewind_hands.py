"""Going back in time, by synthetic events."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.facts import Screen, Stage
from app.gestures import ActionPressed, ActionReleased, Command, Commanded, FocusLost
from app.messages import Ticked
from app.rewind import LookedBack, RewindPressed, nearest
from app.values import AppState
from engine.protocol import Failed, GoBack, MomentsKept, OpenWorld, Pause, SnapshotSaved, StayedHere, Steer, WentBack
from tests.app.walks import after, opened, walking

KEPT = MomentsKept(1, (0, 2, 4, 6), 40_000_000)
BACK = "key 42"


def seen(position: float, seconds: float = 1.0, *, first: bool = False) -> LookedBack:
    return LookedBack(position, 8.0, seconds, first, 1000)


def rewinding() -> AppState:
    """Backspace was pressed at 1.0 and the tape has run for a second."""
    state, asks = after(walking(), [KEPT, RewindPressed(BACK, 1.0), Ticked(1.0), Ticked(2.0), seen(5.2)])
    assert Pause(True) in asks
    return state


def test_while_the_key_is_held_the_world_stands_and_the_tape_runs_ever_faster() -> None:
    state = rewinding()
    assert state.standing
    assert state.time.rewind is not None
    first = state.time.rewind.steps
    state, _ = after(state, [Ticked(3.0)])
    assert state.time.rewind is not None
    assert 16 < first < state.time.rewind.steps - first < 4 * 16


def test_letting_go_asks_for_the_moment_nearest_to_the_frame_on_show() -> None:
    state, asks = after(rewinding(), [ActionReleased(BACK, 2.1)])
    assert asks == [GoBack(1, 4)]
    assert state.standing  # until the engine is there


def test_the_world_goes_on_from_there_and_is_told_which_keys_are_held_now() -> None:
    state, _ = after(rewinding(), [ActionReleased(BACK, 2.1)])
    state, asks = after(state, [WentBack(1, 4, "fog"), MomentsKept(1, (0, 2, 4), 30_000_000), Ticked(2.2)])
    assert [type(ask) for ask in asks] == [Pause, Steer]
    assert asks[0] == Pause(False)
    assert isinstance(asks[1], Steer)
    assert asks[1].wire["camera_actions"] == {"mode": "state", "transitions": [{"actions": []}]}
    assert state.prompt is not None
    assert (state.prompt.text, state.prompt.stage, state.snapshot) == ("fog", Stage.APPLIED, None)
    assert state.time.chunks == (0, 2, 4)
    assert [toast.text for toast in state.toasts] == ["1.0 s back."]


def test_a_key_that_is_held_when_the_world_goes_on_is_said_then() -> None:
    state, _ = after(rewinding(), [ActionPressed("w", "key 26", 2.0), ActionReleased(BACK, 2.1), WentBack(1, 4, "fog")])
    _, asks = after(state, [Ticked(2.2)])
    assert isinstance(asks[0], Steer)
    assert asks[0].wire["camera_actions"] == {"mode": "state", "transitions": [{"actions": ["w"]}]}


def test_a_mere_tap_changes_nothing() -> None:
    state, _ = after(walking(), [KEPT, RewindPressed(BACK, 1.0), Ticked(1.0), seen(8.0, 0.0)])
    state, asks = after(state, [ActionReleased(BACK, 1.02)])
    assert (asks, state.standing) == ([Pause(False)], False)


def test_losing_the_focus_lets_go() -> None:
    _, asks = after(rewinding(), [FocusLost(2.1)])
    assert asks == [GoBack(1, 4)]


def test_escape_leads_back_to_the_present() -> None:
    state, asks = after(rewinding(), [Commanded(Command.BACK, 2.1)])
    assert (asks, state.time.rewind, state.menu) == ([Pause(False)], None, None)


@pytest.mark.parametrize("command", [Command.PROMPT, Command.RESET, Command.MENU])
def test_nothing_else_is_begun_meanwhile(command: Command) -> None:
    state = rewinding()
    assert after(state, [Commanded(command, 2.1)]) == (state, [])


def test_a_paused_world_stays_paused_after_going_back() -> None:
    state, _ = after(walking(), [KEPT, Commanded(Command.PAUSE, 0.5), RewindPressed(BACK, 1.0), Ticked(2.0), seen(5.2)])
    state, asks = after(state, [ActionReleased(BACK, 2.1), WentBack(1, 4, "fog")])
    assert asks == [GoBack(1, 4)]
    assert state.paused


def test_without_a_moment_one_sentence_says_why() -> None:
    state, asks = after(walking(), [RewindPressed(BACK, 1.0)])
    assert (asks, state.time.rewind) == ([], None)
    assert "nothing to go back to" in state.toasts[0].text
    state, _ = after(walking(), [MomentsKept(1, (), 0, "A server's."), RewindPressed(BACK, 1.0)])
    assert [toast.text for toast in state.toasts] == ["A server's."]


def test_an_engine_that_has_no_moment_any_more_lets_the_world_go_on() -> None:
    state, _ = after(rewinding(), [ActionReleased(BACK, 2.1)])
    state, asks = after(state, [StayedHere(1, "None is kept.")])
    assert (asks, state.time.rewind, state.toasts[-1].text) == ([Pause(False)], None, "None is kept.")


def test_another_world_knows_nothing_of_the_moments_before() -> None:
    state, asks = after(walking(), [KEPT, Commanded(Command.RESET, 1.0)])
    assert any(isinstance(ask, OpenWorld) for ask in asks)
    assert state.time.chunks == ()
    state, _ = after(state, [KEPT, WentBack(1, 4, "fog")])  # of the world before
    assert state.time.chunks == ()


def test_the_key_means_nothing_behind_a_menu() -> None:
    state = replace(walking(), screen=Screen.SCENES)
    state, _ = after(state, [KEPT, RewindPressed(BACK, 1.0)])
    assert state.time.rewind is None


def test_a_world_that_goes_on_from_a_snapshot_is_told_what_is_held() -> None:
    lost = Failed("The engine's process ended.", "Press R.", engine_lost=True)
    state, _ = after(walking(), [SnapshotSaved(1, 3, "kept"), lost, Commanded(Command.RESET, 1.0), opened(2)])
    _, asks = after(state, [Ticked(1.1)])
    assert isinstance(asks[0], Steer)
    assert asks[0].wire["camera_actions"] == {"mode": "state", "transitions": [{"actions": []}]}


def test_the_nearest_moment_is_found_by_the_end_of_its_chunk() -> None:
    assert [nearest((0, 2, 4), position) for position in (0.0, 2.1, 3.4, 9.0)] == [0, 2, 2, 4]
    assert nearest((), 1.0) is None
