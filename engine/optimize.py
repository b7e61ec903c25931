"""Faster, in explicit passes over a loaded transformer, each of them optional and said in one line.

``compile_blocks`` fuses what stands around the attention, ``fp8_linears`` halves the matrices, ``choose_attention``
takes the kernel that is fastest on this device for these sizes, measured and not guessed. None of them changes the
names of a network's parts or how it is called.
"""

from __future__ import annotations

import shutil
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

from engine.errors import NeedsHardware
from engine.geometry import ChunkGeometry
from engine.lingbot.memory import FP8_CAPABILITY, MemoryPlan
from engine.models.dit import Block, BlockParts, CausalDiT
from engine.window import StreamShape, effective_cache_latent_frames

FP8 = torch.float8_e4m3fn
_ROWWISE_CAPABILITY = (9, 0)
"""From Hopper on a product takes a scale for each row; on Ada one serves the whole matrix."""
_PROBE_ROUNDS = 4
_CANDIDATES: Mapping[str, Mapping[str, SDPBackend]] = {
    "cuda": {
        "cudnn": SDPBackend.CUDNN_ATTENTION,
        "flash": SDPBackend.FLASH_ATTENTION,
        "efficient": SDPBackend.EFFICIENT_ATTENTION,
    },
    "cpu": {"flash": SDPBackend.FLASH_ATTENTION, "math": SDPBackend.MATH},
}


@dataclass(frozen=True, slots=True)
class AttentionShape:
    """Of one self-attention: a chunk's ``tokens`` over ``visible_tokens``."""

    heads: int
    head_dim: int
    tokens: int
    visible_tokens: int


@dataclass(frozen=True, slots=True)
class Passes:
    """Which passes are made. Attention is only probed where torch has more than one fused kernel, on CUDA."""

    fp8_linears: bool
    compile_blocks: bool
    tokens: int
    visible_tokens: int

    @classmethod
    def of(cls, plan: MemoryPlan, compile_blocks: bool, stream: StreamShape) -> Passes:
        """As the memory allows; attention over the whole of what is remembered."""
        geometry = ChunkGeometry(plan.setup.width_px, plan.setup.height_px, stream.chunk_latent_frames)
        visible = effective_cache_latent_frames(plan.policy, stream) * geometry.tokens_per_latent_frame
        return cls(plan.setup.fp8_linears, compile_blocks, geometry.tokens_per_chunk, visible)


def apply(dit: CausalDiT, passes: Passes) -> list[str]:
    """Make them, in the order in which they build on each other; a line each for the log."""
    weight = next(dit.parameters())
    device, said = weight.device, []
    if device.type == "cuda":
        sizes = AttentionShape(dit.config.heads, dit.config.head_dim, passes.tokens, passes.visible_tokens)
        said.append(use_attention(choose_attention(sizes, device=device, dtype=weight.dtype)))
    if passes.fp8_linears:
        capability = torch.cuda.get_device_capability(device) if device.type == "cuda" else (0, 0)
        said.append(fp8_linears(dit, capability))
    if passes.compile_blocks:
        said.append(compile_blocks(dit))
    return said


# ---- compiled blocks ---------------------------------------------------------------------------------------------


def compile_blocks(dit: CausalDiT, backend: str = "inductor") -> str:
    """Compile the parts of a block, once for all layers; returns a line for the log.

    Attention and memory stay outside, so every part has one shape for a whole session: nothing is compiled after the
    first chunk that has a camera. Raises NeedsHardware where nothing here can compile.
    """
    device = next(dit.parameters()).device
    if backend == "inductor" and not _can_compile(device):
        cure = "Install one (triton for a GPU, gcc for the processor), or set engine.lingbot.compile_blocks to false."
        raise NeedsHardware(f"Compiling for {device.type} needs a compiler that is not on this machine.", cure)

    def compiled(part: Callable[..., object]) -> Callable[..., object]:
        return torch.compile(part, backend=backend, fullgraph=True, dynamic=False)

    parts = (Block.project, Block.keys_values, Block.finish, Block.camera)
    dit.parts = BlockParts(*(compiled(part) for part in parts))  # type: ignore[arg-type]  # compile forgets signatures
    return f"blocks compiled by {backend}"


def _can_compile(device: torch.device) -> bool:
    if device.type == "cuda":
        from torch.utils._triton import has_triton

        return bool(has_triton())
    return any(shutil.which(name) for name in ("g++", "c++", "clang++", "cl"))


# ---- fp8 ---------------------------------------------------------------------------------------------------------


