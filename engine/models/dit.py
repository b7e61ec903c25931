"""The causal diffusion transformer of LingBot-World (a Wan 2.1 with camera injection), for one chunk at a time.

One class serves every size: the 14B, the 1.3B and the bundled model are values of ``DiTConfig``. Parameters carry the
names of the original checkpoints. The residual stream, the norms and the modulation are float32, matrix products are
in the type of the weights. Sources: arXiv 2503.20314 (Wan), arXiv 2601.20540 and 2607.07534 (LingBot-World).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from engine.models.attention import Attention
from engine.models.dit_config import DiTConfig as DiTConfig
from engine.models.kv_cache import CausalKVCache, CrossAttentionCache, LayerKV
from engine.models.rope import chunk_table, rope_table, rotate_by

Remember = Callable[[int, Tensor, Tensor], LayerKV]
"""(layer, k, v) of the new tokens -> the keys and values that they see."""


@dataclass(frozen=True, slots=True)
class CameraModulation:
    """What the camera does to the tokens of one chunk in every block: x := scale * x + shift. Each is [B, N, D]."""

    scales: tuple[Tensor, ...]
    shifts: tuple[Tensor, ...]

    def of(self, layer: int) -> LayerKV:
        return self.scales[layer], self.shifts[layer]


@dataclass(frozen=True, slots=True)
class ChunkContext:
    """What all passes over one chunk share.

    ``text`` [B, L <= text_length, text_dim] is needed only while ``cross`` is empty.
    ``camera`` None means that no camera was given, which is not the same as standing still. ``recent_window_tokens``
    as in ``CausalKVCache.begin``.
    """

    text: Tensor | None
    camera: CameraModulation | None
    cache: CausalKVCache
    cross: CrossAttentionCache
    start_latent_frame: int
    recent_window_tokens: int | None = None
    rope: Tensor | None = None
    """Positions of the chunk's tokens [N, D/2, 2] where they are directions in the world (``rope_turns``)."""


@dataclass(frozen=True, slots=True)
class BlockParts:
    """How the parts of a block are run: as they are, or compiled. One set serves all blocks of a network.

    Between ``project`` and ``finish`` stand memory and attention, whose sizes change while the memory fills. So the
    parts see one shape for a whole session.
    """

    project: Callable[[Block, Tensor, Tensor, Tensor], tuple[Tensor, Tensor, Tensor]]
    keys_values: Callable[[Block, Tensor, Tensor, Tensor], LayerKV]
    finish: Callable[[Block, Tensor, Tensor, Tensor, LayerKV | None, LayerKV], Tensor]
    camera: Callable[[Block, Tensor], LayerKV]


@dataclass(frozen=True, slots=True)
class _Pass:
    """What all blocks share in one pass. ``modulation`` is [B, G, 6, D], G = 1 or one row for each latent frame;
    ``rope`` [N, D/2, 2] or [B, N, D/2, 2]."""

    modulation: Tensor
    rope: Tensor
    camera: CameraModulation | None
    text: tuple[LayerKV, ...]
    remember: Remember
    parts: BlockParts
    mask: Tensor | None = None
    history: tuple[int, int] | None = None
    """Clean latent frames of a training clip and tokens of one, see ``Attention.mix_after_history``; then no mask."""


