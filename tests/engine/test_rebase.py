"""Positions that end, and a walk that does not."""

import pytest
import torch

from engine.geometry import ChunkGeometry
from engine.models.dit import CausalDiT, ChunkContext
from engine.models.dit_config import DiTConfig
from engine.models.kv_cache import CacheShape, CausalKVCache, CrossAttentionCache
from engine.models.rope import rope_table, rotate
from engine.rebase import stay_within, turn_back
from engine.sampler import commit, denoise
from engine.schedule import DenoiseSchedule, official
from tests.engine.tiny_dit import CHUNK, CONFIG, TOKENS_PER_FRAME, golden, tiny_cache, tiny_dit

IO = golden("dit_tiny_io")
GEOMETRY = ChunkGeometry(width_px=48, height_px=32, latent_frames=CHUNK)
SPLIT = CONFIG.rotated_pairs


@pytest.fixture(autouse=True)
def _inference():
    with torch.inference_mode():
        yield


def walked(chunks: int, limit: int | None, *, sink: int, steps: tuple[int, ...] = (0, 500)) -> list[torch.Tensor]:
    """x0 of each chunk of one and the same walk, with positions that end at ``limit`` or do not."""
    model, cache, cross = tiny_dit(), tiny_cache(12, sink), CrossAttentionCache()
    schedule, position, made = official(steps, 5.0), 0, []
    for chunk in range(chunks):
        if limit is not None:
            position -= stay_within(limit, cache, position, GEOMETRY, SPLIT)
            assert position + CHUNK <= limit
        frames = slice(CHUNK * (chunk % 4 + 1), CHUNK * (chunk % 4 + 2))
        noises = torch.randn(2, 1, 16, CHUNK, 4, 6, generator=torch.Generator().manual_seed(chunk))
        condition = IO["in.condition"][None, :, frames]
        camera = model.prepare_camera(IO["in.plucker"][:, :, frames])
        context = ChunkContext(IO["in.text_p1"][None], camera, cache, cross, position)
        x0 = denoise(
            model, schedule, context, condition=condition, noise=noises[0], renoise=lambda _, noises=noises: noises[1]
        )
        commit(model, schedule, context, condition=condition, x0=x0)
        position += CHUNK
        made.append(x0)
    return made


def test_keys_turned_back_are_the_keys_of_the_earlier_position():
    keys = torch.randn(1, TOKENS_PER_FRAME, 4, 32, generator=torch.Generator().manual_seed(1))
    cache = tiny_cache(4, 1)
    for frame in range(100, 103):
        start = TOKENS_PER_FRAME * frame
        cache.global_end = start
        cache.begin(start, TOKENS_PER_FRAME)
        cache.write(0, rotate(keys, rope_table(SPLIT, (frame,), 2, 3, keys.device)), keys)
    turn_back(cache, 40, TOKENS_PER_FRAME, SPLIT)
    rows = cache.keys[0].unflatten(1, (-1, TOKENS_PER_FRAME))
    for row, frame in enumerate((100, 61, 62)):  # the sink stays where it is
        expected = rotate(keys, rope_table(SPLIT, (frame,), 2, 3, keys.device))
        assert (rows[:, row] - expected).abs().max() < 2e-6
    assert cache.global_end == TOKENS_PER_FRAME * 63


def test_without_a_sink_the_walk_is_the_same_as_with_positions_that_do_not_end():
    for unlimited, limited in zip(walked(9, None, sink=0), walked(9, 16, sink=0), strict=True):
        assert (unlimited - limited).abs().max() < 5e-5


def test_with_a_sink_nothing_changes_before_the_end_and_little_at_the_seam():
    """Measured: 0.03 of outputs whose own spread is 1.3, where forgetting the past would change them by 0.2."""
    unlimited, limited = walked(10, None, sink=3), walked(10, 18, sink=3)
    for chunk in range(6):
        assert torch.equal(unlimited[chunk], limited[chunk])
    for chunk in range(6, 10):
        change = (unlimited[chunk] - limited[chunk]).pow(2).mean().sqrt()
        assert 0 < change < 0.08, (chunk, change)


def test_half_precision_does_not_add_up_however_long_one_stands_at_the_end():
    """A key is turned back until it is forgotten, so its error stays that of a few roundings."""
    shape = CacheShape(1, 2, 32, 12 * TOKENS_PER_FRAME, 3 * TOKENS_PER_FRAME)
    rough, fine = (CausalKVCache(shape, dtype=dtype, device="cpu") for dtype in (torch.bfloat16, torch.float64))
    generator, position = torch.Generator().manual_seed(2), 0
    for _ in range(60):
        for cache in (rough, fine):
            moved = stay_within(24, cache, position, GEOMETRY, SPLIT)
        position -= moved
        fresh = torch.randn(1, CHUNK * TOKENS_PER_FRAME, 2, 32, generator=generator).bfloat16()
        for cache in (rough, fine):
            cache.begin(position * TOKENS_PER_FRAME, CHUNK * TOKENS_PER_FRAME)
            cache.write(0, fresh, fresh)
        position += CHUNK
    error = (rough.keys.double() - fine.keys).abs().max() / fine.keys.abs().max()
    assert error < 0.01


def test_five_thousand_latent_frames_go_by_within_the_table():
    """With bundled-size numbers: one small layer, one token a frame; every output is finite and of one size."""
    chunk, limit = 10, 1024
    config = DiTConfig(dim=16, heads=1, layers=2, ffn_dim=16, text_length=2, text_dim=4, camera_channels=4)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = CausalDiT(config).requires_grad_(False)
    cache = CausalKVCache(CacheShape(2, 1, 16, 24, 4), dtype=torch.float32, device="cpu")
    geometry, schedule = ChunkGeometry(16, 16, chunk), DenoiseSchedule((999.0,), (0.999,), (0.999,))
    cross, generator = CrossAttentionCache(), torch.Generator().manual_seed(3)
    position, spreads, positions = 0, [], []
    for _ in range(500):
        position -= stay_within(limit, cache, position, geometry, config.rotated_pairs)
        context = ChunkContext(torch.zeros(1, 2, 4), None, cache, cross, position)
        noise, condition = torch.randn(1, 16, chunk, 2, 2, generator=generator), torch.zeros(1, 20, chunk, 2, 2)
        x0 = denoise(model, schedule, context, condition=condition, noise=noise, renoise=lambda _, n=noise: n)
        commit(model, schedule, context, condition=condition, x0=x0)
        position += chunk
        spreads.append(float(x0.std()))
        positions.append(position)
    assert max(positions) == limit
    assert positions[-1] == limit
    first, last = sum(spreads[:50]) / 50, sum(spreads[-50:]) / 50
    assert last == pytest.approx(first, rel=0.05)
