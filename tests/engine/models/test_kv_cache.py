import pytest
import torch

from engine.models.kv_cache import CacheShape, CausalKVCache, CrossAttentionCache
from tests.engine.tiny_dit import golden_json

DATA = golden_json("kv_cache")
FORWARD_ONLY = [case for case in DATA["lingbot_v2_cases"] if "older" not in case["name"]]


def cache_of(case: dict) -> CausalKVCache:
    shape = CacheShape(
        layers=1,
        heads=1,
        head_dim=1,
        cache_tokens=case["cache_size"],
        sink_tokens=case["sink_tokens"],
        attention_window_tokens=case.get("attention_window_size", case.get("max_attention_size")),
        allow_growth=case.get("allow_growth", False),
    )
    return CausalKVCache(shape, dtype=torch.float64, device="cpu")


def ranges(positions: list[int]) -> list[list[int]]:
    found: list[list[int]] = []
    for position in positions:
        if found and found[-1][1] == position:
            found[-1][1] += 1
        else:
            found.append([position, position + 1])
    return found


def run_lengths(ids: list[int]) -> list[list[int]]:
    found: list[list[int]] = []
    for write in ids:
        if found and found[-1][0] == write:
            found[-1][1] += 1
        else:
            found.append([write, 1])
    return found


def integers(rows: torch.Tensor) -> list[int]:
    return [int(number) for number in rows.flatten()]


def write(cache: CausalKVCache, step: dict) -> tuple[torch.Tensor, torch.Tensor]:
    """Rows that carry their own global position as key and the number of the write as value."""
    start, n = step["start"], step["n"]
    cache.begin(start, n, step.get("recent_window_tokens"))
    positions = torch.arange(start, start + n, dtype=torch.float64).view(1, n, 1, 1)
    return cache.write(0, positions, torch.full_like(positions, step["write_id"]))


@pytest.mark.parametrize("case", DATA["cases"], ids=lambda case: case["name"])
def test_every_golden_case_of_the_sglang_cache(case):
    cache = cache_of(case)
    for step in case["steps"]:
        if "start" not in step:
            cache.reset()
            continue
        if "raises" in step:
            with pytest.raises(RuntimeError, match="would lie in rows"):
                write(cache, step)
            continue
        k, v = write(cache, step)
        assert ranges(integers(k)) == step["visible"]
        assert run_lengths(integers(v)) == step["visible_write_ids"]
        assert cache.visible_tokens == step["visible_count"]
        assert (cache.local_start, cache.local_start + step["n"]) == (step["local_start"], step["local_end"])
        assert (cache.local_end, cache.global_end) == (step["valid_local_end"], step["global_end"])
        assert (cache.cache_tokens, cache.attention_window_tokens) == (step["cache_size_after"], step["window_after"])
        assert ranges(integers(cache.keys[0, 0, : cache.local_end])) == step["buffer"]


@pytest.mark.parametrize("case", FORWARD_ONLY, ids=lambda case: case["name"])
def test_it_agrees_with_the_lingbot_layer_where_no_older_chunk_is_rewritten(case):
    cache = cache_of(case)
    for step in case["steps"]:
        k, v = write(cache, step)
        assert ranges(integers(k)) == step["visible"]
        assert run_lengths(integers(v)) == step["visible_write_ids"]


def small_cache(*, growth: bool = False) -> CausalKVCache:
    shape = CacheShape(layers=2, heads=1, head_dim=2, cache_tokens=8, sink_tokens=2, allow_growth=growth)
    return CausalKVCache(shape, dtype=torch.float32, device="cpu")


def advance(cache: CausalKVCache, start: int, seed: int) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    cache.begin(start, 3, 1)
    return [
        tensor
        for layer in range(2)
        for tensor in cache.write(
            layer, torch.randn(1, 3, 1, 2, generator=generator), torch.randn(1, 3, 1, 2, generator=generator)
        )
    ]


def test_a_window_without_a_gap_is_a_view_and_not_a_copy():
    cache = small_cache()
    cache.begin(0, 4)
    k, _ = cache.write(1, torch.ones(1, 4, 1, 2), torch.ones(1, 4, 1, 2))
    assert k.data_ptr() == cache.keys[1].data_ptr()


@pytest.mark.parametrize("growth", [False, True])
def test_a_restored_cache_continues_bit_for_bit(growth):
    cache = small_cache(growth=growth)
    for chunk in range(4):
        advance(cache, 3 * chunk, chunk)
    saved = cache.snapshot()
    expected = advance(cache, 12, 4)
    other = small_cache(growth=growth)
    advance(other, 0, 99)
    other.restore(saved)
    for got, wanted in zip(advance(other, 12, 4), expected, strict=True):
        assert torch.equal(got, wanted)


def test_a_snapshot_of_another_size_is_refused():
    shape = CacheShape(layers=2, heads=1, head_dim=4, cache_tokens=8)
    foreign = CausalKVCache(shape, dtype=torch.float32, device="cpu").snapshot()
    with pytest.raises(ValueError, match="does not fit"):
        small_cache().restore(foreign)


def test_the_prompt_cache_is_empty_after_a_reset():
    cross = CrossAttentionCache()
    cross.fill(((torch.zeros(1), torch.zeros(1)),))
    assert cross.filled
    cross.reset()
    assert not cross.filled
