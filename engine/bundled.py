"""The bundled model: its configuration, its networks, and the door through which worlds are opened on it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from engine.camera import CameraConvention, CameraScale, Intrinsics
from engine.conditioning import ChunkCondition, LayoutConditioner, world_rope
from engine.errors import FileProblem, MissingModelValue, WeightsProblem
from engine.geometry import ChunkGeometry
from engine.layout import GUIDE_CHANNELS, Lens
from engine.models.autoencoder import Autoencoder, AutoencoderConfig
from engine.models.dit import CausalDiT, DiTConfig
from engine.models.painter import Painter, PainterConfig
from engine.models.text import PromptEncoder, TextConfig
from engine.prompt_reader import PromptReader
from engine.weights import file_sha256, load_into
from engine.window import StreamShape
from engine.worldmap import MIX_SIZE, WorldMap

MODEL_FOLDER = Path(__file__).resolve().parents[1] / "assets" / "models" / "bundled"
WEIGHTS, CONFIG, TOKENIZER = "model.safetensors", "config.json", "tokenizer.json"
_CONFIG_LIMIT_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class BundledConfig:
    """What config.json says. Every value is needed; none is guessed."""

    name: str
    fps: float
    guide: tuple[str, ...]
    """The layout channels that the networks were made for."""
    geometry: ChunkGeometry
    stream: StreamShape
    windows: tuple[int, int]
    """Latent frames beyond which it gains nothing by looking back, while moving and while standing still."""
    sigmas: tuple[float, ...]
    camera: CameraScale
    metres_per_unit: float
    blend_latent_frames: float
    dit: DiTConfig
    autoencoder: AutoencoderConfig
    painter: PainterConfig
    text: TextConfig
    tokenizer_sha256: str

    @property
    def lens(self) -> Lens:
        return Lens(self.geometry.width_px, self.geometry.height_px)

    @property
    def intrinsics(self) -> Intrinsics:
        return lens_intrinsics(self.lens)

    def camera_scale(self, convention: CameraConvention) -> CameraScale:
        """Step sizes of the integrator: the model's own for a latent frame, a quarter of them for a video frame."""
        if convention is CameraConvention.SGLANG:
            return self.camera
        parts = self.geometry.temporal_scale
        return replace(
            self.camera,
            move_step=self.camera.move_step / parts,
            yaw_degrees=self.camera.yaw_degrees / parts,
            pitch_degrees=self.camera.pitch_degrees / parts,
        )

    @classmethod
    def read(cls, path: Path) -> BundledConfig:
        """Read config.json; ``FileProblem`` where it cannot be read, ``MissingModelValue`` names what lacks."""
        values = _Values(path, _json_map(path))
        size, stream, camera = values.map("size"), values.map("stream"), values.map("camera")
        dit, text = values.map("dit"), values.map("text")
        guide = values.names("guide", GUIDE_CHANNELS)
        return cls(
            name=values.text("name"),
            fps=values.number("fps"),
            guide=guide,
            geometry=ChunkGeometry(
                size.integer("width_px"), size.integer("height_px"), stream.integer("chunk_latent_frames")
            ),
            stream=StreamShape(
                stream.integer("chunk_latent_frames"),
                stream.integer("window_latent_frames"),
                stream.integer("sink_latent_frames"),
            ),
            windows=(stream.integer("moving_latent_frames"), stream.integer("still_latent_frames")),
            sigmas=values.numbers("sigmas"),
            camera=CameraScale(
                move_step=camera.number("move_step"),
                yaw_degrees=camera.number("yaw_degrees"),
                pitch_degrees=camera.number("pitch_degrees"),
                pitch_limit_degrees=camera.number("pitch_limit_degrees"),
            ),
            metres_per_unit=camera.number("metres_per_unit"),
            blend_latent_frames=values.number("blend_latent_frames"),
            dit=_dit_config(dit, text),
            autoencoder=AutoencoderConfig(len(guide)),
            painter=PainterConfig(len(guide), MIX_SIZE),
            text=TextConfig(
                text.integer("vocabulary"),
                text.integer("word_size"),
                text.integers("group_sizes"),
                text.integer("length"),
                known_words=text.integer("known_words") if "known_words" in text.values else 0,
                known_size=text.integer("known_size") if "known_words" in text.values else 0,
            ),
            tokenizer_sha256=text.text("tokenizer_sha256"),
        )


def _dit_config(dit: _Values, text: _Values) -> DiTConfig:
    split = dit.integers("rope_split")
    return DiTConfig(
        dim=dit.integer("dim"),
        heads=dit.integer("heads"),
        layers=dit.integer("layers"),
        ffn_dim=dit.integer("ffn_dim"),
        text_length=text.integer("length"),
        text_dim=text.integer("word_size"),
        rope_split=(split[0], split[1], split[2]),
        rope_turns=dit.integers("rope_turns") if "rope_turns" in dit.values else None,
    )


