"""The session file ``*.worldwalk.jsonl``: what was asked of a world, chunk by chunk, so that it can be walked again.

One JSON map per line, written out as it happens. The first line holds how the world began, its picture included, so
that the file alone is enough; then, in the order in which they happened::

    {"worldwalk_session": 1, "seed": 7, "scene": {..., "image": {"png": "<base64>", "sha256": "..."}}, "card": {...}, "settings": {...}}
    {"chunk": 3, "event": {"event_id": 1, "input_types": ["prompt"], "prompt": "snow"}}     # applied before chunk 3
    {"made": 15}                                                                            # chunks up to 15 were made
    {"made": 16, "frames": 253}                                    # and with its last frame the film has 253 of them
    {"world": {"seed": 7, "after_chunk": null, "scene": {...}}}                             # the world began anew
    {"world": {"seed": 7, "after_chunk": 11, "scene": {...}}}     # the world went on from what it was after chunk 11
    {"world": {"seed": 9, "after_chunk": null, "scene": {...}, "first_chunk": 42}}      # one that was saved after chunk 41
    {"chunk": 0, "event": {...}}                                                # what had been asked of it, and so on
"""  # noqa: E501 - the first line is one line

from __future__ import annotations

import base64
import contextlib
import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import IO

import numpy as np
from PIL import Image

from app.session_box import SUFFIX
from app.session_reader import MAX_IMAGE_CHARACTERS, SAME_IMAGE, SCHEMA, read_session
from engine.protocol import Pixels, SampledEvent, SceneSpec, SessionHeader

__all__ = ["SUFFIX", "SessionLog", "read_session"]

MADE_EVERY_CHUNKS = 16


class SessionLog:
    """Writes a session file line by line. Trouble with the disk never raises: ``error`` says it, and writing ends."""

    def __init__(self, path: Path, header: SessionHeader) -> None:
        self.path = path
        self.error: str | None = None
        self._image = header.scene.image
        self._made = -1
        self._made_written = -1
        self._file: IO[bytes] | None = None
        scene = _scene_map(header.scene, None)
        image = scene["image"]
        if isinstance(image, dict) and len(image["png"]) > MAX_IMAGE_CHARACTERS:
            self._fail(ValueError("the scene's picture is too large for it"))
            return
        try:
            self._file = path.open("wb")
        except (OSError, ValueError) as error:  # ValueError: a name that no file can have
            self._fail(error)
        first = {"worldwalk_session": SCHEMA, "seed": header.seed, "scene": scene}
        self._line({**first, "card": asdict(header.card), "settings": dict(header.settings)})

    def write(self, chunk: int, event: SampledEvent) -> None:
        """``event`` was first sampled in ``chunk``."""
        self._line({"chunk": chunk, "event": event.wire})

    def made(self, chunk: int, film_frames: int | None = None) -> None:
        """``chunk`` was made; a replay makes as many. Said to the file now and then, and at the end.

        ``film_frames``: so many frames are in the film now, the chunk's own included; this is said at once.
        """
        self._made = chunk
        if film_frames is not None:
            self._made_written = chunk
            self._line({"made": chunk, "frames": film_frames})
        elif self._made_written < 0 or chunk - self._made_written >= MADE_EVERY_CHUNKS:
            self._say_made()

    def restarted(self, scene: SceneSpec, seed: int, after_chunk: int | None) -> None:
        """The world began anew, or, with ``after_chunk``, went on from the snapshot that was taken after that chunk."""
        self._say_made()
        self._made = self._made_written = -1 if after_chunk is None else after_chunk
        self._line({"world": {"seed": seed, "after_chunk": after_chunk, "scene": _scene_map(scene, self._image)}})

    def resumed(
        self, scene: SceneSpec, seed: int, after_chunk: int, events: Sequence[tuple[int, SampledEvent]]
    ) -> None:
        """A world that was saved after ``after_chunk`` goes on; ``events`` is all that was asked of it until then."""
        self._say_made()
        self._made = self._made_written = after_chunk
        world = {"seed": seed, "after_chunk": None, "scene": _scene_map(scene, self._image)}
        self._line({"world": {**world, "first_chunk": after_chunk + 1}})
        for chunk, event in events:
            self.write(chunk, event)

    def close(self) -> None:
        self._say_made()
        file, self._file = self._file, None
        if file is not None:
            with contextlib.suppress(OSError):  # every line was flushed, or the error is known
                file.close()

    def _say_made(self) -> None:
        if self._made > self._made_written:
            self._line({"made": self._made})
            self._made_written = self._made

    def _line(self, content: Mapping[str, object]) -> None:
        if self._file is None:
            return
        text = json.dumps(content, allow_nan=False, separators=(",", ":"), default=_as_map)
        try:
            self._file.write(text.encode("ascii") + b"\n")
            self._file.flush()
        except OSError as error:
            self._fail(error)

    def _fail(self, error: OSError | ValueError) -> None:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        self.error = f"{self.path}: the session file cannot be written: {reason}. The walk goes on without it."
        file, self._file = self._file, None
        if file is not None:
            with contextlib.suppress(OSError):
                file.close()


def _as_map(value: object) -> dict[str, object]:
    """Mappings that are not dicts, as JSON."""
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} in a session file")


def _scene_map(scene: SceneSpec, known_image: Pixels | None) -> dict[str, object]:
    image: object = None
    if scene.image is not None:
        same = known_image is not None and np.array_equal(scene.image, known_image)
        image = SAME_IMAGE if same else _image_map(scene.image)
    words = {"name": scene.name, "prompt": scene.prompt, "own_image": scene.own_image, "map_seed": scene.map_seed}
    return {**words, "start": asdict(scene.start), "image_sha256": scene.image_sha256, "image": image}


def _image_map(image: Pixels) -> dict[str, str]:
    png = io.BytesIO()
    Image.fromarray(image).save(png, "PNG")
    data = png.getvalue()
    return {"png": base64.b64encode(data).decode("ascii"), "sha256": hashlib.sha256(data).hexdigest()}
