"""Which models there are, told without loading any of them: no torch, so that the window can ask too."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from engine.errors import FileProblem, MissingModelValue

BUNDLED_FOLDER = Path(__file__).resolve().parents[1] / "assets" / "models" / "bundled"
_CONFIG, _WEIGHTS = "config.json", "model.safetensors"


@dataclass(frozen=True, slots=True)
class Listed:
    """One model as ``python main.py models`` shows it."""

    backend: str
    name: str
    state: str
    what: str


def listed() -> list[Listed]:
    """All models of this version, the ones that cannot run here included."""
    weights = BUNDLED_FOLDER / _WEIGHTS
    present = weights.is_file()
    state = f"comes along ({weights.stat().st_size / 1e6:.0f} MB)" if present else f"missing: {weights}"
    return [
        Listed(
            "bundled",
            _text(BUNDLED_FOLDER, "name"),
            state,
            "paints and refines a procedural landscape; runs on any computer",
        ),
        Listed("test_card", "test card", "built in", "moving colours with the same controls; no model, no torch"),
        Listed("lingbot", "LingBot-World", "not in this version", "dreams everything; needs a large graphics card"),
        Listed("sglang", "SGLang-Diffusion server", "not in this version", "a model that runs on another computer"),
    ]


def frame_size(folder: Path | None = None) -> tuple[int, int]:
    """(width, height) in pixels of a model's frames, from its config.json. Raises FileProblem, MissingModelValue."""
    folder = BUNDLED_FOLDER if folder is None else folder
    size = _values(folder).get("size")
    found: list[int] = []
    for name in ("width_px", "height_px"):
        value = size.get(name) if isinstance(size, dict) else None
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise MissingModelValue(str(folder / _CONFIG), f"size.{name}")
        found.append(value)
    return found[0], found[1]


def size_text(byte_count: int) -> str:
    """With a unit of thousands, as files and disks are sold: 6.84 GB, 507 MB, 12 kB."""
    for unit, size in (("GB", 1e9), ("MB", 1e6)):
        if byte_count >= size:
            number = byte_count / size
            return f"{number:.{2 if number < 10 else 1 if number < 100 else 0}f} {unit}"
    return f"{byte_count / 1e3:.0f} kB"


def _text(folder: Path, name: str) -> str:
    try:
        value = _values(folder).get(name)
    except FileProblem:
        return "(no config.json)"
    return value if isinstance(value, str) else "(no name)"


def _values(folder: Path) -> dict[str, object]:
    path = folder / _CONFIG
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise FileProblem(path, f"cannot be read ({error})", "Restore the model's folder.") from None
    if not isinstance(values, dict):
        raise FileProblem(path, "is not a JSON map", "Restore the model's folder.")
    return values
