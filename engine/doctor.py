"""``doctor``: what this machine can run, how fast, what is missing, and the cure. It changes nothing."""

from __future__ import annotations

import platform
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from engine.bench import machine
from engine.config import EngineConfig
from engine.errors import WorldwalkError
from engine.lingbot import memory
from engine.lingbot.memory import Room, Wishes
from engine.protocol import SceneSpec

SCHEMA = 1
LEAST_MEMORY_MB = 2048
_MATMUL_SIZE, _MATMUL_SECONDS = 1024, 0.5
_WALK_SECONDS = 2.0
_PACKAGES = ("numpy", "pygame", "imageio", "imageio-ffmpeg", "pillow", "pyyaml", "safetensors", "platformdirs")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at. ``needed``: without it the bundled world does not run as it should."""

    name: str
    ok: bool
    found: str
    cure: str | None = None
    needed: bool = True


def examine(config: EngineConfig, scene: SceneSpec, say: Callable[[str], None]) -> dict[str, object]:
    """Look at everything; ``say`` hears what is being done. The result is what ``--json`` writes."""
    findings = [_python(), *_packages(), _cores(), _memory(), _display(), _ffmpeg()]
    gflops: float | None = None
    walked: dict[str, object] | None = None
    say("Loading torch")
    try:
        findings.extend(_torch())
        findings.extend(large_models(config, _room()))
        say("Measuring the processor")
        from engine.device import available_cores

        gflops = matmul_gflops(config.device.threads or available_cores())
    except ImportError as error:
        cure = "Install it: python -m pip install -e ."
        findings.append(Finding("torch", False, f"cannot be imported ({error})", cure))
    if gflops is not None:
        finding, walked = _walk(config, scene, say)
        findings.append(finding)
    missing = [finding for finding in findings if finding.needed and not finding.ok]
    return {
        "schema": SCHEMA,
        "ready": not missing,
        "findings": [asdict(finding) for finding in findings],
        "matmul_gflops": None if gflops is None else round(gflops, 1),
        "bundled_model": walked,
        "processor": machine.processor_name(),
        "load_average": machine.load_average(),
    }


def as_text(examined: dict[str, object]) -> str:
    """The result for a person: a line for each finding, the cure below it, and the sum at the end."""
    lines = []
    findings = examined["findings"]
    assert isinstance(findings, list)
    for finding in findings:
        mark = "ok     " if finding["ok"] else "MISSING" if finding["needed"] else "without"
        lines.append(f"{mark}  {finding['name']}: {finding['found']}")
        if finding["cure"]:
            lines.append(f"         -> {finding['cure']}")
    lines.append(
        f"         processor: {examined['processor']}, {examined['matmul_gflops']} GFLOP/s in float32 products"
    )
    ready = "This machine is ready: python main.py" if examined["ready"] else "Something is missing, see above."
    return "\n".join([*lines, ready])


def matmul_gflops(threads: int) -> float:
    """Billions of floating-point operations a second in float32 matrix products; random numbers, never zeros."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        generator = torch.Generator().manual_seed(0)
        a = torch.randn(_MATMUL_SIZE, _MATMUL_SIZE, generator=generator)
        b = torch.randn(_MATMUL_SIZE, _MATMUL_SIZE, generator=generator)
        torch.mm(a, b)
        best, began = 0.0, time.perf_counter()
        while time.perf_counter() - began < _MATMUL_SECONDS:
            start = time.perf_counter()
            torch.mm(a, b)
            best = max(best, 2 * _MATMUL_SIZE**3 / (time.perf_counter() - start))
    finally:
        torch.set_num_threads(before)
    return best / 1e9


