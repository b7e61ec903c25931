"""Stage two: the clips. Walks are rendered and encoded into shards, by a process a core or in large batches on a GPU.

A shard is a pure function of seed and number: not of how many processes make them, in which order, or when. So a run
that was killed is taken up at the first shard that is not there.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing import connection
from multiprocessing.context import SpawnProcess
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path

import torch
from safetensors.torch import save_file

from engine.errors import WorldwalkError
from engine.models.autoencoder import Autoencoder
from engine.training.cache import CLIP_LATENT_FRAMES, ORIGIN, Clips, encode_walks, fresh_walks, joined, some
from engine.training.data import Walk, random_places
from engine.training.stage_files import load_autoencoder
from engine.weights import read_header
from engine.worldmap import WorldMap

SHARD_CLIPS, PAIR = 24, 2
WALKS_AT_ONCE = {"cpu": 2, "cuda": 24}
"""Two stay in a core's cache; a GPU wants many (some 10 MB of its memory for each of a walk's 32 pictures)."""


@dataclass(frozen=True, slots=True)
class RenderPlan:
    """``clips`` clips of a seed in ``folder``, encoded by the autoencoder in ``weights``.

    Clips of one latent frame are places on a walk, not beginnings of one.
    """

    weights: Path
    folder: Path
    clips: int
    seed: int
    device: str = "cpu"
    at_once: int = WALKS_AT_ONCE["cpu"]
    latent_frames: int = CLIP_LATENT_FRAMES
    shard_clips: int = SHARD_CLIPS
    origin: str = ""
    """Which autoencoder it is; shards of another one are made again."""

    @property
    def shards(self) -> int:
        return -(-self.clips // self.shard_clips)

    def size(self, shard: int) -> int:
        return min(self.shard_clips, self.clips - shard * self.shard_clips)

    def path(self, shard: int) -> Path:
        return self.folder / f"clips_{shard:05d}.safetensors"

    def walks(self, shard: int) -> Walk:
        """The shard's walks: drawn in pairs on the CPU, each pair from a seed of its own."""
        pairs = range(-(-self.size(shard) // PAIR))
        seeds = [self.seed * 1_000_003 + shard * 1000 + pair for pair in pairs]
        if self.latent_frames == 1:
            return joined([random_places(torch.Generator().manual_seed(seed), PAIR) for seed in seeds])
        return joined([fresh_walks(seed, PAIR, self.latent_frames) for seed in seeds])

    def missing(self) -> list[int]:
        """Shards that are not there, or hold fewer clips than they should."""
        return [shard for shard in range(self.shards) if self._held(shard) < self.size(shard)]

    def _held(self, shard: int) -> int:
        path = self.path(shard)
        if not path.exists():
            return 0
        header = read_header(path)
        return header.tensors["latents"].shape[0] if header.metadata.get(ORIGIN) == self.origin else 0


def make_shard(plan: RenderPlan, shard: int, model: Autoencoder, land: WorldMap) -> None:
    """Render and encode one shard; its file is written whole or not at all."""
    walks, size = plan.walks(shard), plan.size(shard)
    parts = [
        encode_walks(some(walks, begin, min(begin + plan.at_once, size)), model, land)
        for begin in range(0, size, plan.at_once)
    ]
    names = Clips.__dataclass_fields__
    tensors = {name: torch.cat([getattr(part, name) for part in parts]).contiguous() for name in names}
    path = plan.path(shard)
    part = path.with_suffix(f".{os.getpid()}.part")
    save_file(tensors, part, {ORIGIN: plan.origin})
    os.replace(part, path)


def build_cache(plan: RenderPlan, processes: int = 1) -> None:
    """Make the shards that are missing, on a GPU one after the other, else by ``processes`` of one thread each.

    WorldwalkError where one of them dies; the shards that are there stay.
    """
    plan.folder.mkdir(parents=True, exist_ok=True)
    missing = plan.missing()
    if plan.device != "cpu" or processes == 1 or len(missing) < 2:
        with _one_thread():
            _make(plan, missing)
    else:
        _share_out(plan, missing, processes)


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """One thread, whatever the number of cores: more would add up in another order, and gain little here."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _make(plan: RenderPlan, missing: list[int]) -> None:
    if missing:
        model, land = load_autoencoder(plan.weights).to(plan.device), WorldMap(plan.device)
        told = _Progress(plan, len(missing))
        for done, shard in enumerate(missing, 1):
            make_shard(plan, shard, model, land)
            told.show(done)


def _share_out(plan: RenderPlan, missing: list[int], processes: int) -> None:
    context = multiprocessing.get_context("spawn")
    taken = context.Value("q", 0)
    workers = [
        context.Process(target=_work, args=(plan, missing, taken), daemon=True)
        for _ in range(min(processes, len(missing)))
    ]
    told = _Progress(plan, len(missing))
    try:
        for worker in workers:
            worker.start()
        running = workers
        while running:
            connection.wait([worker.sentinel for worker in running], timeout=2.0)
            told.show(sum(plan.path(shard).exists() for shard in missing))
            running = [worker for worker in running if _goes_on(worker)]
    finally:
        for worker in workers:
            if worker.is_alive():
                worker.terminate()
                worker.join()


def _goes_on(worker: SpawnProcess) -> bool:
    """Whether it is still at work; WorldwalkError where it ended in any way but its own."""
    if worker.exitcode in (None, 0):
        return worker.exitcode is None
    told = f"A process that renders ended with status {worker.exitcode}; what it had finished is kept."
    raise WorldwalkError(f"{told} Run the stage again, with fewer --processes if memory was short.")


def _work(plan: RenderPlan, missing: list[int], taken: Synchronized[int]) -> None:
    """One process: takes the next shard until none is left, or until nobody waits for them any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent is told too, and ends this one
    torch.set_num_threads(1)
    parent = multiprocessing.parent_process()
    model, land = load_autoencoder(plan.weights), WorldMap()
    while parent is not None and parent.is_alive():
        with taken.get_lock():
            number = taken.value
            taken.value += 1
        if number >= len(missing):
            return
        make_shard(plan, missing[number], model, land)


class _Progress:
    """How many clips are there, and about how long the rest will take."""

    def __init__(self, plan: RenderPlan, shards: int) -> None:
        self.plan, self.shards, self.begun = plan, shards, time.monotonic()

    def show(self, done: int) -> None:
        spent = (time.monotonic() - self.begun) / 60
        left = f", {spent / done * (self.shards - done):.1f} min left" if done else ""
        told = f"\rrender: {done} of {self.shards} shards of up to {self.plan.shard_clips} clips{left} "
        print(told, end="" if done < self.shards else "\n", file=sys.stderr, flush=True)
