"""Weights files: checked before a single number is read, then loaded onto a network that was built without memory.

Only safetensors are read. The other common form, a pickle, runs whatever program its author put into it.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable
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
    _refuse_misfit(path, header, wanted)
    loaded: dict[str, Tensor] = {}
    try:
        with safe_open(path, framework="pt") as file:
            for name, tensor in wanted.items():
                kind = dtype if tensor.is_floating_point() else tensor.dtype
                # A copy even where nothing changes: the file may be replaced while its numbers are in use.
                loaded[name] = file.get_tensor(name).to(device=device, dtype=kind, copy=True)
    except (SafetensorError, OSError) as error:
        raise WeightsProblem(path, f"is damaged ({error})", _AGAIN) from error
    module.load_state_dict(loaded, strict=True, assign=True)


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


def _refuse_misfit(path: Path, header: WeightsHeader, wanted: dict[str, Tensor]) -> None:
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
