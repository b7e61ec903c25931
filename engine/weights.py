"""Weights files: checked before a single number is read, then loaded onto a network that was built without memory.

Only safetensors are read. The other common form, a pickle, runs whatever program its author put into it.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

from engine.errors import WeightsProblem

MAX_HEADER_BYTES = 64 * 1024 * 1024
"""A header of 100 bytes a tensor for half a million tensors; anything longer is not a header."""

_LENGTH_BYTES = 8
_ITEM_BYTES = {
    "BOOL": 1,
    "U8": 1,
    "I8": 1,
    "F8_E4M3": 1,
    "F8_E5M2": 1,
    "I16": 2,
    "U16": 2,
    "F16": 2,
    "BF16": 2,
    "I32": 4,
    "U32": 4,
    "F32": 4,
    "I64": 8,
    "U64": 8,
    "F64": 8,
}
_FLOATS = ("F16", "BF16", "F32", "F64")
_SHOWN = 4
_AGAIN = "Download it again, and compare its size with the source."

_FOREIGN_STARTS: tuple[tuple[bytes, str, str], ...] = (
    (b"version https://git-lfs", "is a git-LFS pointer and not the file itself", "Run 'git lfs pull' to fetch it."),
    (
        b"PK\x03\x04",
        "is a pickle checkpoint in a zip (.pt, .pth or .bin), which could run any program when loaded",
        "Use the safetensors form of this model.",
    ),
    (
        b"\x80",
        "is a pickle checkpoint (.pt, .pth or .bin), which could run any program when loaded",
        "Use the safetensors form of this model.",
    ),
    (b"GGUF", "is a GGUF file", "Use the safetensors form of this model."),
    (b"<", "is a web page and not a weights file", "Download it again; the server probably asked for a login."),
)

_PICKLE_SUFFIXES = (".pth", ".pt", ".bin", ".ckpt", ".pkl")
PUBLISHED_PICKLES = ("Wan2.1_VAE.pth", "models_t5_umt5-xxl-enc-bf16.pth")
"""The only pickles that are read, with ``weights_only=True``: the original layout has these two in no other form."""

_FAMILIES: tuple[tuple[str, str], ...] = (
    ("lora", "a LoRA, which changes a model but is none"),
    ("patch_embedding_wancamctrl", "a LingBot-World transformer"),
    ("blocks.0.attn1", "a Wan transformer under diffusers names"),
    ("blocks.0.self_attn", "a Wan transformer without camera control"),
    ("encoder.downsamples", "a Wan autoencoder"),
    ("encoder.down_blocks", "a Wan autoencoder under diffusers names"),
    ("shared.weight", "a T5 text encoder"),
    ("token_embedding", "a text encoder"),
)


@dataclass(frozen=True, slots=True)
class TensorEntry:
    dtype: str
    shape: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.dtype} {list(self.shape)}"


@dataclass(frozen=True, slots=True)
class WeightsHeader:
    """What a file says of itself: its tensors by name, and the free text of its maker."""

    tensors: dict[str, TensorEntry]
    metadata: dict[str, str]


def read_header(path: Path) -> WeightsHeader:
    """The header of a safetensors file, checked against the size of the file.

    Raises WeightsProblem for a file that is missing, empty, truncated, of another kind, or damaged.
    """
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            start = file.read(64)
            _refuse_foreign(path, start, size)
            length = int.from_bytes(start[:_LENGTH_BYTES], "little")
            if length > MAX_HEADER_BYTES:
                raise WeightsProblem(path, "is not a safetensors file", "Name a .safetensors file.")
            file.seek(_LENGTH_BYTES)
            text = file.read(length)
    except FileNotFoundError:
        raise WeightsProblem(path, "the weights file is missing", "Check the path, or install the model.") from None
    except OSError as error:
        reason = error.strerror or "unknown reason"
        raise WeightsProblem(path, f"cannot be read ({reason})", "Name a readable .safetensors file.") from error
    if len(text) < length:
        raise WeightsProblem(path, f"is truncated: {size} bytes, and its header alone has {length}", _AGAIN)
    return _parse_header(path, text, size - _LENGTH_BYTES - length)


def load_into(module: nn.Module, path: Path, *, dtype: torch.dtype, device: torch.device | str = "cpu") -> None:
    """Give a module built on the meta device the tensors of ``path``, as ``dtype`` on ``device``.

    All names, shapes and types are checked first: either everything is assigned or nothing. Raises WeightsProblem with
    all that does not fit.
    """
    header = read_header(path)
    wanted = module.state_dict()
    assert all(tensor.is_meta for tensor in wanted.values()), "load_into fills a module built on the meta device"
    refuse_misfit(path, header, wanted)
    loaded: dict[str, Tensor] = {}
    for name, tensor in tensors_of(path):
        kind = dtype if wanted[name].is_floating_point() else wanted[name].dtype
        # A copy even where nothing changes: the file may be replaced while its numbers are in use.
        loaded[name] = tensor.to(device=device, dtype=kind, copy=True)
    module.load_state_dict(loaded, strict=True, assign=True)


def tensors_of(path: Path) -> Iterator[tuple[str, Tensor]]:
    """Every tensor of a safetensors file on the CPU, in the order of the file. The numbers are the file's own pages:
    copy what is kept. Raises WeightsProblem where the file is damaged."""
    try:
        with safe_open(path, framework="pt") as file:
            for name in file.offset_keys():
                yield name, file.get_tensor(name)
    except (SafetensorError, OSError) as error:
        raise WeightsProblem(path, f"is damaged ({error})", _AGAIN) from error


def refuse_pickle(path: Path) -> None:
    """Raise WeightsProblem for a pickle, unless it is one of the two published asset files."""
    if path.suffix.lower() in _PICKLE_SUFFIXES and path.name not in PUBLISHED_PICKLES:
        allowed = " and ".join(PUBLISHED_PICKLES)
        cure = f"Use the safetensors form of this model; only {allowed} are read in this form."
        raise WeightsProblem(path, "is a pickle checkpoint, which could run any program when loaded", cure)


def file_sha256(path: Path) -> str:
    """Hexadecimal; names exactly which weights made a walk."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        reason = error.strerror or "unknown reason"
        raise WeightsProblem(path, f"cannot be read ({reason})", "Check the path, or install the model.") from error


