from __future__ import annotations

from dataclasses import replace

import pytest

from app import errands, gestures, messages
from app import state as core
from app.facts import Screen, Stage
from app.gestures import ActionPressed, ActionReleased, Command, Commanded, Edit, Edited, Focus, MouseMoved
from app.menu import MenuItem
from app.messages import Ticked
from app.values import AppState
from engine.protocol import EventAccepted, EventRejected, Failed, OpenWorld, Pause, Restore, SnapshotSaved, Steer
from tests.app.walks import MEADOW, SCENES, after, frame_chunk, opened, sampled, walking

W = ActionPressed("w", "key w", 1.0)


def command(which: Command, at: float = 1.0) -> Commanded:
    return Commanded(which, at)


def steers(asks: list[errands.Ask]) -> list[dict[str, object]]:
    return [dict(ask.wire) for ask in asks if isinstance(ask, Steer)]


def typed(text: str) -> list[messages.Message]:
    return [command(Command.PROMPT), Ticked(1.0), gestures.TextTyped(text, 1.1)]


def chunk_shown(
    chunk: int, events: tuple[object, ...] = (), prompt: str = MEADOW.prompt, at: float = 2.0
) -> messages.ChunkShown:
    return messages.ChunkShown(1, chunk, prompt, False, events, at)  # type: ignore[arg-type]


# ---- beginning ---------------------------------------------------------------------------------------------------


def test_a_scene_of_the_command_line_opens_at_once() -> None:
    state, asks = core.begin(AppState(seed=7), MEADOW, 0.0)
    assert asks == (OpenWorld(MEADOW, 7, 1),)
    assert state.screen is Screen.LOADING


def test_two_key_presses_lead_from_the_gallery_into_a_world() -> None:
    state, _ = after(AppState(), [messages.ScenesListed(SCENES)])
    state, asks = after(state, [gestures.MenuMoved(1, 0, 1.0), gestures.MenuChosen(1.1)])
    assert asks == [OpenWorld(SCENES[1], 0, 1)]
    assert state.screen is Screen.LOADING


def test_the_first_chunk_ends_the_loading_page() -> None:
    state, _ = core.begin(AppState(), MEADOW, 0.0)
    state, _ = after(state, [opened()])
    assert state.screen is Screen.LOADING
    assert after(state, [frame_chunk()])[0].screen is Screen.WALK


def test_a_notice_is_told() -> None:
    state, _ = core.begin(AppState(), MEADOW, 0.0)
    state, _ = after(state, [opened(notice="Your image sets the colours only.")])
    assert [toast.text for toast in state.toasts] == ["Your image sets the colours only."]
    chunk = replace(frame_chunk(), notice="There is no dragon here.")
    state, _ = after(state, [chunk])
    assert state.toasts[-1].text == "There is no dragon here."


def test_a_key_held_while_loading_counts_when_the_world_opens() -> None:
    state, _ = core.begin(AppState(), MEADOW, 0.0)
    state, asks = after(state, [W, Ticked(1.1), opened(), Ticked(1.2)])
    assert len(steers(asks)) == 1


# ---- walking -----------------------------------------------------------------------------------------------------


def test_one_tick_makes_one_event() -> None:
    _, asks = after(walking(), [W, ActionPressed("l", "right", 1.0), Ticked(1.1), Ticked(1.2)])
    (wire,) = steers(asks)
    assert wire["camera_actions"] == {
        "mode": "state",
        "transitions": [
            {"actions": ["w"], "client_ts_ms": 1000},
            {"actions": ["w", "l"], "client_ts_ms": 1000},
        ],
    }


def test_keys_are_released_when_the_window_loses_focus() -> None:
    state, _ = after(walking(), [W, Ticked(1.1)])
    state, asks = after(state, [gestures.FocusLost(2.0), Ticked(2.1)])
    assert steers(asks)[0]["camera_actions"] == {
        "mode": "state",
        "transitions": [{"actions": [], "client_ts_ms": 2000}],
    }
    assert not state.captured


