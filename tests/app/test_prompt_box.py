from __future__ import annotations

import pytest

from app import prompt_box
from app.gestures import Edit
from app.prompt_box import MOST_CHARACTERS, PromptBox


def box_with(text: str, caret: int | None = None, anchor: int | None = None) -> PromptBox:
    caret = len(text) if caret is None else caret
    return PromptBox(text=text, caret=caret, anchor=caret if anchor is None else anchor)


@pytest.mark.parametrize(
    ("box", "key", "text", "caret"),
    [
        (box_with("snow"), Edit.LEFT, "snow", 3),
        (box_with("snow", 0), Edit.LEFT, "snow", 0),
        (box_with("snow"), Edit.RIGHT, "snow", 4),
        (box_with("snow"), Edit.HOME, "snow", 0),
        (box_with("snow", 1), Edit.END, "snow", 4),
        (box_with("snow", 2), Edit.BACKSPACE, "sow", 1),
        (box_with("snow", 2), Edit.DELETE, "snw", 2),
        (box_with("snow", 4), Edit.DELETE, "snow", 4),
        (box_with("snow", 1, 3), Edit.BACKSPACE, "sw", 1),
        (box_with("snow", 1, 3), Edit.CUT, "sw", 1),
        (box_with("snow", 2), Edit.CUT, "snow", 2),
        (box_with("snow", 1, 3), Edit.LEFT, "snow", 1),
        (box_with("snow", 1, 3), Edit.RIGHT, "snow", 3),
        (box_with("e\u0301a", 3), Edit.LEFT, "e\u0301a", 2),
        (box_with("e\u0301", 2), Edit.BACKSPACE, "", 0),
        (box_with("👩\u200d🚀", 3), Edit.BACKSPACE, "", 0),
        (box_with("👩\u200d🚀x", 0), Edit.RIGHT, "👩\u200d🚀x", 3),
    ],
)
def test_editing_keys(box: PromptBox, key: Edit, text: str, caret: int) -> None:
    edited = prompt_box.edit(box, key)
    assert (edited.text, edited.caret, edited.anchor) == (text, caret, caret)


def test_shift_selects_and_typing_replaces() -> None:
    box = prompt_box.edit(box_with("deep snow", 4), Edit.HOME, selecting=True)
    assert box.selected == "deep"
    assert prompt_box.type_text(box, "no").text == "no snow"


def test_control_moves_by_word() -> None:
    box = prompt_box.edit(box_with("deep snow fell"), Edit.LEFT, by_word=True)
    assert box.caret == 10
    assert prompt_box.edit(box, Edit.BACKSPACE, by_word=True).text == "deep fell"


def test_everything_can_be_selected() -> None:
    assert prompt_box.edit(box_with("snow"), Edit.ALL).selected == "snow"


def test_no_more_characters_than_a_prompt_may_have() -> None:
    assert len(prompt_box.type_text(PromptBox(), "雪" * 3000).text) == MOST_CHARACTERS
    full = box_with("x" * MOST_CHARACTERS, 0)
    assert prompt_box.type_text(full, "y") == full


def test_line_ends_controls_and_surrogates_never_get_in() -> None:
    assert prompt_box.type_text(PromptBox(), "a\r\nb\tc\x00\ud800d").text == "a b cd"


def test_a_composition_is_shown_but_is_no_text_and_has_the_keys() -> None:
    box = prompt_box.compose_text(box_with("a"), "xue", 9)
    assert (box.text, box.composition, box.composition_caret) == ("a", "xue", 3)
    assert prompt_box.edit(box, Edit.BACKSPACE) is box
    done = prompt_box.type_text(box, "雪")
    assert (done.text, done.composition) == ("a雪", "")


def test_history_is_looked_through_and_the_draft_comes_back() -> None:
    box = prompt_box.type_text(PromptBox(history=("rain", "snow")), "fo")
    texts = []
    for key in (Edit.OLDER, Edit.OLDER, Edit.OLDER, Edit.NEWER, Edit.NEWER, Edit.NEWER):
        box = prompt_box.edit(box, key)
        texts.append(box.text)
    assert texts == ["snow", "rain", "rain", "snow", "fo", "fo"]


def test_the_key_that_opened_the_box_is_not_typed_into_it() -> None:
    box = prompt_box.type_text(PromptBox(swallow="t"), "t")
    assert box.text == ""
    assert prompt_box.type_text(box, "t").text == "t"


def test_history_keeps_each_line_once() -> None:
    assert prompt_box.remember(("rain", "snow"), "rain") == ("snow", "rain")
