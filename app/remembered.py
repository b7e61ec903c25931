"""What the window remembers between runs: scenes that were walked, pinned and made, how long loading took.

No settings: nothing here changes what the program does, so a damaged file is begun anew.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import platformdirs

from app.pasted_path import plain_path
from app.whole_file import FOLDER_VARIABLE, write_whole
from engine.protocol import SceneSpec
from engine.wording import prompt_problem

MOST_NAMES, MOST_PICTURES, MOST_WORDS, MOST_SPEEDS, MOST_PROMPTS = 50, 24, 6, 24, 100
MOST_NAME_CHARACTERS = 48
MAP_SEEDS = 2**31
"""The map begins somewhere else for each number from 0 up to here."""

Stages = tuple[tuple[str, float], ...]
"""(stage of loading, seconds that it took), in their order."""


@dataclass(frozen=True, slots=True)
class OwnPicture:
    """A world that begins with a picture of the user's. ``shift`` -1 to 1: which part of it, see ``crop``."""

    path: str
    prompt: str
    shift: float = 0.0

    @property
    def name(self) -> str:
        """Of its scene."""
        return plain_path(self.path).stem[:64]


@dataclass(frozen=True, slots=True)
class OwnWords:
    """A world that began with words alone, at a place of the map that was drawn for it."""

    words: str
    map_seed: int

    @property
    def name(self) -> str:
        """Of its scene: the words, as many as a card has room for."""
        words = " ".join(self.words.split())
        return words if len(words) <= MOST_NAME_CHARACTERS else words[: MOST_NAME_CHARACTERS - 1].rstrip() + "…"


@dataclass(frozen=True, slots=True)
class ModelLine:
    """A model as the list of them tells it. ``model``: what the setting of this name becomes; None: the default."""

    backend: str
    model: str | None
    title: str
    facts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Remembered:
    """``played``: names of scenes, the last one first. ``loading``: by backend. ``speeds``: frames a second, by key"""

    played: tuple[str, ...] = ()
    pinned: tuple[str, ...] = ()
    pictures: tuple[OwnPicture, ...] = ()
    walked: bool = False
    loading: tuple[tuple[str, Stages], ...] = ()
    words: tuple[OwnWords, ...] = ()
    speeds: tuple[tuple[str, float], ...] = ()
    prompts: tuple[str, ...] = ()
    """What was asked for, oldest first."""

    def is_own(self, scene: str) -> bool:
        """Whether a scene of this name began with a picture or with words of the user's own."""
        return scene in {own.name for own in self.pictures} | {own.name for own in self.words}

    def stages(self, backend: str) -> Stages:
        return dict(self.loading).get(backend, ())


def play(remembered: Remembered, name: str) -> Remembered:
    others = tuple(other for other in remembered.played if other != name)
    return replace(remembered, played=(name, *others)[:MOST_NAMES])


def pin(remembered: Remembered, name: str) -> Remembered:
    """Pinned, or free again."""
    if name in remembered.pinned:
        return replace(remembered, pinned=tuple(other for other in remembered.pinned if other != name))
    return replace(remembered, pinned=(*remembered.pinned, name)[-MOST_NAMES:])


def add_picture(remembered: Remembered, picture: OwnPicture) -> Remembered:
    others = tuple(other for other in remembered.pictures if other.path != picture.path)
    return replace(remembered, pictures=(picture, *others)[:MOST_PICTURES])


def add_words(remembered: Remembered, own: OwnWords) -> Remembered:
    others = tuple(other for other in remembered.words if other.name != own.name)
    return replace(remembered, words=(own, *others)[:MOST_WORDS])


def forget(remembered: Remembered, scene: str) -> Remembered:
    """Without the picture or the words that a scene of this name began with."""
    return replace(
        remembered,
        pictures=tuple(own for own in remembered.pictures if own.name != scene),
        words=tuple(own for own in remembered.words if own.name != scene),
        pinned=tuple(name for name in remembered.pinned if name != scene),
        played=tuple(name for name in remembered.played if name != scene),
    )


def clock_speed(remembered: Remembered, model: str, fps: float) -> Remembered:
    """The model made so many frames a second."""
    others = tuple(known for known in remembered.speeds if known[0] != model)
    return replace(remembered, speeds=((model, fps), *others)[:MOST_SPEEDS])


