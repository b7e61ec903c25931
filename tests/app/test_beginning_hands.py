"""What a world begins with: paste, dialog, a typed path, words; by synthetic messages and events."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pygame
import pytest

from app import beginnings, errands, keymap, line_page, menu, pad_meaning
from app.beginnings import (
    BrowseAsked,
    ClipboardHeld,
    ClipboardRefused,
    CompletionAsked,
    DialogEnded,
    HandChanged,
    Held,
    ListPaths,
    LookInClipboard,
    MakeFromWords,
    OpenDialog,
    PasteAsked,
    PathsListed,
    WordsMade,
)
from app.bindings import Bindings
from app.facts import Screen
from app.gestures import (
    Command,
    Commanded,
    Edit,
    Edited,
    Focus,
    MenuAct,
    MenuActed,
    MenuChosen,
    MenuMoved,
    MouseClicked,
    PadPressed,
    TextTyped,
)
from app.hints import crop, gallery, line
from app.line_page import Kind, Purpose
from app.messages import Message, PictureRead, ScenesListed, Ticked
from app.pad_buttons import PadBindings
from app.prompt_box import PromptBox
from app.remembered import OwnPicture, OwnWords, Remembered
from app.settings import Settings
from app.values import AppState
from engine.config import EngineConfig
from engine.protocol import OpenWorld, SceneSpec
from tests.app.walks import SCENES, after, walking

WORDS, OWN = len(SCENES), len(SCENES) + 1
LISTED = PathsListed("", "/pictures/", ("lakes", "trees"), ("lake.png", "land.jpg"), dialog=True)
PICTURE = PictureRead("/pictures/lake.png", np.zeros((10, 20, 3), np.uint8), (192, 112), 1.0)


def cards(at: int, known: Remembered | None = None, backend: str = "bundled") -> AppState:
    """The start page with the card of that number chosen."""
    known = known or Remembered()
    settings = replace(Settings(), engine=replace(EngineConfig(), backend=backend))
    state, _ = after(AppState(remembered=known, kept=known, settings=settings), [ScenesListed(SCENES)])
    return replace(state, gallery=menu.select(state.gallery, at, state.room))


def path_page(*messages: Message) -> tuple[AppState, list[object]]:
    """The line of a path with its folder listed, after further messages; what these asked for."""
    state, _ = after(cards(OWN), [MenuChosen(1.0), LISTED])
    state, asked = after(state, messages)
    return state, list(asked)


def text_of(state: AppState) -> str:
    assert state.line_page is not None
    return state.line_page.line.text


def key(name: int, mod: int = 0) -> pygame.event.Event:
    return pygame.event.Event(pygame.KEYDOWN, key=name, mod=mod, unicode="", scancode=0)


# ---- paste -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mod", [pygame.KMOD_LCTRL, pygame.KMOD_RCTRL, pygame.KMOD_LMETA])
def test_control_v_on_the_start_page_looks_into_the_clipboard(mod: int) -> None:
    pasted = keymap.translate(key(pygame.K_v, mod), Focus.MENU, 1.0, Bindings())
    assert pasted == PasteAsked(1.0)
    known = Remembered(pictures=(OwnPicture("/data/pasted-1.png", "dusk"),))
    assert after(cards(0, known), [pasted])[1] == [LookInClipboard(("/data/pasted-1.png",))]


@pytest.mark.parametrize(
    ("held", "text", "path"),
    [
        (Held.PICTURE, "/data/pasted-1.png", "/data/pasted-1.png"),
        (Held.TEXT, " '/a b.png' \n", "'/a b.png'"),
        (Held.TEXT, "file:///a%20b.png\r\nfile:///c.png", "file:///a%20b.png"),
    ],
)
def test_what_is_pasted_leads_to_the_page_of_the_picture(held: Held, text: str, path: str) -> None:
    state, asks = after(cards(0), [ClipboardHeld(held, text, 1.0)])
    assert asks == [errands.ReadPicture(path)]
    state, _ = after(state, [replace(PICTURE, path=path)])
    assert state.crop is not None


@pytest.mark.parametrize(
    "message", [ClipboardHeld(Held.TEXT, "a meadow", 1.0), ClipboardRefused("told.clipboard_nothing", 1.0)]
)
def test_a_clipboard_without_a_picture_is_told_in_one_sentence(message: Message) -> None:
    state, asks = after(cards(0), [message])
    assert not asks
    assert [toast.text for toast in state.toasts] == ["There is no picture in the clipboard, and no path of one."]


def test_into_the_line_of_a_path_text_is_pasted_as_text_and_a_picture_as_a_picture() -> None:
    state, asks = path_page(Edited(Edit.PASTE, 1.1))
    assert asks == [LookInClipboard()]
    state, asks = after(state, [ClipboardHeld(Held.TEXT, "lake.png\n", 1.2)])
    assert text_of(state) == "/pictures/lake.png "
    assert asks == [ListPaths("/pictures/lake.png ")]
    assert after(state, [ClipboardHeld(Held.PICTURE, "/d/p.png", 1.3)])[1] == [errands.ReadPicture("/d/p.png")]


def test_nothing_is_pasted_over_another_page() -> None:
    state, _ = after(replace(cards(0), picker=0), [PasteAsked(1.0)])
    assert not after(state, [PasteAsked(1.0), BrowseAsked(1.0)])[1]
    busy = replace(walking(), prompt_box=PromptBox())
    assert after(busy, [ClipboardHeld(Held.PICTURE, "/p.png", 1.0), PICTURE]) == (busy, [])


# ---- the system's dialog -----------------------------------------------------------------------------------------


def test_the_dialog_is_opened_once_and_what_it_gives_is_taken_as_if_dropped() -> None:
    asked = keymap.translate(key(pygame.K_o, pygame.KMOD_LCTRL), Focus.MENU, 1.0, Bindings())
    assert asked == BrowseAsked(1.0)
    state, asks = after(cards(0), [asked, BrowseAsked(1.1)])
    assert asks == [OpenDialog("A picture to begin a world with", "")]
    assert state.toasts[-1].text == "The file dialog is open already, beside this window."
    state, asks = after(state, [DialogEnded("/a.png", 2.0)])
    assert asks == [errands.ReadPicture("/a.png")]
    assert not state.is_dialog_open


def test_a_dialog_that_was_cancelled_changes_nothing() -> None:
    state, _ = after(cards(3), [BrowseAsked(1.0)])
    assert after(state, [DialogEnded(None, 2.0)]) == (replace(state, is_dialog_open=False), [])


def test_where_there_is_no_dialog_the_line_is_used_and_that_is_said() -> None:
    state, asks = after(cards(0), [BrowseAsked(1.0), DialogEnded(None, 1.1, "told.no_dialog")])
    assert asks[1:] == [ListPaths("")]
    assert state.focus is Focus.TEXT
    assert "Tab completes" in state.toasts[-1].text
    state, _ = after(state, [replace(LISTED, dialog=False)])
    assert state.line_page is not None
    assert Kind.BROWSE not in [choice.kind for choice in state.line_page.choices]


def test_the_dialog_is_the_first_choice_below_the_line() -> None:
    _, asks = path_page(Edited(Edit.NEWER, 1.1), Edited(Edit.APPLY, 1.2))
    assert asks == [OpenDialog("A picture to begin a world with", "/pictures/")]


# ---- the typed path ----------------------------------------------------------------------------------------------


def test_the_line_begins_where_the_last_picture_was_else_where_pictures_are() -> None:
    known = Remembered(pictures=(OwnPicture("/d/pasted-1.png", "x"), OwnPicture("/holiday/a.png", "x")))
    assert after(cards(OWN, known), [MenuChosen(1.0)])[1] == [ListPaths("/holiday/")]
    state, _ = path_page()
    assert text_of(state) == "/pictures/"


def test_tab_completes_what_all_have_in_common_then_the_only_one() -> None:
    tab = keymap.translate(key(pygame.K_TAB), Focus.TEXT, 1.0, Bindings())
    assert tab == CompletionAsked(1.0)
    state, asks = path_page(TextTyped("l", 1.1))
    assert asks == [ListPaths("/pictures/l")]
    fitting = PathsListed("/pictures/l", "/pictures/", (), ("lake.png", "land.jpg"), dialog=True)
    state, asks = after(state, [fitting, tab])
    assert text_of(state) == "/pictures/la"
    state, _ = after(state, [replace(fitting, text="/pictures/la", files=("Lake.png",)), tab])
    assert text_of(state) == "/pictures/Lake.png"


def test_an_answer_about_an_earlier_text_is_not_taken() -> None:
    state, _ = path_page(TextTyped("x", 1.1))
    assert after(state, [replace(LISTED, text="/pictures/", files=("old.png",))])[0] == state


def test_enter_goes_into_a_folder_and_opens_a_file() -> None:
    state, asks = path_page(*[Edited(Edit.NEWER, 1.1)] * 3, Edited(Edit.APPLY, 1.2))
    assert text_of(state) == "/pictures/lakes/"
    assert asks == [ListPaths("/pictures/lakes/")]
    _, asks = path_page(Edited(Edit.OLDER, 1.1), Edited(Edit.APPLY, 1.2))
    assert asks == [errands.ReadPicture("/pictures/land.jpg")]
    _, asks = path_page(TextTyped("a.png ", 1.1), Edited(Edit.APPLY, 1.2))
    assert asks[-1] == errands.ReadPicture("/pictures/a.png")


def test_the_line_stays_until_its_picture_was_read() -> None:
    state, _ = path_page(TextTyped("a.png", 1.1), Edited(Edit.APPLY, 1.2))
    assert state.line_page is not None
    state, _ = after(state, [PICTURE])
    assert (state.line_page, state.crop is None) == (None, False)


def test_a_gamepad_walks_through_folders() -> None:
    push = [PadPressed("dpad_down", True, 1.0), Ticked(1.0), PadPressed("dpad_down", False, 1.1)]
    state, _ = after(path_page()[0], push)
    assert state.line_page is not None
    assert state.line_page.selected == 0
    state, asks = path_page(MenuMoved(-1, 0, 1.1))
    assert asks == [ListPaths("/")]
    state, asks = path_page(*[MenuMoved(0, 1, 1.1)] * 4, MenuMoved(1, 0, 1.2))
    assert text_of(state) == "/pictures/trees/"


def test_the_mouse_takes_a_choice_and_closes_beside_the_panel() -> None:
    state, _ = path_page()
    assert state.line_page is not None
    rect = line_page.choice_rect(state.line_page, 4, state.room)
    assert rect is not None
    assert after(state, [MouseClicked(rect.x + 2, rect.y + 2, 1.0)])[1] == [errands.ReadPicture("/pictures/lake.png")]
    assert after(state, [MouseClicked(1, 1, 1.0)])[0].line_page is None
    assert after(state, [Edited(Edit.CANCEL, 1.0)])[0].line_page is None


# ---- words -------------------------------------------------------------------------------------------------------


def test_words_alone_begin_a_world_that_is_remembered() -> None:
    state, asks = after(cards(WORDS), [MenuChosen(1.0), TextTyped("snow at dusk", 1.1), Edited(Edit.APPLY, 1.2)])
    assert asks == [MakeFromWords("snow at dusk")]
    own = OwnWords("snow at dusk", 77)
    scene = SceneSpec(own.name, own.words, map_seed=77)
    state, asks = after(state, [WordsMade(scene, own, 1.3)])
    assert asks == [OpenWorld(scene, 0, 1)]
    assert (state.line_page, state.screen) == (None, Screen.LOADING)
    assert state.remembered.words == (own,)
    assert state.remembered.played == (own.name,)
    assert state.history[-1] == "snow at dusk"


def test_suggested_words_stand_in_the_line_and_can_be_changed() -> None:
    state, asks = after(cards(WORDS), [MenuChosen(1.0), TextTyped("fog", 1.0), MenuMoved(0, 1, 1.1)])
    assert text_of(state) == state.say("words.suggested_1")
    back, _ = after(state, [MenuMoved(0, -1, 1.2)])
    assert text_of(back) == "fog"
    state, asks = after(state, [TextTyped(" in fog", 1.3), Edited(Edit.APPLY, 1.4)])
    assert asks == [MakeFromWords(state.say("words.suggested_1") + " in fog")]


def test_blank_words_begin_nothing() -> None:
    state, asks = after(cards(WORDS), [MenuChosen(1.0), TextTyped("  ", 1.1), Edited(Edit.APPLY, 1.2)])
    assert not asks
    assert state.line_page is not None


@pytest.mark.parametrize("backend", ["lingbot", "sglang"])
def test_a_model_that_needs_a_picture_says_so(backend: str) -> None:
    state, asks = after(cards(WORDS, backend=backend), [MenuChosen(1.0)])
    assert (state.line_page, asks) == (None, [])
    assert state.toasts[-1].text.startswith("This model begins with a picture")


def test_the_mouse_puts_words_into_the_line_and_begins_at_the_second_click() -> None:
    state, _ = after(cards(WORDS), [MenuChosen(1.0)])
    assert state.line_page is not None
    rect = line_page.choice_rect(state.line_page, 1, state.room)
    assert rect is not None
    click = MouseClicked(rect.x + 2, rect.y + 2, 1.0)
    state, asks = after(state, [click])
    assert text_of(state) == state.say("words.suggested_2")
    assert not asks
    assert after(state, [click])[1] == [MakeFromWords(state.say("words.suggested_2"))]


# ---- cards of one's own ------------------------------------------------------------------------------------------


def test_a_card_of_ones_own_can_be_removed_and_others_cannot() -> None:
    known = Remembered(words=(OwnWords("meadow", 3),), played=("meadow",), pinned=("meadow",))
    state, _ = after(cards(0, known), [MenuActed(MenuAct.CLEAR, 1.0)])
    assert state.remembered == Remembered()
    assert "meadow" not in [scene.name for scene in state.scenes]
    assert state.gallery.count == len(SCENES) + 1
    state, _ = after(cards(0), [MenuActed(MenuAct.CLEAR, 1.0)])
    assert len(state.scenes) == len(SCENES)
    assert state.toasts[-1].text == "Only cards of your own can be removed."


def test_a_picture_that_is_known_comes_back_with_its_part_and_words() -> None:
    known = Remembered(pictures=(OwnPicture(PICTURE.path, "dusk", -0.5),))
    state, _ = after(cards(0, known), [PICTURE])
    assert state.crop is not None
    assert (state.crop.prompt, state.crop.shift) == ("dusk", -0.5)


# ---- gamepad -----------------------------------------------------------------------------------------------------


def test_the_buttons_of_the_hand_that_was_used_last_are_named() -> None:
    pressed = pygame.event.Event(pygame.CONTROLLERBUTTONDOWN, button=pygame.CONTROLLER_BUTTON_A)
    drifts = pygame.event.Event(pygame.CONTROLLERAXISMOTION, axis=pygame.CONTROLLER_AXIS_LEFTX, value=900)
    assert [keymap.hand_of(event) for event in (pressed, drifts, key(pygame.K_a))] == [True, None, False]
    state, _ = after(cards(0), [HandChanged(True)])
    assert ("A", "walk") in gallery(state)
    assert ("Start", "menu") in gallery(state)
    sony = replace(state, gamepad=replace(state.gamepad, names=((0, "PS4 Controller"),)))
    assert ("×", "walk") in gallery(sony)
    assert ("Enter", "walk") in gallery(after(state, [HandChanged(False)])[0])


def test_a_gamepad_alone_chooses_the_words_of_a_picture() -> None:
    state, _ = after(replace(cards(0), by_pad=True), [PICTURE, MenuActed(MenuAct.PIN, 1.0)])
    assert state.focus is Focus.TEXT
    assert ("A", "apply") in crop(state)
    push = [PadPressed("dpad_up", True, 1.0), Ticked(1.0), PadPressed("dpad_up", False, 1.1), Ticked(1.1)]
    state, _ = after(state, [*push, Edited(Edit.APPLY, 1.2)])
    assert state.crop is not None
    assert state.crop.prompt == state.say("words.suggested_1")


def test_every_pad_button_that_is_named_does_what_is_said() -> None:
    def press(button: int, focus: Focus) -> object:
        return pad_meaning.pressed(keymap.PAD_BUTTONS[button], focus, 1.0, PadBindings())

    assert press(pygame.CONTROLLER_BUTTON_A, Focus.MENU) == MenuChosen(1.0)
    assert press(pygame.CONTROLLER_BUTTON_Y, Focus.MENU) == MenuActed(MenuAct.PIN, 1.0)
    assert press(pygame.CONTROLLER_BUTTON_X, Focus.MENU) == MenuActed(MenuAct.CLEAR, 1.0)
    assert press(pygame.CONTROLLER_BUTTON_START, Focus.MENU) == Commanded(Command.MENU, 1.0)
    assert press(pygame.CONTROLLER_BUTTON_A, Focus.TEXT) == Edited(Edit.APPLY, 1.0)
    assert press(pygame.CONTROLLER_BUTTON_B, Focus.TEXT) == Edited(Edit.CANCEL, 1.0)
    assert press(pygame.CONTROLLER_BUTTON_X, Focus.TEXT) == BrowseAsked(1.0)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("by_pad", [False, True])
def test_every_page_has_its_hints_in_both_languages(language: str, by_pad: bool) -> None:
    state = replace(path_page()[0], by_pad=by_pad, system_language=language)
    assert len(line(state)) >= 4
    assert len(line(replace(state, line_page=line_page.of_words(())))) == 3
    assert state.line_page is not None
    assert state.line_page.purpose is Purpose.PATH


def test_asks_and_messages_have_words_for_every_reason() -> None:
    for why in ("told.no_dialog", "told.dialog_failed"):
        assert after(cards(0), [beginnings.DialogEnded(None, 1.0, why)])[0].toasts
