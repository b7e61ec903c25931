"""The grammar of prompts: a sentence falls into phrases, each with what is to be done with the worlds that it names.

Only the small words are known here (no, a little, more, darker, instead of, and, in ...); what a phrase means is read
from its word vectors. Whether an operator belongs to the phrase after it or to the one before ("the fog lifts") shows
when the meanings are known, so ``attach`` asks for them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum


class Act(Enum):
    """What is asked of the worlds that a phrase names, or of the time of day."""

    SET = "set"
    REMOVE = "remove"
    MORE = "more"
    LESS = "less"
    DARKER = "darker"
    BRIGHTER = "brighter"
    LATER = "later"
    EARLIER = "earlier"


SHIFTS = (Act.DARKER, Act.BRIGHTER, Act.LATER, Act.EARLIER)
A_LITTLE = 0.35


@dataclass(frozen=True, slots=True)
class Phrase:
    """``strength`` is None where no word speaks of it: a part of 1 for SET, of the act's own measure otherwise."""

    words: tuple[str, ...]
    act: Act = Act.SET
    strength: float | None = None
    backward: bool = False
    """Its operator is one that follows what it is about: "the fog lifts"."""
    opens_clause: bool = False

    @property
    def text(self) -> str:
        return " ".join(self.words)


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split("; "))


_ACTS: dict[Act, str] = {
    Act.REMOVE: (
        "no; not; without; never; minus; except; neither; nor; remove; removing; delete; erase; stop; end the; lose; "
        "avoid; banish; cancel; dispel; disperse; melt; get rid of; cut; cut down; chop down; take away; take out; "
        "take off; clear the; clear away; clear out; blow away; wash away; turn off; switch off; no more; no longer; "
        "not any; none of; free of; free from; clean of; empty of; drain; instead of; rather than; in place of; "
        "anything but; enough of; enough; fed up with; tired of; sick of; hate; dislike; dont; do not; doesnt; does "
        "not; isnt; is not; arent; wont; shouldnt; should not; cannot; nothing of; out with; down with; away with; "
        "lift the; devoid of; absence of; lacking"
    ),
    Act.MORE: (
        "more; add; adding; increase; increased; double; triple; intensify; raise; boost; strengthen; thicken; "
        "deepen; turn up; extra; additional; thicker; denser; heavier; deeper; stronger; bigger; higher; fuller; even "
        "more; some more; a bit more; a little more; a few more; much more; many more; gets stronger"
    ),
    Act.LESS: (
        "less; fewer; reduce; reduced; decrease; lower; weaken; lessen; soften; diminish; thinner; weaker; sparser; "
        "smaller; milder; gentler; tone down; turn down; not so much; not as much; not so many; not so; not too; not "
        "as; not that; halve; shrink; thin the; thin out; calm down; ease; ease off; a bit less; a little less; much "
        "less; dial down; too much; too many"
    ),
    Act.DARKER: "darker; dimmer; gloomier; less light; less bright; not so bright; too bright; darken; dim the; dim",
    Act.BRIGHTER: (
        "brighter; lighter; more light; less dark; less gloomy; not so dark; too dark; brighten; lighten; brighten "
        "up; lighten up; lighten it; light it up; more luminous"
    ),
    Act.LATER: "later; later on; later in the day; a later hour; further on in; advance the time; forward in time",
    Act.EARLIER: "earlier; earlier on; earlier in the day; an earlier hour; back in time",
}
_BACKWARD = (
    "is gone; are gone; be gone; gone; goes away; go away; going away; is over; are over; has passed; have passed; "
    "has passed away; passes; pass by; stops; has stopped; ends; should end; must end; lifts; lifted; has lifted; "
    "lifting; melts; melts away; melted; vanish; vanishes; vanished; disappear; disappears; disappeared; dissolve; "
    "dissolves; fades; fades away; dies down; died down; dissipate; dissipates; evaporates; blows over; clears off; "
    "drifts away; removed; recedes"
)
_STRENGTHS: dict[float, str] = {
    0.2: "hardly any; barely any; almost no; scarcely any; a trace of; traces of",
    A_LITTLE: (
        "a little; a little bit of; a little bit; a bit of; a bit; a touch of; a touch; a hint of; a tad; a dash of; "
        "a sprinkle of; a pinch of; slight; faint; thin; patches of; patchy; a few; subtle; a shade; a trickle of; "
        "bits of; specks of; a dusting of; a veil of"
    ),
    0.5: "half; half a; half of; fifty percent; somewhat; moderate; medium; in part; a fair amount of; part",
    0.6: "some",
    0.25: "quarter; a quarter; a quarter of; one quarter",
    0.33: "a third; one third; a third of; third",
    0.75: "three quarters; almost; nearly",
    2.0: (
        "heavy; thick; dense; strong; intense; severe; massive; total; complete; a lot of; lots of; a lot; plenty of; "
        "tons of; loads of; mostly; mainly; chiefly; predominantly; much; many; far; endless; huge; big; great"
    ),
}
_ADVERBS: dict[float, str] = {
    A_LITTLE: "slightly; partly; partially; mildly; lightly; faintly; gently",
    2.0: "very; extremely; really; totally; completely; heavily; thickly; densely; incredibly; utterly; so; fully",
}
_REWRITTEN: dict[str, str] = {
    "colder": "more snow",
    "cooler": "a bit more snow",
    "warmer": "less snow ; a bit more desert",
    "hotter": "more desert",
    "drier": "more desert ; less rain",
    "dryer": "more desert ; less rain",
    "wetter": "more rain",
    "greener": "more meadow",
    "calmer": "less storm",
    "nicer": "more clear",
    "wilder": "more storm",
    "clearer": "less fog ; more clear",
    "starrier": "more night",
    "nothing but": "",
    "not only": "",
    "no matter": "",
    "not a cloud": "no clouds",
    "any ?more": "",
    "not far from": "near",
    "no sooner": "",
}
_WHOLE = "clear up; clears up; clear skies; clear sky; clear the sky; clear the air; clear the weather; the sky clears"
"""Words that look like operators and are not."""
_HARD = ".,;!?:()/|\n"
_CLAUSES = _words("and; but; then; plus; while; with; yet; also; where; when; because; though")
_ALTERNATIVES = ("or", "nor")
_PREPOSITIONS = _words(
    "in; at; on; over; under; above; across; by; near; along; around; from; through; during; below; beneath; between; "
    "among; amid; beyond; upon; behind; against; beside; inside; into; onto; within; toward; towards; next; like; as; "
    "for; to"
)
_FRESH = _words(
    "make; let; add; give; show; bring; take; turn; set; put; i; we; it; with; at; a; an; now; please; be; have; get; "
    "become; create; want; keep; use"
)
"""What begins a wish of its own after "and"."""
_LIGHT_WORDS = frozenset(
    _words("the; a; an; it; this; that; all; of; any; these; those; them; there; is; are; be; to; very; so")
)

