"""The files of the VAE and of the text encoder as they are published: safetensors, or the original ``.pth``.

A ``.pth`` is a pickle in a zip. Only the two published ones are read, with torch's restricted unpickler, and only after
the zip itself has been found to be what torch writes: uncompressed records, no more and no longer than they need be.
"""

from __future__ import annotations

import hashlib
import pickle
import zipfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

from engine.byte_progress import ByteProgress
from engine.errors import WeightsProblem
from engine.weights import PUBLISHED_PICKLES, NameMap, TensorEntry, WeightsHeader, read_header, refuse_misfit

_MAX_BYTES = dict(zip(PUBLISHED_PICKLES, (1_100_000_000, 24_000_000_000), strict=True))
"""Twice the published size of each: the same tensors in float32, or a little more beside them."""
_MAX_RECORDS = 4096
_MAX_PICKLE_BYTES = 16 * 1024**2
_AGAIN = "Download it again, and compare its size with the source."
_SAMPLES, _SAMPLE_BYTES = 64, 16 * 1024
_DTYPE_NAMES = {torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16", torch.float64: "F64"}


@dataclass(frozen=True, slots=True)
class StoredTensor:
    entry: TensorEntry
    read: Callable[[], Tensor]
    """The tensor on the processor; it may be a view of the file."""


class AssetFiles:
    """All tensors of one part of a checkpoint, by the module's names. A context manager: it holds the files open."""

    def __init__(self, paths: tuple[Path, ...], names: NameMap) -> None:
        """Raises WeightsProblem for what is missing, foreign, too big, truncated, or there twice."""
        assert paths, "no files"
        self.path = paths[0] if len(paths) == 1 else paths[0].parent
        self.tensors: dict[str, StoredTensor] = {}
        with ExitStack() as files:
            for path in paths:
                stored = _open_pickle(path) if path.name in PUBLISHED_PICKLES else _open_safetensors(path, files)
                for name, tensor in stored.items():
                    own = names.to_other(name)
                    if own in self.tensors:
                        raise WeightsProblem(path, f"holds '{name}' a second time", "Keep the files of one model only.")
                    self.tensors[own] = tensor
            self._files = files.pop_all()

    def __enter__(self) -> AssetFiles:
        return self

    def __exit__(self, *_: object) -> None:
        self.tensors.clear()
        self._files.close()

    def shape(self, name: str, axes: int) -> tuple[int, ...] | None:
        """The shape of a tensor, or None where it is missing or has not so many axes."""
        stored = self.tensors.get(name)
        return stored.entry.shape if stored is not None and len(stored.entry.shape) == axes else None

    def fill(
        self,
        module: nn.Module,
        *,
        dtype: Callable[[str], torch.dtype],
        device: torch.device,
        report: ByteProgress,
        tied: Mapping[str, str] | None = None,
    ) -> None:
        """Give a module built on the meta device its tensors, one after the other, each as ``dtype(name)``.

        Names and shapes are checked first: all or nothing. ``report`` is told the bytes of the files. ``tied`` maps
        a name that is not stored to the one whose tensor it shares.
        """
        ties = tied or {}
        wanted = {name: tensor for name, tensor in module.state_dict().items() if name not in ties}
        assert all(tensor.is_meta for tensor in wanted.values()), "fill needs a module built on the meta device"
        header = WeightsHeader({name: stored.entry for name, stored in self.tensors.items()}, {})
        refuse_misfit(self.path, header, wanted)
        loaded: dict[str, Tensor] = {}
        for name in wanted:
            try:
                raw = self.tensors[name].read()
            except (SafetensorError, OSError) as error:
                raise WeightsProblem(self.path, f"is damaged ({error})", _AGAIN) from error
            # A copy even where nothing changes: the file may be replaced while its numbers are in use.
            loaded[name] = raw.to(device=device, dtype=dtype(name), copy=True)
            report.add(raw.numel() * raw.element_size())
        report.add(report.total - report.done)  # headers, and what lies between the tensors
        loaded |= {name: loaded[source] for name, source in ties.items()}
        module.load_state_dict(loaded, strict=True, assign=True)
        module.requires_grad_(False).eval()


def file_bytes(paths: tuple[Path, ...]) -> int:
    """Raises WeightsProblem for a file that is missing or cannot be looked at."""
    try:
        return sum(path.stat().st_size for path in paths)
    except OSError as error:
        raise WeightsProblem(error.filename, f"cannot be read ({error.strerror})", "Check the path.") from error


def sampled_sha256(paths: tuple[Path, ...]) -> str:
    """A cheap identity of files: their sizes, their two ends (names, shapes, checksums) and samples between them."""
    digest = hashlib.sha256()
    for path in paths:
        try:
            size = path.stat().st_size
            with path.open("rb") as file:
                digest.update(size.to_bytes(8, "little"))
                for i in range(_SAMPLES):
                    file.seek(max(0, size - _SAMPLE_BYTES) * i // (_SAMPLES - 1))
                    digest.update(file.read(_SAMPLE_BYTES))
        except OSError as error:
            raise WeightsProblem(path, f"cannot be read ({error.strerror})", "Check the path.") from error
    return digest.hexdigest()


def _open_safetensors(path: Path, files: ExitStack) -> dict[str, StoredTensor]:
    header = read_header(path)
    try:
        file = files.enter_context(safe_open(path, framework="pt"))
    except (SafetensorError, OSError) as error:
        raise WeightsProblem(path, f"is damaged ({error})", _AGAIN) from error

    def reader(name: str) -> Callable[[], Tensor]:
        def read() -> Tensor:
            tensor: Tensor = file.get_tensor(name)
            return tensor

        return read

    return {name: StoredTensor(entry, reader(name)) for name, entry in header.tensors.items()}


def _open_pickle(path: Path) -> dict[str, StoredTensor]:
    _check_zip(path)
    try:
        loaded = torch.load(path, map_location="cpu", weights_only=True, mmap=True)
    except (pickle.UnpicklingError, RuntimeError, OSError, EOFError, ValueError, TypeError, LookupError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise WeightsProblem(path, f"is not a plain file of tensors ({reason})", _AGAIN) from error
    if not isinstance(loaded, dict) or not loaded:
        raise WeightsProblem(path, "holds no tensors by name", _AGAIN)
    stored: dict[str, StoredTensor] = {}
    for name, tensor in loaded.items():
        if not isinstance(name, str) or not isinstance(tensor, Tensor) or tensor.layout != torch.strided:
            raise WeightsProblem(path, f"holds something else than tensors ({str(name)[:80]!r})", _AGAIN)
        entry = TensorEntry(_DTYPE_NAMES.get(tensor.dtype, str(tensor.dtype)), tuple(tensor.shape))
        stored[name] = StoredTensor(entry, tensor.detach)
    return stored


def _check_zip(path: Path) -> None:
    limit = _MAX_BYTES[path.name]
    try:
        size = path.stat().st_size
        if size > limit:
            raise WeightsProblem(path, f"is too big: {size} bytes, and at most {limit} are expected", _AGAIN)
        with path.open("rb") as file:
            start = file.read(4)
        if start != b"PK\x03\x04":
            raise WeightsProblem(path, "is not a file that torch wrote (no zip)", _AGAIN)
        with zipfile.ZipFile(path) as archive:
            records = archive.infolist()
    except FileNotFoundError:
        raise WeightsProblem(path, "the weights file is missing", "Check the path, or install the model.") from None
    except zipfile.BadZipFile as error:
        raise WeightsProblem(path, f"is truncated or damaged: {size} bytes ({error})", _AGAIN) from error
    except OSError as error:
        raise WeightsProblem(path, f"cannot be read ({error.strerror})", "Name a readable file.") from error
    packed = any(record.compress_type != zipfile.ZIP_STORED for record in records)
    pickles = [record.file_size for record in records if record.filename.endswith("data.pkl")]
    plain = len(pickles) == 1 and pickles[0] <= _MAX_PICKLE_BYTES and len(records) <= _MAX_RECORDS
    if packed or not plain or sum(record.file_size for record in records) > size:
        raise WeightsProblem(path, "is not a zip as torch writes it", _AGAIN)
