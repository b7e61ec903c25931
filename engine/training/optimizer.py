"""Muon: momentum whose matrix updates are made orthogonal, for the hidden matrices and convolutions; AdamW elsewhere.

Source of the method: Keller Jordan et al., "Muon: an optimizer for hidden layers in neural networks" (2024); the
quintic Newton-Schulz coefficients are theirs.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

_A, _B, _C = 3.4445, -4.7750, 2.0315


def orthogonalize(matrix: Tensor, steps: int = 5) -> Tensor:
    """The nearest semi-orthogonal matrix, approximately: all singular values near 1."""
    x = matrix / (matrix.norm() + 1e-7)
    tall = x.shape[0] > x.shape[1]
    if tall:
        x = x.T
    for _ in range(steps):
        gram = x @ x.T
        x = _A * x + (_B * gram + _C * gram @ gram) @ x
    out: Tensor = x.T if tall else x
    return out


class Muon:
    """One optimizer for a module: hidden matrices by Muon, everything else by AdamW, one learning-rate scale."""

    def __init__(self, module: nn.Module, *, muon_lr: float, adam_lr: float, exclude: tuple[str, ...] = ()) -> None:
        named = [(n, p) for n, p in module.named_parameters() if p.requires_grad]
        hidden = [
            p for n, p in named if p.ndim >= 2 and min(p.shape[0], p[0].numel()) > 4 and not n.startswith(exclude)
        ]
        chosen = {id(p) for p in hidden}
        self.hidden = hidden
        self.muon_lr, self.adam_lr, self.momentum = muon_lr, adam_lr, 0.95
        self.velocity = [torch.zeros_like(p) for p in hidden]
        rest = [p for _, p in named if id(p) not in chosen]
        self.adam = torch.optim.AdamW(rest, lr=adam_lr, betas=(0.9, 0.99), weight_decay=0.0)

    @torch.no_grad()
    def step(self, scale: float) -> None:
        """One update; ``scale`` in [0, 1] multiplies both learning rates (warm-up and decay)."""
        for group in self.adam.param_groups:
            group["lr"] = self.adam_lr * scale
        self.adam.step()
        self.adam.zero_grad(set_to_none=True)
        for p, v in zip(self.hidden, self.velocity, strict=True):
            if p.grad is None:
                continue
            v.lerp_(p.grad, 1 - self.momentum)
            update = orthogonalize(torch.lerp(p.grad, v, self.momentum).flatten(1))
            p.mul_(1 - 0.01 * self.muon_lr * scale)
            size = max(1.0, update.shape[0] / update.shape[1]) ** 0.5
            p.add_(update.view_as(p), alpha=-self.muon_lr * scale * size)
            p.grad = None

    def state(self) -> dict[str, object]:
        return {"velocity": self.velocity, "adam": self.adam.state_dict()}

    def load_state(self, state: dict[str, object]) -> None:
        velocity = state["velocity"]
        assert isinstance(velocity, list)
        for v, saved in zip(self.velocity, velocity, strict=True):
            v.copy_(saved)
        adam = state["adam"]
        assert isinstance(adam, dict)
        self.adam.load_state_dict(adam)