def test_capturing_the_pointer_does_not_jump() -> None:
    state, asks = after(walking(), [gestures.MouseClicked(600, 300, 1.0), MouseMoved(640, 360, 300, -200, 1.01)])
    assert state.captured
    state, more = after(state, [MouseMoved(640, 360, 90, 0, 1.01), Ticked(1.02)])
    assert not steers(asks + more)
    _, asks = after(state, [MouseMoved(640, 360, 10, -5, 1.03), Ticked(1.04)])
    assert steers(asks)[0]["look"] == pytest.approx({"yaw_degrees": 1.2, "pitch_degrees": 0.6})


def test_the_mouse_turns_nothing_unless_captured() -> None:
    assert not after(walking(), [MouseMoved(10, 10, 50, 50, 1.0), Ticked(1.1)])[1]


def test_escape_frees_the_pointer_first_and_opens_the_menu_then() -> None:
    state, _ = after(walking(), [gestures.MouseClicked(600, 300, 1.0), command(Command.BACK)])
    assert not state.captured
    assert state.menu is None
    state, _ = after(state, [command(Command.BACK)])
    assert state.menu is not None
    assert MenuItem.QUIT in state.menu.items


def test_a_pause_is_told_once_and_the_menu_pauses_too() -> None:
    state, asks = after(walking(), [command(Command.PAUSE)])
    assert asks == [Pause(True)]
    state, asks = after(state, [command(Command.MENU), command(Command.MENU)])
    assert asks == []
    assert after(state, [command(Command.PAUSE)])[1] == [Pause(False)]
    assert after(walking(), [command(Command.MENU)])[1] == [Pause(True)]


def test_the_menu_leads_out() -> None:
    state, _ = after(walking(), [command(Command.MENU), gestures.MenuMoved(0, -1, 1.0), gestures.MenuChosen(1.0)])
    assert state.quitting


def test_closing_the_window_quits() -> None:
    assert after(walking(), [gestures.CloseAsked()])[0].quitting


# ---- prompts -----------------------------------------------------------------------------------------------------


def test_opening_the_prompt_box_lets_go_of_the_keys_and_typing_never_moves() -> None:
    state, _ = after(walking(), [W, Ticked(1.1)])
    state, asks = after(state, [command(Command.PROMPT), W, Ticked(1.2), gestures.TextTyped("w", 1.3), Ticked(1.4)])
    assert state.focus is Focus.TEXT
    assert state.steering.held == ()
    assert [wire["camera_actions"] for wire in steers(asks)] == [
        {"mode": "state", "transitions": [{"actions": [], "client_ts_ms": 1000}]}
    ]
    assert not state.standing, "the world goes on"
    assert state.prompt_box is not None
    assert state.prompt_box.text == "w"


def test_the_letter_that_opened_the_box_does_not_appear_in_it() -> None:
    state, _ = after(walking(), [command(Command.PROMPT), gestures.TextTyped("t", 1.0)])
    assert state.prompt_box is not None
    assert state.prompt_box.text == ""


def test_enter_applies_a_prompt_and_its_state_is_told_step_by_step() -> None:
    state, asks = after(walking(), [*typed(" snow "), Edited(Edit.APPLY, 1.2)])
    assert state.prompt_box is None
    stages = [state.prompt.stage if state.prompt else None]
    state, asks = after(state, [Ticked(1.3)])
    assert steers(asks)[0]["prompt"] == "snow"
    event = sampled(1, {"prompt": "snow"}, 1.2)
    for message in (
        EventAccepted(1, 1.2, 1.31),
        frame_chunk(1, events=(event,)),
        chunk_shown(1, (event,), "snow", 1.7),
    ):
        state, _ = after(state, [message])
        stages.append(state.prompt.stage if state.prompt else None)
    assert stages == [Stage.TYPED, Stage.ACCEPTED, Stage.ACCEPTED, Stage.APPLIED]
    assert state.prompt is not None
    assert state.prompt.chunk == 1
    assert state.measured.latencies == pytest.approx((0.5,))


