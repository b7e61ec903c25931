"""A picture as a camera would see it that has turned a little since: pixels moved, none invented. No decisions.

At the side to which the camera turns there is nothing to show yet. There the turn tapers off, so that the outermost
pixels stay where they are and those before them are stretched, at most to twice their width.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pygame
from numpy.typing import NDArray

from engine.protocol import Pixels

STRETCHED_SPAN = 3.0
"""The part of the view, in turns, over which a turn tapers off: at its steepest by 1.5 / 3, twice the width."""
WIDEST_SPAN = 0.95
"""More than that of the view is never stretched."""
SMOOTH_PIXELS = 160_000
"""Up to here pixels are mixed from four. Of larger pictures the nearest one is taken, as that would take too long."""

Floats = NDArray[np.float32]
Whole = NDArray[np.int32]
Words = NDArray[np.uint32]
"""A pixel's red, green and blue in one number, red lowest."""
Packed = NDArray[np.uint64]
"""The same 16 bits apart, so that one product weighs all three."""

_FIELDS = np.uint64(0x00FF_00FF_00FF)
_ONE, _BYTE = np.uint64(256), np.uint64(8)


@dataclass(frozen=True, slots=True)
class Warp:
    """A turn in degrees, right and up positive, of a camera that looked up by ``from_pitch_degrees``.

    ``focal_widths``: its focal length in widths of the picture. ``shifts``: to look up or down moves the picture as a
    whole, as the bundled model has it, instead of turning it.
    """

    yaw_degrees: float
    pitch_degrees: float
    from_pitch_degrees: float = 0.0
    focal_widths: float = 500 / 832
    shifts: bool = False


class TurnedView:
    """Remembers the frame that is turned, made ready once, and the room to work in. One owner, the window's thread."""

    def __init__(self) -> None:
        self._frame: Pixels | None = None
        self._packed: Packed = np.empty((0, 0), np.uint64)
        self._words: Words = np.empty((0, 0), np.uint32)
        self._room: tuple[Floats, Whole, Words] | None = None

    def picture(self, frame: Pixels, warp: Warp) -> pygame.Surface:
        """``frame`` RGB [H, W, 3] after the turn, for the display that there is; the frame itself is not touched."""
        words = self._turned(frame, warp)
        return pygame.image.frombuffer(words.tobytes(), (words.shape[1], words.shape[0]), "RGBX").convert()

    def turned(self, frame: Pixels, warp: Warp) -> Pixels:
        """The same as a new array [H, W, 3]."""
        return self._turned(frame, warp)[..., None].view(np.uint8)[..., :3].copy()

    def _turned(self, frame: Pixels, warp: Warp) -> Words:
        """[H, W], valid until the next call."""
        height, width, _ = frame.shape
        smooth = height * width <= SMOOTH_PIXELS
        if frame is not self._frame:
            self._frame = frame
            if smooth:
                self._packed = _packed(frame)
            else:
                self._words = _words(frame)
        # arrays of these sizes made anew cost more than the work on them, as the system gives each page anew
        room = self._room
        if room is None or room[0].shape != (height, width):
            shape = height, width
            room = self._room = np.empty(shape, np.float32), np.empty(shape, np.int32), np.empty(shape, np.uint32)
        rows, places, nearest = room
        columns, rows = source_of(width, height, warp, rows)
        np.clip(columns, 0, width - 1, out=columns)
        np.clip(rows, 0, height - 1, out=rows)
        if smooth:
            return _unpacked(_mixed(self._packed, columns, rows))
        rows += 0.5
        np.copyto(places, rows, casting="unsafe")
        places *= width
        places += (columns + 0.5).astype(np.int32)
        self._words.ravel().take(places, out=nearest, mode="clip")
        return nearest


