"""Whether the machine runs as fast as it can: a number measured on one that does not is no headline."""

from __future__ import annotations

import subprocess
import threading
from dataclasses import dataclass

from engine.bench import machine

_QUERY = "clocks.sm,clocks.max.sm,temperature.gpu,power.draw,power.limit,clocks_throttle_reasons.active"
_THROTTLED = {
    0x08: "a hardware slowdown",
    0x20: "heat (software slowdown)",
    0x40: "heat (hardware slowdown)",
    0x80: "the power supply's brake",
}
"""NVML's reasons that mean less than the card can do. At its power limit (0x04) it runs as it is sold."""
_LEAST_CLOCK_SHARE = 0.6
_BUSY_SHARE = 0.5
_WATCH_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Clocks:
    """What nvidia-smi says of a card. Megahertz, degrees Celsius, watts; ``reasons`` as NVML's bits."""

    sm_mhz: float
    max_sm_mhz: float
    celsius: float
    watts: float
    limit_watts: float
    reasons: int


def clocks(index: int) -> Clocks | None:
    """Of card number ``index`` now; None where nvidia-smi is not there or does not tell."""
    command = ["nvidia-smi", f"--id={index}", f"--query-gpu={_QUERY}", "--format=csv,noheader,nounits"]
    try:
        told = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    return parse(told)


def parse(told: str) -> Clocks | None:
    """One line of nvidia-smi's table."""
    fields = [field.strip() for field in told.strip().split(",")]
    try:
        sm, most, celsius, watts, limit = (float(field) for field in fields[:5])
        return Clocks(sm, most, celsius, watts, limit, int(fields[5], 16))
    except (ValueError, IndexError):
        return None


def card_problem(now: Clocks | None) -> str | None:
    """Why a number measured under load is no headline, in one sentence; None where nothing speaks against it."""
    if now is None:
        return "nvidia-smi does not tell the clocks, so nobody knows whether the card was throttled"
    found = [words for bit, words in _THROTTLED.items() if now.reasons & bit]
    if found:
        return f"the card is slowed down by {' and '.join(found)} ({now.celsius:.0f} C)"
    if now.sm_mhz < _LEAST_CLOCK_SHARE * now.max_sm_mhz:
        return f"the card ran at {now.sm_mhz:.0f} of {now.max_sm_mhz:.0f} MHz"
    return None


class Watch:
    """Asks for the clocks again and again while something is measured; ``problem`` is that of the worst moment."""

    def __init__(self, index: int) -> None:
        self._index = index
        self._seen: list[Clocks | None] = []
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._look, name="clocks", daemon=True)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()

    @property
    def problem(self) -> str | None:
        """Of all moments but the first, in which the card was still waking up."""
        found = [card_problem(now) for now in self._seen[1:] or self._seen or [None]]
        return next((problem for problem in found if problem is not None), None)

    def _look(self) -> None:
        while not self._end.is_set():
            self._seen.append(clocks(self._index))
            self._end.wait(_WATCH_SECONDS)


def processor_problem(load: float | None, cores: int) -> str | None:
    """The same for the processor, from the load average before anything was measured."""
    if load is not None and load > _BUSY_SHARE * cores:
        return f"other programs were at work before the measurement (load {load:.1f} on {cores} cores)"
    return None


def processor_problem_now() -> str | None:
    """``processor_problem`` of this machine; to be asked before the measurement begins."""
    return processor_problem(machine.load_average(), machine.usable_cores())
