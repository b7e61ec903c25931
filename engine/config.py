"""What the engine is told at its start: a frozen tree, checked once, handed out branch by branch. No torch here.

Everything numeric that belongs to a model (chunk size, window, sink, step sizes) comes from that model's own
configuration; this tree holds only what a user may choose. Values reach it from a settings file (``parse``), then
from ``--set``, then from the environment (``apply_environment``), later ones winning.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace

from engine.errors import BadValue
from engine.window import WindowPolicy
from engine.wording import shown

BACKENDS = ("bundled", "test_card", "lingbot", "sglang")
CAMERA_CONVENTIONS = ("sglang", "lingbot", "reactor")
FAMILIES = ("v1-fast", "v2-14b", "v2-1.3b")
SCHEDULES = ("official", "sglang")
DTYPES = ("auto", "float32", "bfloat16", "float16")
OUTPUT_FORMATS = ("auto", "raw", "jpeg", "webp")
TEXT_PLACEMENTS = ("keep", "unload", "cpu")

Value = bool | int | float | str | tuple[str, ...] | None
Where = Callable[[str], str]
"""Gives the place of a dotted setting for an error message: ``engine.steps`` -> ``settings.yaml:42: engine.steps``."""

_TRUE_WORDS = ("1", "true", "yes", "on")
_FALSE_WORDS = ("0", "false", "no", "off")


@dataclass(frozen=True, slots=True)
class CameraConfig:
    """How actions become poses; ``convention`` None is the model's own, and so are its step sizes and lens."""

    convention: str | None = None


@dataclass(frozen=True, slots=True)
class ImageConfig:
    """``lazy_vae_encode_black_frames``: blank frames encoded after the first image; 0 encodes all of them."""

    lazy_vae_encode_black_frames: int = 0


@dataclass(frozen=True, slots=True)
class PromptConfig:
    """``crossfade_chunks``: how many a world takes from one prompt to the next; 0: it switches at once. None is the
    model's own way: large models switch, and in the bundled one words switch while the land follows within some
    frames, as both have learnt it."""

    crossfade_chunks: int | None = None


@dataclass(frozen=True, slots=True)
class DeviceConfig:
    """Where the model runs. ``threads`` 0 means as many as there are cores for this process."""

    device: str = "auto"
    dtype: str = "auto"
    threads: int = 0


@dataclass(frozen=True, slots=True)
class LingBotOptions:
    """Choices for the large models. ``text_encoder``: kept on the device, read anew for each prompt that is not
    cached, or run on the processor (11 GB wherever it is; prompts that were encoded once come from the cache).

    ``assets`` is where text encoder, tokenizer and image codec are, if the model's own folder has none. What is None is
    the model's own: ``family`` (which distillation the weights are of), picture size, construction of the schedule,
    latent frames of chunk, window and sink. ``position_limit_latent_frames``: where positions end and memory is moved
    back instead (``engine.rebase``). ``snapshot_limit_mb``: a world whose memory is larger is not saved while one
    walks. ``fp8_linears`` None: only where memory is short; ``compile_blocks``: see ``engine.optimize``.
    """

    text_encoder: str = "cpu"
    assets: str | None = None
    family: str | None = None
    width_px: int | None = None
    height_px: int | None = None
    schedule: str | None = None
    chunk_latent_frames: int | None = None
    window_latent_frames: int | None = None
    sink_latent_frames: int | None = None
    position_limit_latent_frames: int = 1024
    snapshot_limit_mb: int = 1024
    fp8_linears: bool | None = None
    compile_blocks: bool = False


@dataclass(frozen=True, slots=True)
class RemoteConfig:
    """A model on an SGLang-Diffusion server. ``output_format`` auto is chosen by the measured bandwidth.

    ``sink_latent_frames`` and ``window_latent_frames`` None: as the server was started. ``ca_file``: the authority
    (PEM) that signed the server's certificate, where this machine does not know it. ``patience_seconds``: without a
    picture for so long, the server counts as stuck.
    """

    server: str | None = None
    width_px: int = 832
    height_px: int = 480
    fps: int = 16
    output_format: str = "auto"
    output_quality: int | None = None
    sink_latent_frames: int | None = None
    window_latent_frames: int | None = None
    ca_file: str | None = None
    patience_seconds: float = 60.0


