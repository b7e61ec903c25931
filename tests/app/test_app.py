from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import imageio.v3 as iio
import numpy as np
import pygame
import pytest

from app.app import App
from app.facts import Screen
from app.facts import Stage as PromptStage
from app.messages import ModelsListed
from app.parts import AppConfig
from app.remembered import ModelLine
from app.takes import FIRST_CHUNK
from engine.config import EngineConfig
from engine.errors import FileProblem
from engine.protocol import Engine, EventRejected, GoBack, OpenWorld, Pause, Restore, SessionHeader
from tests.app.stripes import Stage, down, post, red_and_green, tap, up, write
from tests.app.walks import MEADOW, SCENES


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path / "recordings")


def test_two_key_presses_walk_and_closing_the_window_ends_everything(tmp_path: Path) -> None:
    stage = Stage(tmp_path, scene=None)
    code = stage.play([(0.5, tap(pygame.K_RIGHT)), (0.7, tap(pygame.K_RETURN))])
    assert code == 0
    assert stage.engine.requests[0] == OpenWorld(SCENES[1], 7, 1)
    assert stage.app.state.screen is Screen.WALK
    assert stage.engine.closed
    assert pygame.display.get_surface() is None


def test_the_window_is_on_screen_before_the_engine_is_started(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    seen: list[float | None] = []

    def engine(config: EngineConfig) -> Engine:
        seen.append(stage.app.first_picture_seconds)
        return stage.engine

    stage.app._parts = replace(stage.app._parts, engine=engine)
    stage.play([], seconds=0.2)
    assert seen != [None]


def test_a_held_key_is_one_event_and_a_quick_tap_is_not_lost(stage: Stage) -> None:
    stage.play([(0.5, down(pygame.K_w)), (1.5, up(pygame.K_w)), (2.0, tap(pygame.K_LEFT))])
    held = [[t["actions"] for t in wire["camera_actions"]["transitions"]] for wire in stage.engine.steers]  # type: ignore[index]
    assert held == [[["w"]], [[]], [["j"], []]]


def test_what_was_held_counts_as_applied_when_its_frames_are_shown(stage: Stage) -> None:
    seen: list[tuple[tuple[str, ...], tuple[str, ...]]] = []

    def look() -> None:
        seen.append((stage.app.state.accepted, stage.app.state.applied))

    stage.play([(0.6, down(pygame.K_w)), (0.64, look), (1.6, look)])
    assert seen == [(("w",), ()), (("w",), ("w",))]
    assert len(stage.app.state.measured.latencies) == 1


def test_a_prompt_is_typed_while_the_world_goes_on(stage: Stage) -> None:
    hands = [
        (0.5, down(pygame.K_t)),
        (0.51, write("t")),
        (0.6, write("雪")),
        (0.7, down(pygame.K_w)),
        (0.7, write("w")),
        (0.75, up(pygame.K_w)),
        (0.8, tap(pygame.K_BACKSPACE)),
        (1.5, tap(pygame.K_RETURN)),
    ]
    stage.play(hands)
    assert [wire.get("prompt") for wire in stage.engine.steers] == ["雪"]
    assert stage.app.state.prompt is not None
    assert stage.app.state.prompt.stage is PromptStage.APPLIED
    assert len(stage.engine.made) >= 10


def test_focus_loss_releases_keys_and_pointer(stage: Stage) -> None:
    hands = [
        (0.5, down(pygame.K_w)),
        (0.6, lambda: post(pygame.MOUSEBUTTONDOWN, pos=(300, 200), button=1)),
        (0.8, lambda: post(pygame.WINDOWFOCUSLOST)),
    ]
    stage.play(hands)
    assert stage.app.state.steering.held == ()
    assert not stage.app.state.captured
    assert len(stage.engine.steers) == 2


def test_a_pause_stops_the_picture_and_goes_on_without_burst(stage: Stage) -> None:
    shown: list[int] = []

    def look() -> None:
        shown.append(len(stage.app.state.measured.shown))

    stage.play([(1.0, tap(pygame.K_SPACE)), (1.1, look), (1.9, look), (2.0, tap(pygame.K_SPACE)), (2.5, look)], 2.6)
    assert shown[0] == shown[1]
    assert shown[2] - shown[1] <= 9
    assert [r.paused for r in stage.engine.requests if isinstance(r, Pause)] == [True, False]


def test_every_frame_is_recorded_once_in_order_and_without_the_hud(tmp_path: Path) -> None:
    stage = Stage(tmp_path, record=True)
    stage.play([(0.5, tap(pygame.K_F3)), (1.0, down(pygame.K_w))])
    ((header, video, log),) = stage.takes
    assert red_and_green(video.written) == red_and_green([frame for frames in stage.engine.made for frame in frames])
    assert video.written[0].shape == (16, 32, 3)
    assert header.settings == {FIRST_CHUNK: 0}
    assert [event_id for _, event_id in log.lines] == [1]
    assert log.closed
    assert video.prompts[-1] == MEADOW.prompt


def test_a_session_file_that_begins_late_knows_what_came_before(stage: Stage) -> None:
    stage.play([(0.5, tap(pygame.K_d)), (1.3, tap(pygame.K_F9)), (1.8, tap(pygame.K_a)), (2.4, tap(pygame.K_F9))])
    ((header, video, log),) = stage.takes
    first = header.settings[FIRST_CHUNK]
    assert isinstance(first, int)
    assert first > 0
    assert len(log.lines) == 2
    assert log.lines[0][0] < first <= log.lines[1][0]
    assert stage.app.state.recording is None
    assert "take0.mp4" in stage.app.state.toasts[-1].text
    assert len(video.written) % 4 == 0


def test_a_lost_engine_leaves_the_window_alive_and_comes_back_from_its_snapshot(tmp_path: Path) -> None:
    stage = Stage(tmp_path, record=True)
    seen: list[bool] = []
    hands = [
        (0.5, tap(pygame.K_d)),
        (1.0, lambda: stage.engine.save("snapshot 3")),
        (1.1, tap(pygame.K_a)),
        (1.5, stage.engine.die),
        (1.9, lambda: seen.append(stage.app.state.failure is not None)),
        (2.0, tap(pygame.K_r)),
    ]
    stage.play(hands, seconds=3.0)
    assert seen == [True]
    assert stage.restarts == 1
    assert Restore(MEADOW, 7, 2, "snapshot 3") in stage.engine.requests
    assert stage.app.state.failure is None
    ((_, video, log),) = stage.takes
    assert log.restarts == [3]
    again = log.chunks.index(4, 5)
    assert log.chunks == [*range(again), *range(4, 4 + len(log.chunks) - again)]
    assert len(video.written) == 4 * len(log.chunks), "the recording goes on where the world does"


def test_what_a_snapshot_undid_is_not_in_a_later_session_file(stage: Stage) -> None:
    hands = [
        (0.5, tap(pygame.K_d)),
        (1.0, lambda: stage.engine.save("snapshot 3")),
        (1.1, tap(pygame.K_a)),
        (1.5, stage.engine.die),
        (2.0, tap(pygame.K_r)),
        (2.2, tap(pygame.K_F9)),
    ]
    stage.play(hands)
    ((_, _, log),) = stage.takes
    assert [event_id for _, event_id in log.lines] == [1, 3]  # the last one says that nothing is held now


def test_a_reset_is_written_into_the_session_file(tmp_path: Path) -> None:
    stage = Stage(tmp_path, record=True)
    stage.play([(1.0, tap(pygame.K_r))])
    ((_, _, log),) = stage.takes
    assert log.restarts == [None]


def test_trouble_with_the_session_file_is_told_once_and_the_video_goes_on(tmp_path: Path) -> None:
    stage = Stage(tmp_path, record=True)
    stage.play([(1.0, lambda: setattr(stage.takes[0][2], "error", "The disk is full."))])
    ((_, video, log),) = stage.takes
    assert [toast.text for toast in stage.app.state.toasts] == ["The disk is full."]
    assert log.closed
    assert len(video.written) > 40


def test_a_recording_that_cannot_begin_is_told_in_one_sentence(stage: Stage) -> None:
    def refuse(header: SessionHeader) -> object:
        raise FileProblem("videos", "this folder cannot be used", "Choose another folder.")

    stage.app._takes._start_take = refuse  # type: ignore[assignment]
    stage.play([(0.5, tap(pygame.K_F9))])
    assert [toast.text for toast in stage.app.state.toasts] == [
        "videos: this folder cannot be used. Choose another folder."
    ]
    assert len(stage.engine.made) >= 10, "the walk goes on"


def test_a_rejected_event_is_told(stage: Stage) -> None:
    stage.play([(0.5, lambda: stage.engine.report(EventRejected(4, "look", "nan", "finite degrees")))])
    assert stage.app.state.toasts[-1].text == "Event 4 rejected: look was nan, expected finite degrees."


def test_a_snapshot_is_the_picture_on_show(stage: Stage, tmp_path: Path) -> None:
    stage.play([(1.0, tap(pygame.K_SPACE)), (1.2, tap(pygame.K_F2))])
    (path,) = (tmp_path / "recordings").glob("*.png")
    picture = stage.app._playback.on_show
    assert picture is not None
    assert np.array_equal(iio.imread(path), picture)


def test_a_snapshot_that_cannot_be_saved_is_told(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file where the folder should be")
    stage = Stage(tmp_path / "taken")
    stage.play([(1.0, tap(pygame.K_F2))])
    assert stage.app.state.toasts[-1].bad


def test_an_engine_that_cannot_start_is_told_in_the_window(tmp_path: Path) -> None:
    stage = Stage(tmp_path)

    def engine(config: EngineConfig) -> Engine:
        raise FileProblem("model.safetensors", "the file is empty", "Fetch it again.")

    stage.app._parts = replace(stage.app._parts, engine=engine)
    assert stage.play([], seconds=0.3) == 0
    assert stage.app.state.failure is not None
    assert "the file is empty" in stage.app.state.failure.message


def test_whole_screen_and_back(stage: Stage) -> None:
    assert stage.play([(0.5, tap(pygame.K_F11)), (0.8, tap(pygame.K_F11))], seconds=1.0) == 0
    assert (stage.app.state.width, stage.app.state.height) == (640, 400)


def test_the_window_loop_keeps_its_beat(stage: Stage) -> None:
    stage.play([], seconds=1.0)
    assert max(stage.app.pass_seconds) == pytest.approx(1 / 60, abs=1e-6)


def test_no_display_is_said_in_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from engine.errors import NeedsHardware

    monkeypatch.setenv("SDL_VIDEODRIVER", "no such driver")
    stage = Stage(tmp_path)
    with pytest.raises(NeedsHardware, match="render --script"):
        App(AppConfig(recordings=tmp_path), stage.app._parts).run()


def test_another_model_is_another_engine_and_the_settings_are_kept(stage: Stage) -> None:
    def choose() -> None:
        stage.app._tell(ModelsListed((ModelLine("test_card", None, "test card", ()),)))
        stage.app._state = replace(stage.app.state, picker=0)

    hands = [(0.5, choose), (0.6, tap(pygame.K_RETURN)), (0.7, lambda: None), (2.0, tap(pygame.K_r))]
    stage.play(hands)
    assert [config.backend for config in stage.configs] == ["bundled", "test_card"]
    assert stage.kept == [{"engine.backend": "test_card", "engine.model": None}]
    opened = [request for request in stage.engine.requests if isinstance(request, OpenWorld)]
    assert [request.session_id for request in opened] == [1, 2]


def test_a_dropped_picture_that_cannot_be_read_is_told(stage: Stage) -> None:
    stage.play([(0.5, lambda: post(pygame.DROPFILE, file="holiday.heic"))])
    assert "holiday.heic" in stage.app.state.toasts[-1].text
    assert stage.app.state.toasts[-1].bad


def test_backspace_shows_time_going_backwards_and_the_walk_goes_on_from_there(stage: Stage) -> None:
    seen: list[tuple[float, int, int]] = []

    def look() -> None:
        rewind, world = stage.app.state.time.rewind, stage.app.state.world
        assert rewind is not None
        assert rewind.seen is not None
        assert world is not None
        colour = stage.app._view._frame[0, 0] if stage.app._view._frame is not None else (0, 0, 0)
        seen.append((rewind.seen.seconds, int(colour[0]) // 10, len(stage.engine.made)))

    hands = [(0.5, tap(pygame.K_F9)), (3.0, down(pygame.K_BACKSPACE)), (3.3, look), (4.4, look)]
    stage.play([*hands, (4.5, up(pygame.K_BACKSPACE)), (6.0, tap(pygame.K_F9))], seconds=7.0)
    (early, chunk_then, made_then), (late, chunk, made) = seen
    assert 0.2 < early < 0.5 < 1.0 < late < 2.2
    assert chunk < chunk_then
    assert made == made_then  # nothing is made meanwhile
    asked = [request for request in stage.engine.requests if isinstance(request, GoBack)]
    assert [abs(request.chunk - chunk) <= 2 for request in asked] == [True]
    _, video, log = stage.takes[0]
    assert log.restarts == [asked[0].chunk]
    assert log.chunks.count(asked[0].chunk + 1) == 2  # made, and made once more after going back
    shown = stage.app.state.world
    assert shown is not None
    assert shown.chunk is not None
    assert asked[0].chunk + 4 < shown.chunk < max(log.chunks) + 5
    assert len(video.written) == 4 * (len(log.chunks) - 1)