def describe(header: WeightsHeader) -> str:
    """What a file seems to be, from the names of its tensors."""
    for sign, family in _FAMILIES:
        if any(sign in name for name in header.tensors):
            return f"{family} of {len(header.tensors)} tensors"
    return f"another model of {len(header.tensors)} tensors"


def merged(headers: Mapping[Path, WeightsHeader], names: NameMap | None = None) -> WeightsHeader:
    """All shards as one header, in original names if a map is given. Raises WeightsProblem for a tensor told twice."""
    tensors: dict[str, TensorEntry] = {}
    metadata: dict[str, str] = {}
    for path, header in headers.items():
        metadata.update(header.metadata)
        for name, entry in header.tensors.items():
            own = name if names is None else names.to_original(name)
            if own in tensors:
                raise WeightsProblem(path, f"holds '{name}', which another shard holds too", _AGAIN)
            tensors[own] = entry
    return WeightsHeader(tensors, metadata)


def _refuse_foreign(path: Path, start: bytes, size: int) -> None:
    if size == 0:
        raise WeightsProblem(path, "is empty", _AGAIN)
    for sign, problem, cure in _FOREIGN_STARTS:
        # A header length may begin with any byte; only what cannot be one is judged by its first bytes.
        if start.lstrip().startswith(sign) and start[_LENGTH_BYTES : _LENGTH_BYTES + 1] != b"{":
            raise WeightsProblem(path, problem, cure)
    if size <= _LENGTH_BYTES:
        raise WeightsProblem(path, f"is truncated: {size} bytes", _AGAIN)


