"""Saved worlds: the keys by synthetic events, the files, and the whole window."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path

import numpy as np
import pygame
import pytest

from app.gestures import (
    Command,
    Commanded,
    Edit,
    Edited,
    MenuAct,
    MenuActed,
    MenuChosen,
    MenuMoved,
    MouseClicked,
    TextTyped,
    WindowResized,
)
from app.menu import Room
from app.rewind import RewindPressed
from app.slot_files import SHEET, SlotFiles, Walked
from app.slots import (
    DeleteSlot,
    KeepSlot,
    ListSlots,
    PrepareSlot,
    ReadSlot,
    Slot,
    SlotKept,
    SlotKeyed,
    SlotLine,
    SlotRead,
    SlotReady,
    SlotsListed,
    misfit,
)
from app.slots_page import choose, row_rect
from app.values import AppState
from app.view import View
from engine.config import EngineConfig, to_dict
from engine.errors import FileProblem
from engine.protocol import MomentsKept, OpenWorld, Pause, Restore, SaveWorld, SessionHeader, WorldSaved
from engine.window import WindowPolicy
from tests.app.stripes import Stage, down, tap, up
from tests.app.test_state import chunk_shown
from tests.app.walks import CARD, MEADOW, after, opened, sampled, walking

SAVE, LOAD = SlotKeyed("quick_save", 1.0), SlotKeyed("quick_load", 2.0)
SLOT = Slot(SlotLine("quick", "2026-01-31 18:05"), 4, MEADOW, 9, CARD, "world", to_dict(EngineConfig()))


# ---- keys --------------------------------------------------------------------------------------------------------


def test_saving_prepares_a_place_asks_the_engine_and_then_writes_the_rest() -> None:
    state, _ = after(walking(), [chunk_shown(0)])
    state, asks = after(state, [SAVE])
    assert asks == [PrepareSlot("quick")]
    state, asks = after(state, [SlotReady("quick", "world-1")])
    assert asks == [SaveWorld(1, "world-1")]
    state, asks = after(state, [WorldSaved(1, 5, "world-1")])
    assert asks == [KeepSlot("quick", "world-1", 5)]
    state, _ = after(state, [SlotKept(SLOT.line, 1.2)])
    assert (state.toasts[-1].text, state.saving) == ("Saved. F8 goes on from here.", ())


def test_a_world_that_cannot_be_saved_is_told_and_walks_on() -> None:
    state, _ = after(walking(), [chunk_shown(0), SAVE, SlotReady("quick", "world-1")])
    state, asks = after(state, [WorldSaved(1, 5, "world-1", "The disk is full.")])
    assert (asks, state.toasts[-1].text, state.toasts[-1].bad) == ([], "The disk is full.", True)
    assert state.walking


def test_nothing_is_saved_before_the_first_picture_or_while_time_goes_backwards() -> None:
    assert after(walking(), [SAVE])[1] == []
    state, _ = after(walking(), [chunk_shown(0), MomentsKept(1, (0,), 1), RewindPressed("key 42", 1.0)])
    assert after(state, [SAVE, LOAD])[1] == []


def test_loading_goes_on_from_the_saved_world_and_says_which_keys_are_held() -> None:
    state, asks = after(walking(), [LOAD])
    assert asks == [ReadSlot("quick")]
    state, asks = after(state, [SlotRead(SLOT, 2.1)])
    assert asks == [Restore(MEADOW, 9, 2, "world")]
    assert (state.session_id, state.seed, state.time.resumed) == (2, 9, True)
    _, asks = after(state, [opened(2)])
    assert asks == []
    state, asks = after(state, [opened(2), Commanded(Command.RESET, 3.0)])
    assert next(ask for ask in asks if isinstance(ask, OpenWorld)).seed == 9


def test_a_world_of_another_model_or_other_settings_is_refused_in_one_sentence() -> None:
    other = replace(SLOT, card=replace(CARD, model_sha256="1" * 64))
    state, asks = after(walking(), [SlotRead(other, 2.1)])
    assert (asks, state.session_id) == ([], 1)
    assert "cannot go on here: model was stripes 11111111, and is stripes 00000000" in state.toasts[-1].text
    engine = EngineConfig(window=WindowPolicy(still_chunks=7), moments_limit_mb=1)
    assert misfit(SLOT, CARD, engine) == ("engine.window.still_chunks", "2", "7")
    assert misfit(SLOT, CARD, EngineConfig(moments_limit_mb=1)) is None


# ---- files -------------------------------------------------------------------------------------------------------


def kept(folder: Path, name: str = "The old mill", *, minute: int = 5) -> tuple[SlotFiles, SlotLine]:
    files = SlotFiles(folder, lambda: datetime(2026, 1, 31, 18, minute))
    state = files.prepare(name)
    state.write_bytes(b"state")
    header = SessionHeader(MEADOW, 9, CARD, {"engine": to_dict(EngineConfig(steps=3))})
    event = sampled(3, {"event_id": 3, "input_types": ["prompt"], "prompt": "fog"})
    walked = Walked(header, [(2, event)], np.full((224, 384, 3), 90, np.uint8))
    return files, files.keep(name, state, 4, walked)


def test_a_saved_world_is_read_back_whole(tmp_path: Path) -> None:
    files, line = kept(tmp_path)
    slot, events = files.read("The old mill")
    assert (slot.line.name, slot.line.saved_at, slot.chunk, slot.seed) == ("The old mill", "2026-01-31 18:05", 4, 9)
    assert (slot.scene.prompt, slot.card, slot.engine["steps"]) == (MEADOW.prompt, CARD, 3)
    assert slot.scene.image is not None
    assert MEADOW.image is not None
    assert np.array_equal(slot.scene.image, MEADOW.image)
    assert Path(slot.state).read_bytes() == b"state"
    assert [(chunk, event.event_id, event.wire["prompt"]) for chunk, event in events] == [(2, 3, "fog")]
    assert line.picture is not None
    assert line.picture.shape == (112, 192, 3)


def test_saving_again_replaces_what_was_there_only_when_all_is_written(tmp_path: Path) -> None:
    files, _ = kept(tmp_path)
    first = files.read("The old mill")[0]
    torn = SlotFiles(tmp_path, lambda: datetime(2026, 1, 31, 19, 0)).prepare("The old mill")
    torn.write_bytes(b"half")  # and then the program was killed
    assert files.read("The old mill")[0].state == first.state
    files, _ = kept(tmp_path, minute=30)
    assert files.read("The old mill")[0].state != first.state
    assert len(list((tmp_path / "The old mill").iterdir())) == 4  # nothing of before is left


def test_saved_worlds_are_listed_newest_first_and_deleted(tmp_path: Path) -> None:
    kept(tmp_path, "a", minute=1)
    files, _ = kept(tmp_path, "b", minute=2)
    (tmp_path / "stray").mkdir()
    assert [line.name for line in files.lines()] == ["b", "a"]
    files.delete("b")
    assert [line.name for line in files.lines()] == ["a"]
    assert SlotFiles(tmp_path / "nowhere").lines() == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nonsense", "cannot be read"),
        ('{"worldwalk_slot": 99}', "not a saved world of this version (99 instead of 1)"),
        ('{"worldwalk_slot": 1, "name": "x"}', "is damaged"),
        (
            '{"worldwalk_slot": 1, "name": "x", "saved_at": "", "state": "../../x", "session": "y", "chunk": 1}',
            "is damaged",
        ),
    ],
)
def test_a_damaged_or_foreign_sheet_is_refused_in_one_sentence(tmp_path: Path, text: str, said: str) -> None:
    files, _ = kept(tmp_path)
    (tmp_path / "The old mill" / SHEET).write_text(text, "utf-8")
    with pytest.raises(FileProblem) as caught:
        files.read("The old mill")
    assert said in str(caught.value)


def test_an_empty_slot_is_said_to_be_one(tmp_path: Path) -> None:
    with pytest.raises(FileProblem, match="no world is saved here"):
        SlotFiles(tmp_path).read("quick")


# ---- the whole window --------------------------------------------------------------------------------------------


def test_a_quick_save_is_gone_back_to_and_a_running_film_is_told_its_history(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    hands = [(0.5, down(pygame.K_w)), (0.8, up(pygame.K_w)), (1.5, tap(pygame.K_F5)), (2.5, tap(pygame.K_F9))]
    stage.play([*hands, (3.5, tap(pygame.K_F8)), (5.0, tap(pygame.K_F9))], seconds=6.0)
    saved = next(request for request in stage.engine.requests if isinstance(request, SaveWorld))
    restored = next(request for request in stage.engine.requests if isinstance(request, Restore))
    assert restored.path == saved.path
    kept_after = int(Path(saved.path).read_text())
    _, _, log = stage.takes[0]
    assert log.restarts == [kept_after]
    assert log.chunks.count(kept_after + 5) == 2  # made, and made once more
    first, again = (line for line in log.lines if line[1] == 1)
    assert first == again


# ---- the page ----------------------------------------------------------------------------------------------------

OTHER = SlotLine("mill", "2026-01-30 10:00")


def page() -> AppState:
    """The page is open over a walk, with two saved worlds."""
    state, asks = after(walking(), [chunk_shown(0), SlotKeyed("worlds", 1.0), SlotsListed((SLOT.line, OTHER), 1.1)])
    assert asks == [ListSlots(), Pause(True)]
    return state


def test_a_saved_world_is_chosen_and_gone_on_from() -> None:
    state, asks = after(page(), [MenuMoved(0, 1, 2.0), MenuMoved(0, 1, 2.1), MenuChosen(2.2)])
    assert asks == [ReadSlot("mill")]
    state, _ = after(state, [SlotRead(SLOT, 2.3)])
    assert (state.slots, state.session_id) == (None, 2)


def test_a_world_is_saved_under_a_name_that_is_typed() -> None:
    state, _ = after(page(), [MenuChosen(2.0)])
    assert state.typing is not None
    state, asks = after(state, [TextTyped("by the mill", 2.1), Edited(Edit.APPLY, 2.2)])
    assert (asks, state.slots) == ([PrepareSlot("by the mill"), Pause(False)], None)


def test_a_saved_world_is_deleted_only_after_a_question() -> None:
    state, asks = after(page(), [MenuMoved(0, 1, 2.0), MenuActed(MenuAct.CLEAR, 2.1)])
    assert state.slots is not None
    assert (asks, state.slots.asking) == ([], True)
    assert after(state, [MenuMoved(0, 1, 2.2), MenuChosen(2.3)])[1] == [ReadSlot("mill")]
    assert after(state, [MenuChosen(2.3)])[1] == [DeleteSlot("quick")]


def test_escape_closes_the_name_first_and_then_the_page() -> None:
    state, _ = after(page(), [MenuChosen(2.0), Edited(Edit.CANCEL, 2.1)])
    assert state.slots is not None
    state, asks = after(state, [Commanded(Command.BACK, 2.2)])
    assert (state.slots, asks) == (None, [Pause(False)])


def test_the_pointer_chooses_and_the_page_fits_every_window() -> None:
    state = page()
    assert state.slots is not None
    place = row_rect(state.slots, 1, state.room)
    assert place is not None
    _, asks = after(state, [MouseClicked(place.x + 5, place.y + 5, 2.0)])
    assert asks == [ReadSlot("quick")]
    many = replace(state.slots, slots=tuple(SlotLine(f"{n}", "") for n in range(40)))
    for width, height, size in ((1280, 720, 1.0), (1920, 1080, 2.0), (480, 320, 1.0)):
        room = Room(width, height, size)
        last = row_rect(choose(many, 40, room), 40, room)
        assert last is not None
        assert last.y + last.height <= height


@pytest.mark.parametrize("size", [(1280, 720), (480, 320)])
def test_the_page_is_drawn(size: tuple[int, int]) -> None:
    pygame.init()
    pygame.display.set_mode(size)
    lines = (replace(SLOT.line, picture=np.full((112, 192, 3), 90, np.uint8)), OTHER)
    state, _ = after(page(), [WindowResized(*size), SlotsListed(lines, 1.2), MenuMoved(0, 1, 2.0)])
    view = View()
    for shown in (state, after(state, [MenuActed(MenuAct.CLEAR, 2.1)])[0], after(page(), [MenuChosen(2.0)])[0]):
        assert view.draw(pygame.Surface(size), replace(shown, width=size[0], height=size[1]), None, 3.0)
    pygame.quit()
