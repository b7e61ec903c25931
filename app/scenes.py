"""How a world begins: the scenes that come with Worldwalk, and pictures of the user's own.

A scene is a folder ``assets/scenes/<name>/`` with ``image.png`` and ``scene.yaml``::

    title: Autumn shore
    prompt: a calm sea in autumn, golden light
    map_seed: 7
    start: {x_metres: 12.5, z_metres: -40, yaw_degrees: 90}     # may be left out; each angle and metre is 0 by default
"""

from __future__ import annotations

import hashlib
import io
import math
import re
import struct
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from app import strict_yaml
from app.strict_yaml import StrictDocument
from engine.errors import BadValue, FileProblem
from engine.protocol import Pixels, SceneSpec, StartPose
from engine.wording import Path as ValuePath
from engine.wording import dotted, key_part, prompt_problem, shown

MAX_IMAGE_BYTES = 256 * 1024 * 1024
MAX_IMAGE_PX = 89_478_485
"""A picture of more pixels than this may be a bomb: a small file that fills the memory (Pillow's own limit)."""

PICTURE = "image.png"
"""The file of a scene's first picture in its folder."""

MAX_TITLE_CHARACTERS = 80
MAX_MAP_SEED = 2**53
MAX_METRES = 1e6

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}\Z")
_ANOTHER_FILE = "Choose another picture, or open and save this one again with an image program."
# what Pillow's decoders are known to raise on damaged files, besides OSError
_DAMAGE: tuple[type[Exception], ...] = (ValueError, TypeError, KeyError, IndexError, EOFError, SyntaxError)
_DAMAGE += (ArithmeticError, AttributeError, MemoryError, NotImplementedError, RuntimeError, struct.error)
_ANY_DAMAGE: tuple[type[Exception], ...] = (OSError, *_DAMAGE)


@dataclass(frozen=True, slots=True)
class SceneCard:
    """A scene as a list shows it. ``name`` is its folder's name, and what ``--scene`` takes."""

    name: str
    title: str
    folder: Path


def list_scenes(assets: Path) -> tuple[SceneCard, ...]:
    """The scenes under ``assets/scenes``, by name. Raises ``BadValue`` or ``FileProblem`` for a damaged one."""
    root = assets / "scenes"
    if not root.is_dir():
        return ()
    folders = sorted(folder for folder in root.iterdir() if (folder / "scene.yaml").is_file())
    return tuple(SceneCard(folder.name, _read_scene(folder).title, folder) for folder in folders)


def find_scene(assets: Path, name: str) -> SceneSpec:
    """The scene of that name; an unknown one raises ``BadValue`` that lists the known ones."""
    folder = assets / "scenes" / name
    # a name is one folder's name: nothing like ../.. is looked for
    if not _NAME.match(name) or not (folder / "scene.yaml").is_file():
        known = ", ".join(sorted(path.parent.name for path in (assets / "scenes").glob("*/scene.yaml")))
        raise BadValue("scene", shown(name), f"one of {known}" if known else "a scene, but none is installed")
    return load_scene(folder)


def load_scene(folder: Path) -> SceneSpec:
    """The scene in ``folder``, its picture at its own size. Raises ``BadValue`` or ``FileProblem``."""
    words = _read_scene(folder)
    image, sha256 = _read_image(folder / PICTURE, None)
    return SceneSpec(
        name=folder.name,
        prompt=words.prompt,
        image=image,
        image_sha256=sha256,
        map_seed=words.map_seed,
        start=words.start,
    )


def scene_from_image(path: Path, prompt: str, width: int, height: int, shift: float = 0.0) -> SceneSpec:
    """A scene that begins with the picture at ``path``, scaled and cropped to ``width`` x ``height``.

    ``shift`` -1 to 1 is the part that is kept along the way where something is cut: 0 is the middle.

    ``image_sha256`` is that of the file. Raises ``FileProblem`` for the file and ``BadValue`` for the prompt.
    """
    assert width >= 1, width
    assert height >= 1, height
    problem = prompt_problem(prompt)
    if problem is not None:
        raise BadValue("prompt", *problem)
    image, sha256 = _read_image(path, (width, height), shift)
    return SceneSpec(name=path.stem[:64], prompt=prompt, image=image, image_sha256=sha256, own_image=True)


