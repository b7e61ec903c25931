"""Where the parts of a LingBot-World checkpoint lie on disk, in every layout that has been published.

Nothing is opened but small JSON files. Layouts (repositories robbyant/lingbot-world-*): "original" has the transformer
in ``transformers/`` and its companions as .pth beside it, "diffusers" has ``model_index.json`` and a folder for each
part, "flat" has the transformer's shards alone, so that text encoder, tokenizer and VAE come from another folder.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from engine.errors import FileProblem, WeightsProblem
from engine.weights import refuse_pickle

Layout = Literal["original", "diffusers", "flat"]

MODEL_INDEX, CONFIG = "model_index.json", "config.json"
_JSON_LIMIT_BYTES = 32 * 1024 * 1024
_TRANSFORMER_FOLDERS = ("transformer", "transformers")
_SINGLE_NAMES = ("model.safetensors", "diffusion_pytorch_model.safetensors")
_EXPERTS = ("low_noise_model", "high_noise_model")
_TEXT_FILE, _VAE_FILE = "models_t5_umt5-xxl-enc-bf16", "Wan2.1_VAE"
_TOKENIZER_FILES = ("tokenizer.json", "spiece.model", "tokenizer_config.json")
_SHARD = re.compile(r"(.*)-([0-9]{5})-of-([0-9]{5})\.safetensors")
_SHOWN = 4


@dataclass(frozen=True, slots=True)
class CheckpointFiles:
    """Every file that a model needs. ``transformer`` and ``text_encoder`` are shards in order.

    ``config`` None: the repository ships none. ``assets_root`` is where text encoder, tokenizer and VAE were found.
    """

    layout: Layout
    transformer: tuple[Path, ...]
    index: Path | None
    config: Path | None
    text_encoder: tuple[Path, ...]
    tokenizer: Path | None
    vae: tuple[Path, ...]
    assets_root: Path

    @property
    def root(self) -> Path:
        """The folder that the user named: the one above ``transformer/``, or the shards' own."""
        folder = self.transformer[0].parent
        return folder if self.layout == "flat" else folder.parent


@dataclass(frozen=True, slots=True)
class _Companions:
    text_encoder: tuple[Path, ...] = ()
    tokenizer: Path | None = None
    vae: tuple[Path, ...] = ()


def find(path: Path, assets: Path | None = None) -> CheckpointFiles:
    """The files of the checkpoint at ``path``: a folder, a snapshot of the hub's cache, or one safetensors file.

    Text encoder, tokenizer and VAE that are not there are taken from ``assets``. Raises FileProblem or WeightsProblem
    in one sentence that names all that is missing, or what the path seems to be instead.
    """
    try:
        return _find(path, assets)
    except OSError as error:
        problem = f"cannot be looked through ({error.strerror or 'unknown reason'})"
        raise FileProblem(error.filename or path, problem, "Give a folder that you may read.") from error


def _find(path: Path, assets: Path | None) -> CheckpointFiles:
    files = transformer_files(path)
    companions = _companions(files.root)
    if files.layout == "flat" and files.root.name in _TRANSFORMER_FOLDERS:  # one file of a larger layout
        companions = _completed(companions, _companions(files.root.parent))
    assets_root = files.root
    if assets is not None:
        companions, assets_root = _completed(companions, _companions(_folder(assets))), _folder(assets)
    found = CheckpointFiles(
        files.layout,
        files.transformer,
        files.index,
        files.config,
        companions.text_encoder,
        companions.tokenizer,
        companions.vae,
        assets_root,
    )
    _refuse_incomplete(found, assets)
    return found


def transformer_files(path: Path) -> CheckpointFiles:
    """As ``find``, for the transformer alone; its companions are left empty."""
    if path.is_file():
        if path.name.endswith(".index.json"):
            return transformer_files(path.parent)
        refuse_pickle(path)
        return _of_transformer("flat", path.parent, path.parent, only=path)
    root = _folder(path)
    if all((root / expert).is_dir() for expert in _EXPERTS):
        problem = "seems to be LingBot-World base: two experts that do not run causally, so it cannot be walked in"
        raise FileProblem(path, problem, "Use LingBot-World v2 or v1-fast ('python main.py models' lists them).")
    within = [root / name for name in _TRANSFORMER_FOLDERS if (root / name).is_dir()]
    if (root / MODEL_INDEX).is_file():
        if not within:
            raise FileProblem(path, "has a model_index.json and no transformer folder", _cure_get(path))
        return _of_transformer("diffusers", root, within[0])
    if within:
        return _of_transformer("original", root, within[0])
    if root.name in _TRANSFORMER_FOLDERS and _companions(root.parent) != _Companions():
        return transformer_files(root.parent)
    return _of_transformer("flat", root, root)


def read_json(path: Path) -> dict[str, object]:
    """A small JSON map. Raises FileProblem where it is none."""
    cure = "Download it again, and compare its size with the source."
    try:
        if path.stat().st_size > _JSON_LIMIT_BYTES:
            raise FileProblem(path, "is too large for a configuration or an index", cure)
        value = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FileProblem(path, f"cannot be read ({error.strerror or 'unknown reason'})", cure) from None
    except (ValueError, RecursionError):
        raise FileProblem(path, "is not JSON", cure) from None
    if not isinstance(value, dict):
        raise FileProblem(path, "is not a JSON map", cure)
    return value


