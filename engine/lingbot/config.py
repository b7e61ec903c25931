"""What a LingBot-World model is: its sizes, how it remembers, and how it was distilled.

The checkpoint's own config.json wins over the table here, which is for repositories that ship none; what the user asks
for wins over both. Nothing is taken from the name of a file or folder.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Literal

from engine.catalogue import RECORD
from engine.errors import BadValue, FileProblem, MissingModelValue
from engine.lingbot.layouts import CheckpointFiles, read_json
from engine.models.dit_config import DiTConfig
from engine.weights import DIT_NAMES, WeightsHeader, merged, read_header
from engine.window import StreamShape

HEAD_DIM = 128
"""Of every published size; a head's width cannot be read off the weights."""
_CURE_CONFIG = "Restore config.json as it was published."


class Family(Enum):
    """Models that share a distillation. The two of 14B have the same sizes and the same config.json."""

    V1_FAST = "v1-fast"
    V2_14B = "v2-14b"
    V2_1_3B = "v2-1.3b"


@dataclass(frozen=True, slots=True)
class ScheduleSpec:
    """``steps`` are indices into the table for "official", listed steps for "sglang" (see ``engine.schedule``)."""

    kind: Literal["official", "sglang"]
    shift: float
    steps: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LingBotConfig:
    """One model, ready to be built. ``camera`` names a preset of ``engine.camera``; sizes are in pixels."""

    name: str
    family: Family
    dit: DiTConfig
    stream: StreamShape
    schedule: ScheduleSpec
    camera: str
    fps: float
    width_px: int = 832
    height_px: int = 480
    text_length: int = 512


@dataclass(frozen=True, slots=True)
class StreamOverrides:
    """What the user asks for instead of the checkpoint's own values; None leaves them."""

    family: Family | None = None
    chunk_latent_frames: int | None = None
    window_latent_frames: int | None = None
    sink_latent_frames: int | None = None


_DIT_14B = DiTConfig(dim=5120, heads=40, layers=40, ffn_dim=13824, text_length=512, text_dim=4096)
_DIT_1_3B = replace(_DIT_14B, dim=1536, heads=12, layers=30, ffn_dim=8960)
_V1_SCHEDULE = ScheduleSpec("official", 10.0, (0, 179, 358, 679))
_V2_SCHEDULE = ScheduleSpec("official", 5.0, (0, 250, 500, 750))

_BUILTIN = {
    # Streaming values: the published config.json of v1-fast; upstream's own script for the 14B; what is known to run
    # the 1.3B sharply (chunks of 3 blur it), as its repository says nothing. Camera: v1 has an integrator of its own
    # for keys; v2's code reads files of poses, and SGLang's comes closest without a look into the future.
    Family.V1_FAST: LingBotConfig(
        "LingBot-World v1-fast", Family.V1_FAST, _DIT_14B, StreamShape(3, 18, 9), _V1_SCHEDULE, "lingbot", 16.0
    ),
    Family.V2_14B: LingBotConfig(
        "LingBot-World v2 14B", Family.V2_14B, _DIT_14B, StreamShape(3, 18, 6), _V2_SCHEDULE, "sglang", 16.0
    ),
    Family.V2_1_3B: LingBotConfig(
        "LingBot-World v2 1.3B", Family.V2_1_3B, _DIT_1_3B, StreamShape(4, 18, 6), _V2_SCHEDULE, "sglang", 16.0
    ),
}


def builtin(family: Family) -> LingBotConfig:
    """The published model of this family, for a repository without config.json and for measuring without weights."""
    return _BUILTIN[family]


def parameter_count(config: DiTConfig) -> int:
    """Numbers in a ``CausalDiT`` of these sizes: 18.544 B for the 14B model, 1.710 B for the 1.3B one."""
    dim, patch = config.dim, config.patch_px**2
    square = dim * dim + dim
    attention = 4 * square + 2 * dim
    ffn = 2 * dim * config.ffn_dim + config.ffn_dim + dim
    block = 6 * dim + 2 * attention + 2 * dim + ffn + 4 * square  # modulation, attentions, norm3, ffn, camera
    patches = (config.in_channels + config.camera_channels) * patch * dim + 2 * dim
    embeddings = 2 * square + _mlp(config.text_dim, dim) + _mlp(config.freq_dim, dim) + 6 * square
    out = config.out_channels * patch
    return patches + embeddings + config.layers * block + 2 * dim + dim * out + out


def _mlp(width: int, dim: int) -> int:
    return width * dim + dim + dim * dim + dim


def config_of(files: CheckpointFiles, overrides: StreamOverrides | None = None) -> LingBotConfig:
    """The configuration of the checkpoint at hand. Opens config.json and the headers of the weights.

    Raises MissingModelValue or FileProblem for a config.json that lacks a value or holds a bad one, BadValue for
    overrides that do not fit together, WeightsProblem for files that are no safetensors.
    """
    asked = StreamOverrides() if overrides is None else overrides
    header = transformer_header(files)
    values = {} if files.config is None else read_json(files.config)
    place = files.root if files.config is None else files.config
    dit = _sizes_of_header(place, header) if files.config is None else _sizes_of_config(place, values, header)
    base = builtin(asked.family or _recorded_family(files) or _family_of(dit, files))
    stream = _stream(place, values, base.stream, asked)
    return replace(base, dit=dit, stream=stream, text_length=dit.text_length)


def transformer_header(files: CheckpointFiles) -> WeightsHeader:
    """What all shards of the transformer hold, under original names."""
    return merged({path: read_header(path) for path in files.transformer}, DIT_NAMES)


