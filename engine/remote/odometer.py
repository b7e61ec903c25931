"""Where the camera is by now, reckoned from what the server was seen to follow; it never tells. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

YAW_DEGREES, PITCH_DEGREES, PITCH_LIMIT_DEGREES, MOVE_STEP = 6.0, 4.0, 85.0, 0.05
"""What a held key does in one latent frame (SGLang-Diffusion, LingBot-World)."""


@dataclass(frozen=True, slots=True)
class Odometer:
    """Position in steps of the server's own scale (x right, z ahead at the beginning), degrees."""

    x: float = 0.0
    z: float = 0.0
    yaw_degrees: float = 0.0
    pitch_degrees: float = 0.0

    def after(self, latent_frames: Sequence[Sequence[str]]) -> Odometer:
        """Once the keys of each latent frame have had their effect; a turn comes before the step."""
        at = self
        for held in latent_frames:
            yaw = at.yaw_degrees + YAW_DEGREES * (("l" in held) - ("j" in held))
            tilted = at.pitch_degrees + PITCH_DEGREES * (("i" in held) - ("k" in held))
            ahead, aside = MOVE_STEP * (("w" in held) - ("s" in held)), MOVE_STEP * (("d" in held) - ("a" in held))
            sin, cos = math.sin(math.radians(yaw)), math.cos(math.radians(yaw))
            at = replace(
                at,
                x=at.x + ahead * sin + aside * cos,
                z=at.z + ahead * cos - aside * sin,
                yaw_degrees=math.remainder(yaw, 360.0),
                pitch_degrees=tilted if abs(tilted) <= PITCH_LIMIT_DEGREES else at.pitch_degrees,
            )
        return at

    def c2w(self) -> tuple[float, ...]:
        """Camera to world, 16 numbers, row-major, OpenCV axes."""
        sy, cy = math.sin(math.radians(self.yaw_degrees)), math.cos(math.radians(self.yaw_degrees))
        sp, cp = math.sin(math.radians(self.pitch_degrees)), math.cos(math.radians(self.pitch_degrees))
        return (cy, sy * sp, sy * cp, self.x, 0.0, cp, -sp, 0.0, -sy, cy * sp, cy * cp, self.z, 0.0, 0.0, 0.0, 1.0)
