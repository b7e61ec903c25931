"""The words of the command line: ``parse(argv)`` -> ``Options``. It knows what can be asked, not how it is done."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from app.settings import APP_SETTINGS
from engine.config import BACKENDS, Setting
from engine.errors import BadValue
from engine.wording import shown

COMMANDS = ("play", "render", "replay", "bench", "doctor", "models", "train", "evaluate")
PASSED_ON = ("train", "evaluate")
"""Commands whose options are read by the engine's own training."""
BENCHES = ("e2e", "stages", "roofline", "window")
RANDOM_MODELS = ("v2-1.3b", "v2-14b")
MAX_CHUNKS = 100_000

_SIZE = re.compile(r"([0-9]{1,5})[xX]([0-9]{1,5})\Z")


@dataclass(frozen=True, slots=True)
class Options:
    """What was asked. None or an empty tuple: not given."""

    command: str
    rest: tuple[str, ...] = ()
    settings: Path | None = None
    sets: tuple[str, ...] = ()
    scene: str | None = None
    image: Path | None = None
    prompt: str | None = None
    seed: int | None = None
    backend: str | None = None
    model: str | None = None
    server: str | None = None
    assets: str | None = None
    record: Path | None = None
    fullscreen: bool = False
    size: tuple[int, int] | None = None
    script: Path | None = None
    file: Path | None = None
    out: Path | None = None
    frames: Path | None = None
    report: Path | None = None
    chunks: int | None = None
    overwrite: bool = False
    any_model: bool = False
    bench: str = "e2e"
    seconds: float = 10.0
    random_weights: str | None = None
    scale: str | None = None
    json: Path | None = None
    models: str = "list"
    to: Path | None = None
    accept_licence: bool = False
    checksums: bool = False