def learn(remembered: Remembered, backend: str, stages: Stages) -> Remembered:
    """What was timed counts from now on; a world that was only opened anew teaches just that."""
    others = tuple(known for known in remembered.loading if known[0] != backend)
    before, new = remembered.stages(backend), dict(stages)
    if set(new) <= {stage for stage, _ in before}:
        stages = tuple((stage, new.get(stage, seconds)) for stage, seconds in before)
    return replace(remembered, loading=(*others, (backend, stages)))


def arranged(scenes: Sequence[SceneSpec], remembered: Remembered) -> tuple[SceneSpec, ...]:
    """The scene that was walked last, then the pinned ones, then the others by when they were walked, then the rest."""
    last = remembered.played[:1]
    places = {name: place for place, name in enumerate(dict.fromkeys((*last, *remembered.pinned, *remembered.played)))}
    return tuple(sorted(scenes, key=lambda scene: places.get(scene.name, len(places))))


# ---- the file ----------------------------------------------------------------------------------------------------


def default_path(environ: Mapping[str, str]) -> Path:
    """Where the file is: with the settings where their folder is named, else in the system's folder for such things."""
    named = environ.get(FOLDER_VARIABLE)
    return Path(named or platformdirs.user_state_dir("worldwalk", appauthor=False)) / "remembered.json"


def read(path: Path) -> Remembered:
    """What the file says; whatever is not as it should be counts as not remembered. Never raises."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return Remembered()
    tree = found if isinstance(found, dict) else {}
    pictures = (_picture(item) for item in _list(tree.get("pictures")))
    worded = (_words(item) for item in _list(tree.get("words")))
    loading = tree.get("loading")
    timed = loading.items() if isinstance(loading, dict) else ()
    return Remembered(
        played=_texts(tree.get("played"))[:MOST_NAMES],
        pinned=_texts(tree.get("pinned"))[:MOST_NAMES],
        pictures=tuple(picture for picture in pictures if picture is not None)[:MOST_PICTURES],
        walked=tree.get("walked") is True,
        loading=tuple((str(key), _stages(value)) for key, value in timed),
        words=tuple(own for own in worded if own is not None)[:MOST_WORDS],
        speeds=_speeds(tree.get("speeds")),
        prompts=tuple(text for text in _texts(tree.get("prompts")) if prompt_problem(text) is None)[-MOST_PROMPTS:],
    )


def write(path: Path, remembered: Remembered) -> None:
    """Write it whole. Raises FileProblem."""
    tree = {**asdict(remembered), "loading": dict(remembered.loading), "speeds": dict(remembered.speeds)}
    write_whole(path, json.dumps(tree, ensure_ascii=False, indent=1) + os.linesep)


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _texts(value: object) -> tuple[str, ...]:
    return tuple(item for item in _list(value) if isinstance(item, str))


def _picture(value: object) -> OwnPicture | None:
    if not isinstance(value, dict):
        return None
    path, prompt, shift = value.get("path"), value.get("prompt"), value.get("shift", 0.0)
    if not isinstance(path, str) or not isinstance(prompt, str) or not isinstance(shift, int | float):
        return None
    return OwnPicture(path, prompt, max(-1.0, min(1.0, float(shift)))) if math.isfinite(shift) else None


def _words(value: object) -> OwnWords | None:
    words, seed = (value.get("words"), value.get("map_seed")) if isinstance(value, dict) else (None, None)
    if not isinstance(words, str) or prompt_problem(words) is not None:
        return None
    if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed < MAP_SEEDS:
        return None
    return OwnWords(words, seed)


def _speeds(value: object) -> tuple[tuple[str, float], ...]:
    pairs = value.items() if isinstance(value, dict) else ()
    known = ((str(model), float(fps)) for model, fps in pairs if isinstance(fps, int | float))
    return tuple((model, fps) for model, fps in known if math.isfinite(fps) and fps > 0)[:MOST_SPEEDS]


def _stages(value: object) -> Stages:
    pairs = (pair for pair in _list(value) if isinstance(pair, list) and len(pair) == 2)
    return tuple(
        (str(stage), float(seconds))
        for stage, seconds in pairs
        if isinstance(seconds, int | float) and math.isfinite(seconds) and seconds >= 0
    )
