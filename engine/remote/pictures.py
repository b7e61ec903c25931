"""Pictures to bytes and back: the first image of a session, and the frames that come."""

from __future__ import annotations

import io
import struct

import numpy as np
from PIL import Image

from engine.protocol import Pixels
from engine.remote.wire import Batch, Picture, SizeProblem, WireProblem

# what Pillow's decoders are known to raise on damaged data
_DAMAGE = (OSError, ValueError, TypeError, KeyError, IndexError, EOFError, SyntaxError, struct.error)
_BOMBS = (Image.DecompressionBombWarning, Image.DecompressionBombError)


def first_frame(image: Pixels, picture: Picture) -> bytes:
    """RGB [H, W, 3] as a PNG of the session's size: scaled to cover it, and cropped about its centre."""
    whole = Image.fromarray(np.ascontiguousarray(image))
    scale = max(picture.width / whole.width, picture.height / whole.height)
    width, height = picture.width / scale, picture.height / scale
    left, top = (whole.width - width) / 2, (whole.height - height) / 2
    if whole.size != (picture.width, picture.height):
        box = (left, top, left + width, top + height)
        whole = whole.resize((picture.width, picture.height), Image.Resampling.LANCZOS, box=box)
    png = io.BytesIO()
    whole.save(png, "PNG", compress_level=1)
    return png.getvalue()


def decode(batch: Batch, payload: bytes, picture: Picture) -> Pixels:
    """The frames of a checked batch, RGB uint8 [T, H, W, 3]. Raises WireProblem where they are damaged."""
    if batch.encoding == "raw":
        return np.frombuffer(payload, np.uint8).reshape(batch.frames, picture.height, picture.width, 3)
    frames = np.empty((batch.frames, picture.height, picture.width, 3), np.uint8)
    start = 0
    for index, length in enumerate(batch.lengths):
        frames[index] = _decode_one(payload[start : start + length], batch.encoding, picture)
        start += length
    return frames


def _decode_one(data: bytes, encoding: str, picture: Picture) -> Pixels:
    """One compressed frame. Its size is looked at before room is made for its pixels."""
    try:
        with Image.open(io.BytesIO(data), formats=(encoding.upper(),)) as image:
            if image.size != (picture.width, picture.height):
                raise SizeProblem(f"{image.width}x{image.height}", picture)
            pixels: Pixels = np.asarray(image.convert("RGB"))
    except (*_DAMAGE, *_BOMBS):
        raise WireProblem("a frame", f"{len(data)} bytes that cannot be decoded", f"a picture in {encoding}") from None
    return pixels
