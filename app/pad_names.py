"""What is written on a gamepad's buttons, by their places as SDL has them. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from app.values import AppState

_PLAIN: Mapping[str, str] = {"a": "A", "b": "B", "x": "X", "y": "Y", "start": "Start", "back": "Back"}
_SONY: Mapping[str, str] = {"a": "×", "b": "○", "x": "□", "y": "△", "start": "Options", "back": "Share"}
_SONY_NAMES = ("ps3", "ps4", "ps5", "playstation", "dualshock", "dualsense", "sony")


def button(state: AppState, place: str) -> str:
    """What ``a`` (below), ``b`` (right), ``x`` (left), ``y`` (above), ``start`` and ``back`` of the last pad are called."""
    name = state.gamepad.names[-1][1].lower() if state.gamepad.names else ""
    return (_SONY if any(maker in name for maker in _SONY_NAMES) else _PLAIN)[place]