@pytest.mark.parametrize("ending", [Edited(Edit.CANCEL, 1.2), Edited(Edit.APPLY, 1.2)])
def test_a_cancelled_or_blank_prompt_is_not_sent(ending: Edited) -> None:
    text = "snow" if ending.edit is Edit.CANCEL else "   "
    state, asks = after(walking(), [*typed(text), ending, Ticked(1.3)])
    assert not steers(asks)
    assert state.prompt_box is None


def test_the_arrow_up_recalls_what_was_sent() -> None:
    state, _ = after(walking(), [*typed("snow"), Edited(Edit.APPLY, 1.2), Ticked(1.3), *typed("")])
    state, _ = after(state, [Edited(Edit.OLDER, 1.4)])
    assert state.prompt_box is not None
    assert state.prompt_box.text == "snow"


def test_enter_belongs_to_the_input_method_while_it_composes() -> None:
    state, asks = after(walking(), [*typed(""), gestures.TextComposed("xue", 3), Edited(Edit.APPLY, 1.2), Ticked(1.3)])
    assert state.prompt_box is not None
    assert not steers(asks)


def test_clipboard_keys_ask_for_the_clipboard() -> None:
    state, asks = after(
        walking(), [*typed("snow"), Edited(Edit.ALL, 1.2), Edited(Edit.COPY, 1.2), Edited(Edit.CUT, 1.2)]
    )
    assert asks == [errands.CopyText("snow")] * 2
    assert state.prompt_box is not None
    assert state.prompt_box.text == ""
    state, asks = after(state, [Edited(Edit.PASTE, 1.3), gestures.Pasted("two\nlines")])
    assert asks == [errands.PasteText()]
    assert state.prompt_box is not None
    assert state.prompt_box.text == "two lines"


def test_a_rejected_event_is_told_and_nothing_counts_as_applied() -> None:
    state, _ = after(walking(), [*typed("snow"), Edited(Edit.APPLY, 1.2), Ticked(1.3)])
    state, _ = after(state, [EventRejected(1, "prompt", "blank", "some text")])
    assert "prompt was blank" in state.toasts[-1].text
    assert state.toasts[-1].bad
    assert state.prompt is not None
    assert state.prompt.stage is Stage.REJECTED
    assert state.current_prompt == MEADOW.prompt


def test_held_accepted_and_applied_are_told_apart() -> None:
    state, asks = after(walking(), [W, Ticked(1.1)])
    assert (state.steering.actions, state.accepted, state.applied) == (("w",), (), ())
    state, _ = after(state, [EventAccepted(1, 1.0, 1.1)])
    assert (state.accepted, state.applied) == (("w",), ())
    state, _ = after(state, [chunk_shown(1, (sampled(1, steers(asks)[0], 1.0),))])
    assert state.applied == ("w",)


def test_what_is_sent_is_told_apart_from_what_is_held_and_applied() -> None:
    state, _ = after(walking(), [command(Command.INPUTS), W])
    assert state.inputs
    assert (state.steering.actions, state.steering.sent, state.applied) == (("w",), (), ())
    state, _ = after(state, [Ticked(1.1)])
    assert (state.steering.sent, state.applied) == (("w",), ())
    state, _ = after(state, [chunk_shown(1, (sampled(1, {"camera_actions": {"transitions": [{"actions": ["w"]}]}}),))])
    assert state.applied == ("w",)


@pytest.mark.parametrize(
    "comes",
    [
        gestures.FocusLost(2.0),
        command(Command.MENU),
        command(Command.PROMPT),
        Failed("The engine's process ended.", "Press R.", engine_lost=True),
        gestures.FileDropped("a.png", 2.0),
    ],
)
def test_no_key_sticks_whatever_comes_while_it_is_held(comes: messages.Message) -> None:
    state, _ = after(walking(), [W, Ticked(1.1), comes])
    assert state.steering.held == ()
    state, _ = after(state, [ActionReleased("key w", 3.0)])
    assert state.steering.held == ()


