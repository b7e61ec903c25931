"""A picture of the user's own, taken honestly by a model that cannot know it: the nearest world in the picture's look.

What is measured of the picture is held against the simulator's own worlds (``pictures.safetensors``, made by
``python -m engine.training.picture_references``). All here is deterministic and holds nothing of any one world.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from engine.bundled import MODEL_FOLDER
from engine.errors import FileProblem
from engine.grading import grade, nearest_look
from engine.image_condition import fit_image
from engine.picture_measures import HEIGHT_PX, WIDTH_PX, horizon, measure
from engine.protocol import Pixels
from engine.wishes import GROUPS, Mix
from engine.worldmap import BIOMES, TIMES, WEATHERS

REFERENCES = MODEL_FOLDER / "pictures.safetensors"
LARGEST_PITCH_DEGREES = 8.0
_LEAST_PART = 0.35
"""Of a group of worlds: a smaller part is doubt and not a mixture."""
_FARTHEST = 4.0
"""Standard deviations; a measurement further out says no more than that it is far out."""
_FOCAL = 500 / 832 * WIDTH_PX / HEIGHT_PX
"""Focal length in picture heights, see ``Lens``."""
_CLEAR = 0.07
_MARGIN = 0.05
"""Rows this near to the horizon, in picture heights, are neither sky nor ground."""

_BIOME_WORDS = ("a green meadow", "a forest", "a desert", "a snowy land", "a red canyon", "islands", "autumn woods")
_TIME_WORDS = ("at dawn", "at noon", "at dusk", "at night")
_WEATHER_WORDS = ("under a clear sky", "under clouds", "in fog", "in a storm")


@dataclass(frozen=True, slots=True)
class References:
    """The simulator's worlds, measured: how a picture's M measurements lie in a space of K where worlds part best."""

    mean: Tensor  # [M]
    deviation: Tensor  # [M]
    projection: Tensor  # [M, K]
    centres: Tensor  # [112, K], biome by time by weather
    whitening: Tensor  # [112, K, K], the root of each world's inverse covariance: how widely and in which way it lies

    @classmethod
    def load(cls, path: Path = REFERENCES) -> References:
        """``FileProblem`` where the table is not what it should be."""
        try:
            return cls(**load_file(path))
        except (OSError, SafetensorError, TypeError) as error:
            raise FileProblem(path, f"the table of worlds cannot be read ({error})", "Reinstall Worldwalk.") from None

    def scaled(self, measured: Tensor) -> Tensor:
        return ((measured - self.mean) / self.deviation).clamp(-_FARTHEST, _FARTHEST)

    def worlds(self, measured: Tensor) -> Tensor:
        """How likely each world is, [V, 7, 4, 4], for measurements [V, M]; a picture's sum to 1."""
        at = self.scaled(measured) @ self.projection
        away = torch.einsum("vwk,wkj->vwj", at[:, None] - self.centres, self.whitening)
        narrow = self.whitening.diagonal(dim1=1, dim2=2).log().sum(1)  # of its determinant, as it is triangular
        likely = (narrow - 0.5 * away.square().sum(2)).softmax(1)
        return torch.unflatten(likely, 1, tuple(len(group) for group in GROUPS))


@cache
def references() -> References:
    return References.load()


@dataclass(frozen=True, slots=True)
class Tones:
    """Colours of a picture's two halves, sky and ground: mean and deviation of RGB in [0, 1], [2, 3] each."""

    mean: Tensor
    deviation: Tensor


@dataclass(frozen=True, slots=True)
class Fitted:
    """The world that is nearest to a picture."""

    mix: Mix
    pitch_degrees: float
    """Of the first camera, so that the world's horizon lies where the picture's is."""
    tones: Tones
    sentence: str
    """The world in words, e.g. "a snowy land at dusk in fog"."""


