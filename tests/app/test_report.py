"""The report of a run without a window: exactly the promised keys, honest numbers, written whole or not at all."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from app.report import Report, generated_fps, percentiles, write_json
from engine.errors import FileProblem
from engine.protocol import (
    ChunkTimings,
    EventAccepted,
    EventRejected,
    FrameChunk,
    ModelCard,
    SampledEvent,
    WindowReport,
)

CARD = ModelCard("test_card", "test card", "0" * 64, "cpu", "float32", 1, 32, 16, 16.0, 1)
KEYS = [
    "schema",
    "backend",
    "model",
    "seed",
    "width",
    "height",
    "frames",
    "chunks",
    "latent_frames_per_chunk",
    "fps_nominal",
    "fps_generated",
    "first_frame_seconds",
    "startup_seconds",
    "chunk_ms",
    "peak_rss_mb",
    "events",
    "prompt_updates",
    "text_encodes",
    "cross_attention_resets",
    "frames_sha256",
    "per_chunk",
]
CHUNK_KEYS = ["chunk", "moving", "window", "prompt_updated", "event_ids", "pose", "ms"]


def chunk(number: int, frames: int = 4, prompt_updated: bool = False) -> FrameChunk:
    pixels = np.full((frames, 16, 32, 3), number, dtype=np.uint8)
    events = (SampledEvent(7, {"event_id": 7}, None, 0.0, 0.1),) if prompt_updated else ()
    return FrameChunk(
        session_id=1,
        chunk=number,
        frames=pixels,
        prompt="snow",
        prompt_updated=prompt_updated,
        moving=True,
        window=WindowReport("moving", 12, 14),
        pose=tuple(float(n) for n in range(16)),
        ms=ChunkTimings(1.0, 2.0, 3.0, 4.0, 5.0),
        made_at=1.0,
        events=events,
    )


def build(report: Report, peak_rss_mb: float | None = None) -> dict[str, object]:
    return report.build(peak_rss_mb=peak_rss_mb, text_encodes=2, cross_attention_resets=1)


def report_of_three_chunks() -> Report:
    report = Report(CARD, seed=5, startup_seconds=0.5)
    report.add_chunk(chunk(0, frames=1), seconds=1.0, since_start=1.5)
    report.add_chunk(chunk(1, prompt_updated=True), seconds=0.2, since_start=1.7)
    report.add_chunk(chunk(2), seconds=0.2, since_start=1.9)
    return report


def test_the_keys_are_the_promised_ones_in_their_order() -> None:
    built = build(report_of_three_chunks(), peak_rss_mb=100.0)
    assert list(built) == KEYS
    (first, *_) = built["per_chunk"]
    assert list(first) == CHUNK_KEYS
    assert list(first["window"]) == ["mode", "recent_latent_frames", "visible_latent_frames"]
    assert list(first["ms"]) == ["text", "condition", "denoise", "commit", "decode"]


def test_counts_and_times_are_those_of_the_chunks() -> None:
    built = build(report_of_three_chunks())
    assert (built["frames"], built["chunks"], built["seed"]) == (9, 3, 5)
    assert (built["startup_seconds"], built["first_frame_seconds"]) == (0.5, 1.5)
    assert (built["prompt_updates"], built["text_encodes"], built["cross_attention_resets"]) == (1, 2, 1)
    assert built["per_chunk"][1]["event_ids"] == [7]
    assert built["peak_rss_mb"] is None


def test_the_hash_is_over_all_frames_in_order() -> None:
    pixels = b"".join(chunk(n, frames=1 if n == 0 else 4).frames.tobytes() for n in range(3))
    assert report_of_three_chunks().frames_sha256 == hashlib.sha256(pixels).hexdigest()


def test_the_rate_leaves_out_the_first_chunk() -> None:
    assert generated_fps([1, 4, 4], [10.0, 0.2, 0.2]) == 20.0
    assert generated_fps([4], [0.5]) == 8.0
    assert generated_fps([], []) is None


def test_percentiles_take_the_nearest_rank() -> None:
    assert percentiles([float(n) for n in range(1, 101)]) == {"p50": 50.0, "p95": 95.0, "p99": 99.0}
    assert percentiles([3.0]) == {"p50": 3.0, "p95": 3.0, "p99": 3.0}
    assert percentiles([]) == {"p50": None, "p95": None, "p99": None}


def test_rejected_events_are_listed_with_their_reasons() -> None:
    report = report_of_three_chunks()
    report.add_event(EventAccepted(1, None, 0.0))
    report.add_event(EventRejected(2, "look.yaw_degrees", "nan", "a finite number"))
    events = build(report)["events"]
    assert (events["accepted"], events["rejected"]) == (1, 1)
    assert events["rejections"] == [
        {"event_id": 2, "path": "look.yaw_degrees", "got": "nan", "expected": "a finite number"}
    ]


def test_a_report_replaces_the_old_one_whole(tmp_path: Path) -> None:
    target = tmp_path / "bericht ü.json"
    target.write_text("old")
    write_json(target, {"schema": 1})
    assert json.loads(target.read_text("utf-8")) == {"schema": 1}
    assert list(tmp_path.iterdir()) == [target]


def test_a_report_that_cannot_be_written_leaves_the_old_one_alone(tmp_path: Path) -> None:
    target = tmp_path / "report.json"
    target.write_text("old")
    with pytest.raises(ValueError, match="JSON"):
        write_json(target, {"number": float("nan")})
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_folder_that_does_not_exist_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(FileProblem, match="cannot be written"):
        write_json(tmp_path / "absent" / "report.json", {})