def _json_map(path: Path) -> Mapping[str, object]:
    cure = "Reinstall Worldwalk, or point 'model' at a folder that holds a bundled model."
    try:
        if path.stat().st_size > _CONFIG_LIMIT_BYTES:
            raise FileProblem(path, "the model's configuration is over 1 MB, which no configuration is", cure)
        value = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FileProblem(path, f"the model's configuration cannot be read ({error.strerror})", cure) from None
    except ValueError:
        raise FileProblem(path, "the model's configuration is not JSON", cure) from None
    if not isinstance(value, dict):
        raise FileProblem(path, "the model's configuration is not a map", cure)
    return value


class _Values:
    """Typed reading of a JSON map; every absence and every wrong type names the value."""

    def __init__(self, path: Path, values: Mapping[str, object], prefix: str = "") -> None:
        self.path, self.values, self.prefix = path, values, prefix

    def _get(self, name: str, kinds: tuple[type, ...]) -> object:
        value = self.values.get(name)
        if value is None:
            raise MissingModelValue(str(self.path), self.prefix + name)
        if not isinstance(value, kinds) or isinstance(value, bool):
            raise FileProblem(
                self.path, f"'{self.prefix}{name}' has the wrong type", "Restore the file as it was shipped."
            )
        return value

    def map(self, name: str) -> _Values:
        value = self._get(name, (dict,))
        assert isinstance(value, dict)
        return _Values(self.path, value, f"{self.prefix}{name}.")

    def text(self, name: str) -> str:
        return str(self._get(name, (str,)))

    def integer(self, name: str) -> int:
        return int(str(self._get(name, (int,))))

    def number(self, name: str) -> float:
        return float(str(self._get(name, (int, float))))

    def numbers(self, name: str) -> tuple[float, ...]:
        value = self._get(name, (list,))
        assert isinstance(value, list)
        if not value or not all(isinstance(v, int | float) and not isinstance(v, bool) for v in value):
            raise FileProblem(
                self.path, f"'{self.prefix}{name}' must be a list of numbers", "Restore the file as it was shipped."
            )
        return tuple(float(v) for v in value)

    def names(self, name: str, known: Sequence[str]) -> tuple[str, ...]:
        value = self._get(name, (list,))
        assert isinstance(value, list)
        if not value or any(item not in known for item in value):
            expected = f"'{self.prefix}{name}' must be a list of names out of {', '.join(known)}"
            raise FileProblem(self.path, expected, "Restore the file as it was shipped, or update Worldwalk.")
        return tuple(value)

    def integers(self, name: str) -> tuple[int, ...]:
        return tuple(int(v) for v in self.numbers(name))


def lens_intrinsics(lens: Lens) -> Intrinsics:
    return Intrinsics(lens.focal_px, lens.focal_px, lens.width_px / 2, lens.height_px / 2)


class BundledNetworks(nn.Module):
    """All networks of the bundled model under the names that the weights file uses."""

    def __init__(self, config: BundledConfig) -> None:
        super().__init__()
        self.autoencoder = Autoencoder(config.autoencoder)
        self.painter = Painter(config.painter)
        self.dit = CausalDiT(config.dit)
        self.text = PromptEncoder(config.text)


@dataclass(frozen=True, slots=True)
class BundledModel:
    """The loaded networks and everything about them that never changes while worlds run on them."""

    config: BundledConfig
    sha256: str
    networks: BundledNetworks
    reader: PromptReader
    conditioner: LayoutConditioner

    def rope(self, condition: ChunkCondition) -> Tensor | None:
        """Positions of a chunk's tokens [N, D/2, 2] where they are directions in the world."""
        table = world_rope(self.config.dit, self.config.lens, condition.yaw, condition.pitch)
        return None if table is None else table.flatten(0, 1)


def load_bundled_model(folder: Path, progress: Callable[[str, float | None], None]) -> BundledModel:
    """Build on the meta device, then load and check the weights (float32 on the CPU)."""
    progress("Reading the model's configuration", 0.35)
    config = BundledConfig.read(folder / CONFIG)
    with torch.device("meta"):
        networks = BundledNetworks(config)
    progress("Loading the weights", 0.5)
    load_into(networks, folder / WEIGHTS, dtype=torch.float32)
    networks.eval().requires_grad_(False)
    for weight in (*networks.painter.parameters(), *networks.autoencoder.parameters()):
        if weight.dim() == 4:
            weight.data = weight.data.contiguous(memory_format=torch.channels_last)
    progress("Making the land", 0.8)
    reader = PromptReader(_tokenizer(folder / TOKENIZER, config.tokenizer_sha256), networks.text)
    conditioner = LayoutConditioner(
        WorldMap(),
        networks.painter,
        config.lens,
        config.guide,
        metres_per_unit=config.metres_per_unit,
        blend_latent_frames=config.blend_latent_frames,
    )
    return BundledModel(config, file_sha256(folder / WEIGHTS), networks, reader, conditioner)


def _tokenizer(path: Path, sha256: str) -> Tokenizer:
    """The tokenizer whose hash the model's configuration names; a damaged file would end in words misread."""
    try:
        found = file_sha256(path)
    except WeightsProblem as problem:
        raise FileProblem(path, f"the tokenizer {problem.problem}", "Reinstall Worldwalk.") from None
    if found != sha256:
        raise FileProblem(path, "the tokenizer is damaged or of another model", "Reinstall Worldwalk.")
    return Tokenizer.from_file(str(path))