@torch.no_grad()
def fit(picture: Pixels) -> Fitted:
    """The nearest world to a picture, uint8 [H, W, 3] of any size."""
    small = (fit_image(picture, WIDTH_PX, HEIGHT_PX) + 1) / 2
    parts = references().worlds(measure(small))[0]
    groups = [parts.sum((1, 2)), parts.sum((0, 2)), parts.sum((0, 1))]
    mix = tuple(weight for group in groups for weight in _kept(group))
    pitch = _pitch(small)
    return Fitted(mix, pitch, tones_of(small[0], horizon_line(pitch)), sentence_of(mix))


def _pitch(small: Tensor) -> float:
    """Degrees up that put the horizon where it is in the picture [1, 3, 56, 96]; level where none is clear."""
    line, clear = horizon(small)
    if float(clear[0]) < _CLEAR:
        return 0.0
    pitch = math.degrees(math.atan((float(line[0]) - 0.5) / _FOCAL))
    return max(-LARGEST_PITCH_DEGREES, min(LARGEST_PITCH_DEGREES, pitch))


def _kept(weights: Tensor) -> list[float]:
    """The weights [n] without the small ones; they sum to 1."""
    kept = weights * (weights >= min(_LEAST_PART, float(weights.max())))
    out: list[float] = (kept / kept.sum()).tolist()
    return out


def sentence_of(mix: Mix) -> str:
    """The mix in words that the prompt reader reads back: of each group what weighs most."""
    words, rest = [], list(mix)
    for group, names in ((BIOMES, _BIOME_WORDS), (TIMES, _TIME_WORDS), (WEATHERS, _WEATHER_WORDS)):
        weights, rest = rest[: len(group)], rest[len(group) :]
        words.append(names[weights.index(max(weights))])
    return " ".join(words)


def told(fitted: Fitted, mix: Mix) -> str:
    """What the user must know of a world that begins with a picture and is ``mix``."""
    now = sentence_of(mix)
    asked = "" if now == fitted.sentence else f" (by your words {now})"
    return (
        f"This small model cannot walk into your picture: it begins in the nearest world that it knows, "
        f"{fitted.sentence}{asked}, in the picture's colours and light. The large models walk into the picture itself."
    )


# ---- the picture's look ------------------------------------------------------------------------------------------


def horizon_line(pitch_degrees: float) -> float:
    """Where the horizon of a camera lies, as a share of the height from the top."""
    return 0.5 + math.tan(math.radians(pitch_degrees)) * _FOCAL


def tones_of(picture: Tensor, line: float) -> Tones:
    """Of a picture [3, H, W] in [0, 1], over and under its horizon ``line`` (share of the height from the top)."""
    height = picture.shape[1]
    rows = (torch.arange(height) + 0.5) / height
    means, deviations = [], []
    for half in (rows < line - _MARGIN, rows > line + _MARGIN):
        part = picture[:, half].flatten(1)
        means.append(part.mean(1))
        deviations.append(part.std(1))
    return Tones(torch.stack(means), torch.stack(deviations))


def look_of(world: Tensor, line: float, wanted: Tones) -> Tensor:
    """The look [5] (see ``grade``) in which the world's picture [3, H, W] in [0, 1] has the wanted tones most nearly.

    Least squares of the tones' differences, with the looks' own spread as prior.
    """

    def off_of(looks: Tensor) -> Tensor:
        graded = grade(world.expand(len(looks), -1, -1, -1), looks)
        return torch.stack([_difference(tones_of(picture, line), wanted) for picture in graded])

    return nearest_look(off_of, prior=0.05**2, rounds=4)


def _difference(tones: Tones, wanted: Tones) -> Tensor:
    spread = tones.deviation.mean(1) - wanted.deviation.mean(1)
    return torch.cat([(tones.mean - wanted.mean).flatten(), 0.5 * spread])


def picture_share(video_frame: int, dissolve_frames: int) -> float:
    """How much of the picture is still to be seen in a world's video frame: 1 in the first, then gently down to 0."""
    left = 1 - min(1.0, video_frame / dissolve_frames)
    return left * left * (3 - 2 * left)
