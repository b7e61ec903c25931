"""The lists that the reading of prompts is measured on: in no template, and judged as their heads say."""

import re

import pytest
import torch

from engine.phrases import Act
from engine.prompt_reader import PromptReading
from engine.training import phrasings, prompts
from engine.training.phrasings import DEVELOPMENT, HELD_OUT, Phrasing, is_hit
from engine.wishes import GROUPS, Clause, Wish

NAMES = [name for group in GROUPS for name in group]
SMALL = frozenset(("a", "an", "the", "at", "in", "on", "of", "to", "and", "with", "by", "for", "please"))


def bare(text: str) -> tuple[str, ...]:
    """The words that say something, in lower case."""
    return tuple(word for word in re.findall(r"[a-z']+", text.lower()) if word not in SMALL)


def template_phrasings() -> set[tuple[str, ...]]:
    texts = [text for group in prompts.GROUPS for words in group.values() for text in words]
    texts += [*prompts.JOINT_WORDS, *prompts.PAIR_WORDS, *prompts.NOTHING, *prompts.EVERYDAY]
    adjectives, nouns = (
        [w for words in table.values() for w in words] for table in (prompts.ADJECTIVES, prompts.NOUNS)
    )
    texts += [f"{adjective} {noun}" for adjective in adjectives for noun in nouns]
    return {bare(text) for text in texts} - {()}


def frames() -> set[tuple[str, ...]]:
    return {bare(frame.replace("{}", "")) for frame in prompts.FRAMES} | {bare(lead) for lead in prompts.LEADS} | {()}


def could_be_made(words: tuple[str, ...], texts: set[tuple[str, ...]], leads: set[tuple[str, ...]]) -> bool:
    """Whether the words are a frame and up to three phrasings of templates, one after the other."""

    def joined(rest: tuple[str, ...], parts: int) -> bool:
        if not rest:
            return True
        return parts > 0 and any(rest[:n] in texts and joined(rest[n:], parts - 1) for n in range(1, len(rest) + 1))

    return any(words[: len(lead)] == lead and joined(words[len(lead) :], 3) for lead in leads)


def test_no_held_out_phrasing_can_be_made_from_the_templates() -> None:
    texts, leads = template_phrasings(), frames()
    english = [p for p in phrasings.read(HELD_OUT) if not p.category.startswith("chinese")]
    made = [p.prompt for p in english if bare(p.prompt) and could_be_made(bare(p.prompt), texts, leads)]
    assert not made, made


def test_templates_are_found_where_they_stand() -> None:
    assert could_be_made(bare("make it a snowy forest at dusk"), template_phrasings(), frames())
    assert not could_be_made(bare("crunchy lemons"), template_phrasings(), frames())


def test_the_lists_are_long_and_apart() -> None:
    held_out, development = phrasings.read(HELD_OUT), phrasings.read(DEVELOPMENT)
    assert len(held_out) >= 200
    assert not {p.prompt.lower() for p in held_out} & {p.prompt.lower() for p in development}
    assert {"plain", "negation", "mixture", "intensity", "nonsense", "chinese plain"} <= {p.category for p in held_out}


def test_every_term_of_the_lists_is_known() -> None:
    for phrasing in (*phrasings.read(HELD_OUT), *phrasings.read(DEVELOPMENT)):
        assert sum(phrasing.present) == 3, phrasing
        is_hit(phrasing, reading())
        for term in phrasing.expected:
            names = re.split(r"[+/]", term.rpartition(":")[2])
            assert term == "nothing" or set(names) <= {*NAMES, "biome", "time", "weather"}, phrasing


def reading(wish: Wish = ()) -> PromptReading:
    return PromptReading(torch.zeros(1, 1, 1), wish)


def mix(names: str) -> tuple[float, ...]:
    return tuple(float(name in names.split()) for name in NAMES)


@pytest.mark.parametrize(
    ("expected", "wish", "hit"),
    [
        ("fog", "fog", True),
        ("fog", "storm", False),
        ("fog/storm", "storm", True),
        ("fog+storm/storm", "storm", True),
        ("fog", "fog night", False),
        ("fog any:time", "fog night", True),
        ("nothing", "", True),
        ("nothing", "noon", False),
        ("no:clear", "fog", True),
        ("more:fog", "fog", True),
    ],
)
def test_a_hit_is_everything_expected_and_nothing_else(expected: str, wish: str, hit: bool) -> None:
    phrasing = Phrasing("plain", mix("meadow noon clear"), "some words", tuple(expected.split()))
    clauses = (Clause(Act.SET, mix(wish)),) if wish else ()
    assert is_hit(phrasing, reading(clauses)) is hit