class Fp8Linear(nn.Module):
    """A linear layer whose product is of fp8 numbers (e4m3): weights scaled once, the input anew in every call.

    ``rowwise``: a scale for each token and each output, else one for each whole matrix. Output in the type of the
    layer that it was made of. Only worth its time where the scaling is compiled into what stands before it.
    """

    def __init__(self, linear: nn.Linear, *, rowwise: bool) -> None:
        super().__init__()
        weight = linear.weight.detach()  # [out, in]
        scale = _scale(weight, rowwise)
        self.rowwise = rowwise
        self.weight = nn.Parameter((weight.float() / scale).to(FP8), requires_grad=False)
        self.bias = linear.bias
        self.register_buffer("scale", scale.T.contiguous() if rowwise else scale)

    def forward(self, x: Tensor) -> Tensor:
        """[..., in] -> [..., out]."""
        rows = x.flatten(0, -2)
        scale = _scale(rows, self.rowwise)
        small = (rows.float() / scale).to(FP8)
        own, bias = self.get_buffer("scale"), self.bias
        y = torch._scaled_mm(small, self.weight.t(), scale, own, bias=bias, out_dtype=bias.dtype)
        return y.view(*x.shape[:-1], -1)


def fp8_linears(dit: CausalDiT, capability: tuple[int, int]) -> str:
    """Replace the fourteen matrices of every block by fp8 ones, layer by layer; returns a line for the log.

    ``capability`` is the card's. Raises NeedsHardware for one without fp8, or weights that are not bfloat16.
    """
    if capability < FP8_CAPABILITY:
        found = "The processor has no fp8 products."
        if capability != (0, 0):
            found = (
                f"This card (compute capability {capability[0]}.{capability[1]}) has no fp8 products; 8.9 or newer has."
            )
        raise NeedsHardware(found, "Set engine.lingbot.fp8_linears to false.")
    if next(dit.parameters()).dtype != torch.bfloat16:
        raise NeedsHardware("fp8 products give bfloat16 numbers.", "Set engine.device.dtype to bfloat16.")
    rowwise = capability >= _ROWWISE_CAPABILITY
    count = 0
    for block in dit.blocks:
        for module in list(block.modules()):
            for name, child in list(module.named_children()):
                if isinstance(child, nn.Linear):
                    setattr(module, name, Fp8Linear(child, rowwise=rowwise))
                    count += 1
    return f"{count} matrices in fp8, scaled {'by row' if rowwise else 'as a whole'}"


def _scale(x: Tensor, rowwise: bool) -> Tensor:
    """What x is divided by so that its largest number is fp8's largest: float32 [rows, 1], or a scalar."""
    largest = x.abs().amax(dim=1, keepdim=True) if rowwise else x.abs().amax()
    return largest.float().clamp(min=1e-12) / torch.finfo(FP8).max


# ---- attention ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AttentionChoice:
    """The fastest kernel and what each took; kernels that cannot run here are left out."""

    backend: str
    milliseconds: Mapping[str, float]

    @property
    def line(self) -> str:
        took = ", ".join(f"{name} {ms:.2f} ms" for name, ms in sorted(self.milliseconds.items(), key=lambda i: i[1]))
        return f"attention: {self.backend} ({took})"


def choose_attention(shape: AttentionShape, *, device: torch.device, dtype: torch.dtype) -> AttentionChoice:
    """Time every kernel that this device may have. Raises NeedsHardware where none runs."""
    took: dict[str, float] = {}
    generator = torch.Generator(device).manual_seed(0)

    def tensor(tokens: int) -> Tensor:
        """As the cache has it: [B, N, heads, d], seen as [B, heads, N, d]."""
        size = (1, tokens, shape.heads, shape.head_dim)
        return torch.randn(size, generator=generator, device=device, dtype=dtype).transpose(1, 2)

    q, k, v = tensor(shape.tokens), tensor(shape.visible_tokens), tensor(shape.visible_tokens)
    for name, backend in _CANDIDATES.get(device.type, {"math": SDPBackend.MATH}).items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch explains at length why a kernel cannot run
            try:
                took[name] = _attention_ms(q, k, v, backend)
            except RuntimeError:
                continue
    if not took:
        raise NeedsHardware(f"No attention kernel of torch runs on {device} with {dtype}.", "Take another dtype.")
    return AttentionChoice(min(took, key=lambda name: took[name]), took)


def use_attention(choice: AttentionChoice) -> str:
    """Make it the only fused kernel of this process; returns a line for the log. Plain products stay as they are."""
    torch.backends.cuda.enable_flash_sdp(choice.backend == "flash")
    torch.backends.cuda.enable_mem_efficient_sdp(choice.backend == "efficient")
    torch.backends.cuda.enable_cudnn_sdp(choice.backend == "cudnn")
    return choice.line


def _attention_ms(q: Tensor, k: Tensor, v: Tensor, backend: SDPBackend) -> float:
    with sdpa_kernel(backend), torch.inference_mode():
        functional.scaled_dot_product_attention(q, k, v)  # the first call may look for the best variant
        wait_for(q.device)
        best = float("inf")
        for _ in range(_PROBE_ROUNDS):
            began = time.perf_counter()
            functional.scaled_dot_product_attention(q, k, v)
            wait_for(q.device)
            best = min(best, time.perf_counter() - began)
    return best * 1000


def wait_for(device: torch.device) -> None:
    """Until the device has done all that was asked of it."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
