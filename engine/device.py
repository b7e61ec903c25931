"""Device, type and threads: chosen once at the start, said once, and the only torch-wide switches there are."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from engine.config import DeviceConfig
from engine.errors import NeedsHardware

_PROBE_SIZE = 384
_BFLOAT16_GAIN = 1.3
"""bfloat16 is only worth its rounding where it is at least so much faster than float32."""


@dataclass(frozen=True, slots=True)
class DevicePlan:
    device: torch.device
    dtype: torch.dtype
    threads: int
    line: str


def prepare_device(config: DeviceConfig) -> DevicePlan:
    """Choose and set; NeedsHardware where something is forced that this machine does not have."""
    device = _device(config.device)
    threads = config.threads or available_cores()
    if device.type == "cpu":
        torch.set_num_threads(threads)
    dtype = _dtype(config.dtype, device)
    line = f"device {device}, {str(dtype).removeprefix('torch.')}, {threads} threads, {_capability(device)}"
    return DevicePlan(device, dtype, threads, line)


def upload(tensor: Tensor, device: torch.device) -> Tensor:
    """``tensor`` on ``device``. On its way to a GPU it goes through pinned memory, so that the host need not wait."""
    if device.type != "cuda" or tensor.device.type != "cpu":
        return tensor.to(device)
    return tensor.pin_memory().to(device, non_blocking=True)


def available_cores() -> int:
    """Cores that this process may use: its affinity, bounded by its control group's quota and OMP_NUM_THREADS."""
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity is not None else os.cpu_count() or 1
    asked = os.environ.get("OMP_NUM_THREADS", "")
    wanted = int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 6 else 0
    return max(1, min(cores, _quota(Path("/sys/fs/cgroup/cpu.max")) or cores, wanted or cores))


def _quota(path: Path) -> int | None:
    try:
        quota, period = path.read_text(encoding="ascii").split()
        return None if quota == "max" else max(1, round(int(quota) / int(period)))
    except (OSError, ValueError):
        return None


def _device(name: str) -> torch.device:
    if name == "cpu" or (name == "auto" and not torch.cuda.is_available()):
        return torch.device("cpu")
    if name == "auto":
        return torch.device("cuda")
    try:
        device = torch.device(name)
    except RuntimeError:
        raise NeedsHardware(
            f"The device '{name}' is unknown to torch.", "Set engine.device.device to auto, cpu or cuda."
        ) from None
    if device.type == "cuda" and (device.index or 0) < torch.cuda.device_count():
        return device
    raise NeedsHardware(f"The device '{name}' is not on this machine.", "Set engine.device.device to auto or cpu.")


def _dtype(name: str, device: torch.device) -> torch.dtype:
    if name == "auto":
        if device.type == "cpu":
            return torch.bfloat16 if bfloat16_gain() > _BFLOAT16_GAIN else torch.float32
        return torch.bfloat16
    if name == "float16" and device.type == "cpu":
        raise NeedsHardware(
            "float16 is ten times slower than float32 on a CPU.", "Set engine.device.dtype to auto or float32."
        )
    return {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}[name]


def bfloat16_gain() -> float:
    """How much faster a bfloat16 matrix product is than a float32 one here; a probe of about 50 ms."""
    return _seconds(torch.float32) / _seconds(torch.bfloat16)


def _seconds(dtype: torch.dtype) -> float:
    a = torch.ones(_PROBE_SIZE, _PROBE_SIZE, dtype=dtype)
    best = float("inf")
    for _ in range(3):
        begun = time.perf_counter()
        a @ a
        best = min(best, time.perf_counter() - begun)
    return best


def _capability(device: torch.device) -> str:
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return torch.backends.cpu.get_cpu_capability()
