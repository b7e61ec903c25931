"""Multi-head attention with RMS-normed queries and keys, in the parts that streaming needs one by one."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


class RMSNorm(nn.RMSNorm):
    """Over the whole width, all heads together, computed in float32 whatever the type of the input."""

    def forward(self, x: Tensor) -> Tensor:
        return functional.rms_norm(x.float(), self.normalized_shape, self.weight.float(), self.eps).type_as(x)


class Attention(nn.Module):
    """Queries, keys and values from x [B, N, D]; the caller decides which keys and values are seen."""

    def __init__(self, dim: int, heads: int, eps: float) -> None:
        super().__init__()
        self.heads = heads
        self.q = nn.Linear(dim, dim)
        self.k = nn.Linear(dim, dim)
        self.v = nn.Linear(dim, dim)
        self.o = nn.Linear(dim, dim)
        self.norm_q = RMSNorm(dim, eps=eps)
        self.norm_k = RMSNorm(dim, eps=eps)

    def queries(self, x: Tensor) -> Tensor:
        """[B, N, D] -> [B, N, heads, D / heads]."""
        return self._split(self.norm_q(self.q(x)))

    def keys_values(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """[B, N, D] -> two of [B, N, heads, D / heads]."""
        return self._split(self.norm_k(self.k(x))), self._split(self.v(x))

    def attend(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
        """``mix`` and the output projection: [B, N, D]."""
        y: Tensor = self.o(self.mix(q, k, v, mask))
        return y

    def mix(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
        """q [B, N, heads, d] over k, v [B, M, heads, d] -> [B, N, D]; ``mask`` bool [N, M], true = seen."""
        q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)
        return functional.scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(1, 2).flatten(2)

    @staticmethod
    def mix_after_history(q: Tensor, k: Tensor, v: Tensor, history: int, per_frame: int) -> Tensor:
        """``mix`` of a training clip [B, F * per_frame, heads, d] whose first ``history`` latent frames are clean: they
        see what came before them; each later one sees them and itself. A third of the work of a mask."""
        q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)
        ends = [per_frame * (frame + 1) for frame in range(history)]
        mixed = [
            functional.scaled_dot_product_attention(q[:, :, end - per_frame : end], k[:, :, :end], v[:, :, :end])
            for end in ends
        ]
        later = q.shape[2] // per_frame - history
        if later:

            def apart(t: Tensor) -> Tensor:
                own = torch.unflatten(t[:, :, history * per_frame :], 2, (later, per_frame)).transpose(1, 2)
                past = t[:, None, :, : history * per_frame].expand(-1, later, -1, -1, -1)
                return own if t is q else torch.cat([past, own], 3)

            looking, keys, values = (apart(t).flatten(0, 1) for t in (q, k, v))
            each = functional.scaled_dot_product_attention(looking, keys, values)
            mixed.append(torch.unflatten(each, 0, (len(q), later)).transpose(1, 2).flatten(2, 3))
        return torch.cat(mixed, 2).transpose(1, 2).flatten(2)

    def _split(self, x: Tensor) -> Tensor:
        return torch.unflatten(x, -1, (self.heads, -1))
