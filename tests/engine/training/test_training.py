"""Training: every stage lowers its loss, and a run that was killed goes on as if it had not been."""

import pytest
import torch
from torch import nn

from engine.layout import Lens, cast
from engine.training.autoencoder_stage import single_groups
from engine.training.data import random_walk, render
from engine.training.loop import Budget, StageRun
from engine.training.optimizer import Muon, orthogonalize
from engine.training.shading import shade
from engine.worldmap import BIOMES, TIMES, WEATHERS, View, WorldMap, mix_of


@pytest.fixture(scope="module")
def land():
    return WorldMap()


def test_every_combination_of_biome_time_and_weather_is_a_picture(land):
    mixes = torch.stack([mix_of(b, t, w) for b in BIOMES for t in TIMES for w in WEATHERS])
    place = torch.zeros(len(mixes))
    guides = cast(land, View(place + 50, place, place, place, mixes), Lens(32, 16))
    pictures = shade(guides, mixes)
    assert bool(pictures.isfinite().all())
    assert float(pictures.min()) >= 0 and float(pictures.max()) <= 1  # noqa: PT018
    means = pictures.mean((2, 3))
    assert len({tuple(row.mul(200).round().tolist()) for row in means}) > 100


def test_a_batch_depends_only_on_seed_and_step(land):
    first, again = (single_groups(4, 17, 2, land, crop=True) for _ in range(2))
    assert torch.equal(first.frames, again.frames)
    assert not torch.equal(first.frames, single_groups(4, 18, 2, land, crop=True).frames)


def test_a_walks_first_latent_frame_stands_still(land):
    walk = random_walk(torch.Generator().manual_seed(1), 3, 3)
    assert torch.equal(walk.x[:, 0, 0], walk.x[:, 0, 3])
    assert render(land, walk.latent_frame(0), Lens(32, 16)).frames.shape == (3, 1, 4, 3, 16, 32)


def test_a_killed_run_goes_on_as_if_it_had_not_been(tmp_path, monkeypatch):
    monkeypatch.setattr("engine.training.loop.CHECKPOINT_SECONDS", -1.0)  # after every step

    def run(folder, *, killed_at=None):
        torch.manual_seed(0)
        net = nn.Linear(6, 6)
        stage = StageRun("toy", net, Muon(net, muon_lr=0.01, adam_lr=0.01), folder)
        stage.resume()

        def loss_of(step):
            if step == killed_at:
                raise KeyboardInterrupt
            x = torch.randn(8, 6, generator=torch.Generator().manual_seed(step))
            return (net(x) - x.flip(1)).square().mean()

        stage.run(Budget(1.0, steps=12), loss_of, dict)
        return net.weight.detach().clone()

    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "parts", killed_at=5)
    assert torch.equal(run(tmp_path / "parts"), run(tmp_path / "whole"))


def test_muons_updates_have_equal_singular_values():
    values = torch.linalg.svdvals(orthogonalize(torch.randn(24, 10, generator=torch.Generator().manual_seed(0))))
    assert float(values.min()) > 0.6
    assert float(values.max()) < 1.3
