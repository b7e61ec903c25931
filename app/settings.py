"""Settings: a file, then ``--set``, then the environment, each checked as strictly as the others; later ones win."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from app import strict_yaml
from engine import config as engine_config
from engine.config import EngineConfig, Setting, Value
from engine.errors import BadValue
from engine.wording import shown

SECTIONS = ("app", "engine")
SEED_MAXIMUM = 2**32 - 1


@dataclass(frozen=True, slots=True)
class AppSettings:
    """What a user may choose of the window. ``scene`` None shows the gallery first."""

    scene: str | None = None
    seed: int = 0
    window_width: int = 1280
    window_height: int = 720
    fullscreen: bool = False
    mouse_degrees_per_px: float = 0.12
    recordings_dir: str | None = None


APP_SETTINGS: Mapping[str, Setting] = {
    "scene": Setting(str, optional=True),
    "seed": Setting(int, 0, SEED_MAXIMUM),
    "window_width": Setting(int, 480, 7680),
    "window_height": Setting(int, 320, 4320),
    "fullscreen": Setting(bool),
    "mouse_degrees_per_px": Setting(float, 0.005, 5.0),
    "recordings_dir": Setting(str, optional=True),
}
"""Every setting of the window by its name below ``app``."""


@dataclass(frozen=True, slots=True)
class Settings:
    app: AppSettings
    engine: EngineConfig


def load(path: Path | None, sets: Sequence[str], environ: Mapping[str, str]) -> Settings:
    """All settings. ``path`` None: only the defaults below ``sets`` and the environment.

    Raises FileProblem for a file that cannot be read, BadValue with the place and the cure for anything in it.
    """
    values: dict[str, object] = {}
    places: dict[str, str] = {}
    if path is not None:
        _add_file(strict_yaml.load_file(path), values, places)
    for text in sets:
        _add_set(text, values, places)

    def where(name: str) -> str:
        return places.get(name, name)

    chosen = engine_config.check_all(_below("app", values), APP_SETTINGS, "app", where)
    config = engine_config.parse(_below("engine", values), where)
    return Settings(_app_settings(chosen), engine_config.apply_environment(config, environ))


def _add_file(document: strict_yaml.StrictDocument, values: dict[str, object], places: dict[str, str]) -> None:
    tree = {} if document.value is None else document.value
    if not isinstance(tree, dict):
        raise BadValue(document.where(), shown(tree), "the sections app and engine")
    for way in document.lines:
        for part in way:
            if isinstance(part, str) and "." in part:
                raise BadValue(document.where(way), f"the key {part!r}", "one section inside another, without dots")
    for section, content in tree.items():
        _check_section(section, content, document.where((section,)))
        for name, value in engine_config.flatten(content or {}, f"{section}.").items():
            values[name] = value
            places[name] = f"{document.where(tuple(name.split('.')))}: {name}"


def _add_set(text: str, values: dict[str, object], places: dict[str, str]) -> None:
    name, equals, value_text = text.partition("=")
    name = name.strip()
    place = f"--set {name}"
    section = name.partition(".")[0]
    if not equals or section == name:
        raise BadValue("--set", shown(text), "NAME=VALUE, for example app.fullscreen=true")
    _check_section(section, {}, place)
    try:
        value = strict_yaml.load(value_text, place).value
    except BadValue as error:
        raise BadValue(place, error.got, error.expected, error.cure) from None
    for full, single in engine_config.flatten({name: value}).items():
        values[full] = single
        places[full] = f"--set {full}"


def _check_section(section: str, content: object, place: str) -> None:
    if section not in SECTIONS:
        cure = engine_config.nearest(section, SECTIONS, "")
        raise BadValue(place, f"the unknown section {shown(section)}", "app or engine", cure)
    if content is not None and not isinstance(content, dict):
        raise BadValue(place, shown(content), f"the settings of {section}, indented below it")


def _below(section: str, values: Mapping[str, object]) -> dict[str, object]:
    start = section + "."
    return {name.removeprefix(start): value for name, value in values.items() if name.startswith(start)}


def _app_settings(chosen: Mapping[str, Value]) -> AppSettings:
    return AppSettings(**chosen)  # type: ignore[arg-type]  # APP_SETTINGS has checked each type