class OneSentenceParser(argparse.ArgumentParser):
    """A mistake is one sentence and the place where help is, without the whole usage."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{message[:1].upper()}{message[1:]}. See '{self.prog} --help'.\n")


def parse(argv: Sequence[str]) -> Options:
    """The options in ``argv`` (without the program's name). Raises BadValue; leaves with 2 for what is no option."""
    words = list(argv)
    if not words or (words[0].startswith("-") and words[0] not in ("-h", "--help")):
        words.insert(0, "play")
    if words[0] in PASSED_ON:
        return Options(words[0], tuple(words[1:]))
    found = vars(_parser().parse_args(words))
    found["sets"] = tuple(found.get("sets") or ())
    return Options(**{name: value for name, value in found.items() if value is not None})


def _parser() -> argparse.ArgumentParser:
    parser = OneSentenceParser(
        prog="python main.py",
        description="Walk through a world that a video-diffusion model makes while you walk.",
        epilog="Without a command it plays. 'python main.py COMMAND --help' explains a command.",
        allow_abbrev=False,
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=OneSentenceParser)
    _play(commands.add_parser("play", help="open the window and walk (this is what happens without a command)"))
    _render(commands.add_parser("render", help="walk a script without a window: a video, pictures, a report"))
    _replay(commands.add_parser("replay", help="make a recorded walk again from its session file, frame for frame"))
    _bench(commands.add_parser("bench", help="measure how fast it runs here"))
    _doctor(commands.add_parser("doctor", help="say what this computer can run, what is missing, and the cure"))
    _models(commands.add_parser("models", help="list the models, fetch one, or check one on disk"))
    commands.add_parser("train", help="train the bundled model (its own options: train --help)", add_help=False)
    commands.add_parser("evaluate", help="measure the bundled model's quality (evaluate --help)", add_help=False)
    return parser


def _play(parser: argparse.ArgumentParser) -> None:
    parser.description = "Open the window and walk. F1 in the window shows the keys."
    _world(parser)
    parser.add_argument("--record", type=Path, metavar="FILE.mp4", help="record from the first frame on")
    parser.add_argument("--fullscreen", action="store_true", help="begin in full screen")
    parser.add_argument("--size", type=_window_size, metavar="WxH", help="size of the window, for example 1280x720")
    _settings(parser)


def _render(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Walk a script without a window. A script is a YAML list of steps, for example:  "
        '- {hold: [w, l], chunks: 8}   - {look: {yaw_degrees: 20}, chunks: 2}   - {prompt: "snow"}   - {wait: 3}'
    )
    parser.add_argument("--script", type=Path, required=True, metavar="WALK.yaml", help="the steps of the walk")
    _outputs(parser)
    parser.add_argument("--chunks", type=_chunks, metavar="N", help="stop, or go on standing still, after N chunks")
    _world(parser)
    _settings(parser)


def _replay(parser: argparse.ArgumentParser) -> None:
    parser.description = "Make a recorded walk again: same model, same seed, same events, so the same frames."
    parser.add_argument("file", type=Path, metavar="FILE", help="a film (.mp4), or a session file (.worldwalk.jsonl)")
    _outputs(parser)
    parser.add_argument("--chunks", type=_chunks, metavar="N", help="make N chunks instead of as many as were made")
    parser.add_argument(
        "--any-model", action="store_true", help="go on even if the model is not the one of the session"
    )
    _model(parser)
    _settings(parser)


def _bench(parser: argparse.ArgumentParser) -> None:
    parser.description = "Measure and print JSON. Close other programs first; the load is part of the result."
    what = (
        "e2e: frames a second as played; stages: where the time goes; roofline: how near each part is to what the "
        "device can do at best; window: evenness of the window's pictures"
    )
    parser.add_argument("bench", choices=BENCHES, help=what)
    parser.add_argument("--chunks", type=_chunks, metavar="N", help="chunks to measure (e2e and stages; default 96)")
    parser.add_argument("--seconds", type=_seconds, default=10.0, help="how long to measure (window; default 10)")
    random = "a model of this size made of random numbers, as speed needs no weights (roofline, e2e, stages)"
    parser.add_argument("--random-weights", choices=RANDOM_MODELS, help=random)
    scale = "with --random-weights: full size (a GPU's default) or a tiny one of the same shape"
    parser.add_argument("--scale", choices=("full", "tiny"), help=scale)
    device = "where it runs: cuda, cuda:1, cpu; the same as --set engine.device.device=NAME"
    parser.add_argument("--device", dest="sets", action="append", type=_device, metavar="NAME", help=device)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the result there instead of printing it")
    _world(parser)
    _settings(parser)


def _doctor(parser: argparse.ArgumentParser) -> None:
    parser.description = "Look at this computer and try the bundled model for some seconds. Changes nothing."
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write what was found as JSON")
    _backend(parser)
    _model(parser)
    _settings(parser)


def _models(parser: argparse.ArgumentParser) -> None:
    parser.description = "List the models with size, licence and needed memory. Nothing is fetched unless you say get."
    actions = parser.add_subparsers(dest="models", metavar="get|check", parser_class=OneSentenceParser)
    get = actions.add_parser("get", help="fetch a model from huggingface.co; an interrupted fetch goes on")
    get.add_argument("model", metavar="NAME", help="a name of the list, for example v2-1.3b")
    get.add_argument("--to", type=Path, metavar="DIR", help="put it there instead of in the folder for models")
    get.add_argument("--accept-licence", action="store_true", help="say that you accept the model's licence")
    check = actions.add_parser("check", help="say what a model on disk is, and whether all of it is there")
    check.add_argument("model", metavar="PATH", help="a folder, a file, or a name of the list")
    check.add_argument("--assets", metavar="PATH", help="the folder with what the model's own lacks")
    check.add_argument("--checksums", action="store_true", help="compare every byte of a fetched model (minutes)")


def _world(parser: argparse.ArgumentParser) -> None:
    begin = parser.add_mutually_exclusive_group()
    begin.add_argument("--scene", metavar="NAME", help="a scene that comes along (a folder in assets/scenes)")
    begin.add_argument("--image", type=Path, metavar="FILE", help="begin with a picture of your own")
    parser.add_argument("--prompt", metavar="TEXT", help="what the world is like; replaces the scene's own words")
    parser.add_argument("--seed", type=_seed, metavar="N", help="start of the random numbers; same seed, same world")
    _backend(parser)
    _model(parser)


def _backend(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--backend", choices=BACKENDS, help="which kind of model (default: bundled)")


def _model(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", metavar="PATH", help="another model of this kind: a folder, or a name of 'models'")
    parser.add_argument("--assets", metavar="PATH", help="text encoder and image codec, where --model has none")
    server = "walk on an SGLang-Diffusion server, for example ws://gpu-box:30000 (see docs/cluster.md)"
    parser.add_argument("--server", metavar="URL", help=server)


def _outputs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", type=Path, metavar="FILE.mp4", help="the video; its session file is put beside it")
    parser.add_argument("--frames", type=Path, metavar="DIR", help="a folder for one PNG a frame")
    parser.add_argument("--report", type=Path, metavar="FILE.json", help="what was made, and how fast, as JSON")
    parser.add_argument("--overwrite", action="store_true", help="replace a video of this name")


def _settings(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--settings", type=Path, metavar="FILE", help="read this instead of settings.yaml")
    parser.add_argument(
        "--set", action="append", dest="sets", metavar="NAME=VALUE", help="change one setting, e.g. app.fullscreen=true"
    )


def _number(option: str, text: str, rule: Setting) -> int:
    value = int(text) if re.fullmatch(r"[+-]?[0-9]{1,18}", text) else text
    checked = rule.check(value, option)
    assert isinstance(checked, int), checked
    return checked


def _device(name: str) -> str:
    return f"engine.device.device={name}"


def _seed(text: str) -> int:
    return _number("--seed", text, APP_SETTINGS["seed"])


def _chunks(text: str) -> int:
    return _number("--chunks", text, Setting(int, 1, MAX_CHUNKS))


def _seconds(text: str) -> float:
    try:
        value: object = float(text)
    except ValueError:
        value = text
    checked = Setting(float, 1.0, 3600.0).check(value, "--seconds")
    assert isinstance(checked, float), checked
    return checked


def _window_size(text: str) -> tuple[int, int]:
    found = _SIZE.match(text)
    if found is None:
        raise BadValue("--size", shown(text), "WIDTHxHEIGHT in pixels, for example 1280x720")
    width, height = int(found[1]), int(found[2])
    APP_SETTINGS["window_width"].check(width, "--size (width)")
    APP_SETTINGS["window_height"].check(height, "--size (height)")
    return width, height
