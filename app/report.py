"""What a run without a window did, as a report that other programs read: stable keys, see ``Report.build``."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from engine.errors import FileProblem
from engine.protocol import EventAccepted, EventRejected, FrameChunk, ModelCard

SCHEMA = 1


@dataclass(slots=True)
class Report:
    """Collects a run chunk by chunk. Times are seconds since the command was given; None where nothing was made."""

    card: ModelCard
    seed: int
    startup_seconds: float
    first_frame_seconds: float | None = None
    accepted: int = 0
    rejections: list[EventRejected] = field(default_factory=list)
    _frames: int = 0
    _chunk_seconds: list[float] = field(default_factory=list)
    _chunk_frames: list[int] = field(default_factory=list)
    _chunks: list[dict[str, object]] = field(default_factory=list)
    _prompt_updates: int = 0
    _hash: hashlib._Hash = field(default_factory=hashlib.sha256)

    def add_event(self, answer: EventAccepted | EventRejected) -> None:
        """Count an event's answer; a rejection is kept with its reason."""
        if isinstance(answer, EventRejected):
            self.rejections.append(answer)
        else:
            self.accepted += 1

    def add_chunk(self, chunk: FrameChunk, seconds: float, since_start: float) -> None:
        """Count a chunk that took ``seconds`` to make and was done ``since_start`` seconds after the command."""
        if self.first_frame_seconds is None:
            self.first_frame_seconds = since_start
        self._hash.update(chunk.frames.tobytes())
        self._frames += len(chunk.frames)
        self._chunk_seconds.append(seconds)
        self._chunk_frames.append(len(chunk.frames))
        self._prompt_updates += chunk.prompt_updated
        self._chunks.append(_chunk_entry(chunk))

    @property
    def frames(self) -> int:
        return self._frames

    @property
    def fps_generated(self) -> float | None:
        """Frames a second, without the first, cold chunk."""
        return generated_fps(self._chunk_frames, self._chunk_seconds)

    @property
    def frames_sha256(self) -> str:
        """SHA-256 over the RGB bytes of all frames in order."""
        return self._hash.hexdigest()

    def build(self, *, peak_rss_mb: float | None, text_encodes: int, cross_attention_resets: int) -> dict[str, object]:
        """The report's map; the two counts are the world's own. ``fps_generated`` leaves out the first, cold chunk."""
        card = self.card
        return {
            "schema": SCHEMA,
            "backend": card.backend,
            "model": card.model,
            "seed": self.seed,
            "width": card.width,
            "height": card.height,
            "frames": self._frames,
            "chunks": len(self._chunks),
            "latent_frames_per_chunk": card.latent_frames_per_chunk,
            "fps_nominal": card.fps_nominal,
            "fps_generated": self.fps_generated,
            "first_frame_seconds": _rounded(self.first_frame_seconds),
            "startup_seconds": _rounded(self.startup_seconds),
            "chunk_ms": percentiles([1000.0 * seconds for seconds in self._chunk_seconds]),
            "peak_rss_mb": _rounded(peak_rss_mb),
            "events": {
                "accepted": self.accepted,
                "rejected": len(self.rejections),
                "rejections": [asdict(rejection) for rejection in self.rejections],
            },
            "prompt_updates": self._prompt_updates,
            "text_encodes": text_encodes,
            "cross_attention_resets": cross_attention_resets,
            "frames_sha256": self.frames_sha256,
            "per_chunk": self._chunks,
        }


def generated_fps(frames: Sequence[int], seconds: Sequence[float]) -> float | None:
    """Frames a second over all chunks but the first; over the only one if there is just one; None without any."""
    skipped = 1 if len(frames) > 1 else 0
    total = sum(seconds[skipped:])
    return _rounded(sum(frames[skipped:]) / total) if total > 0 else None


def percentiles(values: Sequence[float]) -> dict[str, float | None]:
    """p50, p95 and p99 by the nearest rank; None without values."""
    ordered = sorted(values)

    def rank(percent: int) -> float | None:
        return _rounded(ordered[-(-percent * len(ordered) // 100) - 1]) if ordered else None

    return {"p50": rank(50), "p95": rank(95), "p99": rank(99)}


def write_json(path: Path, content: Mapping[str, object]) -> None:
    """Write the map to ``path`` whole or not at all; ``FileProblem`` where the place cannot be written."""
    try:
        descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump(content, file, indent=1, allow_nan=False)
                file.write("\n")
            os.chmod(temporary, 0o644)  # mkstemp lets nobody else read it
            os.replace(temporary, path)
        finally:
            Path(temporary).unlink(missing_ok=True)
    except OSError as error:
        problem = f"cannot be written ({error.strerror or error})"
        raise FileProblem(path, problem, "Choose a folder that exists and that you may write to.") from error


def _chunk_entry(chunk: FrameChunk) -> dict[str, object]:
    entry: dict[str, object] = {
        "chunk": chunk.chunk,
        "moving": chunk.moving,
        "window": asdict(chunk.window),
        "prompt_updated": chunk.prompt_updated,
        "event_ids": [event.event_id for event in chunk.events],
        "pose": list(chunk.pose),
        "ms": {stage: round(ms, 3) for stage, ms in asdict(chunk.ms).items()},
    }
    return entry if chunk.remote is None else {**entry, "remote": asdict(chunk.remote)}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
