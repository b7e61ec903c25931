"""Before a walk: own pictures, pins, the list of models, first keys, time left; by synthetic messages."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pygame
import pytest

from app import crop, errands, keymap, menu, messages, remembered, speed, start_hands, timing
from app.bindings import Bindings
from app.crop import CropPage
from app.facts import Screen
from app.gestures import (
    ActionPressed,
    Command,
    Commanded,
    Edit,
    Edited,
    FileDropped,
    Focus,
    MenuAct,
    MenuActed,
    MenuChosen,
    MenuMoved,
    MouseClicked,
    TextTyped,
)
from app.menu import MenuItem, Room
from app.messages import ModelsListed, PictureMade, PictureRead, ScenesListed, Ticked
from app.pages import seconds_left
from app.remembered import ModelLine, OwnPicture, OwnWords, Remembered
from app.timing import Timing
from app.values import AppState
from engine.protocol import Loading, OpenWorld, SceneSpec
from tests.app.walks import KNOWN, SCENES, after, frame_chunk, opened, walking

WIDE = np.zeros((100, 400, 3), np.uint8)
MODELS = (
    ModelLine("bundled", None, "small", ("runs anywhere",)),
    ModelLine("test_card", None, "test card", ("no model",)),
    ModelLine("lingbot", "v2-14b", "v2-14b", ("needs 30 GB", "CC")),
)


def gallery(known: Remembered | None = None) -> AppState:
    known = known or Remembered()
    return after(AppState(remembered=known, kept=known), [ScenesListed(SCENES)])[0]


# ---- order and pins ----------------------------------------------------------------------------------------------


def test_the_scene_walked_last_is_first_and_chosen_then_the_pinned_ones() -> None:
    state = gallery(Remembered(played=("forest", "lake"), pinned=("snow", "fjord")))
    assert [scene.name for scene in state.scenes] == ["forest", "snow", "fjord", "lake", "meadow", "dunes"]
    assert state.gallery.selected == 0
    assert after(state, [MenuChosen(1.0)])[1][0] == OpenWorld(SCENES[3], 0, 1)


def test_a_pin_moves_the_card_keeps_it_chosen_and_is_remembered() -> None:
    state, _ = after(gallery(), [MenuMoved(3, 0, 1.0), MenuActed(MenuAct.PIN, 1.1)])
    assert state.scenes[0].name == "forest"
    assert state.gallery.selected == 0
    state, asks = after(state, [Ticked(1.2), Ticked(1.3)])
    assert asks == [errands.Remember(Remembered(pinned=("forest",)))]
    assert after(state, [MenuActed(MenuAct.PIN, 1.4)])[0].remembered.pinned == ()


def test_walking_a_scene_is_remembered() -> None:
    _, asks = after(gallery(), [MenuChosen(1.0), Ticked(1.1)])
    assert errands.Remember(Remembered(played=("meadow",))) in asks


# ---- own pictures ------------------------------------------------------------------------------------------------


def read(path: str = "a.png") -> PictureRead:
    return PictureRead(path, WIDE, (192, 112), 1.0)


def test_a_dropped_file_is_shown_with_its_part_and_enter_makes_a_world_of_it() -> None:
    event = pygame.event.Event(pygame.DROPFILE, file="/pictures/a.png")
    dropped = keymap.translate(event, Focus.MENU, 1.0, Bindings())
    assert dropped == FileDropped("/pictures/a.png", 1.0)
    state, asks = after(gallery(), [FileDropped("a.png", 1.0)])
    assert asks == [errands.ReadPicture("a.png")]
    state, asks = after(state, [read(), MenuMoved(1, 0, 1.1), MenuMoved(0, 1, 1.1), MenuChosen(1.2)])
    assert asks == [errands.MakePicture(OwnPicture("a.png", crop.DEFAULT_PROMPT, 0.1))]
    scene = SceneSpec("a", "dusk", own_image=True)
    state, asks = after(state, [PictureMade(scene, OwnPicture("a.png", "dusk"), 1.3)])
    assert asks[0] == OpenWorld(scene, 0, 1)
    assert state.crop is None
    assert state.remembered.pictures == (OwnPicture("a.png", "dusk"),)
    assert scene in state.scenes


def test_a_file_can_be_dropped_on_a_running_world() -> None:
    state, asks = after(walking(), [ActionPressed("w", "key 26", 0.5), FileDropped("a.png", 1.0), read()])
    assert errands.ReadPicture("a.png") in asks
    assert state.steering.held == ()
    assert state.standing
    assert not after(state, [Commanded(Command.BACK, 1.1)])[0].standing


def test_the_prompt_of_a_picture_is_typed_and_a_blank_one_is_not_taken() -> None:
    state, _ = after(gallery(), [read(), Commanded(Command.PROMPT, 1.1)])
    assert state.focus is Focus.TEXT
    typed = [Edited(Edit.ALL, 1.2), TextTyped("snow", 1.2), Edited(Edit.APPLY, 1.3)]
    state, _ = after(state, typed)
    assert state.crop is not None
    assert state.crop.prompt == "snow"
    state, _ = after(state, [Commanded(Command.PROMPT, 1.4), Edited(Edit.ALL, 1.4), TextTyped("  ", 1.5)])
    state, _ = after(state, [Edited(Edit.APPLY, 1.6)])
    assert state.crop is not None
    assert state.crop.prompt == "snow"


def test_the_part_that_is_kept_has_the_models_shape_and_stays_inside() -> None:
    page = CropPage("a", WIDE, (200, 100), "p")
    assert crop.kept(page) == (0.25, 0.0, 0.5, 1.0)
    for _ in range(30):
        page = crop.move(page, 1, 0)
    assert crop.kept(page) == (0.5, 0.0, 0.5, 1.0)
    room = Room(1280, 720)
    rect = crop.picture_rect(page, room)
    assert crop.point(page, rect.x + rect.width // 4, rect.y, room).shift == pytest.approx(-1.0, abs=0.02)
    tall = CropPage("a", np.zeros((400, 100, 3), np.uint8), (200, 100), "p")
    assert crop.kept(crop.move(tall, 5, -99)) == (0.0, 0.0, 1.0, 0.125)


# ---- models ------------------------------------------------------------------------------------------------------


def test_a_model_is_chosen_for_the_next_world() -> None:
    state, _ = after(gallery(), [ModelsListed(MODELS), Commanded(Command.MENU, 1.0)])
    assert state.menu is not None
    at = state.menu.items.index(MenuItem.MODELS)
    state, _ = after(state, [MenuMoved(0, at, 1.0), MenuChosen(1.0)])
    assert state.picker == 0, "the one in use"
    state, _ = after(state, [MenuMoved(0, -1, 1.1), MenuChosen(1.2)])
    assert (state.settings.engine.backend, state.settings.engine.model) == ("lingbot", "v2-14b")
    assert start_hands.current_model(state) == 2
    assert state.toasts[-1].text == "v2-14b makes the next world."
    assert dict(state.settings.own) == {"engine.backend": "lingbot", "engine.model": "v2-14b"}


def test_the_mouse_chooses_a_model_and_escape_none() -> None:
    state, _ = after(gallery(), [ModelsListed(MODELS)])
    rect = menu.line_rect(1, state.room)
    clicked, _ = after(replace(state, picker=0), [MouseClicked(rect.x + 9, rect.y + 9, 1.0)])
    assert clicked.settings.engine.backend == "test_card"
    assert after(replace(state, picker=0), [Commanded(Command.BACK, 1.0)])[0].picker is None


# ---- first keys and time left ------------------------------------------------------------------------------------


def test_first_keys_are_told_once_until_some_seconds_after_the_first_step() -> None:
    state = replace(walking(), remembered=Remembered(), kept=Remembered())
    assert state.teaching
    state, _ = after(state, [Ticked(100.0)])
    assert state.teaching, "nobody has walked yet"
    state, asks = after(state, [ActionPressed("w", "key 26", 101.0), Ticked(101.1), Ticked(120.0)])
    assert not state.teaching
    assert errands.Remember(Remembered(walked=True)) in asks


def test_the_time_left_is_learnt_from_the_last_run() -> None:
    state = replace(AppState(), engine=AppState().settings.engine)
    hands: list[messages.Message] = [ScenesListed(SCENES), Loading("Loading torch", 0.1), Ticked(10.0)]
    hands += [Loading("Loading the weights", 0.5), Ticked(14.0), Loading("The engine is ready", 0.9), Ticked(16.0)]
    hands += [MenuChosen(60.0), Loading("Opening the world", 0.95), Ticked(60.0), opened(), Ticked(61.0), frame_chunk()]
    state, _ = after(state, [*hands, Ticked(61.1)])
    stages = (("Loading torch", 4.0), ("Loading the weights", 2.0), ("The engine is ready", 0.0))
    assert state.remembered.stages("bundled") == (*stages, ("Opening the world", 1.0))
    again = AppState(remembered=state.remembered, screen=Screen.LOADING)
    again, _ = after(again, [Loading("Loading torch", 0.1), Ticked(1.0)])
    assert seconds_left(again, 2.0) == 6
    assert seconds_left(again, 30.0) == 3, "what takes longer than it did counts as about to end"


def test_a_reset_teaches_only_its_own_stage() -> None:
    known = remembered.learn(Remembered(), "bundled", (("Loading torch", 4.0), ("Opening the world", 1.0)))
    known = remembered.learn(known, "bundled", (("Opening the world", 0.5),))
    assert known.stages("bundled") == (("Loading torch", 4.0), ("Opening the world", 0.5))


def test_an_unknown_stage_has_no_time_left() -> None:
    assert timing.seconds_left(Timing("New", 0.0), (("Old", 1.0),), 0.5) is None
    assert timing.seconds_left(Timing(), (("Old", 1.0),), 0.5) is None


# ---- the file ----------------------------------------------------------------------------------------------------


def test_what_is_remembered_survives_the_file(tmp_path: Path) -> None:
    known = Remembered(("b", "a"), ("c",), (OwnPicture("雪.png", "snow", -0.5),), True, (("bundled", (("x", 1.5),)),))
    remembered.write(tmp_path / "deep" / "remembered.json", known)
    assert remembered.read(tmp_path / "deep" / "remembered.json") == known


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{", '{"played": 5, "pictures": [1, {"path": 2}], "loading": {"a": [[1], ["b", "c"]]}}', "\x00"],
)
def test_a_damaged_file_is_begun_anew(tmp_path: Path, text: str) -> None:
    (tmp_path / "r.json").write_text(text)
    found = remembered.read(tmp_path / "r.json")
    assert (found.played, found.pictures) == ((), ())
    assert all(stages == () for _, stages in found.loading)


# ---- speed -------------------------------------------------------------------------------------------------------


def walked(fps: float, known: Remembered) -> Remembered:
    """What is remembered after a few chunks of four frames at so many frames a second."""
    state = replace(walking(), engine=AppState().settings.engine, remembered=known, kept=known)
    made = tuple((1.0 + chunk * 4 / fps, 4) for chunk in range(speed.LEAST_CHUNKS))
    state, _ = after(replace(state, measured=replace(state.measured, made=made)), [Ticked(9.0)])
    return state.remembered


def test_a_models_speed_is_learnt_while_walking_and_what_is_no_news_is_not_written() -> None:
    known = walked(16.0, KNOWN)
    assert speed.of(known, "bundled", None) == 16.0
    assert walked(15.0, known) == known
    assert speed.of(walked(9.0, known), "bundled", None) == 9.0
    assert speed.of(known, "lingbot", "v2-14b") is None


def test_a_world_that_stands_or_has_just_begun_teaches_no_speed() -> None:
    state = replace(walking(), engine=AppState().settings.engine)
    made = tuple((float(chunk), 4) for chunk in range(speed.LEAST_CHUNKS))
    enough = replace(state, measured=replace(state.measured, made=made))
    assert speed.learn(replace(enough, paused=True), KNOWN) is KNOWN
    few = replace(state, measured=replace(state.measured, made=made[1:]))
    assert speed.learn(few, KNOWN) is KNOWN
    assert speed.learn(enough, KNOWN).speeds == (("bundled:", 4.0),)


def test_the_prompts_key_begins_with_words_on_the_start_page() -> None:
    state, _ = after(gallery(), [Commanded(Command.PROMPT, 1.0)])
    assert state.line_page is not None
    assert after(replace(gallery(), menu=menu.START_MENU), [Commanded(Command.PROMPT, 1.0)])[0].line_page is None


def test_own_words_and_speeds_survive_the_file_and_what_is_wrong_in_it_does_not(tmp_path: Path) -> None:
    known = Remembered(words=(OwnWords("雪 at dusk", 2**31 - 1),), speeds=(("bundled:", 15.5),))
    remembered.write(tmp_path / "r.json", known)
    assert remembered.read(tmp_path / "r.json") == known
    worlds = '[{"words": " ", "map_seed": 1}, {"words": "a", "map_seed": -1}, 5]'
    (tmp_path / "r.json").write_text(f'{{"words": {worlds}, "speeds": {{"a": 0, "b": "x"}}}}')
    assert remembered.read(tmp_path / "r.json") == Remembered()
