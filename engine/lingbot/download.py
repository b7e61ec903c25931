"""Fetching a published model from the Hugging Face hub: only when asked, file by file, resumed, held against hashes.

Nothing else in the engine touches the network. An interrupted file goes on where it stopped: its part is kept under
the hash of its whole, so that parts of two revisions cannot be mixed.
"""

from __future__ import annotations

import fnmatch
import hashlib
import io
import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath

from engine.byte_progress import ByteProgress, size_text
from engine.catalogue import RECORD, Part, Published
from engine.errors import FileProblem, NeedsHardware, NeedsLibrary, RemoteProblem

Progress = Callable[[str, float | None], None]

MARGIN_BYTES = 1_000_000_000
"""Left free on the disk, for everything else that writes there meanwhile."""
_PARTS = ".parts"
_BLOCK_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """``path`` is below the model's folder. ``sha256`` is None for small files, which git itself names by ``blob``."""

    repo: str
    revision: str
    path: str
    byte_count: int
    sha256: str | None
    blob: str

    @property
    def digest(self) -> str:
        return self.sha256 or self.blob


def get(model: Published, folder: Path, progress: Progress, endpoint: str | None = None) -> Path:
    """Fetch ``model`` into ``folder`` (what is there and whole is kept), and write a record of it. Returns ``folder``.

    Raises NeedsLibrary without huggingface_hub, NeedsHardware where the disk is too small, RemoteProblem for the hub
    and the network, FileProblem for a file that cannot be written or that is not what the hub says.
    """
    with _hub_problems(model):
        files = [file for part in model.parts for file in _listed(part, endpoint)]
    kept = _recorded(folder)
    missing = [file for file in files if not _is_whole(folder, file, kept, progress)]
    parts = folder / _PARTS
    there = sum(_size(parts / file.digest) for file in missing)
    total = sum(file.byte_count for file in missing)
    _refuse_small_disk(folder, total - there)
    report = ByteProgress(f"Fetching {model.title}", total, progress, done=there)
    try:
        parts.mkdir(parents=True, exist_ok=True)
        for file in missing:
            with _hub_problems(model):
                _fetch(parts / file.digest, file, report, endpoint)
            _refuse_wrong_hash(parts / file.digest, file, progress)
            target = folder / file.path
            target.parent.mkdir(parents=True, exist_ok=True)
            (parts / file.digest).replace(target)
            kept[file.path] = asdict(file)
            _write_record(parts / RECORD, model, kept)
        _write_record(folder / RECORD, model, {file.path: asdict(file) for file in files})
        shutil.rmtree(parts, ignore_errors=True)
    except OSError as error:
        cure = "Give another folder with --to, or make room; what was fetched is kept."
        raise FileProblem(folder, f"cannot be written ({error.strerror or error})", cure) from error
    return folder


def verify(folder: Path, progress: Progress, *, hashes: bool) -> list[str]:
    """What in ``folder`` differs from the record of its download, as sentences; none where there is no record."""
    problems: list[str] = []
    for file in _files_of_record(folder / RECORD):
        path = folder / file.path
        if not path.is_file():
            problems.append(f"{file.path} is missing")
        elif _size(path) != file.byte_count:
            problems.append(f"{file.path} has {_size(path)} bytes instead of {file.byte_count}")
        elif hashes and _digest(path, file, progress) != file.digest:
            problems.append(f"{file.path} is damaged: its hash differs from the hub's")
    return problems


def _listed(part: Part, endpoint: str | None) -> list[RemoteFile]:
    """The files of a repository that are wanted, at its newest revision. Nothing but safetensors and small files."""
    from huggingface_hub import HfApi

    info = HfApi(endpoint=endpoint).model_info(part.repo, files_metadata=True)
    found = []
    for sibling in info.siblings or []:
        path = PurePosixPath(sibling.rfilename)
        if not any(fnmatch.fnmatchcase(sibling.rfilename, pattern) for pattern in part.patterns):
            continue
        digest = sibling.lfs.sha256 if sibling.lfs is not None else sibling.blob_id
        if path.is_absolute() or ".." in path.parts or info.sha is None or sibling.size is None or not digest:
            cure = "Do not use it, and tell whoever runs it."
            raise RemoteProblem(f"The hub's list of {part.repo} has no size, no hash or a bad name for '{path}'.", cure)
        hashed = sibling.lfs.sha256 if sibling.lfs is not None else None
        found.append(RemoteFile(part.repo, info.sha, str(path), sibling.size, hashed, sibling.blob_id or ""))
    if not found:
        raise RemoteProblem(
            f"The repository {part.repo} holds none of the files that are expected.", "Fetch it by hand."
        )
    return found


def _fetch(part: Path, file: RemoteFile, report: ByteProgress, endpoint: str | None) -> None:
    """The rest of one file, appended to what is there of it."""
    from huggingface_hub import hf_hub_url
    from huggingface_hub.file_download import http_get
    from huggingface_hub.utils import (  # type: ignore[attr-defined]  # documented there, but not marked as exported
        build_hf_headers,
        disable_progress_bars,
    )

    disable_progress_bars()
    there = _size(part)
    if there > file.byte_count:
        part.unlink()
        there = 0
    url = hf_hub_url(file.repo, file.path, revision=file.revision, endpoint=endpoint)
    with _Counted(part, report) as sink:
        http_get(url, sink, resume_size=there, headers=build_hf_headers(), expected_size=file.byte_count)