# ---- scene.yaml --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Words:
    title: str
    prompt: str
    map_seed: int
    start: StartPose


def _read_scene(folder: Path) -> _Words:
    document = strict_yaml.load_file(folder / "scene.yaml")
    found = _map(document, (), document.value, ("title", "prompt", "map_seed", "start"))
    for key in ("title", "prompt", "map_seed"):
        if key not in found:
            raise BadValue(document.where(), f"no {key}", f"a line '{key}: ...'")
    title, prompt = found["title"], found["prompt"]
    if not isinstance(title, str) or not title.strip() or len(title) > MAX_TITLE_CHARACTERS:
        raise _bad(document, ("title",), title, f"a text of 1 to {MAX_TITLE_CHARACTERS} characters")
    if not isinstance(prompt, str):
        raise _bad(document, ("prompt",), prompt, "a text")
    if (problem := prompt_problem(prompt)) is not None:
        raise BadValue(f"{document.where(('prompt',))}, prompt", *problem)
    seed = found["map_seed"]
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed <= MAX_MAP_SEED:
        raise _bad(document, ("map_seed",), seed, "a whole number from 0 to 2**53")
    start = _map(document, ("start",), found.get("start", {}), ("x_metres", "z_metres", "yaw_degrees"))
    return _Words(
        title=title.strip(),
        prompt=prompt,
        map_seed=seed,
        start=StartPose(
            x_metres=_number(document, start, "x_metres", MAX_METRES),
            z_metres=_number(document, start, "z_metres", MAX_METRES),
            yaw_degrees=_number(document, start, "yaw_degrees", 360.0),
        ),
    )


def _map(document: StrictDocument, path: ValuePath, value: object, known: tuple[str, ...]) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise _bad(document, path, value, f"a map with {', '.join(known)}")
    for key in value:
        if key not in known:
            raise _bad(document, (*path, key_part(key)), value[key], f"only {', '.join(known)} here")
    return value


def _number(document: StrictDocument, start: Mapping[str, object], name: str, limit: float) -> float:
    value = start.get(name, 0.0)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) <= limit:
        raise _bad(document, ("start", name), value, f"a number from {-limit:.0f} to {limit:.0f}")
    return float(value)


def _bad(document: StrictDocument, path: ValuePath, value: object, expected: str) -> BadValue:
    return BadValue(document.where(path) + (f", {dotted(path)}" if path else ""), shown(value), expected)


# ---- pictures ----------------------------------------------------------------------------------------------------


def picture_to_show(path: Path, most_px: int) -> Pixels:
    """The whole picture, RGB [H, W, 3], made smaller where it is larger than ``most_px``. Raises FileProblem."""
    picture, _ = _read_image(path, None)
    height, width, _ = picture.shape
    factor = most_px / max(width, height)
    if factor >= 1.0:
        return picture
    small = max(1, round(width * factor)), max(1, round(height * factor))
    return np.array(Image.fromarray(picture).resize(small, Image.Resampling.LANCZOS), dtype=np.uint8)


