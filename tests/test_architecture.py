"""The house rules, enforced: who may import whom, how long things may be, what a file may not be called."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCES = sorted([ROOT / "main.py", *ROOT.glob("app/**/*.py"), *ROOT.glob("engine/**/*.py")])
TESTS = sorted(ROOT.glob("tests/**/*.py"))
MODULE_LINES, FUNCTION_LINES = 400, 50
NOT_NOUNS = ("utils", "common", "helpers", "base", "manager")
TEXT_SUFFIXES = (".py", ".md", ".yaml", ".yml", ".toml", ".json", ".jsonl", ".txt", ".cfg", ".sh", "")
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:work|tmp)/")

PURE = ("engine.errors", "engine.protocol", "engine.geometry", "engine.window", "engine.wording")
NO_TORCH = ("app*", "engine.protocol", "engine.errors", "engine.events", "engine.controls", "engine.config")
NO_TORCH += ("engine.geometry", "engine.window", "engine.scripts", "engine.fake", "engine.host", "engine.channel")
NO_TORCH += ("engine.remote*", "engine.inputs", "engine.facts")
NO_TORCH += ("engine.pacing", "engine.runner", "engine.backends", "engine.models.dit_config", "engine.lingbot.memory")
NO_TORCH += ("engine.thinning", "engine.lines", "engine.moments", "engine.rewalk", "engine.variants")
NO_TORCH += ("engine.catalogue", "engine.byte_progress", "engine.lingbot.download")

MAY_IMPORT: dict[str, tuple[str, ...]] = {
    # the first pattern that fits a module holds; what it may import of our own, as patterns
    "main": ("app.*", "engine.*"),
    "app*": (
        *("app.*", "engine.protocol", "engine.config", "engine.errors", "engine.wording"),
        *("engine.lines", "engine.thinning"),
    ),
    "engine": (),
    "engine.errors": (),
    "engine.protocol": ("engine.inputs", "engine.facts", "engine.lines", "engine.optics"),
    "engine.optics": (),
    "engine.inputs": (),
    "engine.facts": (),
    "engine.geometry": (),
    "engine.window": ("engine.errors", "engine.protocol"),
    "engine.config": ("engine.errors", "engine.window", "engine.wording"),
    "engine.wording": (),
    "engine.events": ("engine.errors", "engine.protocol", "engine.wording"),
    "engine.controls": ("engine.errors", "engine.protocol", "engine.events", "engine.wording"),
    "engine.scripts": ("engine.errors", "engine.protocol", "engine.events", "engine.wording"),
    "engine.fake": (
        *(*PURE, "engine.events", "engine.controls", "engine.config", "engine.camera", "engine.backends"),
        "engine.moments",
    ),
    "engine.thinning": (),
    "engine.lines": (),
    "engine.moments": ("engine.lines", "engine.thinning"),
    "engine.camera": (*PURE, "engine.config"),
    "engine.schedule": (*PURE,),
    "engine.lingbot.memory": (*PURE, "engine.models.dit_config"),
    "engine.models*": ("engine.models*", "engine.geometry", "engine.window", "engine.errors"),
    "engine.sampler": (*PURE, "engine.schedule", "engine.models*", "engine.device"),
    "engine.image_condition": (*PURE, "engine.config"),
    "engine.weights": ("engine.errors", "engine.geometry", "engine.models*"),
    "engine.catalogue": (*PURE, "engine.byte_progress", "engine.lingbot.memory"),
    "engine.byte_progress": (),
    "engine.lingbot.download": ("engine.errors", "engine.byte_progress", "engine.catalogue"),
    "engine.lingbot.layouts": ("engine.errors", "engine.weights"),
    "engine.lingbot.config": (*PURE, "engine.catalogue", "engine.lingbot.layouts", "engine.models*", "engine.weights"),
    "engine.frames": ("engine.protocol", "engine.errors"),
    "engine.device": ("engine.errors", "engine.config"),
    "engine.host": ("engine.pacing", *PURE, "engine.config", "engine.runner", "engine.channel"),
    "engine.channel": (*PURE,),
    "engine.pacing": (),
    "engine.remote*": (*PURE, "engine.remote*", "engine.events", "engine.config", "engine.backends"),
    "engine.training*": ("engine.*",),
    "engine.bench*": ("engine.*",),
    "engine.doctor": ("engine.*",),
    "engine.*": ("engine.*",),
}
ENGINE_ONLY_FOR_MAIN = ("engine.training*", "engine.bench*", "engine.doctor")
EXTERNAL_ONLY_IN: dict[str, tuple[str, ...]] = {
    "pygame": ("app*",),
    "yaml": ("app.strict_yaml", "app.settings", "app.scenes"),
    "threading": (
        "engine.host",
        "app.recorder",
        "app.repair",
        "app.clips",
        "app.projector",
        "app.worker",
        "engine.bench*",
        "engine.remote*",
    ),
    "websockets": ("engine.remote*",),
    "msgpack": ("engine.remote*",),
    "multiprocessing": (
        "engine.host",
        "engine.channel",
        "engine.training.render_stage",
        "engine.training.evaluate_command",
    ),
    "subprocess": (
        "app.recorder",
        "app.mp4",
        "app.projector",
        "app.side_program",
        "engine.host",
        "engine.doctor",
        "engine.bench*",
    ),
    "concurrent": ("engine.training.evaluate_command",),
    "huggingface_hub": ("engine.lingbot.download",),
    "imageio_ffmpeg": ("app.mp4", "engine.doctor"),
    "safetensors": (
        *("engine.weights", "engine.training*", "engine.models.text", "engine.state"),
        *("engine.lingbot.asset_files", "engine.lingbot.text_cache", "engine.own_picture"),
    ),
    "diffusers": ("engine.lingbot.vae",),
    "transformers": ("engine.lingbot.text", "engine.training.word_table"),
    "ftfy": ("engine.lingbot.text",),
}


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Every import of a module, lazy ones and ``importlib.import_module("...")`` included, with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"relative import in line {node.lineno}"
            assert node.module is not None
            if node.module in ("app", "engine", "engine.models", "engine.lingbot", "engine.training", "engine.bench"):
                yield from ((f"{node.module}.{alias.name}", node.lineno) for alias in node.names)
            else:
                yield node.module, node.lineno
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            yield ast.literal_eval(node.args[0]), node.lineno


def fits(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatch(name, pattern) for pattern in patterns)


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


@pytest.mark.parametrize("path", SOURCES, ids=module_name)
def test_every_import_is_in_the_table(path: Path) -> None:
    name = module_name(path)
    allowed = next(targets for pattern, targets in MAY_IMPORT.items() if fnmatch(name, pattern)) if name else ()
    wrong = []
    for target, line in imports_of(parsed(path)):
        root = target.split(".")[0]
        if root in ("app", "engine", "main"):
            ok = fits(target, allowed) and (
                not fits(target, ENGINE_ONLY_FOR_MAIN) or fits(name, ("main", *ENGINE_ONLY_FOR_MAIN))
            )
        else:
            ok = fits(name, EXTERNAL_ONLY_IN.get(root, ("*",))) and not (root == "torch" and fits(name, NO_TORCH))
        if not ok:
            wrong.append(f"{path.name}:{line} imports {target}")
    assert not wrong, wrong


@pytest.mark.parametrize(("module", "blocked"), [("app.app", "torch"), ("engine.session", "pygame")])
def test_each_room_opens_without_the_other_rooms_library(module: str, blocked: str) -> None:
    code = f"import sys; sys.modules[{blocked!r}] = None; import {module}"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_command_line_starts_without_torch_and_without_pygame() -> None:
    code = "import sys; import main; print([m for m in ('torch', 'pygame') if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout.strip() == "[]", done.stdout + done.stderr


@pytest.mark.parametrize("path", SOURCES, ids=module_name)
def test_modules_and_functions_stay_short(path: Path) -> None:
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= MODULE_LINES, f"{path.name} has {lines} lines"
    functions = [n for n in ast.walk(parsed(path)) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    sizes = {node.name: (node.end_lineno or node.lineno) - node.lineno + 1 for node in functions}
    assert not {name: size for name, size in sizes.items() if size > FUNCTION_LINES}


def test_every_file_is_named_after_what_it_holds() -> None:
    assert not [path for path in (*SOURCES, *TESTS) if path.stem.removeprefix("test_") in NOT_NOUNS]


def test_nothing_is_swallowed_outside_the_three_places_that_may() -> None:
    places = {"main", "engine.runner", "engine.host"}
    found = []
    for path in SOURCES:
        for node in ast.walk(parsed(path)):
            broad = isinstance(node, ast.ExceptHandler) and (
                node.type is None or ast.unparse(node.type) in ("Exception", "BaseException")
            )
            if broad and module_name(path) not in places:
                found.append(f"{path.name}:{node.lineno}")
    assert not found, found


def text_files() -> Iterator[Path]:
    tops = ("app", "engine", "tests", "docs", "assets", ".ci")
    for path in sorted([*ROOT.glob("*"), *(p for top in tops for p in (ROOT / top).rglob("*"))]):
        if path.is_file() and path.suffix in TEXT_SUFFIXES and "__pycache__" not in path.parts:
            yield path


def test_no_file_names_a_place_of_the_machine_it_was_written_on() -> None:
    found = [str(path.relative_to(ROOT)) for path in text_files() if MACHINE_PATH.search(path.read_text("utf-8"))]
    assert not found, found
