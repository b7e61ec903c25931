"""How much main memory there is. No torch, so that everyone may ask."""

from __future__ import annotations

import os
from pathlib import Path

_MEGABYTE = 2**20


def memory_mb() -> tuple[float | None, float | None]:
    """(all, available) memory of the machine in MiB (Linux; all of it on macOS)."""
    found: dict[str, float] = {}
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            name, _, rest = line.partition(":")
            found[name] = float(rest.split()[0]) / 1024
    except (OSError, ValueError, IndexError):
        if "SC_PHYS_PAGES" in getattr(os, "sysconf_names", {}):
            return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / _MEGABYTE, None
    return found.get("MemTotal"), found.get("MemAvailable")