def _read_image(path: Path, size: tuple[int, int] | None, shift: float = 0.0) -> tuple[Pixels, str]:
    """RGB [H, W, 3] of any picture that Pillow reads (imageio reads them through it), and the file's sha256.

    Turned upright as its EXIF says, transparency laid on black, the first of several frames; fitted to ``size`` =
    (width, height) where one is given.
    """
    data = _read_bytes(path)
    try:
        with warnings.catch_warnings():
            # a doubtful EXIF block or a large picture is said in our own words or not at all
            warnings.simplefilter("ignore")
            file = Image.open(io.BytesIO(data))
            width, height = file.size
            if width * height > MAX_IMAGE_PX:
                raise FileProblem(path, f"has {width} x {height} pixels, too many to open safely", "Make it smaller.")
            if size is not None:
                file.draft("RGB", (4 * max(size), 4 * max(size)))  # a large JPEG is decoded at a fraction of its size
            image = _to_rgb(_upright(file))
            if size is not None:
                image = _fit(image, size, shift)
            return np.array(image, dtype=np.uint8), hashlib.sha256(data).hexdigest()
    except Image.DecompressionBombError:
        raise FileProblem(path, "has too many pixels to open safely", "Make the picture smaller.") from None
    except UnidentifiedImageError:
        raise FileProblem(path, "is not a picture that can be read", _ANOTHER_FILE) from None
    except OSError as error:
        raise FileProblem(path, f"is damaged: {_one_line(error)}", _ANOTHER_FILE) from None
    except _DAMAGE as error:
        raise FileProblem(path, f"is damaged or of a rare kind: {_one_line(error)}", _ANOTHER_FILE) from None


def _read_bytes(path: Path) -> bytes:
    try:
        if path.is_dir():
            raise FileProblem(path, "is a folder, not a picture", "Name an image file.")
        if path.exists() and not path.is_file():
            raise FileProblem(path, "is not a plain file", "Name an image file.")
        with path.open("rb") as file:
            data = file.read(MAX_IMAGE_BYTES + 1)
    except FileNotFoundError:
        raise FileProblem(path, "no such file", "Check the name.") from None
    except (OSError, ValueError) as error:
        raise FileProblem(path, f"cannot be read: {_one_line(error)}", "Check the name and its permissions.") from None
    if not data:
        raise FileProblem(path, "is empty", "Choose another picture.")
    if len(data) > MAX_IMAGE_BYTES:
        raise FileProblem(path, f"is larger than {MAX_IMAGE_BYTES // 2**20} MB", "Make the picture smaller.")
    return data


def _one_line(error: BaseException) -> str:
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return " ".join(text.split())[:120].rstrip(".") or type(error).__name__


def _upright(file: Image.Image) -> Image.Image:
    try:
        return ImageOps.exif_transpose(file)
    except _ANY_DAMAGE:
        return file.copy()  # a damaged EXIF block is no reason to refuse sound pixels; damaged pixels raise here again


def _to_rgb(image: Image.Image) -> Image.Image:
    """8-bit RGB; 16-bit greys keep their range, and what is transparent becomes black."""
    if image.mode.startswith("I") or image.mode == "F":
        return _grey_of_many_levels(image)
    if image.mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in image.info:
        clear = image.convert("RGBA")
        return Image.alpha_composite(Image.new("RGBA", clear.size, (0, 0, 0, 255)), clear).convert("RGB")
    return image.convert("RGB")


def _grey_of_many_levels(image: Image.Image) -> Image.Image:
    grey = np.nan_to_num(np.asarray(image, dtype=np.float64), nan=0.0, posinf=math.inf, neginf=0.0)  # [H, W]
    # floats come as 0 to 1 or 0 to 255, whole numbers as 16 bits, whatever the type that holds them
    full = 65535.0 if image.mode != "F" else 1.0 if grey.size and grey.max() <= 1.0 else 255.0
    level = np.clip(grey / full, 0.0, 1.0)
    return Image.fromarray((level * 255.0 + 0.5).astype(np.uint8)).convert("RGB")


def _fit(image: Image.Image, size: tuple[int, int], shift: float) -> Image.Image:
    """Scaled by one factor until both sides cover ``size``, then cropped; ``shift`` 0 keeps the centre."""
    scale = max(size[0] / image.width, size[1] / image.height)
    crop_width, crop_height = size[0] / scale, size[1] / scale
    left, upper = ((length * (1.0 + shift)) / 2 for length in (image.width - crop_width, image.height - crop_height))
    box = (max(0.0, left), max(0.0, upper), min(image.width, left + crop_width), min(image.height, upper + crop_height))
    return image.resize(size, Image.Resampling.LANCZOS, box=box)
