import pytest

from engine.wording import dotted, key_part, prompt_problem, shown


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "null"),
        (True, "true"),
        ("no", "the text 'no'"),
        ("x" * 50, "the text '" + "x" * 40 + "'… of 50 characters"),
        (3, "the whole number 3"),
        (float("nan"), "the number nan"),
        ([["w"], "x"], "the list [['w'], 'x']"),
        ({"a": 1}, "the map {'a': 1}"),
        (b"abc", "a value of type bytes"),
    ],
)
def test_a_value_is_shown_by_its_kind_and_its_beginning(value, expected):
    assert shown(value) == expected


def test_what_is_shown_stays_short_and_printable_whatever_the_value():
    nested: object = []
    for _ in range(100_000):
        nested = [nested]
    for value in (
        nested,
        "\ud800" * 10**6,
        10**5000,
        -(10**9000),
        ["é\x00\n" * 99] * 9,
        {"k" * 500: "v" * 500},
        object(),
    ):
        text = shown(value)
        assert len(text) <= 180
        assert text.isprintable()
        text.encode()


def test_a_path_is_written_with_dots_and_brackets_and_odd_keys_are_quoted():
    assert dotted(()) == ""
    assert dotted(("camera_actions", "transitions", 3, "actions", 0)) == "camera_actions.transitions[3].actions[0]"
    assert dotted(("a b", 1)) == "['a b'][1]"
    assert len(dotted(("k" * 10**6,))) < 60
    assert dotted((key_part((1, 2)),)) == "['[1, 2]']"


@pytest.mark.parametrize("prompt", ["", " \t\n", "\u200b\u200e", "x" * 2001, "snow \ud83d", "\x00"])
def test_a_prompt_that_cannot_be_used_has_a_problem(prompt):
    assert prompt_problem(prompt) is not None


@pytest.mark.parametrize("prompt", ["snow", "x" * 2000, "雪の夜", "❄️ 👩‍👩‍👧", " a\nb "])
def test_any_other_prompt_has_none(prompt):
    assert prompt_problem(prompt) is None
