"""Embeddings on disk: whole, bounded, and never in the way."""

from __future__ import annotations

import os
import time

import pytest
import torch

from engine.lingbot.text_cache import TextCache, key_of

ROWS = torch.randn(5, 8, generator=torch.Generator().manual_seed(0))


@pytest.fixture
def told():
    return []


@pytest.fixture
def cache(tmp_path, told):
    return TextCache(tmp_path / "text", log=told.append)


def entries(cache):
    return sorted(path.name for path in cache.folder.iterdir())


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_what_was_put_comes_back_bit_for_bit(cache, told, dtype):
    assert cache.get("a") is None
    cache.put("a", ROWS.to(dtype))
    got = cache.get("a")
    assert got is not None
    assert got.dtype == dtype
    assert torch.equal(got, ROWS.to(dtype))
    assert entries(cache) == ["a.safetensors"]
    assert not told


def test_prompts_and_encoders_have_keys_of_their_own():
    keys = {key_of("a", "x"), key_of("b", "x"), key_of("a", "y"), key_of("", "x"), key_of("森", "x")}
    assert len(keys) == 5
    assert all(len(key) == 64 for key in keys)


def flip(data):
    return data[:-3] + bytes([data[-3] ^ 1]) + data[-2:]


@pytest.mark.parametrize("damage", [lambda data: b"", lambda data: data[:-1], lambda data: data[9:], flip])
def test_a_damaged_entry_is_told_dropped_and_made_again(cache, told, damage):
    cache.put("a", ROWS)
    path = cache.folder / "a.safetensors"
    path.write_bytes(damage(path.read_bytes()))
    assert cache.get("a") is None
    assert "a.safetensors cannot be used" in told[0]
    assert entries(cache) == []
    cache.put("a", ROWS)
    assert torch.equal(cache.get("a"), ROWS)


def test_what_was_not_used_for_longest_goes_first(cache):
    for i, key in enumerate("abc"):
        cache.put(key, ROWS)
        os.utime(cache.folder / f"{key}.safetensors", (1000 + i, 1000 + i))
    cache.get("a")
    size = (cache.folder / "a.safetensors").stat().st_size
    cache.limit_bytes = 3 * size
    cache.put("d", ROWS)
    assert entries(cache) == ["a.safetensors", "c.safetensors", "d.safetensors"]


def test_an_entry_beyond_the_limit_is_not_kept(cache):
    cache.limit_bytes = 100
    cache.put("a", ROWS)
    assert not cache.folder.exists()


def test_what_a_killed_process_left_is_removed_and_what_another_writes_is_not(cache):
    cache.folder.mkdir(parents=True)
    for name, age in (("old.1.part", 7200), ("new.2.part", 10)):
        (cache.folder / name).write_bytes(b"x")
        os.utime(cache.folder / name, (time.time() - age,) * 2)
    (cache.folder / "notes.txt").write_text("the user's own")
    cache.put("a", ROWS)
    assert entries(cache) == ["a.safetensors", "new.2.part", "notes.txt"]


def test_a_folder_that_cannot_be_written_is_told_once_and_stops_nothing(tmp_path, told):
    (tmp_path / "text").write_text("a file in its place")
    cache = TextCache(tmp_path / "text", log=told.append)
    for _ in range(2):
        cache.put("a", ROWS)
        cache.get("a")
    assert len([line for line in told if "cannot be written" in line]) == 1
