from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from app.turned_view import TurnedView, Warp, source_of
from engine.protocol import Pixels

FOCAL = 500 / 832


def seen(width: int, height: int, yaw: float, pitch: float) -> Pixels:
    """A sky of soft waves all around, as a camera sees it that looks there."""
    focal = FOCAL * width
    x, y = np.meshgrid((np.arange(width) + 0.5 - width / 2) / focal, (height / 2 - 0.5 - np.arange(height)) / focal)
    p = math.radians(pitch)
    up, ahead = y * math.cos(p) + math.sin(p), math.cos(p) - y * math.sin(p)
    bearing = np.arctan2(x, ahead) + math.radians(yaw)
    height_angle = np.arctan2(up, np.hypot(x, ahead))
    waves = [np.sin(9 * bearing) * np.cos(7 * height_angle + 1), np.sin(5 * bearing + 2), np.cos(11 * height_angle)]
    return (127.5 + 120 * np.stack(waves, -1)).astype(np.uint8)


def decibels(one: Pixels, other: Pixels) -> float:
    error = np.mean((one.astype(float) - other) ** 2)
    return 10 * math.log10(255**2 / error)


@pytest.mark.parametrize("size", [(256, 144), (832, 480)])
@pytest.mark.parametrize("shifts", [False, True])
def test_no_turn_is_the_frame_itself(size: tuple[int, int], shifts: bool) -> None:
    frame = seen(*size, 0.0, 10.0)
    assert np.array_equal(TurnedView().turned(frame, Warp(0.0, 0.0, 10.0, FOCAL, shifts)), frame)


@pytest.mark.parametrize("size", [(256, 144), (832, 480)])
@pytest.mark.parametrize(("yaw", "pitch"), [(4.0, 0.0), (-4.0, 0.0), (0.0, 3.0), (0.0, -3.0), (3.0, -2.0)])
def test_the_middle_is_what_a_camera_sees_that_has_turned(size: tuple[int, int], yaw: float, pitch: float) -> None:
    width, height = size
    frame, later = seen(*size, 30.0, 10.0), seen(*size, 30.0 + yaw, 10.0 + pitch)
    turned = TurnedView().turned(frame, Warp(yaw, pitch, 10.0, FOCAL))
    middle = np.s_[height // 3 : 2 * height // 3, width // 3 : 2 * width // 3]
    assert decibels(turned[middle], later[middle]) > 33
    assert decibels(turned, later) > decibels(frame, later) + 6


@pytest.mark.parametrize("shifts", [False, True])
@pytest.mark.parametrize(("yaw", "pitch"), [(12.0, 0.0), (-12.0, 8.0), (7.0, -8.0), (0.4, 0.2)])
def test_pixels_keep_their_order_and_none_is_stretched_beyond_measure(yaw: float, pitch: float, shifts: bool) -> None:
    columns, rows = source_of(256, 144, Warp(yaw, pitch, 5.0, FOCAL, shifts))
    assert np.diff(columns, axis=1).min() > 0.3
    assert np.diff(rows, axis=0).min() > 0.3
    edge = columns[..., -1 if yaw > 0 else 0]
    assert edge == pytest.approx(255.0 if yaw > 0 else 0.0, abs=0.6 if shifts or not pitch else 8.0)


def test_the_bundled_models_look_upwards_moves_the_picture_as_a_whole() -> None:
    columns, rows = source_of(256, 144, Warp(0.0, 5.0, 0.0, FOCAL, shifts=True))
    assert columns[0] == pytest.approx(np.arange(256), abs=1e-3)
    assert rows[72] == pytest.approx(np.full(256, rows[72, 0]), abs=1e-3)
    assert rows[72, 0] == pytest.approx(72 - math.tan(math.radians(5)) * FOCAL * 256, abs=1.5)


def test_the_frame_itself_is_never_touched() -> None:
    frame = seen(256, 144, 0.0, 0.0)
    before, view = frame.copy(), TurnedView()
    first = view.turned(frame, Warp(8.0, 2.0))
    assert np.array_equal(frame, before)
    again = view.turned(frame, replace(Warp(8.0, 2.0), yaw_degrees=-8.0))
    assert not np.array_equal(first, again)
    assert np.array_equal(view.turned(frame, Warp(8.0, 2.0)), first)