def _folder(path: Path) -> Path:
    """``path`` as a folder; a repository's folder in the hub's cache gives its newest snapshot."""
    if not path.is_dir():
        problem = "is neither a folder nor a safetensors file" if path.exists() else "is not there"
        raise FileProblem(path, problem, _cure_get(path))
    snapshots = path / "snapshots"
    if not snapshots.is_dir():
        return path
    main = path / "refs" / "main"
    if main.is_file():
        named = snapshots / main.read_text(encoding="utf-8").strip()
        if named.is_dir():
            return named
    there = sorted((entry for entry in snapshots.iterdir() if entry.is_dir()), key=lambda entry: entry.stat().st_mtime)
    if not there:
        raise FileProblem(path, "is an empty folder of the hub's cache", _cure_get(path))
    return there[-1]


def _of_transformer(layout: Layout, root: Path, folder: Path, only: Path | None = None) -> CheckpointFiles:
    index, shards = (None, (only,)) if only is not None else _shards(folder)
    if not shards:
        _refuse_without_shards(root, folder)
    config = folder / CONFIG
    return CheckpointFiles(layout, shards, index, config if config.is_file() else None, (), None, (), root)


def _shards(folder: Path) -> tuple[Path | None, tuple[Path, ...]]:
    """The index, if there is one, and the files that belong together. Raises WeightsProblem for missing ones."""
    for single in _SINGLE_NAMES:
        index = folder / f"{single}.index.json"
        if index.is_file():
            return index, _shards_of_index(index)
    for single in _SINGLE_NAMES:
        if (folder / single).is_file():
            return None, (folder / single,)
    there = sorted(folder.glob("*.safetensors"))
    numbered = [found for found in (_SHARD.fullmatch(path.name) for path in there) if found is not None]
    if numbered:
        stem, last = numbered[0][1], numbered[0][3]
        names = [f"{stem}-{number:05d}-of-{last}.safetensors" for number in range(1, int(last) + 1)]
        _refuse_missing(folder, [name for name in names if not (folder / name).is_file()], len(names))
        return None, tuple(folder / name for name in names)
    if len(there) > 1:
        raise WeightsProblem(folder, f"holds {len(there)} safetensors files and no index", "Name the file to load.")
    return None, tuple(there)


def _shards_of_index(index: Path) -> tuple[Path, ...]:
    named = read_json(index).get("weight_map")
    if not isinstance(named, dict) or not named or not all(isinstance(name, str) for name in named.values()):
        raise FileProblem(index, "has no 'weight_map' of tensors to files", "Download it again.")
    names = sorted({str(name) for name in named.values()})
    if any(Path(name).name != name for name in names):
        raise FileProblem(index, "names files outside its own folder", "Download it again from a source you trust.")
    _refuse_missing(index.parent, [name for name in names if not (index.parent / name).is_file()], len(names))
    return tuple(index.parent / name for name in names)


def _refuse_missing(folder: Path, missing: list[str], of: int) -> None:
    if missing:
        problem = f"lacks {len(missing)} of {of} shards ({_listed(missing)})"
        raise WeightsProblem(folder, problem, "Continue the download; finished files are kept.")


def _refuse_without_shards(root: Path, folder: Path) -> None:
    for path in sorted(folder.iterdir()):
        refuse_pickle(path)
    inside = sorted(entry.name for entry in root.iterdir())
    problem = f"holds no safetensors file of a transformer (it holds {_listed(inside) if inside else 'nothing'})"
    raise WeightsProblem(folder, problem, _cure_get(root))


def _companions(root: Path) -> _Companions:
    """Text encoder, tokenizer and VAE of a folder, in diffusers' form or in the original one."""
    text = _part(root / "text_encoder", root, _TEXT_FILE)
    tokenizers = (root / "tokenizer", root / "google" / "umt5-xxl")
    tokenizer = next((path for path in tokenizers if any((path / name).is_file() for name in _TOKENIZER_FILES)), None)
    return _Companions(text, tokenizer, _part(root / "vae", root, _VAE_FILE))


def _part(folder: Path, root: Path, stem: str) -> tuple[Path, ...]:
    if folder.is_dir():
        return _shards(folder)[1]
    return next(((path,) for suffix in (".safetensors", ".pth") if (path := root / (stem + suffix)).is_file()), ())


def _completed(own: _Companions, others: _Companions) -> _Companions:
    return _Companions(
        own.text_encoder or others.text_encoder, own.tokenizer or others.tokenizer, own.vae or others.vae
    )


def _refuse_incomplete(files: CheckpointFiles, assets: Path | None) -> None:
    lacking = [
        what
        for what, part in (
            (f"the text encoder (text_encoder/ or {_TEXT_FILE}.pth)", files.text_encoder),
            ("the tokenizer (tokenizer/ or google/umt5-xxl/)", files.tokenizer),
            (f"the VAE (vae/ or {_VAE_FILE}.pth)", files.vae),
        )
        if not part
    ]
    if not lacking:
        return
    where = "" if assets is None else f", and neither does {assets}"
    problem = f"does not hold {' and '.join(lacking)}{where}"
    cure = "Name a folder that has them, for example that of the 14B model, in the setting engine.lingbot.assets."
    raise FileProblem(files.root, problem, cure)


def _listed(names: Iterable[str]) -> str:
    found = list(names)
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return ", ".join(found[:_SHOWN]) + more


def _cure_get(path: Path) -> str:
    return "Name the folder of a LingBot-World model; 'python main.py models' lists what can be had."