class Block(nn.Module):
    """Self-attention, camera, cross-attention and feed-forward on the residual stream x [B, N, D]."""

    def __init__(self, config: DiTConfig) -> None:
        super().__init__()
        dim = config.dim
        self.eps = config.eps
        self.modulation = nn.Parameter(torch.randn(1, 6, dim) / dim**0.5)
        self.self_attn = Attention(dim, config.heads, config.eps)
        self.norm3 = nn.LayerNorm(dim, eps=config.eps)
        self.cross_attn = Attention(dim, config.heads, config.eps)
        self.ffn = nn.Sequential(
            nn.Linear(dim, config.ffn_dim), nn.GELU(approximate="tanh"), nn.Linear(config.ffn_dim, dim)
        )
        self.cam_injector_layer1 = nn.Linear(dim, dim)
        self.cam_injector_layer2 = nn.Linear(dim, dim)
        self.cam_scale_layer = nn.Linear(dim, dim)
        self.cam_shift_layer = nn.Linear(dim, dim)

    def forward(self, x: Tensor, layer: int, shared: _Pass) -> Tensor:
        """[B, N, D] -> [B, N, D]."""
        q, k, v = shared.parts.project(self, x, shared.modulation, shared.rope)
        k, v = shared.remember(layer, k, v)
        if shared.history is None:
            mixed = self.self_attn.mix(q, k, v, shared.mask)
        else:
            mixed = self.self_attn.mix_after_history(q, k, v, *shared.history)
        camera = None if shared.camera is None else shared.camera.of(layer)
        return shared.parts.finish(self, x, mixed, shared.modulation, camera, shared.text[layer])

    def write_cache(self, x: Tensor, layer: int, shared: _Pass) -> None:
        """Only the keys and values of self-attention: all that the last layer owes the future."""
        shared.remember(layer, *shared.parts.keys_values(self, x, shared.modulation, shared.rope))

    def project(self, x: Tensor, modulation: Tensor, rope: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """x [B, N, D], modulation [B, G, 6, D], rope [N, D/2, 2] -> rotated q and k, and v, each [B, N, heads, d]."""
        h = self._normalised(x, *self._modulation(modulation, slice(0, 2)))
        q = rotate_by(self.self_attn.queries(h), rope)
        k, v = self.self_attn.keys_values(h)
        return q, rotate_by(k, rope), v

    def keys_values(self, x: Tensor, modulation: Tensor, rope: Tensor) -> LayerKV:
        """``project`` without the queries."""
        k, v = self.self_attn.keys_values(self._normalised(x, *self._modulation(modulation, slice(0, 2))))
        return rotate_by(k, rope), v

    def finish(self, x: Tensor, mixed: Tensor, modulation: Tensor, camera: LayerKV | None, text: LayerKV) -> Tensor:
        """All behind the attention, whose result ``mixed`` is [B, N, D]; camera: scale and shift [B, N, D]."""
        gate, *feed = self._modulation(modulation, slice(2, 6))
        x = gated(x, gate, self.self_attn.o(mixed))
        if camera is not None:
            x = torch.addcmul(camera[1], x, camera[0])
        h = layer_norm(x, self.eps, self.norm3).to(self._dtype)
        x = x + self.cross_attn.attend(self.cross_attn.queries(h), *text)
        return gated(x, feed[2], self.ffn(self._normalised(x, *feed[:2])))

    def camera(self, embedding: Tensor) -> LayerKV:
        """1 + scale and shift from the camera embedding [B, N, D]."""
        u = self.cam_injector_layer2(functional.silu(self.cam_injector_layer1(embedding))) + embedding
        return 1 + self.cam_scale_layer(u), self.cam_shift_layer(u)

    def _modulation(self, shared: Tensor, rows: slice) -> tuple[Tensor, ...]:
        """Of shift, scale, gate of self-attention, then of the feed-forward, those of ``rows``; each [B, G, D]."""
        return (self.modulation[:, rows].float()[:, None] + shared[:, :, rows]).unbind(dim=2)

    def _normalised(self, x: Tensor, shift: Tensor, scale: Tensor) -> Tensor:
        return modulated(layer_norm(x, self.eps), shift, scale).to(self._dtype)

    @property
    def _dtype(self) -> torch.dtype:
        return self.norm3.weight.dtype


AS_THEY_ARE = BlockParts(Block.project, Block.keys_values, Block.finish, Block.camera)


class Head(nn.Module):
    """Tokens [B, N, D] -> out_channels * patch numbers a token, in the order (ph, pw, channel)."""

    def __init__(self, config: DiTConfig) -> None:
        super().__init__()
        self.eps = config.eps
        self.modulation = nn.Parameter(torch.randn(1, 2, config.dim) / config.dim**0.5)
        self.head = nn.Linear(config.dim, config.out_channels * config.patch_px**2)

    def forward(self, x: Tensor, time: Tensor) -> Tensor:
        """``time`` [B, G, D] is the time embedding itself, not its projection."""
        shift, scale = (self.modulation.float()[:, None] + time[:, :, None]).unbind(dim=2)
        y: Tensor = self.head(modulated(layer_norm(x, self.eps), shift, scale).to(self.head.weight.dtype))
        return y


class CausalDiT(nn.Module):
    """Predicts what ``Prediction`` says from [noise 16 | mask 4 | condition latent 16], text, camera and memory."""

    def __init__(self, config: DiTConfig) -> None:
        super().__init__()
        self.config = config
        self.parts = AS_THEY_ARE
        dim, patch = config.dim, config.patch_px
        kernel = (1, patch, patch)
        # A convolution only in name and shape: its patches do not overlap, so it is computed as a matrix product.
        self.patch_embedding = nn.Conv3d(config.in_channels, dim, kernel_size=kernel, stride=kernel)
        self.patch_embedding_wancamctrl = nn.Linear(config.camera_channels * patch**2, dim)
        self.c2ws_hidden_states_layer1 = nn.Linear(dim, dim)
        self.c2ws_hidden_states_layer2 = nn.Linear(dim, dim)
        self.text_embedding = nn.Sequential(
            nn.Linear(config.text_dim, dim), nn.GELU(approximate="tanh"), nn.Linear(dim, dim)
        )
        self.time_embedding = nn.Sequential(nn.Linear(config.freq_dim, dim), nn.SiLU(), nn.Linear(dim, dim))
        self.time_projection = nn.Sequential(nn.SiLU(), nn.Linear(dim, 6 * dim))
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.layers))
        self.head = Head(config)

    def forward(self, x: Tensor, timestep: Tensor, context: ChunkContext) -> Tensor:
        """One pass over one chunk; its keys and values go into the cache in place of those of the pass before.

        x [B, in_channels, F, h, w]; ``timestep`` 0..1000, a scalar or [B, F].
        Returns float32 [B, out_channels, F, h, w].
        """
        tokens, time, shared = self._begin(x, timestep, context)
        for layer, block in enumerate(self._layers):
            tokens = block(tokens, layer, shared)
        return self._unpatchify(self.head(tokens, time), x)

    def write_cache(self, x: Tensor, timestep: Tensor, context: ChunkContext) -> None:
        """``forward`` for its keys and values alone: ends after those of the last layer."""
        tokens, _, shared = self._begin(x, timestep, context)
        *before, last = self._layers
        for layer, block in enumerate(before):
            tokens = block(tokens, layer, shared)
        last.write_cache(tokens, len(before), shared)

    def forward_clip(
        self,
        x: Tensor,
        timesteps: Tensor,
        text: Tensor,
        camera: CameraModulation | None,
        *,
        latent_frames: tuple[int, ...] | None = None,
        visible: Tensor | None = None,
        history: int | None = None,
        rope: Tensor | None = None,
    ) -> Tensor:
        """Training: a whole clip in one pass without a cache; latent frame f sees the latent frames up to f.

        x [B, in_channels, F, h, w], ``timesteps`` [B, F], text [B, L, text_dim]. ``visible`` bool [F, F] replaces the
        causal rule (row = who looks), ``latent_frames`` the positions 0..F-1; with both, a clean copy of the clip can
        stand before the noisy one. ``history`` replaces both: so many clean latent frames come
        first, and each later one sees them and itself. ``rope`` [B, N, D/2, 2] replaces the grid's positions.
        Returns float32 [B, out_channels, F, h, w].
        """
        frames, rows, columns = self._grid(x)
        if visible is None and history is None:
            visible = torch.ones(frames, frames, dtype=torch.bool, device=x.device).tril()
        per_frame = rows * columns
        time, modulation = self._embed_time(timesteps)
        if rope is None:
            positions = tuple(range(frames)) if latent_frames is None else latent_frames
            rope = torch.view_as_real(rope_table(self.config.rotated_pairs, positions, rows, columns, x.device))
        shared = _Pass(
            modulation=modulation,
            rope=rope,
            camera=camera,
            text=self.project_text(text),
            remember=lambda layer, k, v: (k, v),
            parts=self.parts,
            mask=None if visible is None else visible.repeat_interleave(per_frame, 0).repeat_interleave(per_frame, 1),
            history=None if history is None else (history, per_frame),
        )
        tokens = self._embed_patches(x)
        for layer, block in enumerate(self._layers):
            tokens = block(tokens, layer, shared)
        return self._unpatchify(self.head(tokens, time), x)

    def prepare_camera(self, pluecker: Tensor) -> CameraModulation:
        """Every block's scale and shift from Pluecker rays [B, 384, F, h, w]; valid for all passes of the chunk."""
        p: Tensor = self.patch_embedding_wancamctrl(patchify(pluecker.to(self._dtype), self.config.patch_px))
        p = p + self.c2ws_hidden_states_layer2(functional.silu(self.c2ws_hidden_states_layer1(p)))
        scales, shifts = zip(*(self.parts.camera(block, p) for block in self._layers), strict=True)
        return CameraModulation(scales, shifts)

    def project_text(self, text: Tensor) -> tuple[LayerKV, ...]:
        """Every block's cross-attention keys and values of [B, L, text_dim]; padding rows are seen, as in training."""
        padding = self.config.text_length - text.shape[1]
        assert padding >= 0, f"{text.shape[1]} text rows, the model takes {self.config.text_length}"
        padded = functional.pad(text, (0, 0, 0, padding)).to(self._dtype)
        embedded = self.text_embedding(padded)
        return tuple(block.cross_attn.keys_values(embedded) for block in self._layers)

    @torch.no_grad()
    def init_weights(self) -> None:
        """Start values for training: the camera changes nothing and the prediction is zero (torch's generator)."""
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                nn.init.zeros_(module.bias)
        nn.init.xavier_uniform_(self.patch_embedding.weight.flatten(1))
        for linear in (*self.text_embedding, *self.time_embedding):
            if isinstance(linear, nn.Linear):
                nn.init.normal_(linear.weight, std=0.02)
        for block in self._layers:
            nn.init.zeros_(block.cam_scale_layer.weight)
            nn.init.zeros_(block.cam_shift_layer.weight)
        nn.init.zeros_(self.head.head.weight)

    def _begin(self, x: Tensor, timestep: Tensor, context: ChunkContext) -> tuple[Tensor, Tensor, _Pass]:
        """-> tokens [B, N, D], time embedding [B, G, D], and what the blocks share."""
        frames, rows, columns = self._grid(x)
        start, cache, cross = context.start_latent_frame, context.cache, context.cross
        if not cross.filled:
            assert context.text is not None, "the first pass after a prompt change needs the prompt"
            cross.fill(self.project_text(context.text))
        per_frame = rows * columns
        cache.begin(start * per_frame, frames * per_frame, context.recent_window_tokens)
        time, modulation = self._embed_time(timestep)
        assert (context.rope is None) == (self.config.rope_turns is None), "world directions belong to rope_turns"
        rope = context.rope
        if rope is None:
            rope = chunk_table(self.config.rotated_pairs, start, frames, rows, columns, x.device)
        shared = _Pass(modulation, rope, context.camera, cross.layers, cache.write, self.parts)
        return self._embed_patches(x), time, shared

    @property
    def _layers(self) -> list[Block]:
        return cast("list[Block]", list(self.blocks))

    @property
    def _dtype(self) -> torch.dtype:
        return self.patch_embedding.weight.dtype

    def _grid(self, x: Tensor) -> tuple[int, int, int]:
        return x.shape[2], x.shape[3] // self.config.patch_px, x.shape[4] // self.config.patch_px

    def _embed_patches(self, x: Tensor) -> Tensor:
        patches = patchify(x.to(self._dtype), self.config.patch_px)
        return functional.linear(patches, self.patch_embedding.weight.flatten(1), self.patch_embedding.bias).float()

    def _embed_time(self, timestep: Tensor) -> tuple[Tensor, Tensor]:
        """Scalar or [B, F] -> embedding [B, G, D] and its projection [B, G, 6, D], float32."""
        rows = timestep if timestep.dim() == 2 else timestep.reshape(1, 1)
        e = self.time_embedding(sinusoid(rows, self.config.freq_dim).to(self._dtype))
        return e.float(), torch.unflatten(self.time_projection(e).float(), -1, (6, -1))

    def _unpatchify(self, tokens: Tensor, like: Tensor) -> Tensor:
        """[B, N, ph * pw * C] -> float32 [B, C, F, h, w]."""
        patch, (frames, rows, columns) = self.config.patch_px, self._grid(like)
        y = tokens.float().view(len(tokens), frames, rows, columns, patch, patch, -1)
        return y.permute(0, 6, 1, 2, 4, 3, 5).flatten(5, 6).flatten(3, 4)


