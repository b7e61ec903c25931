"""``bench roofline``: what each part of a chunk takes at least on this device, what it takes, and how near that is.

The floor is the formula of ``engine.bench.work`` over ceilings measured in the same process. Parts are timed one by one
on a session whose memory is full, moving and still.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch.utils.flop_counter import FlopCounterMode

from engine import camera
from engine.bench import work
from engine.bench.record import percentile
from engine.bench.walk import warm_up
from engine.bench.work import Ceilings, Work
from engine.frames import PixelStream
from engine.models.dit import ChunkContext
from engine.optimize import wait_for
from engine.protocol import Look, SceneSpec
from engine.session import LoadedModel, WorldSession

_CEILING_ROUNDS = 8
_SIZES = {"cuda": (8192, 2**30), "cpu": (512, 2**25)}
"""Side of the square matrices and bytes of the copy that ceilings are measured with."""


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a chunk: how often it runs, its work each time, and all its times in milliseconds."""

    name: str
    count: int
    work: Work
    milliseconds: tuple[float, ...]

    def row(self, ceilings: Ceilings) -> dict[str, object]:
        """All times are those of the whole chunk."""
        floor, measured = self.floor_ms(ceilings), self.measured_ms
        percent = None if not floor else round(100 * floor / measured, 1)
        return {
            "count": self.count,
            "tflop": round(self.work.flops * self.count / 1e12, 4),
            "floor_ms": round(floor, 3),
            "measured_ms": round(measured, 3),
            "percent_of_floor": percent,
        }

    def floor_ms(self, ceilings: Ceilings) -> float:
        return ceilings.floor_seconds(self.work) * self.count * 1000

    @property
    def measured_ms(self) -> float:
        return percentile(self.milliseconds, 50) * self.count


def measure(
    model: LoadedModel, scene: SceneSpec, *, seed: int, rounds: int, codec_width: int = work.CODEC_WIDTH
) -> tuple[dict[str, object], dict[str, list[float]]]:
    """Fill a world's memory, then time every part ``rounds`` times in every window. Returns (result, samples)."""
    ceilings = measured_ceilings(model.device, model.dtype)
    world = model.open(scene, seed, 1)
    warm_up(world, time.monotonic)
    modes: dict[str, object] = {}
    samples: dict[str, list[float]] = {}
    chunk_ms: dict[str, float] = {}
    for mode, recent in windows(model):
        parts = [*_parts(world, recent, rounds), *_codec_parts(world, rounds, codec_width)]
        modes[mode] = _table(model, world, parts, ceilings)
        chunk_ms[mode] = sum(part.measured_ms for part in parts if part.name != "text")
        samples |= {f"{mode}.{part.name}_ms": list(part.milliseconds) for part in parts}
    result: dict[str, object] = {
        "ceilings": {"tflops": round(ceilings.flops / 1e12, 3), "gigabytes_per_second": round(ceilings.bytes / 1e9, 2)},
        "modes": modes,
    }
    if {"still", "moving"} <= chunk_ms.keys():
        result["still_over_moving"] = round(chunk_ms["still"] / chunk_ms["moving"], 4)
    return result, samples


def windows(model: LoadedModel) -> list[tuple[str, int | None]]:
    """Name and recent latent frames of every window that this model's policy can choose."""
    policy = model.policy
    if not policy.active:
        return [("full", None)]
    found: list[tuple[str, int | None]] = [("moving", policy.moving_latent_frames)]
    if policy.still_latent_frames is not None:
        found.append(("still", policy.still_latent_frames))
    return found


def measured_ceilings(device: torch.device, dtype: torch.dtype) -> Ceilings:
    """The best of some square products and large copies; random numbers, as zeros are faster than anything real."""
    side, count = _SIZES.get(device.type, _SIZES["cpu"])
    generator = torch.Generator(device).manual_seed(0)
    a, b = (torch.randn(side, side, generator=generator, device=device).to(dtype) for _ in range(2))
    product = min(_milliseconds(lambda: torch.mm(a, b), device, _CEILING_ROUNDS))
    source = torch.ones(count, dtype=torch.uint8, device=device)
    target = torch.empty_like(source)
    copy = min(_milliseconds(lambda: target.copy_(source), device, _CEILING_ROUNDS))
    return Ceilings(flops=2 * side**3 / product * 1000, bytes=2 * count / copy * 1000)


def as_text(result: Mapping[str, object]) -> str:
    """The tables for people."""
    lines = []
    modes = result["modes"]
    assert isinstance(modes, dict)
    for mode, table in modes.items():
        whole = table["chunk"]
        lines.append(f"{mode}: {table['visible_latent_frames']} latent frames seen")
        lines.append(f"  {'part':10} {'TFLOP':>10} {'floor ms':>10} {'ms':>10} {'% of floor':>10}")
        for name, row in {**table["parts"], "chunk": whole}.items():
            share = "" if row["percent_of_floor"] is None else f"{row['percent_of_floor']:.1f}"
            lines.append(
                f"  {name:10} {row['tflop']:>10.3f} {row['floor_ms']:>10.2f} {row['measured_ms']:>10.2f} {share:>10}"
            )
        lines.append(f"  {whole['fps_at_floor']} frames a second at the floor, {whole['fps']} measured")
    return "\n".join(lines)


