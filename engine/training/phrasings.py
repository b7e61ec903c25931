"""Lists of prompts and of what must come of them; the share that does is the model's understanding of free text.

``HELD_OUT`` is what ``python main.py evaluate`` measures and nothing is tuned on; ``DEVELOPMENT`` is for tuning. No
template of ``prompts`` contains a phrasing of either.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.prompt_reader import PromptReader, PromptReading
from engine.wishes import GROUPS, Mix, asked_mix

HELD_OUT = Path(__file__).with_name("phrasings_held_out.txt")
DEVELOPMENT = Path(__file__).with_name("phrasings_dev.txt")
_NAMES = tuple(name for group in GROUPS for name in group)
_GROUP_NAMES = ("biome", "time", "weather")
_PURE, _PART, _PARTS, _GONE, _MOST_OF_SOME, _MOVED = 0.6, 0.2, 0.85, 0.1, 0.65, 0.1


@dataclass(frozen=True, slots=True)
class Phrasing:
    category: str
    present: Mix
    prompt: str
    expected: tuple[str, ...]


def read(path: Path) -> list[Phrasing]:
    """The phrasings of a list; its head says what the terms mean."""
    out, category = [], ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            category = line.strip("[]")
        elif line and not line.startswith("#"):
            present, prompt, expected = (part.strip() for part in line.split("|"))
            mix = tuple(float(name in present.split()) for name in _NAMES)
            out.append(Phrasing(category, mix, prompt, tuple(expected.split())))
    return out


def is_hit(phrasing: Phrasing, reading: PromptReading) -> bool:
    """Whether everything expected has come, and nothing else has changed."""
    after = asked_mix(phrasing.present, reading.wish)
    before, now = (dict(zip(_NAMES, mix, strict=True)) for mix in (phrasing.present, after))
    spoken: set[str] = set()
    for term in phrasing.expected:
        if term == "nothing":
            if reading.understood:
                return False
            continue
        if term.startswith("any:"):
            spoken.add(term.removeprefix("any:"))
            continue
        if not any(_came(choice, before, now) for choice in _choices(term)):
            return False
        spoken |= {_group_of(name) for name in term.replace("+", "/").split("/")}
    for group, names in zip(_GROUP_NAMES, GROUPS, strict=True):
        if group not in spoken and max(abs(now[n] - before[n]) for n in names) > _MOVED:
            return False
    return True


def _choices(term: str) -> list[str]:
    """ "a/b" of plain names is one condition on their sum; with a mark ("more:a/b") or a mixture ("a+b/c") each is a
    choice of its own."""
    if ":" not in term:
        return term.split("/") if "+" in term else [term]
    mark = term.partition(":")[0]
    return [part if ":" in part or part == term else f"{mark}:{part}" for part in term.split("/")]


def _came(term: str, before: dict[str, float], now: dict[str, float]) -> bool:
    mark, _, name = term.rpartition(":")
    match mark:
        case "no":
            return now[name] <= _GONE
        case "some":
            return _GONE <= now[name] <= _MOST_OF_SOME
        case "more":
            return now[name] >= before[name] + _MOVED
        case "less":
            return now[name] <= before[name] - _MOVED
    if "+" in name:
        parts = [now[n] for n in name.split("+")]
        return min(parts) >= _PART and sum(parts) >= _PARTS
    return sum(now[n] for n in name.split("/")) >= _PURE


def _group_of(name: str) -> str:
    name = name.rpartition(":")[2]
    return next(group for group, names in zip(_GROUP_NAMES, GROUPS, strict=True) if name in names)


def hit_rates(reader: PromptReader, listed: Sequence[Phrasing]) -> dict[str, float]:
    """The share of hits over all, in English, in Chinese, and by category."""
    hits: dict[str, list[bool]] = {"all": [], "english": [], "chinese": []}
    for phrasing in listed:
        hit = is_hit(phrasing, reader.read(phrasing.prompt))
        language = "chinese" if phrasing.category.startswith("chinese") else "english"
        for name in ("all", language, phrasing.category):
            hits.setdefault(name, []).append(hit)
    return {name.replace(" ", "_"): sum(found) / max(1, len(found)) for name, found in hits.items()}
