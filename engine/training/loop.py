"""One resumable training loop: deterministic from a seed, atomic checkpoints, progress with the time left."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from engine.training.optimizer import Muon

CHECKPOINT_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Budget:
    """How long a stage trains: so many minutes of its own clock, or so many steps (which repeats exactly).

    The learning rate warms up (50 steps, or a fifth of a short run) and falls linearly over the last ``decay`` share.
    """

    minutes: float
    steps: int | None = None
    decay: float = 0.4

    @property
    def warmup(self) -> int:
        return 50 if self.steps is None else max(1, min(50, self.steps // 5))

    def left(self, seconds: float, step: int) -> float:
        """The share that is still to come."""
        return 1 - (seconds / (self.minutes * 60) if self.steps is None else step / self.steps)

    def scale(self, seconds: float, step: int) -> float:
        return max(0.0, min(1.0, self.left(seconds, step) / self.decay, (step + 1) / self.warmup))


class StageRun:
    """A module in training: its averaged copy, optimizer, step and seconds, kept in ``folder``/<name>.pt.

    The checkpoint is read with ``weights_only``; it is written beside and renamed, so a kill loses at most the time
    since the last one.
    """

    def __init__(self, name: str, module: nn.Module, optimizer: Muon, folder: Path, ema: float = 0.993) -> None:
        self.name, self.module, self.optimizer, self.folder, self.ema = name, module, optimizer, folder, ema
        self.average = {k: v.detach().clone() for k, v in module.state_dict().items()}
        self.step, self.seconds = 0, 0.0
        folder.mkdir(parents=True, exist_ok=True)
        self.path, self.log_path = folder / f"{name}.pt", folder / f"{name}.jsonl"

    def resume(self) -> bool:
        if not self.path.exists():
            return False
        state = torch.load(self.path, map_location="cpu", weights_only=True)
        self.module.load_state_dict(state["module"])
        self.average = state["average"]
        self.optimizer.load_state(state["optimizer"])
        self.step, self.seconds = int(state["step"]), float(state["seconds"])
        return True

    def save(self) -> None:
        state = {
            "module": self.module.state_dict(),
            "average": self.average,
            "optimizer": self.optimizer.state(),
            "step": self.step,
            "seconds": self.seconds,
        }
        part = self.path.with_suffix(".part")
        torch.save(state, part)
        os.replace(part, self.path)

    def run(self, budget: Budget, loss_of: Callable[[int], Tensor], validate: Callable[[], dict[str, float]]) -> None:
        """Train until the budget's minutes are used up; ``loss_of(step)`` builds the loss of one step."""
        saved = checked = time.monotonic()
        recent = 0.0
        while budget.left(self.seconds, self.step) > 0:
            begun = time.monotonic()
            loss = loss_of(self.step)
            torch.autograd.backward(loss)
            nn.utils.clip_grad_norm_([p for p in self.module.parameters() if p.grad is not None], 10.0)
            self.optimizer.step(budget.scale(self.seconds, self.step))
            decay = min(self.ema, (self.step + 1) / (self.step + 10))
            for key, value in self.module.state_dict().items():
                self.average[key].lerp_(value.float(), 1 - decay)
            self.step += 1
            self.seconds += time.monotonic() - begun
            recent = float(loss.detach()) if recent == 0 else 0.95 * recent + 0.05 * float(loss.detach())
            now = time.monotonic()
            if now - saved > CHECKPOINT_SECONDS:
                self.save()
                saved = now
            if now - checked > 5 * CHECKPOINT_SECONDS / 2 or self.step in (10, 100):
                self._report(recent, validate(), budget)
                checked = now
            elif self.step % 10 == 0:
                self._progress(recent, budget)
        self.save()
        self._report(recent, validate(), budget)

    def averaged(self) -> nn.Module:
        """The module with the averaged weights in place (for validation and shipping; training keeps its own)."""
        self.module.load_state_dict(self.average)
        return self.module

    def _progress(self, loss: float, budget: Budget) -> None:
        share = budget.left(self.seconds, self.step)
        left = self.seconds / 60 * share / max(1e-9, 1 - share)
        print(
            f"\r{self.name}: step {self.step}, loss {loss:.4f}, {left:.1f} min left ",
            end="",
            file=sys.stderr,
            flush=True,
        )

    def _report(self, loss: float, values: dict[str, float], budget: Budget) -> None:
        row = {"step": self.step, "minutes": round(self.seconds / 60, 2), "loss": round(loss, 5)}
        row |= {k: round(v, 4) for k, v in values.items()}
        with self.log_path.open("a", encoding="utf-8") as log:
            log.write(json.dumps(row) + "\n")
        print(f"\r{self.name}: {json.dumps(row)}", file=sys.stderr, flush=True)
