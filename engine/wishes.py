"""What a prompt asks of the mix of worlds, and what the mix becomes by it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.phrases import SHIFTS, Act
from engine.worldmap import BIOMES, TIMES, WEATHERS

GROUPS = (BIOMES, TIMES, WEATHERS)
DEFAULTS = ("meadow", "noon", "clear")
_SECOND = ("forest", "dusk", "cloudy")
"""What takes the place of what was removed, and of the first when it is that which goes."""
_MEASURE = {Act.MORE: 0.5, Act.LESS: 0.5, **dict.fromkeys(SHIFTS, 0.6)}
_GONE_WITH = {"cloudy": ("storm",)}
"""A sky without clouds has no storm either."""
_NEXT: dict[Act, dict[str, str]] = {
    Act.DARKER: {"dawn": "night", "noon": "dusk", "dusk": "night", "night": "night"},
    Act.BRIGHTER: {"dawn": "noon", "noon": "noon", "dusk": "noon", "night": "dawn"},
    Act.LATER: {"dawn": "noon", "noon": "dusk", "dusk": "night", "night": "dawn"},
    Act.EARLIER: {"dawn": "night", "noon": "dawn", "dusk": "noon", "night": "dusk"},
}
_SHOWN_CHARACTERS = 40

Mix = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Clause:
    """One thing asked: ``weights`` [15] of the worlds named (each group sums to 1 or 0), None for a shift of time."""

    act: Act
    weights: Mix = ()
    strength: float | None = None

    @property
    def share(self) -> float:
        """How far a change goes, 0 to 1."""
        if self.strength is None:
            return _MEASURE[self.act]
        return min(1.0, _MEASURE[self.act] * (0.5 if self.strength < 1 else 1.6))


Wish = tuple[Clause, ...]
"""Everything that a prompt asks for; empty where it says nothing that this model knows."""


def asked_mix(current: Mix, wish: Wish) -> Mix:
    """The mix that is wished for from ``current``; groups that the wish does not speak of keep their weights."""
    out: list[float] = []
    offset = 0
    for group, names in enumerate(GROUPS):
        here = slice(offset, offset + len(names))
        offset += len(names)
        clauses = [(c, c.weights[here]) for c in wish if c.act not in SHIFTS and sum(c.weights[here]) > 0]
        mix = _asked_group(group, list(current[here]), clauses)
        if names is TIMES and not clauses:
            for clause in wish:
                mix = _shifted(mix, clause) if clause.act in SHIFTS else mix
        out += mix
    return tuple(out)


def _asked_group(group: int, mix: list[float], clauses: Sequence[tuple[Clause, Mix]]) -> list[float]:
    """First what goes, then what is named, then what grows or shrinks."""
    named = [0.0] * len(mix)
    for clause, weights in clauses:
        if clause.act is Act.SET:
            strength = 1.0 if clause.strength is None else clause.strength
            named = [max(a, strength * w) for a, w in zip(named, weights, strict=True)]
    for clause, weights in clauses:
        if clause.act is Act.REMOVE:
            mix = _scaled(group, mix, [0.0 if w > 0 and n == 0 else 1.0 for w, n in zip(weights, named, strict=True)])
    total = sum(named)
    if total > 0:
        base = _scaled(group, mix, [float(n == 0) for n in named]) if 0.0 in named else [n / total for n in named]
        rest = 1 - min(1.0, total)
        mix = [rest * b + n / max(1.0, total) for b, n in zip(base, named, strict=True)]
    for clause, weights in clauses:
        if clause.act is Act.MORE:
            mix = [m + clause.share * (w - m) for m, w in zip(mix, weights, strict=True)]
        elif clause.act is Act.LESS:
            mix = _scaled(group, mix, [1 - clause.share * (w > 0) for w in weights])
    return mix


def _scaled(group: int, mix: list[float], factors: Sequence[float]) -> list[float]:
    """Weights times factors. What is freed goes to the worlds that did not shrink; where there is none of them, and
    for the weather always ("no fog" is no storm), to the group's default, or to its second where that one shrank."""
    names = GROUPS[group]
    kept = [m * f for m, f in zip(mix, factors, strict=True)]
    for name, others in _GONE_WITH.items():
        if name in names and factors[names.index(name)] == 0:
            for other in others:
                kept[names.index(other)] = 0.0
    whole = [m * (f == 1) for m, f in zip(kept, factors, strict=True)]
    freed = 1 - sum(kept)
    if sum(whole) > 0.05 and names is not WEATHERS:
        return [k + freed * w / sum(whole) for k, w in zip(kept, whole, strict=True)]
    heirs = [n for n in (DEFAULTS[group], _SECOND[group], *names) if factors[names.index(n)] == 1]
    if not heirs:  # all of them shrink alike: nothing can
        return mix
    kept[names.index(heirs[0])] += freed
    return kept


def _shifted(mix: list[float], clause: Clause) -> list[float]:
    out = [m * (1 - clause.share) for m in mix]
    for name, weight in zip(TIMES, mix, strict=True):
        out[TIMES.index(_NEXT[clause.act][name])] += clause.share * weight
    return out


def unknown_notice(prompt: str) -> str:
    """The sentence for a prompt about nothing that the bundled model knows."""
    shown = prompt.strip()
    shown = shown if len(shown) <= _SHOWN_CHARACTERS else shown[: _SHOWN_CHARACTERS - 1] + "\u2026"
    biomes, times, weathers = (f"{', '.join(names[:-1])} and {names[-1]}" for names in GROUPS)
    return (
        f"This small model finds no landscape in \u201c{shown}\u201d: the world stays as it is. "
        f"All that it knows is {biomes}; {times}; {weathers} weather."
    )
