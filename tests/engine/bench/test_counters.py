"""Counts of a chunk at full width on torch's meta device, which has no numbers: whatever waits for one would raise."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from engine.bench import work
from engine.bench.counters import Counters
from engine.bench.work import Ceilings
from engine.geometry import ChunkGeometry
from engine.lingbot.memory import PUBLISHED, replace
from engine.models.dit import CausalDiT, ChunkContext
from engine.models.kv_cache import CacheShape, CausalKVCache, CrossAttentionCache
from engine.models.rope import chunk_table
from engine.sampler import commit, denoise
from engine.schedule import official

H200 = Ceilings(flops=790e12, bytes=4.3e12)
DECODER_FLOPS = 13_549_997_260_800
SCHEDULE = official((0, 250, 500, 750), 5.0)


class MetaChunk:
    """A chunk of a published model at full width with two layers, its window full."""

    def __init__(self, name: str, layers: int = 2) -> None:
        model = PUBLISHED[name]
        self.dit = replace(model.dit, layers=layers)
        self.frames = model.stream.chunk_latent_frames
        self.geometry = ChunkGeometry(832, 480, self.frames)
        with torch.device("meta"):
            self.network = CausalDiT(self.dit).bfloat16()
            shape = CacheShape(layers, self.dit.heads, self.dit.head_dim, 18 * 1560, 6 * 1560)
            self.cache = CausalKVCache(shape, dtype=torch.bfloat16, device="meta")
            self.cross = CrossAttentionCache()
            self.rays = torch.empty(1, 384, self.frames, 60, 104)
            self.noise = torch.empty(1, 16, self.frames, 60, 104)
            self.condition = torch.empty(1, 20, self.frames, 60, 104)
            self.text = torch.empty(1, 20, 4096)
        self.cache.global_end = self.cache.local_end = 18 * 1560
        self.cross.fill(self.network.project_text(self.text))
        self.start = 18

    def context(self, recent: int | None = None) -> ChunkContext:
        camera = self.network.prepare_camera(self.rays)
        return ChunkContext(None, camera, self.cache, self.cross, self.start, recent)

    def make(self, recent: int | None = None) -> None:
        """One steady chunk from rays to clean keys and values."""
        context = self.context(recent)
        x0 = denoise(
            self.network, SCHEDULE, context, condition=self.condition, noise=self.noise, renoise=lambda _: self.noise
        )
        commit(self.network, SCHEDULE, context, condition=self.condition, x0=x0)
        self.start += self.frames


@pytest.fixture(autouse=True)
def _no_gradients():
    with torch.inference_mode():
        yield


@pytest.mark.parametrize("name", ["v2-1.3b", "v2-14b"])
def test_the_formulas_are_what_torch_counts(name):
    chunk = MetaChunk(name)
    dit, geometry, network = chunk.dit, chunk.geometry, chunk.network
    context = chunk.context()
    x, timestep = torch.empty(1, 36, chunk.frames, 60, 104, device="meta"), torch.empty((), device="meta")
    cases = {
        "camera": (lambda: network.prepare_camera(chunk.rays), work.camera(dit, geometry)),
        "text": (lambda: network.project_text(chunk.text), work.text(dit)),
        "pass": (lambda: network(x, timestep, context), work.one_pass(dit, geometry, 18)),
        "commit": (lambda: network.write_cache(x, timestep, context), work.commit(dit, geometry, 18)),
    }
    for what, (run, formula) in cases.items():
        with FlopCounterMode(display=False) as counted:
            run()
        assert counted.get_total_flops() == formula.flops, what


@pytest.mark.parametrize("recent", [None, 3 * 1560], ids=["moving", "still"])
def test_a_steady_chunk_never_waits_for_the_device(recent):
    chunk = MetaChunk("v2-14b")
    chunk.make(recent)
    first, second = Counters(), Counters()
    with first:
        chunk.make(recent)
    with second:
        chunk.make(recent)
    assert second.waits == []
    assert second.kernels == first.kernels  # nothing grows from chunk to chunk


def test_a_layer_launches_few_kernels_and_every_layer_as_many():
    launches = []
    for layers in (1, 2, 3):
        chunk = MetaChunk("v2-1.3b", layers)
        chunk.make()
        chunk_table.cache_clear()  # each chunk puts its own table together
        with Counters() as counters:
            chunk.make()
        launches.append(counters.launches)
    per_layer = launches[1] - launches[0]
    assert launches[2] - launches[1] == per_layer
    assert per_layer / 5 < 60


def test_waits_are_found_and_copies_that_do_not_block_are_not_counted():
    a = torch.arange(4.0)
    with Counters() as counters:
        a[1].item()
        a.nonzero()
        torch.ones(3).to("meta")
        a.add_(1)
        a.view(2, 2)
    assert counters.waits == ["item", "nonzero", "to cpu->meta (3,)"]
    assert "view" not in counters.kernels
    assert counters.kernels["add_"] == 1


@pytest.mark.parametrize(
    ("name", "visible", "linears", "attention", "floor_ms"),
    [
        ("v2-1.3b", 18, 82, 164, 418),
        ("v2-1.3b", 22, 82, 200, 463),
        ("v2-1.3b", 13, 82, 120, 361),
        ("v2-14b", 18, 599, 548, 1604),
        ("v2-14b", 21, 599, 638, 1718),
        ("v2-14b", 12, 599, 369, 1377),
    ],
)
def test_five_passes_need_the_published_work_and_time(name, visible, linears, attention, floor_ms):
    model = PUBLISHED[name]
    geometry = ChunkGeometry(832, 480, model.stream.chunk_latent_frames)
    passes = work.one_pass(model.dit, geometry, visible).times(5)
    camera, decoder = work.camera(model.dit, geometry), work.decode(geometry, DECODER_FLOPS)
    assert (passes + camera).linears / 1e12 == pytest.approx(linears, rel=0.01)
    assert passes.attention / 1e12 == pytest.approx(attention, rel=0.01)
    floor = H200.floor_seconds(passes + camera + decoder.times(geometry.latent_frames))
    assert floor * 1000 == pytest.approx(floor_ms, rel=0.01)


def test_the_clean_pass_saves_most_of_the_last_layer():
    model, geometry = PUBLISHED["v2-1.3b"], ChunkGeometry(832, 480, 4)
    whole, clean = work.one_pass(model.dit, geometry, 18), work.commit(model.dit, geometry, 18)
    assert 0.96 < clean.flops / whole.flops < 0.98
