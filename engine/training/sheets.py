"""What a run shows of itself: curves of its numbers and pictures it makes, as PNG files beside its checkpoint."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from engine.protocol import Pixels

KEPT_EVERY = 10
_WIDTH, _PANEL, _MARGIN, _BINS = 900, 190, 58, 400
_INK, _LINE, _GRID = (40, 44, 52), (31, 99, 180), (222, 226, 232)

Point = tuple[float, float]


def keep_sheet(folder: Path, name: str, step: int, number: int, picture: Pixels) -> Path:
    """Write ``name``.png, whole or not at all, and a copy with its step at every tenth ``number``; returns the first.

    ``picture`` uint8 [H, W, 3]; ``number`` counts the validations from 1.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for file in (f"{name}.png", *([f"{name}_{step:07d}.png"] if number % KEPT_EVERY == 0 else [])):
        part = folder / f"part.{file}"
        Image.fromarray(picture).save(part, "PNG")
        os.replace(part, folder / file)
    return folder / f"{name}.png"


def tiled(rows: Sequence[Sequence[Pixels]]) -> Pixels:
    """Rows of pictures [H, W, 3] as one."""
    out: Pixels = np.concatenate([np.concatenate(list(row), 1) for row in rows], 0)
    return out


def curve_sheet(losses: Sequence[float], rows: Sequence[Mapping[str, float]]) -> Pixels:
    """The loss of every step, and below each number of the validations ``rows`` (which have their ``step``)."""
    panels = {"loss of each step": _binned(losses)}
    for name in dict.fromkeys(name for row in rows for name in row if name not in ("step", "minutes", "loss")):
        panels[name] = [(row["step"], row[name]) for row in rows if name in row]
    sheet = Image.new("RGB", (_WIDTH, _PANEL * len(panels)), (255, 255, 255))
    draw = ImageDraw.Draw(sheet)
    last = max(1.0, float(len(losses)), *(row["step"] for row in rows))
    for number, (title, points) in enumerate(panels.items()):
        _panel(draw, number * _PANEL, title, points, last)
    return np.asarray(sheet)


def _binned(losses: Sequence[float]) -> list[Point]:
    """(step, mean) of at most ``_BINS`` equal parts; steps whose loss is not known any more are left out."""
    size = max(1, math.ceil(len(losses) / _BINS))
    out = []
    for begin in range(0, len(losses), size):
        known = [loss for loss in losses[begin : begin + size] if math.isfinite(loss)]
        if known:
            out.append((begin + len(known) / 2, sum(known) / len(known)))
    return out


def _panel(draw: ImageDraw.ImageDraw, top: int, title: str, points: Sequence[Point], last: float) -> None:
    """One curve over the steps 0..``last``; on a logarithmic axis where its numbers span more than a decade."""
    box = _MARGIN, top + 24, _WIDTH - 12, top + _PANEL - 22
    draw.text((_MARGIN, top + 6), title, fill=_INK)
    draw.rectangle(box, outline=_GRID)
    finite = [(x, y) for x, y in points if math.isfinite(y)]
    if not finite:
        return
    low, high = min(y for _, y in finite), max(y for _, y in finite)
    curved = low > 0 and high > 10 * low
    scale = math.log if curved else float
    bottom, height = scale(low), max(1e-12, scale(high) - scale(low))
    for share in (0.0, 0.5, 1.0):
        y = box[3] - share * (box[3] - box[1])
        value = bottom + share * height
        draw.line([(box[0], y), (box[2], y)], fill=_GRID)
        draw.text((6, y - 6), f"{math.exp(value) if curved else value:.4g}", fill=_INK)
    for share in (0.0, 0.5, 1.0):
        draw.text((box[0] + share * (box[2] - box[0] - 40), box[3] + 4), f"{share * last:.0f}", fill=_INK)
    path = [
        (box[0] + x / last * (box[2] - box[0]), box[3] - (scale(y) - bottom) / height * (box[3] - box[1]))
        for x, y in finite
    ]
    draw.line(path, fill=_LINE, width=2)
    x, y = path[-1]
    draw.ellipse((x - 3, y - 3, x + 3, y + 3), fill=_LINE)