def source_of(width: int, height: int, warp: Warp, rows: Floats | None = None) -> tuple[Floats, Floats]:
    """Where each pixel of the turned picture comes from: columns [1 or H, W] and rows [H, W], in pixels.

    ``rows``: an array that the latter are written to.
    """
    focal = warp.focal_widths * width
    across = ((np.arange(width, dtype=np.float32) + 0.5 - width / 2) / focal)[None, :]  # [1, W] right
    up = ((height / 2 - 0.5 - np.arange(height, dtype=np.float32)) / focal)[:, None]  # [H, 1]
    yaw = _tapered(np.arctan(across), math.radians(warp.yaw_degrees), math.atan(width / 2 / focal))
    pitch = _tapered(np.arctan(up), math.radians(warp.pitch_degrees), math.atan(height / 2 / focal))
    before = math.radians(warp.from_pitch_degrees)
    after = before + pitch  # [H, 1]
    if warp.shifts:
        bearing = np.arctan(across)
        columns = np.tan(bearing + yaw)
        rows = np.multiply(np.tan(after) + up, np.cos(bearing) / np.cos(bearing + yaw), out=rows)
        rows -= math.tan(before)
    else:
        sin, cos = np.sin(after), np.cos(after)
        rise, ahead = up * cos + sin, cos - up * sin  # [H, 1] upwards and ahead, in the new view's level frame
        turned = ahead * np.cos(yaw) - across * np.sin(yaw)  # [H, W] ahead, in the old one's
        depth = turned * math.cos(before)
        depth += rise * math.sin(before)
        columns = across * np.cos(yaw) + ahead * np.sin(yaw)
        columns /= depth
        turned *= -math.sin(before)
        turned += rise * math.cos(before)
        rows = np.divide(turned, depth, out=rows)
    columns *= np.float32(focal)
    columns += np.float32(width / 2 - 0.5)
    rows *= np.float32(-focal)
    rows += np.float32(height / 2 - 0.5)
    return columns, rows


def _tapered(angles: Floats, turn: float, edge: float) -> Floats:
    """The turn at each of the view's ``angles``, all in radians: whole, and nothing at the edge that it leads to."""
    if turn == 0.0:
        return np.zeros_like(angles)
    span = min(STRETCHED_SPAN * abs(turn), WIDEST_SPAN * 2 * edge)
    done = np.clip((angles * math.copysign(1.0, turn) - (edge - span)) / span, 0, 1)
    whole: Floats = (turn * (1 - done * done * (3 - 2 * done))).astype(np.float32)
    return whole


def _words(frame: Pixels) -> Words:
    words = np.zeros((*frame.shape[:2], 4), np.uint8)
    words[..., :3] = frame
    return words.view("<u4")[..., 0]


def _packed(frame: Pixels) -> Packed:
    colours = frame.astype(np.uint64)
    packed: Packed = colours[..., 0] | colours[..., 1] << np.uint64(16) | colours[..., 2] << np.uint64(32)
    return packed


def _unpacked(packed: Packed) -> Words:
    red, green, blue = (packed >> np.uint64(8 * i) & np.uint64(0xFF << 8 * i) for i in range(3))
    words: Words = (red | green | blue).astype("<u4")
    return words


def _mixed(packed: Packed, x: Floats, y: Floats) -> Packed:
    """Bilinear: the pixels at columns x [1 or H, W] and rows y [H, W], both inside the picture."""
    height, width = packed.shape
    left, top = x.astype(np.int32), y.astype(np.int32)
    aside, below = ((x - left) * 256 + 0.5).astype(np.uint64), ((y - top) * 256 + 0.5).astype(np.uint64)
    pixels, step = packed.ravel(), np.minimum(left + 1, width - 1) - left
    first = top * width + left
    upper = _weighed(pixels.take(first), pixels.take(first + step), aside)
    first += (np.minimum(top + 1, height - 1) - top) * width
    lower = _weighed(pixels.take(first), pixels.take(first + step), aside)
    return _weighed(upper, lower, below)


def _weighed(one: Packed, other: Packed, share: Packed) -> Packed:
    """``share`` of 256 parts of the other."""
    mixed: Packed = (one * (_ONE - share) + other * share) >> _BYTE & _FIELDS
    return mixed
