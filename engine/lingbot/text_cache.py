"""Embeddings of prompts on disk, so that a prompt that was encoded once never needs the text encoder again.

One safetensors file for each prompt and encoder. Files are written whole or not at all, a damaged one is dropped, and
of too many the one that was not used for longest goes first. Nothing here can stop a walk: what cannot be written is
told once and left out.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable
from pathlib import Path

import platformdirs
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

Log = Callable[[str], None]

LIMIT_BYTES = 256 * 1024**2
"""About 200 prompts of 150 tokens in bfloat16, and 60 of the longest."""

_SUFFIX, _PART = ".safetensors", ".part"
_STALE_SECONDS = 3600.0


def default_folder() -> Path:
    """Where the user's system keeps what can be made again."""
    return Path(platformdirs.user_cache_dir("worldwalk", appauthor=False)) / "text"


def key_of(cleaned: str, encoder: str) -> str:
    """Names an embedding: 64 hexadecimal digits of the cleaned prompt and the encoder's fingerprint."""
    return hashlib.sha256(f"{encoder}\n{cleaned}".encode()).hexdigest()


class TextCache:
    """A folder of embeddings. Several processes may use one folder."""

    def __init__(self, folder: Path, *, limit_bytes: int = LIMIT_BYTES, log: Log) -> None:
        self.folder, self.limit_bytes, self._log = folder, limit_bytes, log
        self._failed = False

    def get(self, key: str) -> Tensor | None:
        """The embedding [L, D] in the type in which it was put, or None. A damaged file is removed and told."""
        path = self.folder / f"{key}{_SUFFIX}"
        try:
            if path.stat().st_size > self.limit_bytes:
                raise ValueError("too big")
            with safe_open(path, framework="pt") as file:
                rows: Tensor = file.get_tensor("rows").clone()
                wanted = (file.metadata() or {}).get("sha256")
            if rows.ndim != 2 or not rows.is_floating_point() or wanted != _sha256(rows):
                raise ValueError("other numbers than were written")
            os.utime(path)
        except FileNotFoundError:
            return None
        except (OSError, SafetensorError, ValueError) as error:
            self._log(f"text cache: {path.name} cannot be used ({error}); the prompt is encoded again")
            self._remove(path)
            return None
        return rows

    def put(self, key: str, rows: Tensor) -> None:
        """Keep the embedding [L, D]; drop those that were not used for longest if there are too many bytes."""
        data = save({"rows": rows.contiguous()}, {"sha256": _sha256(rows)})
        if len(data) > self.limit_bytes:
            return
        part = self.folder / f"{key}.{os.getpid()}{_PART}"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            part.write_bytes(data)
            os.replace(part, self.folder / f"{key}{_SUFFIX}")
            self._trim()
        except OSError as error:
            self._remove(part)
            if not self._failed:
                self._log(f"text cache: {self.folder} cannot be written ({error.strerror}); prompts are not kept")
            self._failed = True

    def _trim(self) -> None:
        kept: list[tuple[float, int, Path]] = []
        now = time.time()
        for path in self.folder.iterdir():
            try:
                facts = path.stat()
            except FileNotFoundError:  # another process was faster
                continue
            if path.suffix == _SUFFIX:
                kept.append((facts.st_mtime, facts.st_size, path))
            elif path.suffix == _PART and now - facts.st_mtime > _STALE_SECONDS:  # its writer was killed
                self._remove(path)
        size = sum(bytes_ for _, bytes_, _ in kept)
        for _, bytes_, path in sorted(kept):
            if size <= self.limit_bytes:
                return
            self._remove(path)
            size -= bytes_

    def _remove(self, path: Path) -> None:
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            self._log(f"text cache: {path.name} cannot be removed ({error.strerror})")


def _sha256(rows: Tensor) -> str:
    return hashlib.sha256(rows.contiguous().view(torch.uint8).numpy().tobytes()).hexdigest()
