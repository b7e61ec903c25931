"""Settings: a file, the user's own changes, then ``--set``, then the environment; all checked alike, later ones win."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from app import bindings, strict_yaml
from app.bindings import Bindings
from app.pad_buttons import BUTTONS, PadBindings
from app.words import table
from engine import config as engine_config
from engine.config import EngineConfig, Setting, Value
from engine.errors import BadValue
from engine.wording import shown

SECTIONS = ("app", "engine")
SEED_MAXIMUM = 2**32 - 1
COLOURS = ("standard", "safe")


@dataclass(frozen=True, slots=True)
class AppSettings:
    """What a user may choose of the window. ``scene`` None: the gallery first. Smoothing or cap of 0: none."""

    language: str = table.AUTO
    scene: str | None = None
    seed: int = 0
    window_width: int = 1280
    window_height: int = 720
    fullscreen: bool = False
    recordings_dir: str | None = None
    captions: bool = False
    text_size: float = 1.0
    colours: str = "standard"
    reduced_motion: bool = False
    instant_camera: bool = True
    input_overlay: bool = False
    mouse_degrees_per_100_px: float = 12.0
    invert_y: bool = False
    mouse_smoothing_ms: int = 0
    turn_cap_degrees_per_second: float = 0.0
    pad_degrees_per_second: float = 110.0
    pad_dead_zone: float = 0.15
    key_labels: str = "qwerty"
    keys: Bindings = field(default_factory=Bindings)
    pad: PadBindings = field(default_factory=PadBindings)
    quick_1: str | None = None
    quick_2: str | None = None
    quick_3: str | None = None
    quick_4: str | None = None
    quick_5: str | None = None
    quick_6: str | None = None
    quick_7: str | None = None
    quick_8: str | None = None
    quick_9: str | None = None

    @property
    def quick_prompts(self) -> tuple[str | None, ...]:
        """Prepared prompts; None: the one that comes along, in the window's language."""
        first = (self.quick_1, self.quick_2, self.quick_3, self.quick_4, self.quick_5)
        return (*first, self.quick_6, self.quick_7, self.quick_8, self.quick_9)


APP_SETTINGS: Mapping[str, Setting] = {
    "language": Setting(str, choices=(table.AUTO, *table.LANGUAGES)),
    "scene": Setting(str, optional=True),
    "seed": Setting(int, 0, SEED_MAXIMUM),
    "window_width": Setting(int, 480, 7680),
    "window_height": Setting(int, 320, 4320),
    "fullscreen": Setting(bool),
    "recordings_dir": Setting(str, optional=True),
    "captions": Setting(bool),
    "text_size": Setting(float, 0.8, 2.0),
    "colours": Setting(str, choices=COLOURS),
    "reduced_motion": Setting(bool),
    "instant_camera": Setting(bool),
    "input_overlay": Setting(bool),
    "mouse_degrees_per_100_px": Setting(float, 0.5, 500.0),
    "invert_y": Setting(bool),
    "mouse_smoothing_ms": Setting(int, 0, 300),
    "turn_cap_degrees_per_second": Setting(float, 0.0, 1000.0),
    "pad_degrees_per_second": Setting(float, 10.0, 720.0),
    "pad_dead_zone": Setting(float, 0.0, 0.6),
    "key_labels": Setting(str, choices=tuple(bindings.LABELS)),
    **{f"quick_{number}": Setting(str, optional=True) for number in range(1, 10)},
    **{f"keys.{thing}": Setting(str, many=True) for thing in bindings.THINGS},
    **{f"pad.{thing}": Setting(str, many=True) for thing in bindings.PAD_THINGS},
}
"""Every setting of the window by its name below ``app``."""


@dataclass(frozen=True, slots=True)
class Settings:
    """``own``: what the user has changed in the window, by full names; it is kept. ``notice``: how reading it went."""

    app: AppSettings = field(default_factory=AppSettings)
    engine: EngineConfig = field(default_factory=EngineConfig)
    own: Mapping[str, object] = field(default_factory=dict)
    notice: str | None = None


def load(
    path: Path | None, sets: Sequence[str], environ: Mapping[str, str], own: Mapping[str, object] | None = None
) -> Settings:
    """All settings. ``path`` None: only the defaults below ``own`` (dotted names), ``sets`` and the environment.

    Raises FileProblem for a file that cannot be read, BadValue with the place and the cure for anything in it.
    """
    values: dict[str, object] = {}
    places: dict[str, str] = {}
    if path is not None:
        _add_file(strict_yaml.load_file(path), values, places)
    values.update(own or {})
    for text in sets:
        _add_set(text, values, places)
    checked = _checked(values, lambda name: places.get(name, name))
    return Settings(checked.app, engine_config.apply_environment(checked.engine, environ), own or {})