def _table(model: LoadedModel, world: WorldSession, parts: list[Part], ceilings: Ceilings) -> dict[str, object]:
    """The prompt's keys and values are made once a prompt, so they are no part of the steady chunk."""
    steady = [part for part in parts if part.name != "text"]
    floor = sum(part.floor_ms(ceilings) for part in steady)
    measured = sum(part.measured_ms for part in steady)
    frames = model.geometry.video_frames(model.stream.chunk_latent_frames, first=False)
    flops = sum(part.work.flops * part.count for part in steady)
    return {
        "visible_latent_frames": world.state.cache.visible_tokens // model.geometry.tokens_per_latent_frame,
        "parts": {part.name: part.row(ceilings) for part in parts},
        "chunk": {
            "tflop": round(flops / 1e12, 4),
            "floor_ms": round(floor, 3),
            "measured_ms": round(measured, 3),
            "percent_of_floor": round(100 * floor / measured, 1),
            "fps_at_floor": round(1000 * frames / floor, 2),
            "fps": round(1000 * frames / measured, 2),
        },
    }


@torch.inference_mode()
def _parts(world: WorldSession, recent: int | None, rounds: int) -> Iterator[Part]:
    """Time the parts of a chunk that sees ``recent`` latent frames besides the sink and itself."""
    model, state, dit = world.model, world.state, world.model.dit
    geometry, sizes, size = model.geometry, model.dit.config, model.dtype.itemsize
    shape = (1, sizes.in_channels, geometry.latent_frames, geometry.latent_height, geometry.latent_width)
    x = torch.randn(shape, device=model.device)
    rays = torch.randn(1, sizes.camera_channels, *shape[2:], device=model.device)
    step = torch.full((), model.schedule.timesteps[0], device=model.device)

    def timed(name: str, count: int, done: Work, run: Callable[[], object]) -> Part:
        return Part(name, count, done, tuple(_milliseconds(run, model.device, rounds)))

    yield timed("text", 1, work.text(sizes, size), lambda: dit.project_text(state.scenery.text_rows))
    yield timed("camera", 1, work.camera(sizes, geometry, size), lambda: dit.prepare_camera(rays))
    tokens = None if recent is None else recent * geometry.tokens_per_latent_frame
    rope = torch.ones(geometry.tokens_per_chunk, sizes.head_dim // 2, 2) if sizes.rope_turns else None
    context = ChunkContext(
        state.scenery.text_rows, dit.prepare_camera(rays), state.cache, state.cross, state.latent_frame, tokens, rope
    )
    dit(x, step, context)  # makes room for this chunk; from here on it is written again and again
    seen = state.cache.visible_tokens // geometry.tokens_per_latent_frame
    one_pass = work.one_pass(sizes, geometry, seen, size)
    yield timed("denoise", model.schedule.steps, one_pass, lambda: dit(x, step, context))
    committed = work.commit(sizes, geometry, seen, size)
    yield timed("commit", 1, committed, lambda: dit.write_cache(x, step, context))


@torch.inference_mode()
def _codec_parts(world: WorldSession, rounds: int, width: int) -> Iterator[Part]:
    """One latent frame decoded, and its frames on their way to the host."""
    model, state = world.model, world.state
    geometry, chunk = model.geometry, model.geometry.latent_frames
    still = ((),) * chunk
    _, poses = camera.advance(state.camera, still, Look(), model.camera.scale, model.camera.convention)
    decode = state.scenery.prepare(state.chunk, state.shown, poses).decode
    latent = torch.randn(1, model.dit.config.out_channels, 1, geometry.latent_height, geometry.latent_width)
    x0 = latent.to(model.device)
    with FlopCounterMode(display=False) as counted:
        frames = next(decode(x0)).clone()
    element_bytes = 4 if model.device.type == "cpu" else 2
    done = work.decode(geometry, counted.get_total_flops(), element_bytes, width)
    ms = _milliseconds(lambda: list(decode(x0)), model.device, rounds)
    yield Part("decode", chunk, done, tuple(ms))

    def hand_over() -> None:
        stream = PixelStream(len(frames))
        stream.push(frames)
        stream.collect()

    moved = Work(elementwise=float(frames.nbytes + 2 * frames.numel()))
    yield Part("pixels", chunk, moved, tuple(_milliseconds(hand_over, model.device, rounds)))


def _milliseconds(run: Callable[[], object], device: torch.device, rounds: int) -> list[float]:
    """Times of single runs after one that does not count; on CUDA by the device's own clock."""
    run()
    wait_for(device)
    if device.type == "cuda":
        marks = [torch.Event(device, enable_timing=True) for _ in range(rounds + 1)]
        marks[0].record()
        for mark in marks[1:]:
            run()
            mark.record()
        wait_for(device)
        return [before.elapsed_time(after) for before, after in pairwise(marks)]
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        run()
        times.append((time.perf_counter() - began) * 1000)
    return times
