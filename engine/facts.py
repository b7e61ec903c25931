"""Facts that reports carry: what is running, and how a chunk was made and came. ``None`` stands for "not known"."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ModelCard:
    """What is running: the facts that the HUD, the recordings and the reports name."""

    backend: str
    model: str
    model_sha256: str
    device: str
    dtype: str
    threads: int
    width: int
    height: int
    fps_nominal: float
    latent_frames_per_chunk: int


@dataclass(frozen=True, slots=True)
class WindowReport:
    """Which cached latent frames the chunk saw. ``mode``: full, base, moving or still."""

    mode: str
    recent_latent_frames: int | None
    visible_latent_frames: int


@dataclass(frozen=True, slots=True)
class ChunkTimings:
    """Milliseconds of each stage of one chunk."""

    text: float = 0.0
    condition: float = 0.0
    denoise: float = 0.0
    commit: float = 0.0
    decode: float = 0.0

    @property
    def total(self) -> float:
        return self.text + self.condition + self.denoise + self.commit + self.decode


@dataclass(frozen=True, slots=True)
class RemoteShares:
    """How a chunk came from another computer. Where a chunk is the first to follow an event, the time from its sending
    to the arrival of the chunk is ``server_ms`` + ``network_ms``; both are None elsewhere, as is what is not known.
    """

    encoding: str
    payload_bytes: int
    round_trip_ms: float
    server_ms: float | None = None
    network_ms: float | None = None
    bytes_per_second: float | None = None
    forward_ms: float | None = None
    """What the server says of the chunk before: its model's time, and how long it held the chunk back."""
    held_back_ms: float | None = None
    dropped_chunks: int = 0
    """Of this session so far: came too late, or were overtaken by one that answers to newer input."""


@dataclass(frozen=True, slots=True)
class SampledEvent:
    """An event's life as the engine knows it; the window adds when its first frame was shown."""

    event_id: int | None
    wire: Mapping[str, object]
    pressed_at: float | None
    accepted_at: float
    sampled_at: float