def _parse_header(path: Path, text: bytes, data_bytes: int) -> WeightsHeader:
    tensors: dict[str, TensorEntry] = {}
    metadata: dict[str, str] = {}
    end_of_data = 0
    try:
        for name, entry in json.loads(text).items():
            if name == "__metadata__":
                metadata = {str(key): str(value) for key, value in entry.items()}
                continue
            tensors[name] = TensorEntry(str(entry["dtype"]), tuple(int(length) for length in entry["shape"]))
            start, end = (int(offset) for offset in entry["data_offsets"])
            expected = math.prod(tensors[name].shape) * _ITEM_BYTES[tensors[name].dtype]
            if start < 0 or end - start != expected or min(tensors[name].shape, default=1) < 0:
                raise ValueError(f"'{name}' has {end - start} bytes for {tensors[name]}")
            end_of_data = max(end_of_data, end)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise WeightsProblem(
            path, f"has a damaged safetensors header ({type(error).__name__}: {error})", _AGAIN
        ) from error
    if end_of_data > data_bytes:
        raise WeightsProblem(path, f"is truncated: {data_bytes} of {end_of_data} bytes of numbers", _AGAIN)
    if not tensors:
        raise WeightsProblem(path, "holds no tensors", _AGAIN)
    return WeightsHeader(tensors, metadata)


def refuse_misfit(path: Path, header: WeightsHeader, wanted: Mapping[str, Tensor]) -> None:
    """Raise one WeightsProblem with all names, shapes and types that differ, and with what the file seems to be."""
    found = header.tensors
    common = [name for name in wanted if name in found]
    shapes = [
        f"{name} is {list(found[name].shape)} and should be {list(wanted[name].shape)}"
        for name in common
        if found[name].shape != tuple(wanted[name].shape)
    ]
    kinds = [
        f"{name} is {found[name].dtype} and should be {'a float' if wanted[name].is_floating_point() else 'whole'}"
        for name in common
        if (found[name].dtype in _FLOATS) != wanted[name].is_floating_point()
    ]
    problems = [
        _listed("missing", (name for name in wanted if name not in found)),
        _listed("unexpected", (name for name in found if name not in wanted)),
        _listed("of the wrong shape", shapes),
        _listed("of the wrong type", kinds),
    ]
    told = "; ".join(problem for problem in problems if problem)
    if told:
        cure = f"It seems to be {describe(header)}; name the file and configuration of one and the same model."
        raise WeightsProblem(path, f"does not hold the {len(wanted)} tensors of this model: {told}", cure)


def _listed(what: str, names: Iterable[str]) -> str:
    found = list(names)
    if not found:
        return ""
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return f"{len(found)} {what} ({', '.join(found[:_SHOWN])}{more})"


class NameMap:
    """Names of one model in two conventions. ``#`` in a pair stands for a number; what follows a pair is kept.

    A name that is in no pair is the same in both conventions.
    """

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        kept = tuple(pairs)
        self._forth = [(_pattern(original), other) for original, other in kept]
        self._back = [(_pattern(other), original) for original, other in kept]

    def to_original(self, name: str) -> str:
        return _renamed(name, self._back)

    def to_other(self, name: str) -> str:
        return _renamed(name, self._forth)


def _pattern(template: str) -> re.Pattern[str]:
    return re.compile(re.escape(template).replace(r"\#", "([0-9]+)") + r"(\..+)?")


def _renamed(name: str, rules: Iterable[tuple[re.Pattern[str], str]]) -> str:
    for pattern, template in rules:
        found = pattern.fullmatch(name)
        if found is not None:
            *numbers, rest = found.groups()
            for number in numbers:
                template = template.replace("#", number, 1)
            return template + (rest or "")
    return name