class _Counted(io.BufferedWriter):
    """A file that is appended to, and that tells of every byte."""

    def __init__(self, path: Path, report: ByteProgress) -> None:
        super().__init__(io.FileIO(path, "ab"))
        self._report = report

    def write(self, data: object, /) -> int:
        assert isinstance(data, bytes | bytearray | memoryview), type(data)
        self._report.add(len(data))
        return super().write(data)


@contextmanager
def _hub_problems(model: Published) -> Iterator[None]:
    """Turn what the hub's library raises into one sentence each."""
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    try:
        from huggingface_hub import errors
    except ImportError:
        raise NeedsLibrary("huggingface_hub", "lingbot", "Fetching a model needs") from None
    network = errors.HTTPError  # type: ignore[attr-defined]  # the base class of the HTTP library that the hub uses
    again = "Ask again later; what was fetched is kept."
    card = f"https://huggingface.co/{model.parts[0].repo}"
    try:
        yield
    except (errors.GatedRepoError, errors.RepositoryNotFoundError) as error:
        what = f"The hub does not let you fetch {model.title}, or does not have it."
        cure = f"Accept its terms at {card}, then log in: hf auth login (or set HF_TOKEN)."
        raise RemoteProblem(what, cure) from error
    except errors.OfflineModeIsEnabled as error:
        raise RemoteProblem("The network is switched off.", "Unset HF_HUB_OFFLINE to fetch a model.") from error
    except errors.HfHubHTTPError as error:
        status = error.response.status_code
        raise RemoteProblem(f"The hub answered with HTTP {status} while {model.title} was fetched.", again) from error
    except network as error:
        raise RemoteProblem(f"The hub cannot be reached ({type(error).__name__}).", again) from error
    except OSError as error:
        if error.errno is not None:  # the disk's
            raise
        raise RemoteProblem(
            f"The hub sent a file of {model.title} with another size than it had said.", again
        ) from error


def _is_whole(folder: Path, file: RemoteFile, kept: dict[str, dict[str, object]], progress: Progress) -> bool:
    """Whether the file is there as the hub has it: by our record, and by its hash where there is none of it."""
    path = folder / file.path
    if _size(path) != file.byte_count or not path.is_file():
        return False
    recorded = kept.get(file.path)
    if recorded is not None:
        return (recorded["sha256"] or recorded["blob"]) == file.digest
    if _digest(path, file, progress) != file.digest:
        return False
    kept[file.path] = asdict(file)
    return True


def _refuse_small_disk(folder: Path, byte_count: int) -> None:
    place = next(parent for parent in (folder, *folder.absolute().parents) if parent.exists())
    free = shutil.disk_usage(place).free
    if byte_count and free < byte_count + MARGIN_BYTES:
        what = f"{size_text(byte_count)} are to be fetched and {size_text(free)} are free on the disk of {place}."
        raise NeedsHardware(what, "Make room, or give a folder on another disk with --to.")


def _refuse_wrong_hash(path: Path, file: RemoteFile, progress: Progress) -> None:
    if _digest(path, file, progress) != file.digest:
        path.unlink()
        problem = f"what was fetched as '{file.path}' is not what {file.repo} says it is (its hash differs)"
        raise FileProblem(path, problem, "It has been removed; ask again.")


def _digest(path: Path, file: RemoteFile, progress: Progress) -> str:
    """SHA-256 for large files; for small ones git's name of the content, SHA-1 with a header."""
    digest = hashlib.sha256() if file.sha256 else hashlib.sha1(b"blob %d\0" % file.byte_count, usedforsecurity=False)
    report = ByteProgress(f"Checking {path.name if path.suffix else file.path}", file.byte_count, progress)
    with path.open("rb") as source:
        while block := source.read(_BLOCK_BYTES):
            digest.update(block)
            if file.byte_count > MARGIN_BYTES:  # what takes less than some seconds is not told
                report.add(len(block))
    return digest.hexdigest()


def _recorded(folder: Path) -> dict[str, dict[str, object]]:
    """What earlier calls have fetched and checked, finished or not."""
    files = _files_of_record(folder / RECORD) + _files_of_record(folder / _PARTS / RECORD)
    return {file.path: asdict(file) for file in files}


def _files_of_record(path: Path) -> list[RemoteFile]:
    if not path.is_file():
        return []
    try:
        files = json.loads(path.read_text(encoding="utf-8"))["files"]
        return [
            RemoteFile(
                str(file["repo"]),
                str(file["revision"]),
                str(file["path"]),
                int(file["byte_count"]),
                None if file["sha256"] is None else str(file["sha256"]),
                str(file["blob"]),
            )
            for file in files
        ]
    except (OSError, ValueError, KeyError, TypeError) as error:
        cure = "Delete this file; the download is then checked anew."
        raise FileProblem(path, f"is not the record of a download ({type(error).__name__})", cure) from error


def _write_record(path: Path, model: Published, files: dict[str, dict[str, object]]) -> None:
    content = {"family": model.name, "licence": model.licence.name, "files": list(files.values())}
    new = path.with_suffix(".new")
    new.write_text(json.dumps(content, indent=1), encoding="utf-8")
    new.replace(path)


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0
