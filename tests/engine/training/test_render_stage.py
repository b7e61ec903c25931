"""Clips are a pure function of seed and number: not of processes, batches, or of having been killed."""

from dataclasses import replace

import pytest
import torch
from safetensors.torch import load_file

from engine.errors import FileProblem, WorldwalkError
from engine.models.autoencoder import Autoencoder, AutoencoderConfig
from engine.training.cache import encode_walks, fresh_walks, joined, load_cache
from engine.training.recipe import GUIDE
from engine.training.render_stage import RenderPlan, _goes_on, build_cache
from engine.training.stage_files import save_stage
from engine.worldmap import WorldMap


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    return Autoencoder(AutoencoderConfig(len(GUIDE))).eval().requires_grad_(False)


@pytest.fixture(scope="module")
def plan(model, tmp_path_factory):
    """Three shards of two clips, the last of one; and their files as this process alone makes them."""
    weights = tmp_path_factory.mktemp("weights")
    save_stage(model, weights, "autoencoder")
    plan = RenderPlan(weights, weights / "alone", clips=5, seed=1, latent_frames=1, shard_clips=2, origin="this one")
    build_cache(plan)
    return plan


def bytes_of(plan):
    return [plan.path(shard).read_bytes() for shard in range(plan.shards)]


def test_two_processes_make_the_same_shards_as_one(plan, tmp_path):
    shared = replace(plan, folder=tmp_path / "shared")
    build_cache(shared, processes=2)
    assert bytes_of(shared) == bytes_of(plan)
    assert [len(load_file(plan.path(shard))["latents"]) for shard in range(3)] == [2, 2, 1]
    assert sorted(path.name for path in shared.folder.iterdir()) == [plan.path(shard).name for shard in range(3)]


def test_only_missing_short_and_foreign_shards_are_made(plan):
    assert plan.missing() == []
    assert replace(plan, clips=6).missing() == [2]
    assert replace(plan, clips=7).missing() == [2, 3]
    assert replace(plan, origin="another").missing() == [0, 1, 2]


def test_clips_of_another_autoencoder_are_refused(plan, tmp_path):
    assert len(load_cache(plan.folder, "this one")) == 5
    with pytest.raises(FileProblem, match="another autoencoder"):
        load_cache(plan.folder, "another")
    with pytest.raises(FileProblem, match="no clips"):
        load_cache(tmp_path, "this one")


def test_the_size_of_a_batch_changes_clips_by_no_more_than_rounding(model):
    land, seeds = WorldMap(), (5, 6)
    together = encode_walks(joined([fresh_walks(seed, 2, 1) for seed in seeds]), model, land)
    for number, seed in enumerate(seeds):
        alone, part = encode_walks(fresh_walks(seed, 2, 1), model, land), slice(2 * number, 2 * number + 2)
        for name in ("mixes", "target_mixes", "steps"):
            assert torch.equal(getattr(alone, name), getattr(together, name)[part])
        for name in ("guides", "latents"):
            a, b = getattr(alone, name).float(), getattr(together, name)[part].float()
            assert float((a - b).abs().max()) < 2e-3, name


def test_a_process_that_dies_ends_the_stage_with_a_sentence():
    class Ended:
        exitcode = -9

    with pytest.raises(WorldwalkError, match="status -9"):
        _goes_on(Ended())