def _walk(
    config: EngineConfig, scene: SceneSpec, say: Callable[[str], None]
) -> tuple[Finding, dict[str, object] | None]:
    """Load the bundled model, which verifies its weights, and walk for two seconds."""
    from engine.backends import load
    from engine.bench.walk import walk, warm_up

    try:
        model = load(config, lambda stage, fraction: say(stage), lambda line: None)
        say("Walking for two seconds")
        world = model.open(scene, 0, 1)
        warm_up(world, time.monotonic)
        frames, began = 0, time.monotonic()
        while time.monotonic() - began < _WALK_SECONDS:
            frames += sum(len(timed.chunk.frames) for timed in walk(world, 1, time.monotonic))
        fps = frames / (time.monotonic() - began)
    except WorldwalkError as error:
        return Finding("model", False, str(error), "Restore the files of assets/models, then run this again."), None
    card = model.card
    found = f"{card.model} is verified and makes about {fps:.3g} frames a second here (made for {card.fps_nominal:g})"
    slow = fps < card.fps_nominal
    cure = "It walks in slow motion; close other programs that are at work." if slow else None
    facts: dict[str, object] = {"name": card.model, "sha256": card.model_sha256, "fps_measured": round(fps, 1)}
    return Finding("model", not slow, found, cure, needed=False), facts


def _python() -> Finding:
    ok = (3, 11) <= sys.version_info[:2] <= (3, 13)
    return Finding("python", ok, platform.python_version(), None if ok else "Use Python 3.11, 3.12 or 3.13.")


def _packages() -> list[Finding]:
    found = [(name, machine.version_of(name)) for name in _PACKAGES]
    return [
        Finding(
            name, version is not None, version or "not installed", None if version else "python -m pip install -e ."
        )
        for name, version in found
    ]


def _torch() -> list[Finding]:
    import torch

    capability = torch.backends.cpu.get_cpu_capability()
    gpus = [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())]
    found = ", ".join(gpus) if gpus else "none that torch can use"
    cure = None if gpus else "Not needed for the bundled world; large models will want one, with a torch built for it."
    return [
        Finding("torch", True, f"{torch.__version__}, processor instructions {capability}"),
        Finding("graphics card", bool(gpus), found, cure, needed=False),
    ]


def large_models(config: EngineConfig, room: Room | None) -> list[Finding]:
    """Whether each published model fits into ``room`` (None: no graphics card), and how it would run there."""
    options, found = config.lingbot, []
    wishes = Wishes(config.device.dtype, options.text_encoder, options.fp8_linears)
    for model in memory.PUBLISHED.values():
        if room is None:
            cure = "It needs a graphics card, and a torch that is built for it."
            found.append(Finding(model.name, False, memory.requirement(model, config.window), cure, needed=False))
            continue
        planned = memory.plan(model, config.window, room, wishes)
        said = " ".join([f"{planned.line}.", *planned.notes]).removeprefix(f"{model.name} ")
        found.append(Finding(model.name, planned.fits, said, planned.cure or None, needed=False))
    return found


def _room() -> Room | None:
    """What is free on the first graphics card now."""
    import torch

    if not torch.cuda.is_available():
        return None
    free, _ = torch.cuda.mem_get_info()
    available = machine.memory_mb()[1]
    host = None if available is None else int(available * 2**20)
    return Room(free, torch.cuda.get_device_capability(), host)


def _cores() -> Finding:
    cores = machine.usable_cores()
    cure = None if cores >= 2 else "The window and the model share one core here; two or more walk more smoothly."
    return Finding("cores", cores >= 2, f"{cores} usable", cure, needed=False)


def _memory() -> Finding:
    total, available = machine.memory_mb()
    now = available if available is not None else total
    if now is None:
        return Finding("memory", True, "unknown", needed=False)
    ok = now >= LEAST_MEMORY_MB
    cure = None if ok else f"{LEAST_MEMORY_MB} MB should be free; close other programs."
    return Finding("memory", ok, f"{now:.0f} MB free" + (f" of {total:.0f}" if total else ""), cure)


def _display() -> Finding:
    problem = machine.display_problem()
    cure = "Without one: python main.py render --script walk.yaml --out walk.mp4" if problem else None
    return Finding("display", problem is None, problem or "found", cure, needed=False)


def _ffmpeg() -> Finding:
    import imageio_ffmpeg

    try:
        return Finding("ffmpeg", True, Path(imageio_ffmpeg.get_ffmpeg_exe()).name)
    except RuntimeError:
        cure = "python -m pip install --force-reinstall imageio-ffmpeg, or install ffmpeg on the system."
        return Finding("ffmpeg", False, "not found, so nothing can be recorded", cure)