def flat(settings: Settings) -> dict[str, Value]:
    """Every setting by its full dotted name, such as ``app.keys.forward`` or ``engine.window.interactive``."""
    app = engine_config.flatten(asdict(settings.app), "app.")
    engine = {f"engine.{name}": value for name, value in engine_config.to_dict(settings.engine).items()}
    return {name: rule_of(name).check(value, name) for name, value in app.items()} | engine


def changed(settings: Settings, values: Mapping[str, object]) -> Settings:
    """The settings with some values changed by the user, each by its full name. Raises BadValue for what is wrong."""
    checked = _checked({**flat(settings), **values}, lambda name: name)
    return replace(checked, own={**settings.own, **values}, notice=settings.notice)


def forgotten(settings: Settings, names: Collection[str]) -> Settings:
    """The settings with these at their defaults, and not kept as the user's own any longer."""
    defaults = flat(Settings())
    known = changed(settings, {name: defaults[name] for name in names})
    return replace(known, own={name: value for name, value in settings.own.items() if name not in names})


def rule_of(name: str) -> Setting:
    """The rule of a setting by its full name."""
    section, _, leaf = name.partition(".")
    return (APP_SETTINGS if section == "app" else engine_config.ENGINE_SETTINGS)[leaf]


def every_name() -> tuple[str, ...]:
    """The full names of all settings."""
    return tuple(f"app.{name}" for name in APP_SETTINGS) + tuple(f"engine.{n}" for n in engine_config.ENGINE_SETTINGS)


def read_file(path: Path) -> tuple[dict[str, object], dict[str, str]]:
    """What a settings file says, not checked against the rules yet: dotted names with values, and with their places.

    Raises FileProblem and BadValue as ``load`` does.
    """
    values: dict[str, object] = {}
    places: dict[str, str] = {}
    _add_file(strict_yaml.load_file(path), values, places)
    return values, places


def check_one(name: str, value: object, place: str) -> Value:
    """The value of the setting of this full name, if there is one and the value obeys its rule; else BadValue."""
    section, _, leaf = name.partition(".")
    _check_section(section, {}, place)
    rules = APP_SETTINGS if section == "app" else engine_config.ENGINE_SETTINGS
    checked = engine_config.check_all({leaf: value}, rules, section, lambda _: place)[leaf]
    _check_bound(leaf, checked, place)
    return checked


def _checked(values: Mapping[str, object], where: engine_config.Where) -> Settings:
    chosen = engine_config.check_all(_below("app", values), APP_SETTINGS, "app", where)
    for name, value in chosen.items():
        _check_bound(name, value, where(f"app.{name}"))
    return Settings(_app_settings(chosen), engine_config.parse(_below("engine", values), where))


def _check_bound(name: str, value: Value, place: str) -> None:
    """Keys and buttons are known by their names; ``name`` stands below ``app``, others are not looked at."""
    if not name.startswith(("keys.", "pad.")):
        return
    assert isinstance(value, tuple), value
    known, kind, expected = (*bindings.KEYS, *bindings.MOUSE_BUTTONS), "key", _A_KEY
    if name.startswith("pad."):
        known, kind, expected = BUTTONS, "button", _A_BUTTON
    for key in value:
        if key not in known:
            cure = engine_config.nearest(key, known, "").replace("See settings.yaml for all of them.", "")
            raise BadValue(place, f"the {kind} {shown(key)}", expected, cure or None)
    if len(value) > bindings.MOST_KEYS:
        raise BadValue(place, f"{len(value)} {kind}s", f"at most {bindings.MOST_KEYS} {kind}s")


_A_KEY = "the name of a key, such as W, Space or Num 8"
_A_BUTTON = "the name of a button, such as a, start or left_trigger"


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
    keys = Bindings(**_below("keys", chosen))  # type: ignore[arg-type]  # APP_SETTINGS has checked each type
    pad = PadBindings(**_below("pad", chosen))  # type: ignore[arg-type]
    plain = {name: value for name, value in chosen.items() if not name.startswith(("keys.", "pad."))}
    return AppSettings(**plain, keys=keys, pad=pad)  # type: ignore[arg-type]
