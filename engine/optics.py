"""How a model's camera turns and sees."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Optics:
    """For who must foresee what the model will show: how far a held key turns the view in one latent frame, how far up
    or down it goes at most (all in degrees), and the focal length in widths of the picture.

    ``shifts``: looking up and down moves the picture as a whole, without a vanishing point of its own.
    """

    yaw_degrees: float
    pitch_degrees: float
    pitch_limit_degrees: float
    focal_widths: float
    shifts: bool = False
