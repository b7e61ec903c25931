"""The messages of SGLang-Diffusion's realtime protocol: MessagePack maps there and back, checked before they are used.

Everything is binary. A batch of frames comes either whole (``frame_batch`` with its payload inside) or as a
``frame_batch_header`` that is followed by one message which is nothing but the payload. Source: SGLang-Diffusion.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import msgpack

from engine.errors import WorldwalkError
from engine.wording import shown

INIT_CONDITION_FRAMES = 9
"""Video frames that the first image is prepared for; the server takes at least two chunks' worth whatever is asked."""

FORMATS: Mapping[str, str] = {
    "application/x-raw-rgb": "raw",
    "image/jpeg": "jpeg",
    "image/webp": "webp",
}
MAX_BATCH_FRAMES = 32
"""In one message; the server splits at 16 raw and 6 compressed frames."""
MAX_BATCHES = 64
MAX_MAP_BYTES = 64 * 1024
"""Of a message besides its payload."""
MAX_ID = 2**53
_MAX_ITEMS, _MAX_KEYS, _MAX_WORDS = 4096, 256, 200
_STAGES = ("request_prepare", "scheduler_forward", "pace_wait", "header_write", "raw_payload_build", "raw_write")
STAGES = (*_STAGES, "ws_write", "chunk_total")


class WireProblem(WorldwalkError):
    """The server sent what the protocol does not allow: ``where`` in the message, ``got`` instead of ``expected``."""

    def __init__(self, where: str, got: str, expected: str) -> None:
        self.where, self.got, self.expected = where, got, expected
        super().__init__(f"{where} was {got}, expected {expected}")


@dataclass(frozen=True, slots=True)
class Picture:
    """The size of all pictures of a walk, in pixels."""

    width: int
    height: int

    @property
    def raw_bytes(self) -> int:
        return self.width * self.height * 3

    @property
    def max_message_bytes(self) -> int:
        """No message is longer; one that claims to be ends the connection before it is kept."""
        return MAX_BATCH_FRAMES * self.raw_bytes + MAX_MAP_BYTES


@dataclass(frozen=True, slots=True)
class Batch:
    """Some frames of a chunk. ``payload`` None: it is the next message. ``lengths``: bytes of each compressed frame."""

    chunk: int
    index: int
    batches: int
    event_id: int | None
    encoding: str
    frames: int
    total_bytes: int
    lengths: tuple[int, ...]
    payload: bytes | None


@dataclass(frozen=True, slots=True)
class ChunkStats:
    """What the server measured of a chunk, in whole milliseconds; only the stages it named."""

    chunk: int
    ms: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ServerError:
    content: str


@dataclass(frozen=True, slots=True)
class Ignored:
    """A message of a kind that this client does not know; newer servers send such."""

    kind: str


Message = Batch | ChunkStats | ServerError | Ignored


@dataclass(frozen=True, slots=True)
class Init:
    """How a session begins. ``first_frame``: an image file's bytes."""

    prompt: str
    first_frame: bytes
    picture: Picture
    fps: int
    seed: int
    output_format: str
    paced: bool
    output_quality: int | None = None
    sink_latent_frames: int | None = None
    window_latent_frames: int | None = None


def pack_init(init: Init) -> bytes:
    """The first message of a session."""
    size = init.picture
    message: dict[str, object] = {
        "type": "init",
        "prompt": init.prompt,
        "first_frame": init.first_frame,
        "size": f"{size.width}x{size.height}",
        "fps": init.fps,
        "num_frames": INIT_CONDITION_FRAMES,
        "seed": init.seed,
        "realtime_output_format": init.output_format,
        "realtime_output_pacing": init.paced,
    }
    if init.output_format != "raw":
        message["realtime_preview_max_width"] = size.width  # some builds would shrink the pictures
    options = {
        "output_compression": init.output_quality,
        "realtime_causal_sink_size": init.sink_latent_frames,
        "realtime_causal_kv_cache_num_frames": init.window_latent_frames,
    }
    return _pack(message | {name: value for name, value in options.items() if value is not None})


def pack_event(event_id: int, prompt: str | None, camera_actions: object | None) -> bytes:
    """A composite event. ``camera_actions``: a script (list of lists) or a state map, in the server's own form."""
    parts = {"prompt": prompt, "camera_actions": camera_actions}
    given = {name: part for name, part in parts.items() if part is not None}
    assert given, "an event must say something"
    payload = {"input_types": list(given), **given}
    return _pack({"type": "event", "kind": "composite_input", "event_id": event_id, "payload": payload})


def _pack(message: Mapping[str, object]) -> bytes:
    packed = msgpack.packb(message, use_bin_type=True)
    assert isinstance(packed, bytes)
    return packed


# ---- what the server sends ---------------------------------------------------------------------------------------


