"""How long loading takes: stages are timed as they pass, and what is left is told from the last run. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

from app.remembered import Stages

WAITS = frozenset(("The engine is ready", "Making the world again"))
"""Stages that last as long as the user likes, or as what they do; they count for nothing."""


@dataclass(frozen=True, slots=True)
class Timing:
    """``stage`` runs since ``since``; ``done`` are those before it."""

    stage: str | None = None
    since: float = 0.0
    done: Stages = ()


def follow(timing: Timing, stage: str | None, now: float) -> Timing:
    """``stage`` runs now; None: loading is over. A stage that comes again begins a new count."""
    if stage == timing.stage:
        return timing
    if stage is not None and any(stage == name for name, _ in timing.done):
        return Timing(stage, now)
    done = timing.done
    if timing.stage is not None:
        done = (*done, (timing.stage, 0.0 if timing.stage in WAITS else now - timing.since))
    return replace(timing, stage=stage, since=now, done=done)


def seconds_left(timing: Timing, known: Stages, now: float) -> float | None:
    """Seconds to the end of loading as the last run had them; None where that run does not know this stage."""
    names = [name for name, _ in known]
    if timing.stage is None or timing.stage not in names:
        return None
    place = names.index(timing.stage)
    this = max(0.0, known[place][1] - (now - timing.since))
    return this + sum(seconds for _, seconds in known[place + 1 :])
