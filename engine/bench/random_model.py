"""A LingBot-World of random numbers, made on the device: speed needs no weights.

Everything else is real: network, image codec, session and their sizes. ``scale`` "tiny" keeps the shape of the stream
and shrinks widths and picture, so that the same benches run on a processor.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import torch
from torch import Tensor, nn

from engine import optimize
from engine.backends import Log
from engine.bench.work import CODEC_WIDTH
from engine.camera import CameraConvention, CameraPreset
from engine.config import EngineConfig
from engine.device import DevicePlan, prepare_device
from engine.errors import BadValue, NeedsHardware
from engine.geometry import ChunkGeometry
from engine.lingbot.config import Family, LingBotConfig, builtin
from engine.lingbot.memory import MemoryPlan, Room, Wishes, plan
from engine.lingbot.session import Codecs, ImageScenery, schedule_of
from engine.lingbot.vae import LatentStatistics, WanVae, network_class
from engine.models.dit import CausalDiT
from engine.protocol import ModelCard, SceneSpec
from engine.session import LoadedModel

NAMES = ("v2-1.3b", "v2-14b")
SCALES = ("full", "tiny")
_TINY_WIDTH_PX, _TINY_HEIGHT_PX, TINY_CODEC_WIDTH = 96, 64, 4


def random_model(name: str, scale: str | None, config: EngineConfig, log: Log) -> LoadedModel:
    """Build it. ``scale`` None: full on a GPU, tiny elsewhere. Raises NeedsHardware where it does not fit."""
    place = prepare_device(config.device)
    on_card = place.device.type == "cuda"
    chosen = scale or ("full" if on_card else "tiny")
    if chosen == "full" and not on_card:
        raise BadValue("--scale", "full", "tiny: one chunk of the full size takes minutes on a processor")
    log(place.line)
    published = builtin(Family(name))
    model = published if chosen == "full" else _shrunk(published)
    memory = _memory(model, config, place)
    model = replace(model, width_px=memory.setup.width_px, height_px=memory.setup.height_px)
    geometry = ChunkGeometry(model.width_px, model.height_px, model.stream.chunk_latent_frames)
    dit = _network(lambda: CausalDiT(model.dit), place.device, place.dtype)
    for line in optimize.apply(dit, optimize.Passes.of(memory, config.lingbot.compile_blocks, model.stream)):
        log(line)
    codec = _codec(codec_width(chosen), place)
    rows = RandomRows(model.dit.text_dim)
    codecs = Codecs(rows, codec, geometry, model.dit.out_channels, 4, place.device)
    convention = CameraConvention(config.camera.convention or model.camera)
    return LoadedModel(
        card=_card(model, chosen, place),
        dit=dit,
        geometry=geometry,
        stream=model.stream,
        schedule=schedule_of(model.schedule, config.lingbot.schedule, config.steps),
        schedule_of=partial(schedule_of, model.schedule, config.lingbot.schedule),
        camera=CameraPreset(convention, convention.scale, convention.intrinsics(model.width_px, model.height_px)),
        policy=memory.policy,
        begin=partial(ImageScenery, codecs),
        device=place.device,
        dtype=place.dtype,
        position_limit_latent_frames=config.lingbot.position_limit_latent_frames,
    )


def codec_width(scale: str) -> int:
    """Channels of the image codec at full picture size."""
    return CODEC_WIDTH if scale == "full" else TINY_CODEC_WIDTH


def random_scene(model: LoadedModel) -> SceneSpec:
    """A picture of noise and a prompt; random numbers take as long as real ones, zeros would not."""
    size = (model.card.height, model.card.width, 3)
    picture = np.random.default_rng(0).integers(0, 256, size, dtype=np.uint8)
    return SceneSpec("random", "a walk through noise", image=picture)


class RandomRows:
    """Rows of text as the encoder would give them: as many as words, the same for the same prompt."""

    def __init__(self, width: int) -> None:
        self.width = width

    def encode(self, prompt: str) -> Tensor:
        """[L, width], float32."""
        generator = torch.Generator().manual_seed(zlib.crc32(prompt.encode()))
        return torch.randn(len(prompt.split()) + 1, self.width, generator=generator)


def _shrunk(model: LingBotConfig) -> LingBotConfig:
    dit = replace(model.dit, dim=256, heads=2, layers=3, ffn_dim=512, text_length=32, text_dim=64)
    return replace(model, dit=dit, width_px=_TINY_WIDTH_PX, height_px=_TINY_HEIGHT_PX)


def _memory(model: LingBotConfig, config: EngineConfig, place: DevicePlan) -> MemoryPlan:
    """The size stays as it is published, so that numbers can be compared; what does not fit is refused."""
    wishes = Wishes(
        dtype=str(place.dtype).removeprefix("torch."),
        fp8_linears=config.lingbot.fp8_linears or False,
        size_fixed=True,
        window_fixed=True,
    )
    room = Room(2**62, (0, 0))
    if place.device.type == "cuda":
        free, _ = torch.cuda.mem_get_info(place.device)
        room = Room(free, torch.cuda.get_device_capability(place.device))
    found = plan(model, config.window, room, wishes)
    if not found.fits:
        raise NeedsHardware(f"{found.line}.", found.cure)
    return found


def _network(make: Callable[[], CausalDiT], device: torch.device, dtype: torch.dtype) -> CausalDiT:
    with torch.device("meta"):
        network = make().to(dtype)
    network.to_empty(device=device)
    _fill(network, device)
    return network.eval().requires_grad_(False)


def _codec(width: int, place: DevicePlan) -> WanVae:
    """Encoder in float32, decoder in half precision on a graphics card, as a session has them."""
    made = network_class()
    with torch.device("meta"):
        network: nn.Module = made(base_dim=width)
    network.to_empty(device=place.device)
    _fill(network, place.device)
    half = torch.float16 if place.device.type == "cuda" else torch.float32
    for name in ("decoder", "post_quant_conv"):
        network.get_submodule(name).to(half)
    return WanVae(network.eval().requires_grad_(False), LatentStatistics(), place.device)


@torch.no_grad()
def _fill(network: nn.Module, device: torch.device) -> None:
    """Norms are one; all else is normal, and small enough that nothing overflows however deep the network is."""
    generator = torch.Generator(device).manual_seed(0)
    for name, parameter in network.named_parameters():
        if "norm" in name and name.endswith(("weight", "gamma")):
            parameter.fill_(1)
        elif parameter.ndim > 1:
            parameter.normal_(0, parameter[0].numel() ** -0.5, generator=generator)
        else:
            parameter.normal_(0, 0.02, generator=generator)


def _card(model: LingBotConfig, scale: str, place: DevicePlan) -> ModelCard:
    size = "" if scale == "full" else " (tiny)"
    return ModelCard(
        backend="lingbot",
        model=f"{model.name} of random numbers{size}",
        model_sha256="",
        device=str(place.device),
        dtype=str(place.dtype).removeprefix("torch."),
        threads=place.threads,
        width=model.width_px,
        height=model.height_px,
        fps_nominal=model.fps,
        latent_frames_per_chunk=model.stream.chunk_latent_frames,
    )