_Operator = tuple[Act | None, float | None, bool, bool]  # act, strength, backward, holds for one word only


def _operators() -> dict[tuple[str, ...], _Operator]:
    out: dict[tuple[str, ...], _Operator] = {}
    for act, entries in _ACTS.items():
        out |= {tuple(e.split()): (act, None, False, False) for e in _words(entries)}
    out |= {tuple(e.split()): (Act.REMOVE, None, True, False) for e in _words(_BACKWARD)}
    for table, one_word in ((_STRENGTHS, False), (_ADVERBS, True)):
        for strength, entries in table.items():
            out |= {tuple(e.split()): (None, strength, False, one_word) for e in _words(entries)}
    return out | {tuple(e.split()): (None, None, False, False) for e in _words(_WHOLE)}


_OPERATORS = _operators()
_LONGEST = max(map(len, _OPERATORS))
_COMPARED = re.compile(r"\b([a-z]{3,})ier\b")
_LACKING = re.compile(r"\b([a-z]{3,})(?:less|[ -]free)\b(?! of| from)")
_PERCENT = re.compile(r"(\d{1,3}) ?(?:%|percent)(?: of)?")
_CHANGED = re.compile(
    r"\b(?:turn|chang|transform|convert|switch|morph|replac|swap|exchang)\w* (?P<old>[^,.;!?]{1,60}?)"
    r"\b(?:into|to|with|by|for)\b"
)
_BECAME = re.compile(
    r"(?P<old>[^,.;!?]{0,60}?)\b(?:becom\w+|turn\w* (?:in)?to|chang\w* (?:in)?to|gives? way to|is replaced by)\b"
)
_TAKEN = re.compile(
    r"\b(?:take|turn|switch|blow|wash|clear|get|throw|send|put)s? ([^,.;!?]{1,40}?) (?:out|away|off)\b(?: of \w+)?"
)
"""Verbs whose particle stands after what they are about: "take the fog away"."""
_LIGHT = re.compile(
    r"(^|[,.;] |\b(?:a|the|some|very|with|add|only|just|it) )light "
    r"(?!in\b|of\b|at\b|on\b|is\b|from\b|and\b|or\b)(?=[a-z])"
)
"""As in "light rain", not as in "evening light"."""
_WORD = re.compile(r"[a-z']+|\d+|[^\sa-z\d']")


def split(text: str) -> list[Phrase]:
    """The phrases of an English sentence, in order."""
    out: list[Phrase] = []
    current = _Open()
    words = _WORD.findall(_rewritten(text.lower()))
    i = 0
    while i < len(words):
        size, operator = _operator_at(words, i)
        if operator is not None:
            current.take(operator, tuple(words[i : i + size]), out)
        else:
            size = 1
            current.word(words[i], words[i + 1] if i + 1 < len(words) else "", out)
        i += size
    current.close(out)
    return out