def patchify(x: Tensor, patch_px: int) -> Tensor:
    """[B, C, F, h, w] -> [B, N, C * patch * patch]: tokens by frame, row, column; numbers by channel, ph, pw."""
    columns = torch.unflatten(x, 4, (-1, patch_px))
    y = torch.unflatten(columns, 3, (-1, patch_px))  # [B, C, F, rows, ph, columns, pw]
    return y.permute(0, 2, 3, 5, 1, 4, 6).flatten(4).flatten(1, 3)


def sinusoid(timestep: Tensor, width: int) -> Tensor:
    """[...] -> float32 [..., width], cosines first; computed in float64 (as Wan does) where the device has it."""
    wide = torch.float32 if timestep.device.type == "mps" else torch.float64
    half = width // 2
    steps = torch.arange(half, dtype=wide, device=timestep.device)
    angle = timestep.to(wide)[..., None] * 10000.0 ** (-steps / half)
    return torch.cat([angle.cos(), angle.sin()], dim=-1).float()


def layer_norm(x: Tensor, eps: float, affine: nn.LayerNorm | None = None) -> Tensor:
    """Over the last axis in float32, with the weights of ``affine`` if given."""
    if affine is None:
        return functional.layer_norm(x, x.shape[-1:], eps=eps)
    return functional.layer_norm(x, x.shape[-1:], affine.weight.float(), affine.bias.float(), eps)


def modulated(x: Tensor, shift: Tensor, scale: Tensor) -> Tensor:
    """x (1 + scale) + shift; x [B, N, D], shift and scale [B, G, D] for G groups of N / G tokens."""
    groups = torch.unflatten(x, 1, (shift.shape[1], -1))
    return torch.addcmul(shift[:, :, None], groups, 1 + scale[:, :, None]).flatten(1, 2)


def gated(x: Tensor, gate: Tensor, y: Tensor) -> Tensor:
    """x + gate y; x, y [B, N, D], gate [B, G, D]."""
    groups = (gate.shape[1], -1)
    return torch.addcmul(torch.unflatten(x, 1, groups), gate[:, :, None], torch.unflatten(y, 1, groups)).flatten(1, 2)
