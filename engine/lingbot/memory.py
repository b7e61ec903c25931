"""How much memory a LingBot-World takes: one formula, asked before anything is loaded. Integers only, no torch.

What is counted: weights, keys and values of the remembered latent frames, the camera's scales and shifts of a chunk,
the image codec with what its decoder remembers, the text encoder, and the work of the largest stage. What the codec
remembers follows from its layers (Wan 2.1); the factors of the work were counted, tensor by tensor, on torch's meta
device.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from engine.geometry import ChunkGeometry
from engine.models.dit_config import DiTConfig
from engine.window import StreamShape, WindowPolicy, effective_cache_latent_frames

TEXT_ENCODER_BYTES = 11_362_000_000
"""UMT5-XXL's encoder in bfloat16, as published."""
RESERVE_BYTES = 1_000_000_000
"""CUDA's context, workspaces of its libraries, and gaps between allocations; an estimate."""
FP8_CAPABILITY = (8, 9)
"""Ada and newer multiply in fp8."""
SMALLER_SIZES = ((832, 480), (640, 368), (480, 272))
"""What a picture is reduced to where memory is short, largest first: 16:9 as near as multiples of 16 can be."""

_BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}
_CODEC_ENCODER_PARAMETERS, _CODEC_DECODER_PARAMETERS = 53_596_000, 73_296_000
_CACHED_FRAMES = 2
_DECODER_CHANNELS = {8: 16 + 11 * 384, 4: 192 + 6 * 384, 2: 6 * 192, 1: 7 * 96}
"""Input channels of all causal convolutions of the decoder, by how much smaller their pictures are than the frames."""
_ENCODER_CHANNELS = {8: 9 * 384 + 192, 4: 192 // 2 + 192 + 3 * 384, 2: 96 + 3 * 192, 1: 3 + 4 * 96}
"""The same of the encoder; its convolutions over time alone remember one frame, so they count half."""
_CODEC_WIDTH = 96
_DECODE_TENSORS, _ENCODE_TENSORS = 7, 4
"""Tensors of four full frames at the codec's width that are alive at once."""


class Planned(Protocol):
    """What is needed to know of a model; ``engine.lingbot.config.LingBotConfig`` has it."""

    @property
    def name(self) -> str: ...
    @property
    def dit(self) -> DiTConfig: ...
    @property
    def stream(self) -> StreamShape: ...
    @property
    def width_px(self) -> int: ...
    @property
    def height_px(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Published:
    """A model that is known without its files."""

    name: str
    dit: DiTConfig
    stream: StreamShape
    width_px: int = 832
    height_px: int = 480


_DIT_14B = DiTConfig(dim=5120, heads=40, layers=40, ffn_dim=13824, text_length=512, text_dim=4096)
PUBLISHED: Mapping[str, Published] = {
    "v1-fast": Published("LingBot-World v1-fast", _DIT_14B, StreamShape(3, 18, 9)),
    "v2-14b": Published("LingBot-World v2 14B", _DIT_14B, StreamShape(3, 18, 6)),
    "v2-1.3b": Published(
        "LingBot-World v2 1.3B", replace(_DIT_14B, dim=1536, heads=12, layers=30, ffn_dim=8960), StreamShape(4, 18, 6)
    ),
}
"""Equal to ``engine.lingbot.config.builtin``, which needs torch (a test holds both together)."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the user fixed; "auto" and None leave the choice to ``plan``. ``fp8_linears``: matrices of the blocks."""

    dtype: str = "auto"
    text_encoder: str = "cpu"
    fp8_linears: bool | None = None
    size_fixed: bool = False
    window_fixed: bool = False


@dataclass(frozen=True, slots=True)
class Room:
    """What there is. ``gpu_bytes`` free now; ``capability`` of the card; ``host_bytes`` free, None: unknown."""

    gpu_bytes: int
    capability: tuple[int, int]
    host_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Needed:
    """Bytes on the GPU, part by part. ``work`` is that of the largest stage, beyond the rest; ``loading`` all that is
    there at once while the model is loaded, before matrices become fp8."""

    weights: int
    kv: int
    text_kv: int
    camera: int
    codec: int
    codec_state: int
    text: int
    work: int
    loading: int
    reserve: int = RESERVE_BYTES

    @property
    def total(self) -> int:
        """What must be free: for walking, or for loading where that takes more."""
        return max(sum(value for _, value in self.lines()), self.loading)

    def lines(self) -> list[tuple[str, int]]:
        """(what, bytes) for people, largest first."""
        named = [
            ("weights", self.weights),
            ("memory of the walk (keys and values)", self.kv),
            ("keys and values of the prompt", self.text_kv),
            ("camera", self.camera),
            ("image codec", self.codec),
            ("what the image codec remembers", self.codec_state),
            ("text encoder", self.text),
            ("work", self.work),
            ("reserve", self.reserve),
        ]
        return sorted(named, key=lambda item: -item[1])


@dataclass(frozen=True, slots=True)
class Setup:
    """One way to run a model. ``interactive`` false: the interactive window's larger memory is left out."""

    dtype: str
    fp8_linears: bool
    text_encoder: str
    interactive: bool
    width_px: int
    height_px: int


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """The setup that was chosen, what it needs, what was given up for it. Not ``fits``: ``cure`` says what helps."""

    model: str
    setup: Setup
    policy: WindowPolicy
    needed: Needed
    free_bytes: int
    fits: bool
    cure: str
    notes: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """The plan in one sentence."""
        setup, fp8 = self.setup, " with fp8 matrices" if self.setup.fp8_linears else ""
        how = f"{setup.dtype}{fp8}, {setup.width_px}x{setup.height_px}, text encoder: {setup.text_encoder}"
        found = f"{gigabytes(self.needed.total)} of GPU memory needed, {gigabytes(self.free_bytes)} free"
        return f"{self.model} ({how}): {found}"


def plan(model: Planned, policy: WindowPolicy, room: Room, wishes: Wishes | None = None) -> MemoryPlan:
    """The first of ``setups`` that fits, from harmless to hard; the last one, with a cure, where none does."""
    asked = Wishes() if wishes is None else wishes
    tried = list(setups(model, policy, room, asked))
    first = tried[0]
    for setup in tried:
        need = needed(model, policy, setup)
        host = _host_problem(setup, room)
        if need.total <= room.gpu_bytes and host is None:
            return _planned(model, policy, room, setup, need, _given_up(first, setup), "")
    smallest = min(tried, key=lambda setup: needed(model, policy, setup).total)
    need = needed(model, policy, smallest)
    if need.total <= room.gpu_bytes:
        cure = _host_problem(smallest, room) or ""
    else:
        missing = gigabytes(need.total - room.gpu_bytes)
        cure = f"{missing} of GPU memory are missing: close other programs that use the card" + _cures(
            model, asked, room
        )
    return replace(_planned(model, policy, room, smallest, need, (), cure), fits=False)


def setups(model: Planned, policy: WindowPolicy, room: Room, asked: Wishes) -> Iterator[Setup]:
    """From what was asked down to what takes least; every step gives up one thing more."""
    dtype = "bfloat16" if asked.dtype == "auto" else asked.dtype
    has_fp8 = room.capability >= FP8_CAPABILITY
    now = Setup(dtype, bool(asked.fp8_linears), asked.text_encoder, policy.interactive, model.width_px, model.height_px)
    yield now
    if now.text_encoder != "cpu":
        now = replace(now, text_encoder="cpu")
        yield now
    if has_fp8 and asked.fp8_linears is None and dtype != "float32":
        now = replace(now, fp8_linears=True)
        yield now
    if now.interactive and not asked.window_fixed:
        now = replace(now, interactive=False)
        yield now
    if not asked.size_fixed:
        for width, height in SMALLER_SIZES:
            if width < model.width_px:
                yield replace(now, width_px=width, height_px=height)


def needed(model: Planned, policy: WindowPolicy, setup: Setup) -> Needed:
    """Bytes of GPU memory that ``model`` takes when it runs as ``setup`` says."""
    dit, stream, width = model.dit, model.stream, _BYTES[setup.dtype]
    geometry = ChunkGeometry(setup.width_px, setup.height_px, stream.chunk_latent_frames)
    chosen = policy if setup.interactive else replace(policy, interactive=False)
    frames = effective_cache_latent_frames(chosen, stream)
    linears, rest = parameters(dit)
    codec_state = _codec_state(_DECODER_CHANNELS, setup) * width
    camera = camera_elements(dit, geometry) * width
    text = TEXT_ENCODER_BYTES if setup.text_encoder == "keep" else 0
    codec = _CODEC_ENCODER_PARAMETERS * _BYTES["float32"] + _CODEC_DECODER_PARAMETERS * width
    return Needed(
        weights=linears * (1 if setup.fp8_linears else width) + rest * width,
        kv=frames * kv_elements_per_latent_frame(dit, geometry) * width,
        text_kv=2 * dit.layers * dit.text_length * dit.dim * width,
        camera=camera,
        codec=codec,
        codec_state=codec_state,
        text=text,
        work=max(
            _denoise_work(dit, chosen, stream, geometry, width),
            _DECODE_TENSORS * _full_frames(setup) * width,
            _encode_work(setup) - codec_state - camera,  # both are empty while a world opens
            TEXT_ENCODER_BYTES - text - camera if setup.text_encoder == "unload" else 0,
        ),
        loading=(linears + rest) * width + codec + text + RESERVE_BYTES,
    )


def parameters(dit: DiTConfig) -> tuple[int, int]:
    """Numbers in the matrices of all blocks, which may be fp8, and in all the rest of a ``CausalDiT``."""
    dim, patch = dit.dim, dit.patch_px**2
    linears = dit.layers * (12 * dim * dim + 2 * dim * dit.ffn_dim)  # two attentions and the camera's four; ffn
    vectors = dit.layers * (12 * dim + dit.ffn_dim + dim + 6 * dim + 4 * dim + 2 * dim)
    embeddings = (dit.in_channels + dit.camera_channels) * patch * dim + 2 * dim + 2 * (dim * dim + dim)
    text = dit.text_dim * dim + dim + dim * dim + dim
    time = dit.freq_dim * dim + dim + 7 * (dim * dim + dim)
    head = 2 * dim + (dim + 1) * dit.out_channels * patch
    return linears, vectors + embeddings + text + time + head


def kv_elements_per_latent_frame(dit: DiTConfig, geometry: ChunkGeometry) -> int:
    """Numbers that one remembered latent frame takes in all layers."""
    return 2 * dit.layers * geometry.tokens_per_latent_frame * dit.dim


def camera_elements(dit: DiTConfig, geometry: ChunkGeometry) -> int:
    """Numbers in the scales and shifts of one chunk, all layers."""
    return 2 * dit.layers * geometry.tokens_per_chunk * dit.dim


def requirement(model: Planned, policy: WindowPolicy | None = None) -> str:
    """One line for a list of models: what it takes on a card as it comes, text encoder on the processor."""
    setup = Setup("bfloat16", False, "cpu", False, model.width_px, model.height_px)
    chosen = WindowPolicy() if policy is None else policy
    plain = needed(model, chosen, replace(setup, interactive=chosen.interactive)).total
    fp8 = needed(model, chosen, replace(setup, interactive=chosen.interactive, fp8_linears=True)).total
    return (
        f"{gigabytes(plain)} of GPU memory at {model.width_px}x{model.height_px}, {gigabytes(fp8)} with fp8 matrices, "
        f"and {gigabytes(TEXT_ENCODER_BYTES)} of main memory for the text encoder"
    )


def gigabytes(count: int) -> str:
    """Bytes for people, in powers of ten as cards are sold."""
    return f"{count / 1e9:.1f} GB"


def _planned(
    model: Planned,
    policy: WindowPolicy,
    room: Room,
    setup: Setup,
    need: Needed,
    notes: tuple[str, ...],
    cure: str,
) -> MemoryPlan:
    chosen = policy if setup.interactive else replace(policy, interactive=False)
    return MemoryPlan(model.name, setup, chosen, need, room.gpu_bytes, True, cure, notes)


def _given_up(asked: Setup, chosen: Setup) -> tuple[str, ...]:
    """One sentence for each thing that is not as it was asked."""
    said = []
    if chosen.text_encoder != asked.text_encoder:
        said.append(f"The text encoder runs on the processor, for want of {gigabytes(TEXT_ENCODER_BYTES)} on the GPU.")
    if chosen.fp8_linears and not asked.fp8_linears:
        said.append("The blocks' matrices are kept in fp8, for want of GPU memory; pictures differ a little.")
    if asked.interactive and not chosen.interactive:
        said.append("The window over the past is the model's own and does not follow motion, for want of GPU memory.")
    if chosen.width_px != asked.width_px:
        said.append(f"Pictures are {chosen.width_px}x{chosen.height_px}, for want of GPU memory.")
    return tuple(said)


def _cures(model: Planned, asked: Wishes, room: Room) -> str:
    """What else a user could allow."""
    said = []
    if asked.size_fixed:
        said.append("choose a smaller picture (engine.lingbot.width_px and height_px)")
    if asked.dtype == "float32":
        said.append("set engine.device.dtype to bfloat16")
    if asked.fp8_linears is False and room.capability >= FP8_CAPABILITY:
        said.append("allow fp8 matrices (engine.lingbot.fp8_linears)")
    said.append("lower engine.lingbot.window_latent_frames")
    if model.dit.dim > PUBLISHED["v2-1.3b"].dit.dim:
        said.append("take the 1.3B model")
    return "".join(f", or {cure}" for cure in said) + "."


def _host_problem(setup: Setup, room: Room) -> str | None:
    if setup.text_encoder == "keep" or room.host_bytes is None or room.host_bytes >= TEXT_ENCODER_BYTES:
        return None
    return (
        f"The text encoder needs {gigabytes(TEXT_ENCODER_BYTES)} of main memory and {gigabytes(room.host_bytes)} are "
        "free: close other programs."
    )


def _denoise_work(
    dit: DiTConfig, policy: WindowPolicy, stream: StreamShape, geometry: ChunkGeometry, width: int
) -> int:
    """The peak is in a feed-forward: two residual streams in float32, a few tensors like them, and both hidden ones."""
    tokens = geometry.tokens_per_chunk
    peak = tokens * dit.dim * (2 * 4 + 4 * width) + 2 * tokens * dit.ffn_dim * width
    if not policy.active or policy.still_latent_frames is None:
        return peak
    seen = stream.sink_latent_frames + policy.still_latent_frames + stream.chunk_latent_frames
    gathered = 2 * seen * geometry.tokens_per_latent_frame * dit.dim * width  # one layer's, where the window has a gap
    return peak + gathered


def _codec_state(channels: Mapping[int, int], setup: Setup) -> int:
    """Numbers that the causal convolutions keep from one latent frame to the next."""
    pixels = setup.width_px * setup.height_px
    return sum(_CACHED_FRAMES * count * pixels // scale**2 for scale, count in channels.items())


def _full_frames(setup: Setup) -> int:
    return 4 * _CODEC_WIDTH * setup.width_px * setup.height_px


def _encode_work(setup: Setup) -> int:
    """Of the first picture and its blank frames, once a world, in float32."""
    numbers = _codec_state(_ENCODER_CHANNELS, setup) + _ENCODE_TENSORS * _full_frames(setup)
    return numbers * _BYTES["float32"]
