"""One resumable training loop: deterministic from a seed, atomic checkpoints, progress with the time left."""

from __future__ import annotations

import json
import math
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from engine.protocol import Pixels
from engine.training.optimizer import Muon
from engine.training.sheets import curve_sheet, keep_sheet

CHECKPOINT_SECONDS, VALIDATION_SECONDS = 120.0, 300.0
SHEETS = "sheets"
Show = Callable[[nn.Module], Pixels]
"""The module in training -> a sheet of pictures it makes, the truth above."""


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
    since the last one. Losses of all steps are kept in it, and what the log says of lost steps is taken back, so that
    a run that was killed tells the same as one that was not.
    """

    def __init__(self, name: str, module: nn.Module, optimizer: Muon, folder: Path, ema: float = 0.993) -> None:
        self.name, self.module, self.optimizer, self.folder, self.ema = name, module, optimizer, folder, ema
        self.average = {k: v.detach().clone() for k, v in module.state_dict().items()}
        self.step, self.seconds = 0, 0.0
        self.losses: list[float] = []
        self.rows: list[dict[str, float]] = []
        folder.mkdir(parents=True, exist_ok=True)
        self.path, self.log_path = folder / f"{name}.pt", folder / f"{name}.jsonl"

    def resume(self) -> bool:
        if not self.path.exists():
            return False
        state = torch.load(self.path, map_location="cpu", weights_only=True)
        self.module.load_state_dict(state["module"])
        for key, value in self.average.items():
            value.copy_(state["average"][key])
        self.optimizer.load_state(state["optimizer"])
        self.step, self.seconds = int(state["step"]), float(state["seconds"])
        self.losses = state["losses"].tolist() if "losses" in state else [math.nan] * self.step  # older ones have none
        return True

    def save(self) -> None:
        state = {
            "module": self.module.state_dict(),
            "average": self.average,
            "optimizer": self.optimizer.state(),
            "step": self.step,
            "seconds": self.seconds,
            "losses": torch.tensor(self.losses, dtype=torch.float64),
        }
        part = self.path.with_suffix(".part")
        torch.save(state, part)
        os.replace(part, self.path)

    def run(
        self,
        budget: Budget,
        loss_of: Callable[[int], Tensor],
        validate: Callable[[], dict[str, float]],
        show: Show | None = None,
    ) -> None:
        """Train until the budget is used up; ``loss_of(step)`` builds the loss of one step."""
        self._take_back()
        saved = checked = time.monotonic()
        while budget.left(self.seconds, self.step) > 0:
            self._train(budget, loss_of)
            now = time.monotonic()
            if now - checked > VALIDATION_SECONDS or self.step in (10, 100):
                self._report(validate(), show)
                checked = now
            elif self.step % 10 == 0:
                self._progress(budget)
            if now - saved > CHECKPOINT_SECONDS:  # after the report: its row is of a step that is kept
                self.save()
                saved = now
        self.save()
        if not self.rows or self.rows[-1]["step"] != self.step:
            self._report(validate(), show)

    def averaged(self) -> nn.Module:
        """The module with the averaged weights in place (for validation and shipping; training keeps its own)."""
        self.module.load_state_dict(self.average)
        return self.module

    @property
    def loss(self) -> float:
        """The mean of the losses so far, the later the heavier."""
        recent = math.nan
        for loss in self.losses[-200:]:
            recent = loss if math.isnan(recent) else 0.95 * recent + 0.05 * loss
        return recent

    def _train(self, budget: Budget, loss_of: Callable[[int], Tensor]) -> None:
        begun = time.monotonic()
        loss = loss_of(self.step)
        torch.autograd.backward(loss)
        nn.utils.clip_grad_norm_([p for p in self.module.parameters() if p.grad is not None], 10.0)
        self.optimizer.step(budget.scale(self.seconds, self.step))
        decay = min(self.ema, (self.step + 1) / (self.step + 10))
        for key, value in self.module.state_dict().items():
            self.average[key].lerp_(value.float(), 1 - decay)
        self.losses.append(float(loss.detach()))
        self.step += 1
        self.seconds += time.monotonic() - begun

    def _take_back(self) -> None:
        """Forget the log's rows of steps that are made again."""
        if self.log_path.exists():
            rows = [json.loads(line) for line in self.log_path.read_text(encoding="utf-8").splitlines()]
            self.rows = [row for row in rows if row["step"] <= self.step and self.step > 0]
        self._write_log()

    def _write_log(self) -> None:
        part = self.log_path.with_suffix(".part.jsonl")
        part.write_text("".join(json.dumps(row) + "\n" for row in self.rows), encoding="utf-8")
        os.replace(part, self.log_path)

    def _progress(self, budget: Budget) -> None:
        share = budget.left(self.seconds, self.step)
        left = self.seconds / 60 * share / max(1e-9, 1 - share)
        told = f"\r{self.name}: step {self.step}, loss {self.loss:.4f}, {left:.1f} min left "
        print(told, end="", file=sys.stderr, flush=True)

    def _report(self, values: dict[str, float], show: Show | None) -> None:
        row = {"step": self.step, "minutes": round(self.seconds / 60, 2), "loss": round(self.loss, 5)}
        self.rows.append(row | {k: round(v, 4) for k, v in values.items()})
        self._write_log()
        sheets, number = self.folder / SHEETS, len(self.rows)
        keep_sheet(sheets, f"{self.name}_curves", self.step, number, curve_sheet(self.losses, self.rows))
        if show is not None:
            with torch.no_grad():
                keep_sheet(sheets, self.name, self.step, number, show(self.module))
        print(f"\r{self.name}: {json.dumps(self.rows[-1])}", file=sys.stderr, flush=True)