def parse_message(data: bytes | str, picture: Picture) -> Message:
    """A message that is not a bare payload. Raises WireProblem for whatever is not as it should be."""
    found = _unpack(data)
    kind = found.get("type")
    if not isinstance(kind, str):
        raise WireProblem("a message's type", shown(kind), "a word")
    if kind in ("frame_batch", "frame_batch_header"):
        return _batch(found, picture, inline=kind == "frame_batch")
    if kind == "chunk_stats":
        ms = {name: value for name in STAGES if (value := _milliseconds(found, name)) is not None}
        return ChunkStats(_whole(found, "chunk_index", 0, MAX_ID), ms)
    if kind == "error":
        return ServerError(_words(found.get("content")))
    return Ignored(_words(kind))


def check_payload(batch: Batch, data: bytes | str) -> bytes:
    """The bare payload that belongs to a header. Raises WireProblem where it is not as long as was said."""
    if isinstance(data, str) or len(data) != batch.total_bytes:
        got = "text" if isinstance(data, str) else f"{len(data)} bytes"
        raise WireProblem("a payload", got, f"the {batch.total_bytes} bytes that its header names")
    return data


def _unpack(data: bytes | str) -> Mapping[str, object]:
    if isinstance(data, str):
        raise WireProblem("a message", "text", "binary MessagePack")
    try:
        found: object = msgpack.unpackb(
            data, raw=False, strict_map_key=True, max_array_len=_MAX_ITEMS, max_map_len=_MAX_KEYS, max_ext_len=0
        )
    except (ValueError, TypeError, RecursionError, msgpack.UnpackException):
        raise WireProblem("a message", f"{len(data)} bytes", "MessagePack") from None
    if not isinstance(found, dict) or not all(isinstance(key, str) for key in found):
        raise WireProblem("a message", shown(found), "a map")
    return found


def _batch(found: Mapping[str, object], picture: Picture, *, inline: bool) -> Batch:
    content_type = found.get("content_type")
    encoding = FORMATS.get(content_type) if isinstance(content_type, str) else None
    if encoding is None:
        raise WireProblem("content_type", shown(content_type), f"one of {', '.join(FORMATS)}")
    frames = _whole(found, "num_frames", 1, MAX_BATCH_FRAMES)
    total = _whole(found, "total_size", 1, MAX_BATCH_FRAMES * picture.raw_bytes)
    _check_size(found, picture)
    if encoding == "raw" and total != frames * picture.raw_bytes:
        expected = f"{frames} frames of {picture.width}x{picture.height}, {frames * picture.raw_bytes}"
        raise WireProblem("total_size", str(total), expected)
    batches = _whole(found, "num_frame_batches", 1, MAX_BATCHES) if "num_frame_batches" in found else 1
    payload = found.get("payload")
    if inline and (not isinstance(payload, bytes) or len(payload) != total):
        got = f"{len(payload)} bytes" if isinstance(payload, bytes) else shown(payload)
        raise WireProblem("payload", got, f"the {total} bytes that total_size names")
    event_id = found.get("event_id")
    return Batch(
        chunk=_whole(found, "chunk_index", 0, MAX_ID),
        index=_whole(found, "frame_batch_index", 0, batches - 1) if "frame_batch_index" in found else 0,
        batches=batches,
        event_id=None if event_id is None else _whole(found, "event_id", 0, MAX_ID),
        encoding=encoding,
        frames=frames,
        total_bytes=total,
        lengths=() if encoding == "raw" else _lengths(found, frames, total),
        payload=payload if inline and isinstance(payload, bytes) else None,
    )


def _check_size(found: Mapping[str, object], picture: Picture) -> None:
    """Older builds leave the size out of raw headers; then the number of bytes must do."""
    if "width" not in found and "height" not in found:
        return
    size = found.get("width"), found.get("height")
    if size != (picture.width, picture.height) or not all(type(side) is int for side in size):
        got = "x".join(str(side) if type(side) is int else shown(side) for side in size)
        raise SizeProblem(got, picture)


class SizeProblem(WireProblem):
    """Pictures of another size than was asked for."""

    def __init__(self, got: str, picture: Picture) -> None:
        super().__init__("the size of the pictures", got, f"{picture.width}x{picture.height}")


def _lengths(found: Mapping[str, object], frames: int, total: int) -> tuple[int, ...]:
    value = found.get("payload_lengths")
    lengths = [item for item in value if type(item) is int and item > 0] if isinstance(value, list) else []
    if not isinstance(value, list) or len(value) != frames or len(lengths) != frames or sum(lengths) != total:
        raise WireProblem("payload_lengths", shown(value), f"{frames} lengths that add up to {total}")
    return tuple(lengths)


def _whole(found: Mapping[str, object], name: str, low: int, high: int) -> int:
    value = found.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise WireProblem(name, shown(value), f"a whole number from {low} to {high}")
    return value


def _milliseconds(found: Mapping[str, object], stage: str) -> int | None:
    """Builds differ in whether the names end in ``_ms``, and nothing depends on these numbers."""
    value = found.get(stage, found.get(f"{stage}_ms"))
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e9:
        return None
    return round(value)


def _words(value: object) -> str:
    """A server's own words, fit to be shown: one line, printable, short."""
    text = value if isinstance(value, str) else shown(value)
    return "".join(c if c.isprintable() else " " for c in text).strip()[:_MAX_WORDS]
