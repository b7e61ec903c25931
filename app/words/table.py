"""All words of the window, one table a language. A language is a module beside this one and a line in ``LANGUAGES``."""

from __future__ import annotations

import string
from collections.abc import Mapping

from app.words import (
    chinese,
    chinese_branches,
    chinese_films,
    chinese_pad,
    chinese_photo,
    chinese_prompts,
    chinese_settings,
    chinese_start,
    english,
    english_branches,
    english_films,
    english_pad,
    english_photo,
    english_prompts,
    english_settings,
    english_start,
    scenes,
    sentences,
)

ENGLISH: Mapping[str, str] = {
    **english.WORDS,
    **english_start.WORDS,
    **english_films.WORDS,
    **english_photo.WORDS,
    **english_prompts.WORDS,
    **english_branches.WORDS,
    **english_pad.WORDS,
    **english_settings.WORDS,
}
CHINESE: Mapping[str, str] = {
    **chinese.WORDS,
    **chinese_start.WORDS,
    **chinese_films.WORDS,
    **chinese_photo.WORDS,
    **chinese_prompts.WORDS,
    **chinese_branches.WORDS,
    **chinese_pad.WORDS,
    **chinese_settings.WORDS,
}

LANGUAGES: Mapping[str, Mapping[str, str]] = {"en": ENGLISH, "zh": CHINESE}
"""Every language by its code, as ``app.language`` names it."""

AUTO = "auto"


def say(language: str, key: str, /, **values: str | int | float) -> str:
    """The words of ``key`` in a language of ``LANGUAGES``, ``values`` put in their places. An unknown key is a bug."""
    table = LANGUAGES[language]
    assert key in table, key
    return table[key].format(**values) if values else table[key]


def knows(key: str) -> bool:
    """Whether there are words for ``key``, for names that are put together from data."""
    return key in ENGLISH


def chosen(wanted: str, system: str) -> str:
    """The language to speak: the one wanted, or with ``auto`` that of a system locale such as ``zh_CN.UTF-8``."""
    if wanted != AUTO:
        return wanted
    code = system.replace("-", "_").split("_")[0].lower()
    code = "zh" if code.startswith("chinese") else code  # Windows calls it "Chinese (Simplified)_China"
    return code if code in LANGUAGES else "en"


def placeholders(text: str) -> frozenset[str]:
    """The names in braces that a text wants filled."""
    return frozenset(name for _, name, _, _ in string.Formatter().parse(text) if name is not None)


def signs() -> str:
    """Every sign of the tables that a Latin font lacks, for the bundled font that is made of exactly these."""
    tables = (*LANGUAGES.values(), *sentences.SENTENCES.values(), *scenes.TITLES.values(), *scenes.PROMPTS.values())
    texts = (text for words in tables for text in words.values())
    return "".join(sorted({sign for text in texts for sign in text if ord(sign) >= 0x2E80}))


def stage(language: str, sentence: str) -> str:
    """A stage of loading, which the engine names in English, in the window's language where there are words for it."""
    key = f"stage.{sentence}"
    return say(language, key) if key in LANGUAGES[language] else sentences.spoken(language, sentence)
