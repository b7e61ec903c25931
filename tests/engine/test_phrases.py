"""The grammar of prompts: where phrases end, and what the small words ask for."""

import time

import pytest

from engine.phrases import A_LITTLE, Act, attach, split


def told(text: str) -> list[tuple[str, str, float | None]]:
    return [(phrase.act.value, phrase.text, phrase.strength) for phrase in split(text)]


@pytest.mark.parametrize(
    ("text", "phrases"),
    [
        ("snowy woods at night", [("set", "snowy woods", None), ("set", "night", None)]),
        ("fog and clouds", [("set", "fog", None), ("set", "clouds", None)]),
        ("no fog", [("remove", "fog", None)]),
        ("no fog or rain", [("remove", "fog", None), ("remove", "rain", None)]),
        ("remove the fog and the rain", [("remove", "the fog", None), ("remove", "the rain", None)]),
        ("remove the fog and make it night", [("remove", "the fog", None), ("set", "make it night", None)]),
        ("no fog in the forest", [("remove", "fog", None), ("set", "the forest", None)]),
        ("cloudless", [("remove", "cloud", None)]),
        ("snow-free", [("remove", "snow", None)]),
        ("a little fog", [("set", "fog", A_LITTLE)]),
        ("slightly foggy night", [("set", "foggy", A_LITTLE), ("set", "night", None)]),
        ("light rain", [("set", "rain", A_LITTLE)]),
        ("take the fog away, please", [("remove", "the fog", None), ("set", "please", None)]),
        ("evening light", [("set", "evening light", None)]),
        ("half desert, half meadow", [("set", "desert", 0.5), ("set", "meadow", 0.5)]),
        ("foggier", [("more", "foggy", None)]),
        ("colder", [("more", "snow", None)]),
        ("a bit darker", [("darker", "", A_LITTLE)]),
        ("turn the woods into a desert", [("remove", "the woods", None), ("set", "a desert", None)]),
        ("turn it into a desert", [("set", "a desert", None)]),
        ("a forest instead of a meadow", [("set", "a forest", None), ("remove", "a meadow", None)]),
        ("clear the sky", [("set", "clear the sky", None)]),
        ("", []),
        ("?!", []),
    ],
)
def test_a_sentence_falls_into_phrases(text: str, phrases: list[tuple[str, str, float | None]]) -> None:
    assert told(text) == phrases


def attached(text: str, unknown: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    found = split(text)
    known = [bool(phrase.words) and phrase.text not in unknown for phrase in found]
    return [(phrase.act.value, found[i].text) for i, phrase in attach(found, known)]


def test_an_operator_without_an_object_is_about_the_phrase_before() -> None:
    assert attached("the fog lifts") == [("remove", "the fog")]
    assert attached("the fog gets less", ()) == [("less", "the fog gets")]
    assert attached("snow, fog no") == [("set", "snow"), ("remove", "fog")]


def test_an_operator_skips_words_that_mean_nothing() -> None:
    assert attached("no sign over there of it in the fog", ("sign", "there of it")) == [("remove", "the fog")]


def test_an_operator_does_not_leave_its_clause() -> None:
    assert attached("no thanks, snow", ("thanks",)) == [("set", "snow")]


def test_a_shift_of_light_needs_no_words() -> None:
    assert attached("much darker") == [("darker", "")]
    assert split("darker a little")[0].act is Act.DARKER


def test_a_very_long_prompt_is_split_at_once() -> None:
    began = time.monotonic()
    split("turn the world, with no fog and a little snow " * 60)
    split("x" * 4000)
    assert time.monotonic() - began < 0.5
