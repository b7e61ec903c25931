"""Pictures to bytes and back, and batches to chunks."""

from __future__ import annotations

import io
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from engine.remote.assembly import MAX_CHUNK_FRAMES, Assembler
from engine.remote.pictures import decode, first_frame
from engine.remote.wire import Batch, Picture, SizeProblem, WireProblem

PICTURE = Picture(32, 16)


def encoded(name: str, width: int = 32, height: int = 16) -> bytes:
    data = io.BytesIO()
    Image.new("RGB", (width, height), (200, 40, 90)).save(data, name)
    return data.getvalue()


def batch_of(data: bytes, encoding: str = "jpeg", **changes: int) -> Batch:
    values = {"chunk": 0, "index": 0, "batches": 1, "frames": 1, **changes}
    return Batch(**values, event_id=None, encoding=encoding, total_bytes=len(data), lengths=(len(data),), payload=None)


@pytest.mark.parametrize("size", [(32, 16), (64, 32), (100, 30), (30, 100), (7, 5)])
def test_the_first_image_covers_the_size_that_was_asked_for(size: tuple[int, int]) -> None:
    image = np.full((size[1], size[0], 3), 77, np.uint8)
    back = Image.open(io.BytesIO(first_frame(image, PICTURE)))
    assert (back.size, back.format) == ((32, 16), "PNG")
    assert np.ptp(np.asarray(back)) == 0


def test_a_picture_of_the_right_size_is_sent_as_it_is() -> None:
    image = np.random.default_rng(1).integers(0, 256, (16, 32, 3), np.uint8)
    assert (np.asarray(Image.open(io.BytesIO(first_frame(image, PICTURE)))) == image).all()


@pytest.mark.parametrize("encoding", ["jpeg", "webp"])
def test_compressed_frames_come_out_as_pixels(encoding: str) -> None:
    data = encoded(encoding)
    frames = decode(batch_of(data, encoding), data, PICTURE)
    assert frames.shape == (1, 16, 32, 3)
    assert np.abs(frames[0, 0, 0].astype(int) - (200, 40, 90)).max() < 12


def test_another_size_inside_is_refused_before_room_is_made_for_it() -> None:
    data = encoded("jpeg", 64, 64)
    with pytest.raises(SizeProblem, match="64x64"):
        decode(batch_of(data), data, PICTURE)


def _png_bomb() -> bytes:
    header = struct.pack(">IIBBBBB", 60000, 60000, 8, 2, 0, 0, 0)
    chunk = b"IHDR" + header
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + chunk + struct.pack(">I", zlib.crc32(chunk))


@pytest.mark.parametrize(
    "data",
    [b"x", bytes(500), encoded("jpeg")[:200], encoded("png"), encoded("webp"), encoded("gif"), _png_bomb()],
    ids=["short", "zeros", "cut", "png", "webp", "gif", "bomb"],
)
def test_what_is_no_jpeg_is_not_decoded_as_anything_else(data: bytes) -> None:
    with pytest.raises(WireProblem, match="cannot be decoded"):
        decode(batch_of(data), data, PICTURE)


def test_a_jpeg_that_claims_to_be_gigantic_is_refused() -> None:
    data = bytearray(encoded("jpeg"))
    at = data.index(b"\xff\xc0") + 5
    data[at : at + 4] = struct.pack(">HH", 60000, 60000)
    with pytest.raises(WireProblem):
        decode(batch_of(bytes(data)), bytes(data), PICTURE)


def test_batches_become_a_chunk_and_must_follow_each_other() -> None:
    data = encoded("jpeg")
    assembler = Assembler()
    assert assembler.take(batch_of(data, batches=2), data, 1.0, 2.0) is None
    assert assembler.is_inside_a_chunk
    whole = assembler.take(batch_of(data, index=1, batches=2), data, 3.0, 4.0)
    assert whole is not None
    assert (whole.frames, whole.began_at, whole.came_at) == (2, 1.0, 4.0)
    assert whole.decoded(PICTURE).shape == (2, 16, 32, 3)


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"chunk": 1}, "frame_batch_index"),
        ({"chunk": 2}, "chunk_index"),
        ({"index": 0}, "frame_batch_index"),
        ({"index": 2}, "frame_batch_index"),
        ({"batches": 4}, "num_frame_batches"),
        ({"frames": MAX_CHUNK_FRAMES}, "the frames of a chunk"),
    ],
)
def test_a_batch_out_of_its_order_is_refused(change: dict[str, int], where: str) -> None:
    data = encoded("jpeg")
    assembler = Assembler()
    assembler.take(batch_of(data, batches=3), data, 1.0, 2.0)
    with pytest.raises(WireProblem) as caught:
        assembler.take(batch_of(data, **{"index": 1, "batches": 3, **change}), data, 1.0, 2.0)
    assert caught.value.where in (where, "chunk_index")