# ---- reset, failure, recording -----------------------------------------------------------------------------------


def test_a_new_beginning_during_a_pause_walks() -> None:
    state, _ = after(walking(), [Commanded(Command.PAUSE, 1.0), Commanded(Command.RESET, 2.0)])
    state, asks = after(state, [opened(session_id=state.session_id)])
    assert asks == [Pause(False)]
    assert not state.standing


def test_a_reset_keeps_the_current_prompt() -> None:
    state, _ = after(walking(), [*typed("snow"), Edited(Edit.APPLY, 1.2), Ticked(1.3)])
    state, asks = after(state, [command(Command.RESET, 2.0)])
    assert asks == [OpenWorld(replace(MEADOW, prompt="snow"), 7, 2)]
    assert state.screen is Screen.WALK, "the last picture stays until the new world's first"
    assert after(state, [frame_chunk(5, session_id=1)])[0] is state, "the old world is not heard any more"


LOST = Failed("The engine's process ended.", "Press R.", engine_lost=True)


def test_a_lost_engine_is_restarted_from_the_last_snapshot() -> None:
    state, asks = after(walking(), [SnapshotSaved(1, 16, "somewhere/16"), W, LOST])
    assert state.failure == LOST
    assert not asks
    assert state.steering.held == ()
    state, asks = after(state, [command(Command.RESET, 3.0)])
    assert asks == [errands.RestartEngine(), Restore(MEADOW, 7, 2, "somewhere/16")]
    assert state.failure is None


def test_a_lost_engine_without_a_snapshot_begins_anew() -> None:
    _, asks = after(walking(), [LOST, command(Command.RESET, 3.0)])
    assert asks == [errands.RestartEngine(), OpenWorld(MEADOW, 7, 2)]


def test_a_snapshot_that_cannot_be_restored_is_not_tried_again() -> None:
    state, _ = after(walking(), [SnapshotSaved(1, 16, "somewhere/16"), LOST, command(Command.RESET)])
    state, asks = after(state, [Failed("The snapshot is unreadable.", "Press R."), command(Command.RESET)])
    assert asks == [OpenWorld(MEADOW, 7, 3)]


def test_a_recording_outlives_the_engine_and_a_reset() -> None:
    state, asks = after(walking(), [command(Command.RECORD), messages.RecordingStarted("a.mp4", 1.0), LOST])
    state, more = after(state, [command(Command.RESET), opened(session_id=2), command(Command.RESET), opened(3)])
    assert asks == [errands.StartRecording()]
    assert errands.StopRecording() not in more
    assert state.recording is not None


def test_recording_is_toggled_and_its_end_is_told() -> None:
    state, asks = after(walking(), [command(Command.RECORD), messages.RecordingStarted("a.mp4", 1.0)])
    state, asks = after(state, [messages.RecordingProgressed(20, 3), command(Command.RECORD)])
    assert asks == [errands.StopRecording()]
    assert state.recording is not None
    assert state.recording.dropped == 3
    state, asks = after(state, [messages.RecordingEnded("x/a.mp4", 20, 3, None, 2.0)])
    assert state.recording is None
    assert asks == []
    assert state.toasts[-1].text == "Recorded a.mp4, 20 frames. 3 frames could not be kept."


def test_a_recording_asked_for_on_the_command_line_begins_with_the_world() -> None:
    state, _ = core.begin(AppState(record_next=True), MEADOW, 0.0)
    assert after(state, [opened()])[1] == [errands.StartRecording()]


def test_sentences_go_after_some_seconds() -> None:
    state, _ = after(walking(), [messages.Told("Saved.", 1.0)])
    assert after(state, [Ticked(5.9)])[0] is state
    assert after(state, [Ticked(6.1)])[0].toasts == ()


def test_a_tick_in_which_nothing_happens_changes_nothing() -> None:
    state, _ = after(walking(), [Ticked(1.0)])
    assert after(state, [Ticked(1.1), ActionReleased("key w", 1.2)])[0] is state
