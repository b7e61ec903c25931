"""A graphics card that is full for one chunk: the world is as before, and goes on as if nothing had been."""

import numpy as np
import pytest
import torch

from engine import runner
from engine.bench.random_model import random_model, random_scene
from engine.config import DeviceConfig, EngineConfig
from engine.errors import OutOfGpuMemory
from engine.failures import failed
from engine.window import WindowPolicy

CONFIG = EngineConfig(
    device=DeviceConfig(device="cpu", dtype="float32", threads=1),
    window=WindowPolicy(interactive=True, moving_latent_frames=2, still_latent_frames=1),
)
PROMPT = {"event_id": 3, "input_types": ["prompt"], "prompt": "snow at night"}
FULL = "CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 8 GiB."


@pytest.fixture(scope="module")
def model():
    return random_model("v2-1.3b", "tiny", CONFIG, lambda line: None)


def failing(function, calls):
    """``function``, whose call number ``calls`` finds the card full, and no other."""
    left = [calls]

    def run(*args, **kwargs):
        left[0] -= 1
        if left[0] == 0:
            raise torch.OutOfMemoryError(FULL)
        return function(*args, **kwargs)

    return run


@pytest.fixture(scope="module")
def alone(model):
    world = model.open(random_scene(model), 5, 1)
    frames = [world.step().frames]
    world.apply(PROMPT, None, 0.0)
    return [*frames, *(world.step().frames for _ in range(2))]


def interrupted(model, monkeypatch, owner, name, calls):
    """The same walk, out of memory in its second chunk."""
    world = model.open(random_scene(model), 5, 1)
    frames = [world.step().frames]
    world.apply(PROMPT, None, 0.0)
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, failing(getattr(owner, name), calls))
        with pytest.raises(OutOfGpuMemory, match="CUDA out of memory"):
            world.step()
    assert (world.state.chunk, world.prompt) == (1, "a walk through noise")
    return [*frames, *(world.step().frames for _ in range(2))]


@pytest.mark.parametrize("calls", [1, 3, 5])
def test_a_chunk_that_failed_in_the_transformer_is_made_again_bit_for_bit(model, alone, monkeypatch, calls):
    layer = model.dit.blocks[1].ffn
    frames = interrupted(model, monkeypatch, layer, "forward", calls)
    assert all(np.array_equal(a, b) for a, b in zip(frames, alone, strict=True))


def test_a_chunk_that_failed_in_the_decoder_is_nearly_the_same(model, alone, monkeypatch):
    codec = model.begin.args[0].vae
    frames = interrupted(model, monkeypatch, codec, "decode_one", 2)
    assert [part.shape for part in frames] == [part.shape for part in alone]
    difference = np.abs(frames[1].astype(int) - alone[1].astype(int))
    assert difference.mean() < 3


class Full:
    """A world on a card that is full for some chunks."""

    def __init__(self, times):
        self.times = times

    def step(self, clock):
        self.times -= 1
        if self.times >= 0:
            raise OutOfGpuMemory("full")
        return "a chunk"


class Told:
    def __init__(self):
        self.reports = []

    def tell(self, report):
        self.reports.append(report)


@pytest.mark.parametrize(("times", "made"), [(0, True), (3, True), (4, False)])
def test_the_runner_tries_again_and_says_so(tmp_path, monkeypatch, times, made):
    monkeypatch.setattr(runner, "MEMORY_WAITS_SECONDS", (0.0, 0.0, 0.0))
    desk = Told()
    engine = runner.Runner(CONFIG, tmp_path, desk)
    if made:
        assert engine._step(Full(times)) == "a chunk"
    else:
        with pytest.raises(OutOfGpuMemory):
            engine._step(Full(times))
    assert len(desk.reports) == min(times, 3)
    assert "Close other programs" in failed(OutOfGpuMemory("full")).message