def _rewritten(text: str) -> str:
    text = text.replace("\u2019", "'").replace("don't", "dont").replace("-", " ")
    text = re.sub(r"(does|is|are|wo|should|ca)n't", r"\1nt", text)
    for word, better in _REWRITTEN.items():
        text = re.sub(rf"\b{word}\b", better, text)
    text = _TAKEN.sub(r"remove \1", text)
    text = _LIGHT.sub(r"\1slight ", text)
    text = _COMPARED.sub(r"more \1y", text)
    text = _LACKING.sub(r" | no \1 | ", text)
    text = _PERCENT.sub(lambda m: " mostly " if int(m[1]) > 60 else " half " if int(m[1]) >= 40 else " some ", text)
    for pattern in (_CHANGED, _BECAME):
        text = pattern.sub(_without_old, text, count=1)
    return text


def _without_old(match: re.Match[str]) -> str:
    """ "turn the woods into a desert": no woods, a desert."""
    old = match["old"].strip()
    return f" | no {old} | " if set(old.split()) - _LIGHT_WORDS else " "


def _operator_at(words: Sequence[str], i: int) -> tuple[int, _Operator | None]:
    for size in range(min(_LONGEST, len(words) - i), 0, -1):
        operator = _OPERATORS.get(tuple(words[i : i + size]))
        if operator is not None:
            return size, operator
    return 0, None


class _Open:
    """The phrase that is being read."""

    def __init__(self) -> None:
        self.phrase = Phrase((), opens_clause=True)
        self.one_word = False

    def take(self, operator: _Operator, words: tuple[str, ...], out: list[Phrase]) -> None:
        act, strength, backward, one_word = operator
        if act is None and strength is None:
            self.phrase = replace(self.phrase, words=(*self.phrase.words, *words))
            return
        if self.phrase.words:
            self.close(out)
        if backward:
            out.append(Phrase((), Act.REMOVE, None, backward=True))
            return
        if strength is not None and self.phrase.strength is not None:
            strength = min(strength, self.phrase.strength)
        self.phrase = replace(
            self.phrase,
            act=act if act is not None else self.phrase.act,
            strength=strength if strength is not None else self.phrase.strength,
        )
        if act is not None and act in SHIFTS:
            self.close(out)
        self.one_word = one_word

    def word(self, word: str, following: str, out: list[Phrase]) -> None:
        if word in _HARD or word in _CLAUSES or word in _ALTERNATIVES:
            before = self.phrase if self.phrase.words else (out[-1] if out else self.phrase)
            self.close(out)
            self.phrase = Phrase((), opens_clause=True)
            if _carries(before, word, following):
                self.phrase = replace(self.phrase, act=before.act, strength=before.strength)
        elif word in _PREPOSITIONS:
            if self.phrase.words:
                self.close(out)
        else:
            self.phrase = replace(self.phrase, words=(*self.phrase.words, word))
            if self.one_word and word not in _LIGHT_WORDS:
                self.close(out)

    def close(self, out: list[Phrase]) -> None:
        """End the phrase; what follows in the same clause stands for itself."""
        if self.phrase.words or self.phrase.act is not Act.SET or self.phrase.strength is not None:
            out.append(self.phrase)
            self.phrase = Phrase(())
        self.one_word = False


def _carries(before: Phrase, link: str, following: str) -> bool:
    """Whether an operator holds on after a link: "no fog or rain", "remove the fog and the rain"."""
    if before.act not in (Act.REMOVE, Act.MORE, Act.LESS) or before.backward or not before.words:
        return False
    return link in _ALTERNATIVES or (link == "and" and following not in _FRESH)


def attach(phrases: Sequence[Phrase], has_meaning: Sequence[bool]) -> list[tuple[int, Phrase]]:
    """Give every operator whose own words mean nothing to the phrase that it is about.

    That is the next one of its clause ("no sign of it in the fog"), else the one before it ("the fog lifts"). Returns
    the phrases that ask for something, each with its place in ``phrases``.
    """
    out: list[tuple[int, Phrase]] = []
    pending: Phrase | None = None
    for i, phrase in enumerate(phrases):
        if phrase.opens_clause and pending is not None:
            _give_back(out, pending)
            pending = None
        if phrase.act in SHIFTS:
            out.append((i, phrase))
        elif phrase.backward:
            _give_back(out, phrase)
        elif has_meaning[i]:
            own = phrase.act is not Act.SET or phrase.strength is not None
            out.append((i, phrase if own or pending is None else _moved(pending, phrase)))
            pending = None
        elif phrase.act is not Act.SET or phrase.strength is not None:
            pending = phrase
    if pending is not None:
        _give_back(out, pending)
    return out


def _moved(operator: Phrase, phrase: Phrase) -> Phrase:
    return replace(phrase, act=operator.act, strength=operator.strength)


def _give_back(out: list[tuple[int, Phrase]], operator: Phrase) -> None:
    if not out:
        return
    i, last = out[-1]
    if last.act in SHIFTS:
        out[-1] = (i, replace(last, strength=operator.strength if operator.strength is not None else last.strength))
    elif operator.act is not Act.SET or last.act is Act.SET:
        out[-1] = (i, _moved(operator, last))
