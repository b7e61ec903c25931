"""How fast the line to the server is, measured on what crosses it, and in which form pictures should travel."""

from __future__ import annotations

from collections import deque
from statistics import median

from engine.remote.wire import Picture

REMEMBERED = 9
LEAST_BYTES = 32 * 1024
"""Shorter messages arrive in one piece, so that their time says nothing."""
_LEAST_SECONDS = 1e-4
HEADROOM = 1.5
"""A form of pictures is only chosen where the line carries so many times what it needs."""
COMPRESSION = {"raw": 1.0, "jpeg": 1 / 8}
"""Bytes of a picture as it is by default, against raw ones. WebP is half of JPEG again, but slower to make."""


class Traffic:
    """One line to one server; it outlives sessions, so that each session begins with what the last one learnt."""

    def __init__(self) -> None:
        self._rates: deque[float] = deque(maxlen=REMEMBERED)
        self._round_trips: deque[float] = deque(maxlen=REMEMBERED)

    def crossed(self, payload_bytes: int, seconds: float) -> None:
        """So many bytes came within so many seconds of the message that announced them."""
        if payload_bytes >= LEAST_BYTES:
            self._rates.append(payload_bytes / max(seconds, _LEAST_SECONDS))

    def answered(self, seconds: float) -> None:
        """The latest ping took so long; said again and again until there is a newer one."""
        if not self._round_trips or self._round_trips[-1] != seconds:
            self._round_trips.append(seconds)

    @property
    def round_trip_seconds(self) -> float:
        """The least of the latest: what is longer was spent waiting for one of the two computers."""
        return min(self._round_trips, default=0.0)

    @property
    def bytes_per_second(self) -> float | None:
        """The median of the latest measurements; None before the first."""
        return median(self._rates) if self._rates else None

    def output_format(self, asked: str, picture: Picture, fps: float) -> str:
        """``asked``, or for auto the best form that the line carries; JPEG where nothing is known yet."""
        if asked != "auto":
            return asked
        rate = self.bytes_per_second
        if rate is None:
            return "jpeg"
        for name, share in COMPRESSION.items():
            if rate >= HEADROOM * share * picture.raw_bytes * fps:
                return name
        return "webp"
