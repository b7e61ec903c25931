"""Facts of this process and this machine, from the standard library alone; None where a system does not tell."""

from __future__ import annotations

import os
import platform
import sys
import time
from importlib import metadata
from pathlib import Path

from engine.host_memory import memory_mb as memory_mb

_IMPORTED_AT = time.monotonic()
_MEGABYTE = 1024 * 1024


def usable_cores() -> int:
    """Processor cores that this process may run on."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def process_age_seconds() -> float:
    """Seconds since the process was started; where only Linux tells, since this module was imported."""
    try:
        stat = Path("/proc/self/stat").read_text(encoding="ascii", errors="replace")
        started_ticks = int(stat.rpartition(")")[2].split()[19])  # proc(5): field 22, counted after the name
        since_boot = float(Path("/proc/uptime").read_text(encoding="ascii").split()[0])
        return max(0.0, since_boot - started_ticks / os.sysconf("SC_CLK_TCK"))
    except (OSError, ValueError, IndexError, AttributeError):
        return time.monotonic() - _IMPORTED_AT


def peak_rss_mb(pid: int | None = None) -> float | None:
    """The most memory that a process has had so far, in MiB; this process unless ``pid`` is given (Linux only)."""
    peak = _status_kilobytes("VmHWM", pid)
    if peak is not None or pid is not None:
        return None if peak is None else peak / 1024
    try:
        import resource
    except ImportError:  # Windows has no such module
        return None
    usage = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return usage / _MEGABYTE if sys.platform == "darwin" else usage / 1024


def rss_mb() -> float | None:
    """The memory that this process has now, in MiB (Linux only)."""
    now = _status_kilobytes("VmRSS", None)
    return None if now is None else now / 1024


def load_average() -> float | None:
    """Processes that wanted to run in the last minute, on average."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else None


def processor_name() -> str:
    """The processor as it calls itself."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def version_of(distribution: str) -> str | None:
    """The installed version of a package, without importing it; None if it is not installed."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def display_problem(environ: dict[str, str] | None = None, system: str = sys.platform) -> str | None:
    """Why no window can open here, in one sentence, or None: on Linux a display must be named in the environment."""
    names = os.environ if environ is None else environ
    if system != "linux" or any(names.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER")):
        return None
    return "There is no display here (neither DISPLAY nor WAYLAND_DISPLAY is set)."


def _status_kilobytes(name: str, pid: int | None) -> float | None:
    try:
        lines = Path(f"/proc/{pid or 'self'}/status").read_text(encoding="utf-8", errors="replace").splitlines()
        return next((float(line.split()[1]) for line in lines if line.startswith(name + ":")), None)
    except (OSError, ValueError, IndexError):
        return None
