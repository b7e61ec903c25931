"""Which models there are, told without loading any of them: no torch, so that the window can ask too."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from engine.byte_progress import size_text
from engine.errors import BadValue, FileProblem, MissingModelValue
from engine.lingbot import memory
from engine.wording import shown

BUNDLED_FOLDER = Path(__file__).resolve().parents[1] / "assets" / "models" / "bundled"
_CONFIG, _WEIGHTS = "config.json", "model.safetensors"

RECORD = "worldwalk.json"
"""What a download writes beside a model's files: which repositories and revisions they are, with sizes and hashes."""

_DIFFUSERS = (
    "model_index.json",
    *("transformer/*.json", "transformer/*.safetensors", "text_encoder/*.json", "text_encoder/*.safetensors"),
    *("tokenizer/*.json", "tokenizer/*.model", "vae/*.json", "vae/*.safetensors"),
)
_V2_14B = "robbyant/lingbot-world-v2-14b-causal-fast-diffusers"


@dataclass(frozen=True, slots=True)
class Licence:
    """``restricts``: what may be done with the weights is limited, so it must be accepted before they are fetched."""

    name: str
    says: str
    restricts: bool


CC_BY_NC_SA = Licence(
    "CC BY-NC-SA 4.0",
    "no commercial use; say whose work it is; what you make of it is shared alike "
    "(https://creativecommons.org/licenses/by-nc-sa/4.0/)",
    True,
)
_CARD = Licence(
    "see its card",
    "its code is Apache-2.0; what holds for the weights is written on the card of their repository: read it first",
    True,
)


@dataclass(frozen=True, slots=True)
class Part:
    """Files of one repository of the hub, by patterns; they keep their paths in the model's folder."""

    repo: str
    patterns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Published:
    """A model that can be fetched. ``name`` is also the family of ``engine.lingbot.config``; ``byte_count`` about."""

    name: str
    title: str
    parts: tuple[Part, ...]
    byte_count: int
    licence: Licence

    @property
    def folder(self) -> Path:
        """Where it lies if nobody says otherwise."""
        return models_folder() / self.name


PUBLISHED = (
    Published(
        "v2-1.3b",
        "LingBot-World v2 1.3B",
        (
            Part("robbyant/lingbot-world-v2-1.3b-causal-fast", ("model*.safetensors", "model.safetensors.index.json")),
            # It comes without text encoder, tokenizer and VAE; those of the 14B model are the same.
            Part(_V2_14B, tuple(pattern for pattern in _DIFFUSERS if not pattern.startswith(("model", "transformer")))),
        ),
        18_730_000_000,
        CC_BY_NC_SA,
    ),
    Published("v2-14b", "LingBot-World v2 14B", (Part(_V2_14B, _DIFFUSERS),), 86_000_000_000, CC_BY_NC_SA),
    Published(
        "v1-fast",
        "LingBot-World v1 fast",
        (Part("robbyant/lingbot-world-fast-diffusers", _DIFFUSERS),),
        86_000_000_000,
        _CARD,
    ),
)


_SMALL = "1.1 GB of main memory, window and world together"
"""Of the bundled model, as measured (README)."""


@dataclass(frozen=True, slots=True)
class Listed:
    """One model as ``python main.py models`` shows it; empty texts do not apply."""

    backend: str
    name: str
    state: str
    what: str
    licence: str = ""
    needs: str = ""


def listed() -> list[Listed]:
    """All models of this version, the ones that cannot run here included."""
    weights = BUNDLED_FOLDER / _WEIGHTS
    state = f"comes along ({size_text(weights.stat().st_size)})" if weights.is_file() else f"missing: {weights}"
    name = _text(BUNDLED_FOLDER, "name")
    return [
        Listed("bundled", name, state, "paints and refines a procedural landscape; runs on any computer", "", _SMALL),
        Listed("test_card", "test card", "built in", "moving colours with the same controls; no model, no torch"),
        *(_listed(model) for model in PUBLISHED),
        Listed("sglang", "SGLang-Diffusion", "on a server", "a model that runs on another computer: docs/cluster.md"),
    ]


def as_text() -> str:
    """The list as it is printed."""
    lines = []
    for model in listed():
        lines.append(f"{model.backend:10} {model.name:24} {model.state:28} {model.what}")
        for what, text in (("licence", model.licence), ("needs", model.needs)):
            if text:
                lines.append(f"{'':10} {what:8} {text}")
    return "\n".join(lines)


def published(name: str) -> Published:
    """The model of this name. Raises BadValue with the names there are."""
    for model in PUBLISHED:
        if model.name == name:
            return model
    raise BadValue("the model's name", shown(name), f"one of {', '.join(model.name for model in PUBLISHED)}")


def locate(text: str) -> Path:
    """A model's folder or file from a path, a name of this list, or a repository's id. Touches no network.

    Raises FileProblem where the model is not on this disk.
    """
    path = Path(os.path.expanduser(text))  # unlike pathlib's, these two never raise
    if os.path.exists(path):
        return path
    for model in PUBLISHED:
        if text in (model.name, model.parts[0].repo):
            found = on_disk(model)
            if found is not None:
                return found
            raise FileProblem(model.title, "is not on this disk", f"Get it: python main.py models get {model.name}")
    cached = _hub_cache() / f"models--{text.replace('/', '--')}"
    if text.count("/") == 1 and cached.is_dir():
        return cached
    known = ", ".join(model.name for model in PUBLISHED)
    raise FileProblem(
        path, "is not there", f"Name a model's folder, a repository in the hub's cache, or one of {known}."
    )


def on_disk(model: Published) -> Path | None:
    """Where a whole download of ours lies, or a snapshot in the hub's own cache; None for neither."""
    if (model.folder / RECORD).is_file():
        return model.folder
    cached = _hub_cache() / f"models--{model.parts[0].repo.replace('/', '--')}"
    return cached if (cached / "snapshots").is_dir() else None


def models_folder() -> Path:
    return Path(platformdirs.user_data_dir("worldwalk", appauthor=False)) / "models"


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


def _listed(model: Published) -> Listed:
    found = on_disk(model)
    state = f"not here ({size_text(model.byte_count)} to fetch)" if found is None else f"on disk: {found}"
    licence = f"{model.licence.name}: {model.licence.says}"
    needs = memory.requirement(memory.PUBLISHED[model.name])
    return Listed("lingbot", model.name, state, f"{model.title}: dreams everything", licence, needs)


def _hub_cache() -> Path:
    """Where huggingface_hub keeps what other programs have fetched."""
    home = os.environ.get("HF_HOME") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "huggingface"
    return Path(os.environ.get("HF_HUB_CACHE") or Path(home) / "hub").expanduser()


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