@dataclass(frozen=True, slots=True)
class EngineConfig:
    """The root. ``model`` None is the backend's own default, ``steps`` None the model's own schedule."""

    backend: str = "bundled"
    model: str | None = None
    steps: int | None = None
    snapshot_every_chunks: int = 16
    moments_every_chunks: int = 2
    moments_limit_mb: int = 512
    device: DeviceConfig = field(default_factory=DeviceConfig)
    camera: CameraConfig = field(default_factory=CameraConfig)
    window: WindowPolicy = field(default_factory=WindowPolicy)
    prompt: PromptConfig = field(default_factory=PromptConfig)
    image: ImageConfig = field(default_factory=ImageConfig)
    lingbot: LingBotOptions = field(default_factory=LingBotOptions)
    remote: RemoteConfig = field(default_factory=RemoteConfig)


@dataclass(frozen=True, slots=True)
class Setting:
    """What one setting may be: its type, its bounds, its words, and whether it may be left empty (null)."""

    kind: type[bool] | type[int] | type[float] | type[str]
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    optional: bool = False
    many: bool = False
    """A list of texts instead of one."""

    def expected(self) -> str:
        """The rule in words."""
        if self.many:
            words = "a list of texts"
        elif self.choices:
            words = "one of " + ", ".join(self.choices)
        elif self.kind is bool:
            words = "true or false"
        elif self.kind is str:
            words = "a text"
        else:
            words = "a whole number" if self.kind is int else "a number"
            if self.minimum is not None and self.maximum is not None:
                words += f" from {self.minimum:.10g} to {self.maximum:.10g}"
        return words + (" or null" if self.optional else "")

    def check(self, value: object, where: str) -> Value:
        """``value`` if it obeys the rule, else ``BadValue`` at ``where``."""
        if value is None and self.optional:
            return None
        if self.many and isinstance(value, list | tuple) and all(isinstance(item, str) and item for item in value):
            return tuple(str(item) for item in value)
        if self.many:
            raise BadValue(where, shown(value), self.expected())
        if self.kind is bool and isinstance(value, bool):
            return value
        if self.kind is str and isinstance(value, str) and (value in self.choices or (not self.choices and value)):
            return value
        if self.kind in (int, float) and isinstance(value, int | float) and not isinstance(value, bool):
            fits = self.kind is float or isinstance(value, int)
            low = -math.inf if self.minimum is None else self.minimum
            high = math.inf if self.maximum is None else self.maximum
            if fits and low <= value <= high:
                return float(value) if self.kind is float else value
        raise BadValue(where, shown(value), self.expected())


ENGINE_SETTINGS: Mapping[str, Setting] = {
    "backend": Setting(str, choices=BACKENDS),
    "model": Setting(str, optional=True),
    "steps": Setting(int, 1, 50, optional=True),
    "snapshot_every_chunks": Setting(int, 1, 100_000),
    "moments_every_chunks": Setting(int, 1, 100_000),
    "moments_limit_mb": Setting(int, 0, 1_000_000),
    "device.device": Setting(str),
    "device.dtype": Setting(str, choices=DTYPES),
    "device.threads": Setting(int, 0, 1024),
    "camera.convention": Setting(str, choices=CAMERA_CONVENTIONS, optional=True),
    "window.interactive": Setting(bool),
    "window.moving_latent_frames": Setting(int, 0, 4096, optional=True),
    "window.still_latent_frames": Setting(int, 0, 4096, optional=True),
    "window.still_chunks": Setting(int, 1, 10_000),
    "window.look_threshold_degrees": Setting(float, 0.0, 180.0),
    "prompt.crossfade_chunks": Setting(int, 0, 64, optional=True),
    "image.lazy_vae_encode_black_frames": Setting(int, 0, 10_000),
    "lingbot.text_encoder": Setting(str, choices=TEXT_PLACEMENTS),
    "lingbot.assets": Setting(str, optional=True),
    "lingbot.family": Setting(str, choices=FAMILIES, optional=True),
    "lingbot.width_px": Setting(int, 16, 4096, optional=True),
    "lingbot.height_px": Setting(int, 16, 4096, optional=True),
    "lingbot.schedule": Setting(str, choices=SCHEDULES, optional=True),
    "lingbot.chunk_latent_frames": Setting(int, 1, 64, optional=True),
    "lingbot.window_latent_frames": Setting(int, 1, 4096, optional=True),
    "lingbot.sink_latent_frames": Setting(int, 0, 4096, optional=True),
    "lingbot.position_limit_latent_frames": Setting(int, 8, 1024),
    "lingbot.snapshot_limit_mb": Setting(int, 0, 1_000_000),
    "lingbot.fp8_linears": Setting(bool, optional=True),
    "lingbot.compile_blocks": Setting(bool),
    "remote.server": Setting(str, optional=True),
    "remote.width_px": Setting(int, 64, 4096),
    "remote.height_px": Setting(int, 64, 4096),
    "remote.fps": Setting(int, 1, 60),
    "remote.output_format": Setting(str, choices=OUTPUT_FORMATS),
    "remote.output_quality": Setting(int, 1, 100, optional=True),
    "remote.sink_latent_frames": Setting(int, 0, 4096, optional=True),
    "remote.window_latent_frames": Setting(int, 1, 4096, optional=True),
    "remote.ca_file": Setting(str, optional=True),
    "remote.patience_seconds": Setting(float, 1.0, 3600.0),
}
"""Every engine setting by its dotted name below ``engine``."""