def _nested(places: Iterable[tuple[str, str]], parts: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    kept = list(parts)
    return [(f"{place}.{part}", f"{other}.{its}") for place, other in places for part, its in kept]


_ATTENTION = [
    ("q", "to_q"),
    ("k", "to_k"),
    ("v", "to_v"),
    ("o", "to_out.0"),
    ("norm_q", "norm_q"),
    ("norm_k", "norm_k"),
]

DIT_NAMES = NameMap(
    [
        ("text_embedding.0", "condition_embedder.text_embedder.linear_1"),
        ("text_embedding.2", "condition_embedder.text_embedder.linear_2"),
        ("time_embedding.0", "condition_embedder.time_embedder.linear_1"),
        ("time_embedding.2", "condition_embedder.time_embedder.linear_2"),
        ("time_projection.1", "condition_embedder.time_proj"),
        ("blocks.#.modulation", "blocks.#.scale_shift_table"),
        *_nested([("blocks.#.self_attn", "blocks.#.attn1"), ("blocks.#.cross_attn", "blocks.#.attn2")], _ATTENTION),
        ("blocks.#.norm3", "blocks.#.norm2"),
        ("blocks.#.ffn.0", "blocks.#.ffn.net.0.proj"),
        ("blocks.#.ffn.2", "blocks.#.ffn.net.2"),
        ("head.modulation", "scale_shift_table"),
        ("head.head", "proj_out"),
    ]
)
"""Original Wan -> diffusers' WanTransformer3DModel. The camera's tensors have one name only."""

_HALVES = [("encoder", "encoder"), ("decoder", "decoder")]
_RESIDUAL = [
    ("residual.0", "norm1"),
    ("residual.2", "conv1"),
    ("residual.3", "norm2"),
    ("residual.6", "conv2"),
    ("shortcut", "conv_shortcut"),
]
_RESNETS = [
    ("encoder.downsamples.#", "encoder.down_blocks.#"),
    *_nested(_HALVES, [("middle.0", "mid_block.resnets.0"), ("middle.2", "mid_block.resnets.1")]),
    # The original counts three residual blocks and the enlargement after them through; diffusers by stage.
    *((f"decoder.upsamples.{i}", f"decoder.up_blocks.{i // 4}.resnets.{i % 4}") for i in range(15) if i % 4 < 3),
]

VAE_NAMES = NameMap(
    [
        *_nested(_RESNETS, _RESIDUAL),
        *_nested(_HALVES, [("conv1", "conv_in"), ("head.0", "norm_out"), ("head.2", "conv_out")]),
        *_nested(_HALVES, [("middle.1", "mid_block.attentions.0")]),
        ("encoder.downsamples.#", "encoder.down_blocks.#"),
        *((f"decoder.upsamples.{i}", f"decoder.up_blocks.{i // 4}.upsamplers.0") for i in (3, 7, 11)),
        ("conv1", "quant_conv"),
        ("conv2", "post_quant_conv"),
    ]
)
"""Original Wan2.1_VAE -> diffusers' AutoencoderKLWan (four stages of two residual blocks, as published)."""

T5_NAMES = NameMap(
    [
        ("token_embedding", "shared"),
        *_nested([("blocks.#.attn", "encoder.block.#.layer.0.SelfAttention")], [(part, part) for part in "qkvo"]),
        ("blocks.#.pos_embedding.embedding", "encoder.block.#.layer.0.SelfAttention.relative_attention_bias"),
        ("blocks.#.norm1", "encoder.block.#.layer.0.layer_norm"),
        ("blocks.#.norm2", "encoder.block.#.layer.1.layer_norm"),
        ("blocks.#.ffn.gate.0", "encoder.block.#.layer.1.DenseReluDense.wi_0"),
        ("blocks.#.ffn.fc1", "encoder.block.#.layer.1.DenseReluDense.wi_1"),
        ("blocks.#.ffn.fc2", "encoder.block.#.layer.1.DenseReluDense.wo"),
        ("norm", "encoder.final_layer_norm"),
    ]
)
"""Original umt5-xxl encoder of Wan -> transformers' UMT5EncoderModel (its ``encoder.embed_tokens`` is ``shared``)."""