def _family_of(dit: DiTConfig, files: CheckpointFiles) -> Family:
    """Of a checkpoint that nobody names. The two 14B models cannot be told apart; v2 is the one that is published."""
    small = builtin(Family.V2_1_3B).dit
    bare = files.layout == "flat" and files.config is None  # only the 1.3B was published like this
    if (dit.dim, dit.layers) == (small.dim, small.layers) or (bare and dit.dim < small.dim):
        return Family.V2_1_3B
    return Family.V2_14B


def _recorded_family(files: CheckpointFiles) -> Family | None:
    """What our own download wrote down beside the files."""
    path = files.root / RECORD
    if not path.is_file():
        return None
    value = read_json(path).get("family")
    if value not in [family.value for family in Family]:
        raise FileProblem(path, "names no family of models that this version knows", "Delete this file.")
    return Family(value)


def _sizes_of_header(place: Path, header: WeightsHeader) -> DiTConfig:
    """Sizes from the shapes of the tensors, for a repository without config.json."""
    shapes = {name: entry.shape for name, entry in header.tensors.items()}
    blocks = {int(name.split(".")[1]) for name in shapes if name.startswith("blocks.") and name.split(".")[1].isdigit()}
    patch, text = shapes.get("patch_embedding.weight", ()), shapes.get("text_embedding.0.weight", ())
    ffn = shapes.get("blocks.0.ffn.0.weight", ())
    if len(patch) != 5 or len(text) != 2 or len(ffn) != 2 or patch[0] % HEAD_DIM:
        problem = "has no config.json, and its tensors are not those of a LingBot-World transformer"
        raise FileProblem(place, problem, "Name the folder of a LingBot-World model.")
    return DiTConfig(
        dim=patch[0],
        heads=patch[0] // HEAD_DIM,
        layers=max(blocks) + 1,
        ffn_dim=ffn[0],
        text_length=_DIT_14B.text_length,
        text_dim=text[1],
        in_channels=patch[1],
    )


def _sizes_of_config(place: Path, values: Mapping[str, object], header: WeightsHeader) -> DiTConfig:
    """Sizes from a config.json in the original's words (dim, num_heads) or in diffusers' (attention_head_dim)."""
    read = _Reader(place, values)
    heads = read.integer("num_heads", "num_attention_heads")
    dim = read.integer("dim") if "dim" in values else heads * read.integer("attention_head_dim")
    # The original's config.json leaves the width of a text row out, and diffusers' their number.
    text = header.tensors.get("text_embedding.0.weight")
    text_dim = text.shape[-1] if text is not None and text.shape else _DIT_14B.text_dim
    try:
        return DiTConfig(
            dim=dim,
            heads=heads,
            layers=read.integer("num_layers"),
            ffn_dim=read.integer("ffn_dim"),
            text_length=read.integer("text_len", default=_DIT_14B.text_length),
            text_dim=read.integer("text_dim", default=text_dim),
            in_channels=read.integer("in_dim", "in_channels"),
            out_channels=read.integer("out_dim", "out_channels"),
            freq_dim=read.integer("freq_dim"),
            eps=read.number("eps", default=_DIT_14B.eps),
        )
    except ValueError as error:
        raise FileProblem(place, f"has sizes that do not fit together ({error})", _CURE_CONFIG) from None


def _stream(place: Path, values: Mapping[str, object], base: StreamShape, asked: StreamOverrides) -> StreamShape:
    """A window of -1 says nothing, and then a sink of 0 beside it says nothing either (upstream's plain defaults)."""
    read = _Reader(place, values)
    local, sliding = read.optional("local_attn_size"), read.optional("sliding_window_num_frames")
    window = local if local is not None and local > 0 else sliding
    sink = read.optional("sink_size")
    own = StreamShape(
        read.optional("num_frames_per_block") or base.chunk_latent_frames,
        window or base.window_latent_frames,
        base.sink_latent_frames if sink is None or (not sink and not window) else sink,
    )
    wanted = StreamShape(
        own.chunk_latent_frames if asked.chunk_latent_frames is None else asked.chunk_latent_frames,
        own.window_latent_frames if asked.window_latent_frames is None else asked.window_latent_frames,
        own.sink_latent_frames if asked.sink_latent_frames is None else asked.sink_latent_frames,
    )
    chunk, sink_frames = wanted.chunk_latent_frames, wanted.sink_latent_frames
    if chunk < 1 or sink_frames < 0 or wanted.window_latent_frames < sink_frames + chunk:
        got = f"chunk {chunk}, window {wanted.window_latent_frames}, sink {sink_frames}"
        raise BadValue(str(place), got, "a chunk of 1 or more and a window that holds sink and chunk (latent frames)")
    return wanted


class _Reader:
    """Typed reading of config.json; every absence and every wrong type names the value."""

    def __init__(self, place: Path, values: Mapping[str, object]) -> None:
        self.place, self.values = place, values

    def integer(self, *names: str, default: int | None = None) -> int:
        """The first of ``names`` that is there, 1 or more."""
        for name in names:
            value = self.optional(name)
            if value is not None:
                if value < 1:
                    raise FileProblem(self.place, f"'{name}' is {value} and must be 1 or more", _CURE_CONFIG)
                return value
        if default is None:
            raise MissingModelValue(str(self.place), names[-1])
        return default

    def number(self, name: str, default: float) -> float:
        value = self.values.get(name, default)
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise FileProblem(self.place, f"'{name}' is not a number", _CURE_CONFIG)
        return float(value)

    def optional(self, name: str) -> int | None:
        value = self.values.get(name)
        if value is None:
            return None
        if not isinstance(value, int) or isinstance(value, bool):
            raise FileProblem(self.place, f"'{name}' is not a whole number", _CURE_CONFIG)
        return value