def flatten(tree: Mapping[str, object], prefix: str = "") -> dict[str, object]:
    """A nested map as one map of dotted names; an empty section gives nothing."""
    flat: dict[str, object] = {}
    for key, value in tree.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            flat.update(flatten(value, name + "."))
        else:
            flat[name] = value
    return flat


def check_all(
    values: Mapping[str, object], rules: Mapping[str, Setting], section: str, where: Where
) -> dict[str, Value]:
    """Every value of ``values`` (dotted names) held against ``rules``; an unknown name is ``BadValue`` with a guess."""
    checked: dict[str, Value] = {}
    for name, value in values.items():
        full = f"{section}.{name}" if section else name
        inside = [known.rpartition(".")[2] for known in rules if known.rpartition(".")[0] == name]
        if inside:
            raise BadValue(where(full), shown(value), f"a section with {', '.join(inside)}")
        if name not in rules:
            raise BadValue(
                where(full), f"the unknown setting {full!r}", "a known setting", nearest(name, rules, section)
            )
        checked[name] = rules[name].check(value, where(full))
    return checked


def nearest(name: str, known: Iterable[str], section: str) -> str:
    """The cure for a misspelt name: the closest known one, or where to find them all."""
    names = list(known)
    guesses = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    if not guesses:
        leaves = {known_name.rsplit(".", 1)[-1]: known_name for known_name in names}
        close = difflib.get_close_matches(name.rsplit(".", 1)[-1], list(leaves), n=1, cutoff=0.6)
        guesses = [leaves[leaf] for leaf in close]
    if not guesses:
        return "See settings.yaml for all of them."
    return f"Did you mean {section + '.' if section else ''}{guesses[0]}?"


def parse(values: Mapping[str, object], where: Where) -> EngineConfig:
    """The engine's branch of a settings file, nested or dotted, as a checked tree; what is absent keeps its default."""
    checked = check_all(flatten(values), ENGINE_SETTINGS, "engine", where)
    config = EngineConfig()
    for name, value in checked.items():
        config = _with(config, name, value)
    return config


def to_dict(config: EngineConfig) -> dict[str, Value]:
    """The tree as dotted names, for session files and reports; ``parse`` reads it back."""
    return check_all(flatten(asdict(config)), ENGINE_SETTINGS, "engine", lambda name: name)


def apply_environment(config: EngineConfig, environ: Mapping[str, str]) -> EngineConfig:
    """The tree with the environment's overrides; of two names for one thing ours wins, a bad value is ``BadValue``."""
    name = _first_set(environ, "ENABLE_INTERACTIVE_KV_WINDOW")
    if name is not None:
        config = _with(config, "window.interactive", _flag(name, environ[name]))
    name = _first_set(environ, "LAZY_VAE_ENCODE_BLACK_FRAMES")
    if name is not None:
        rule = ENGINE_SETTINGS["image.lazy_vae_encode_black_frames"]
        text = environ[name].strip()
        number: object = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else text
        config = _with(config, "image.lazy_vae_encode_black_frames", rule.check(number, f"environment variable {name}"))
    return config


def _first_set(environ: Mapping[str, str], suffix: str) -> str | None:
    return next((name for name in (f"WORLDWALK_{suffix}", f"SGLANG_LINGBOT_{suffix}") if name in environ), None)


def _flag(name: str, text: str) -> bool:
    word = text.strip().lower()
    if word in _TRUE_WORDS or word in _FALSE_WORDS:
        return word in _TRUE_WORDS
    raise BadValue(f"environment variable {name}", shown(text), "1, true, yes, on, 0, false, no or off")


def _with(config: EngineConfig, name: str, value: Value) -> EngineConfig:
    """A copy with one dotted setting changed; the value has been checked against its rule before."""
    branch, _, leaf = name.rpartition(".")
    if not branch:
        return replace(config, **{leaf: value})  # type: ignore[arg-type]  # ENGINE_SETTINGS checked its type
    return replace(config, **{branch: replace(getattr(config, branch), **{leaf: value})})
