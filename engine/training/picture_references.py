"""``python -m engine.training.picture_references``: measure the simulator's own worlds, for pictures of the user's own.

Each combination of biome, time of day and weather is drawn from many places of the land with many looks and measured as
a user's picture is. To be made again whenever the simulator or the measurements change; prints how often pictures from
other places are recognised.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, fields

import torch
from safetensors.torch import save_file
from torch import Tensor
from torch.nn import functional

from engine.grading import GRADING_SIZE, grade
from engine.layout import Lens, cast
from engine.own_picture import REFERENCES, References
from engine.picture_measures import HEIGHT_PX, WIDTH_PX, measure
from engine.training.data import HIDDEN_METRES
from engine.training.shading import shade
from engine.worldmap import BIOMES, TIMES, WEATHERS, View, WorldMap, mix_of

SEED, HELD_OUT_SEED, VIEWS, HELD_OUT_VIEWS = 5, 77, 320, 56
DIMENSIONS, SHRINKAGE, KEPT_COVARIANCE = 24, 0.02, 0.7
_LENS = Lens(2 * WIDTH_PX, 2 * HEIGHT_PX)
_PITCH_RADIANS = 0.11
_PAIRS = [(t, w) for t in range(len(TIMES)) for w in range(len(WEATHERS))]


@dataclass(frozen=True, slots=True)
class Samples:
    """N pictures of the simulator, measured, and which world each is of."""

    measured: Tensor  # [N, M]
    labels: Tensor  # [N, 3]

    @property
    def worlds(self) -> Tensor:
        """[N], 0 to 111."""
        return self.labels[:, 0] * len(_PAIRS) + self.labels[:, 1] * len(WEATHERS) + self.labels[:, 2]


@torch.no_grad()
def draw_samples(land: WorldMap, seed: int, views: int, *, skies: int = 4, photographs: bool = False) -> Samples:
    """Every biome from ``views`` places, each under some ``skies`` of the 16 pairs of time and weather (all pairs come
    equally often), and each picture with a look of its own. ``photographs``: see ``photographed``."""
    generator = torch.Generator().manual_seed(seed)
    measured, labels = [], []
    for biome in range(len(BIOMES)):
        for number in range(views):
            view = _random_view(generator, biome)
            pairs = [_PAIRS[(number * skies + i) % len(_PAIRS)] for i in range(skies)]
            mixes = torch.stack([mix_of(BIOMES[biome], TIMES[t], WEATHERS[w]) for t, w in pairs])
            looks = torch.randn(len(pairs), GRADING_SIZE, generator=generator).clamp(-2, 2)
            drawn = grade(shade(cast(land, view, _LENS).expand(len(pairs), -1, -1, -1), mixes), looks)
            pictures = functional.avg_pool2d(drawn, 2)
            pictures = photographed(pictures, generator) if photographs else pictures
            measured.append(measure((pictures * 255).round() / 255))
            labels.append(torch.tensor([(biome, t, w) for t, w in pairs]))
    return Samples(torch.cat(measured), torch.cat(labels))


def photographed(pictures: Tensor, generator: torch.Generator) -> Tensor:
    """Three in ten of the pictures [V, 3, H, W] are blurred, grainy and of another gamma, as photographs are and the
    simulator's are not, so that its sharp grain and its exact tones are not what tells one world from another."""
    chosen, blur, tone, grain = torch.rand(4, len(pictures), 1, 1, 1, generator=generator)
    soft = functional.avg_pool2d(functional.pad(pictures, (1, 1, 1, 1), mode="replicate"), 3, 1)
    taken = torch.lerp(pictures, soft, blur) ** (2 ** (0.8 * (tone - 0.5)))
    taken = taken + torch.randn(pictures.shape, generator=generator) * 0.04 * grain
    return torch.where(chosen < 0.3, taken.clamp(0, 1), pictures)


def _random_view(generator: torch.Generator, biome: int) -> View:
    x, z, turn = torch.rand(3, 1, generator=generator) * 16000 - 8000
    pitch = (torch.randn(1, generator=generator) * _PITCH_RADIANS).clamp(-0.25, 0.25)
    hidden = torch.rand(1, 2, generator=generator) * HIDDEN_METRES
    mix = mix_of(BIOMES[biome], TIMES[0], WEATHERS[0])[None]
    return View(x, z, turn, pitch, mix, hidden)


def make_references(samples: Samples) -> References:
    """Fisher's linear discriminants of the 112 worlds, and where each of them lies among them and how widely."""
    mean, deviation = samples.measured.mean(0), samples.measured.std(0).clamp(min=1e-4)
    nothing = torch.zeros(0)
    table = References(mean, deviation, nothing, nothing, nothing)
    scaled, worlds = table.scaled(samples.measured), samples.worlds
    count = int(worlds.max()) + 1
    middles = torch.stack([scaled[worlds == world].mean(0) for world in range(count)])
    within = (scaled - middles[worlds]).double()
    scatter = within.T @ within / len(within)
    scatter = scatter + SHRINKAGE * torch.diag(scatter.diagonal()) + 1e-3 * torch.eye(len(scatter))
    whiten = torch.linalg.cholesky(torch.linalg.inv(scatter)).float()
    apart = middles @ whiten
    directions = torch.linalg.svd(apart - apart.mean(0), full_matrices=False)[2][:DIMENSIONS]
    projection = (whiten @ directions.T).contiguous()
    at, centres = scaled @ projection, middles @ projection
    spreads = torch.stack([(at[worlds == world] - centres[world]).T.cov() for world in range(count)])
    spreads = torch.lerp(torch.eye(DIMENSIONS).expand_as(spreads), spreads, KEPT_COVARIANCE)
    return References(mean, deviation, projection, centres, torch.linalg.cholesky(torch.linalg.inv(spreads)))


def hit_rates(table: References, samples: Samples) -> dict[str, float]:
    """How often biome, time and weather are recognised."""
    parts = table.worlds(samples.measured)
    found = torch.stack([parts.sum(dims).argmax(1) for dims in ((2, 3), (1, 3), (1, 2))], 1)
    rates = (found == samples.labels).float().mean(0).tolist()
    return {"biome": rates[0], "time": rates[1], "weather": rates[2]}


def save(table: References) -> None:
    """Write the table that ships; it is replaced whole."""
    part = REFERENCES.with_name(REFERENCES.name + ".part")
    save_file({field.name: getattr(table, field.name).contiguous() for field in fields(table)}, part)
    os.replace(part, REFERENCES)


def main() -> int:
    land = WorldMap()
    table = make_references(draw_samples(land, SEED, VIEWS, photographs=True))
    save(table)
    for name, value in hit_rates(table, draw_samples(land, HELD_OUT_SEED, HELD_OUT_VIEWS)).items():
        print(f"{name} {value:.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
