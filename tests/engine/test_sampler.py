import pytest
import torch

from engine.models.dit import ChunkContext
from engine.models.kv_cache import CrossAttentionCache
from engine.sampler import commit, denoise, denoise_steps, fresh_noise
from engine.schedule import DenoiseSchedule, official, sglang
from tests.engine.tiny_dit import (
    CHUNK,
    TOKENS_PER_FRAME,
    chunk_frames,
    difference,
    golden,
    golden_json,
    tiny_cache,
    tiny_dit,
)

IO, ROLLOUT = golden("dit_tiny_io"), golden("rollout_tiny")
RUNS = golden_json("rollout_tiny")["runs"]


@pytest.fixture(autouse=True)
def _inference():
    with torch.inference_mode():
        yield


def schedule_of(run: dict) -> DenoiseSchedule:
    return official(run["idx"], run["shift"]) if run["kind"] == "official" else sglang(run["steps"], run["shift"])


@pytest.mark.parametrize("name", RUNS)
def test_rollouts_of_three_chunks_as_golden(name):
    run, model = RUNS[name], tiny_dit()
    schedule, cross = schedule_of(run), CrossAttentionCache()
    cache = tiny_cache(run["cf"], run["sink"], run.get("ma"))
    for chunk in range(3):
        frames = chunk_frames(chunk)
        if chunk in run.get("resets", []):
            cross.reset()
        recent = run["recent"][chunk] * TOKENS_PER_FRAME if "recent" in run else None
        text = IO[run["prompts"][chunk] if "prompts" in run else "in.text_p1"][None]
        camera = model.prepare_camera(IO["in.plucker"][:, :, frames])
        shared = ChunkContext(text, camera, cache, cross, CHUNK * chunk, recent)
        condition = IO["in.condition"][None, :, frames]
        steps = denoise_steps(
            model,
            schedule,
            shared,
            condition=condition,
            noise=ROLLOUT["noise"][None, :, frames],
            renoise=lambda step, chunk=chunk: ROLLOUT["renoise"][None, chunk, step],
        )
        for i, step in enumerate(steps):
            where = f"{name}.chunk{chunk}.step{i}"
            assert difference(step.x0[0], ROLLOUT[f"{where}.x0"]) < 1e-4
            if f"{where}.velocity" in ROLLOUT:
                assert difference(step.x_t[0], ROLLOUT[f"{where}.x_t"]) < 1e-4
                assert difference(step.output[0], ROLLOUT[f"{where}.velocity"]) < 1e-4
        assert difference(step.x0[0], ROLLOUT[f"{name}.latents"][:, frames]) < 1e-4
        commit(model, schedule, shared, condition=condition, x0=step.x0)


def walk(seed: int, chunks: int, *, restart_after: int | None = None) -> torch.Tensor:
    model, schedule = tiny_dit(), sglang([1000, 500], 5.0)
    cache, cross, generator = tiny_cache(7, 2), CrossAttentionCache(), torch.Generator().manual_seed(seed)
    latents = []
    for chunk in range(chunks):
        shared = ChunkContext(IO["in.text_p1"][None], None, cache, cross, CHUNK * chunk)
        condition = IO["in.condition"][None, :, chunk_frames(chunk)]
        renoise = fresh_noise(torch.empty(1, 16, 3, 4, 6), generator)
        x0 = denoise(model, schedule, shared, condition=condition, noise=renoise(-1), renoise=renoise)
        commit(model, schedule, shared, condition=condition, x0=x0)
        latents.append(x0)
        if chunk == restart_after:
            saved, state = cache.snapshot(), generator.get_state()
            cache, cross, generator = tiny_cache(7, 2), CrossAttentionCache(), torch.Generator()
            cache.restore(saved)
            generator.set_state(state)
    return torch.cat(latents, dim=2)


def test_a_walk_restored_from_a_snapshot_goes_on_bit_for_bit():
    assert torch.equal(walk(3, 5), walk(3, 5, restart_after=2))


def test_the_seed_decides_the_walk():
    assert torch.equal(walk(3, 1), walk(3, 1))
    assert not torch.equal(walk(3, 1), walk(4, 1))
