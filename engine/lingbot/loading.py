"""LingBot-World's transformer from disk to device, shard by shard, and the identity of its weights.

Everything is checked from the headers before the first number is read. Host memory then holds one shard at a time: the
published files have up to 5 GB each and 74 GB together.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

import torch
from torch import Tensor, nn

from engine.backends import Progress
from engine.byte_progress import ByteProgress
from engine.errors import WeightsProblem
from engine.lingbot.layouts import CheckpointFiles, read_json
from engine.models.dit import CausalDiT
from engine.models.dit_config import DiTConfig
from engine.weights import DIT_NAMES, NameMap, WeightsHeader, merged, read_header, refuse_misfit, tensors_of

_SAMPLE_BYTES = 64 * 1024


def load_dit(
    files: CheckpointFiles,
    config: DiTConfig,
    *,
    dtype: torch.dtype,
    device: torch.device | str,
    progress: Progress,
) -> CausalDiT:
    """The transformer as ``dtype`` on ``device``, from F32, bf16 or f16 shards under original or diffusers' names.

    Raises WeightsProblem with all tensors that are missing, unexpected or of the wrong shape, before any is read.
    """
    with torch.device("meta"):
        model = CausalDiT(config)
    total = sum(path.stat().st_size for path in files.transformer)
    report = ByteProgress("Reading the transformer", total, progress)
    load_sharded(model, files.transformer, files.index, DIT_NAMES, dtype=dtype, device=device, report=report)
    return model.eval().requires_grad_(False)


def load_sharded(
    module: nn.Module,
    shards: Iterable[Path],
    index: Path | None,
    names: NameMap,
    *,
    dtype: torch.dtype,
    device: torch.device | str,
    report: ByteProgress,
) -> None:
    """Fill a module that was built on the meta device and carries original names, one tensor after the other."""
    headers = checked_headers(shards)
    wanted = module.state_dict()
    assert all(tensor.is_meta for tensor in wanted.values()), "load_sharded fills a module built on the meta device"
    refuse_wrong_weights(headers, index, names, wanted)
    for path in headers:
        for name, tensor in tensors_of(path):
            own = names.to_original(name)
            kind = dtype if wanted[own].is_floating_point() else wanted[own].dtype
            byte_count = tensor.numel() * tensor.element_size()
            # A copy even where nothing changes: the file may be replaced while its numbers are in use.
            _assign(module, own, tensor.to(device=device, dtype=kind, copy=True))
            del tensor
            report.add(byte_count)
    report.add(report.total - report.done)  # the headers, and what lies between the tensors


def checked_headers(shards: Iterable[Path]) -> dict[Path, WeightsHeader]:
    """The header of every shard; one WeightsProblem that tells of all shards that are truncated or damaged."""
    headers: dict[Path, WeightsHeader] = {}
    problems: list[WeightsProblem] = []
    for path in shards:
        try:
            headers[path] = read_header(path)
        except WeightsProblem as problem:
            problems.append(problem)
    if len(problems) == 1:
        raise problems[0]
    if problems:
        told = "; ".join(f"{Path(problem.path).name} {problem.problem}" for problem in problems)
        raise WeightsProblem(Path(problems[0].path).parent, told, "Download these files again.")
    return headers


def refuse_wrong_weights(
    headers: dict[Path, WeightsHeader], index: Path | None, names: NameMap, wanted: Mapping[str, Tensor]
) -> None:
    """Raise one WeightsProblem for shards that do not together hold exactly the tensors ``wanted``."""
    _refuse_other_index(index, headers)
    place = next(iter(headers)) if len(headers) == 1 else next(iter(headers)).parent
    refuse_misfit(place, merged(headers, names), wanted)


def fingerprint(files: CheckpointFiles) -> str:
    """64 hexadecimal digits that name the transformer's weights, wherever they lie and whatever their files are called.

    From size, header and three samples of 64 KB of each shard: hashing all of 74 GB would take minutes at every start.
    """
    return hashlib.sha256(b"".join(sorted(_fingerprint(path) for path in files.transformer))).hexdigest()


def _fingerprint(path: Path) -> bytes:
    size = path.stat().st_size
    digest = hashlib.sha256(size.to_bytes(8, "little"))
    with path.open("rb") as file:
        header = file.read(8)
        digest.update(header + file.read(int.from_bytes(header, "little")))
        begin = file.tell()
        for start in (begin, (begin + size) // 2, max(begin, size - _SAMPLE_BYTES)):
            file.seek(start)
            digest.update(file.read(_SAMPLE_BYTES))
    return digest.digest()


def _assign(module: nn.Module, name: str, tensor: Tensor) -> None:
    """Put one tensor in its place and let go of the one on the meta device."""
    owner, _, leaf = name.rpartition(".")
    place = module.get_submodule(owner)
    is_parameter = any(own == leaf for own, _ in place.named_parameters(recurse=False))
    setattr(place, leaf, nn.Parameter(tensor, requires_grad=False) if is_parameter else tensor)


def _refuse_other_index(index: Path | None, headers: dict[Path, WeightsHeader]) -> None:
    """An index and shards of two different downloads fit by name and not by content."""
    if index is None:
        return
    named = read_json(index).get("weight_map")
    assert isinstance(named, dict)
    there = {path.name: header.tensors for path, header in headers.items()}
    astray = [f"{name} in {shard}" for name, shard in named.items() if name not in there[str(shard)]]
    if astray:
        problem = f"names {len(astray)} tensors that their shards do not hold (first: {astray[0]})"
        raise WeightsProblem(index, problem, "Download the index and its shards again, from one and the same revision.")
