"""The Wan 2.1 VAE of the LingBot-World models: pictures to latents in float32, latents to pictures one at a time.

Every causal convolution looks back two frames. diffusers' ``decode`` keeps that memory ("feature cache") on the model
itself and empties it with every call, so that a clip must be decoded at once. Here the same network is called latent by
latent with a memory that belongs to the caller: the pictures are those of the whole clip, and worlds that take turns on
one VAE do not disturb each other.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from engine.backends import Progress
from engine.byte_progress import ByteProgress
from engine.errors import BadValue, NeedsLibrary, WeightsProblem
from engine.image_condition import TEMPORAL_SCALE
from engine.lingbot.asset_files import AssetFiles, file_bytes
from engine.weights import VAE_NAMES

LATENT_CHANNELS = 16
_PUBLISHED_WIDTH, _MAX_WIDTH = 96, 1024

_ONLY_SKIPPED = "Rep"
"""diffusers' word in a slot whose first latent frame passed a temporal upsampler without being doubled."""

Feature = Tensor | str | None
_FEATURE_NAME = re.compile(r"feature\.[0-9]{3}")


@dataclass(frozen=True, slots=True)
class LatentStatistics:
    """Per channel, of the latents that the transformer was trained on: z = (mean of the posterior - mean) / std."""

    mean: tuple[float, ...] = (
        *(-0.7571, -0.7089, -0.9113, 0.1075, -0.1745, 0.9653, -0.1517, 1.5508),
        *(0.4134, -0.0715, 0.5517, -0.3632, -0.1922, -0.9497, 0.2503, -0.2921),
    )
    std: tuple[float, ...] = (
        *(2.8184, 1.4541, 2.3275, 2.6558, 1.2196, 1.7708, 2.6052, 2.0743),
        *(3.2687, 2.1526, 2.8652, 1.5579, 1.6382, 1.1253, 2.8251, 1.9160),
    )


class WanVae:
    """The loaded network. It holds nothing of any one world."""

    def __init__(self, network: nn.Module, statistics: LatentStatistics, device: torch.device) -> None:
        self._encoder, self._quantise = network.get_submodule("encoder"), network.get_submodule("quant_conv")
        self._decoder, self._spread = network.get_submodule("decoder"), network.get_submodule("post_quant_conv")
        self.device, self.decoder_dtype = device, next(self._decoder.parameters()).dtype
        shape = (1, LATENT_CHANNELS, 1, 1, 1)
        self._mean = torch.tensor(statistics.mean, device=device).view(shape)
        self._std = torch.tensor(statistics.std, device=device).view(shape)

    @torch.no_grad()
    def encode(self, video: Tensor) -> Tensor:
        """Video [B, 3, T, H, W] in -1..1, T = 1 + 4k -> normalised latents [B, 16, 1 + k, h, w], float32.

        The posterior's mean, nothing is drawn. Always in true float32: with ten bits of mantissa (float16, TF32) the
        error is large enough to lead a world elsewhere (observed by kaarelkaarelson/lingbot-world-v2-realtime).
        """
        assert video.ndim == 5, video.shape
        assert (video.shape[2] - 1) % TEMPORAL_SCALE == 0, video.shape
        video = video.to(self.device, torch.float32)
        features: list[Feature] = [None] * len(_causal_channels(self._encoder))
        groups = [
            video[:, :, :1],
            *(video[:, :, t : t + TEMPORAL_SCALE] for t in range(1, video.shape[2], TEMPORAL_SCALE)),
        ]
        with _true_float32(self.device):
            parts = [self._encoder(group, feat_cache=features, feat_idx=[0]) for group in groups]
            posterior: Tensor = self._quantise(torch.cat(parts, 2))  # [B, 32, F, h, w]
        return (posterior[:, :LATENT_CHANNELS] - self._mean) / self._std

    def decoder(self) -> StreamingVaeDecoder:
        """A new memory on this network, for one world."""
        return StreamingVaeDecoder(self)

    def denormalise(self, latents: Tensor) -> Tensor:
        """Normalised latents [B, 16, F, h, w] -> what the decoder's first convolution gets, in the decoder's type."""
        raw = latents.to(self.device, torch.float32) * self._std + self._mean
        spread: Tensor = self._spread(raw.to(self.decoder_dtype))
        return spread

    def decode_one(self, latent: Tensor, features: list[Feature]) -> Tensor:
        """One latent frame [B, 16, 1, h, w] of ``denormalise`` -> [B, 3, 1 or 4, H, W]; ``features`` moves on."""
        first = features[0] is None
        pictures: Tensor = self._decoder(latent, feat_cache=features, feat_idx=[0], first_chunk=first)
        return pictures.clamp_(-1, 1)

    def feature_channels(self) -> list[int]:
        """Channels of each slot of a decoder's memory, in the order in which they are visited."""
        return _causal_channels(self._decoder)


class StreamingVaeDecoder:
    """A world's own memory on the shared network. At 832x480 in half precision it holds 1.9 GB."""

    def __init__(self, vae: WanVae) -> None:
        self._vae, self._torn = vae, False
        self._features: list[Feature] = [None] * len(vae.feature_channels())

    @torch.no_grad()
    def decode(self, latents: Tensor) -> Tensor:
        """Normalised latents [B, 16, F, h, w] -> pictures [B, 3, T, H, W] in -1..1, of the decoder's type and device.

        The first latent frame of a world gives one picture, every later one four. To show the first pictures of a chunk
        early, call it with one latent frame at a time: the pictures are the same. Should a call fail (out of memory),
        the memory is torn between two latent frames: ``load_state`` is then needed before the next call.
        """
        assert latents.ndim == 5, latents.shape
        assert latents.shape[1] == LATENT_CHANNELS, latents.shape
        assert not self._torn, "a call failed; load_state first"
        # Two copies of the memory would allow to go back instead, for another 1.9 GB.
        self._torn = True
        raw = self._vae.denormalise(latents)
        parts = [self._vae.decode_one(raw[:, :, f : f + 1], self._features) for f in range(raw.shape[2])]
        self._torn = False
        return parts[0] if len(parts) == 1 else torch.cat(parts, 2)

    def state(self) -> dict[str, Tensor]:
        """The memory, slot by slot; nothing before the first latent frame. The tensors are never changed afterwards."""
        assert not self._torn, "a call failed; load_state first"
        kept: dict[str, Tensor] = {}
        for slot, feature in enumerate(self._features):
            if isinstance(feature, Tensor):
                kept[f"feature.{slot:03d}"] = feature.contiguous()
            elif feature is not None:
                kept[f"feature.{slot:03d}"] = torch.zeros(0)
        return kept

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        """Continue, bit for bit, from what ``state`` gave; an empty one is the beginning of a world.

        Raises BadValue for anything that is not the memory of this network; then nothing is changed.
        """
        channels = self._vae.feature_channels()
        wanted = {f"feature.{slot:03d}" for slot in range(len(channels))}
        if state and set(state) != wanted:
            odd = sorted(set(state) ^ wanted)
            raise BadValue("decoder state", f"{len(state)} slots (such as {odd[0]})", f"{len(channels)} slots")
        features: list[Feature] = [None] * len(channels)
        for name, tensor in state.items():
            assert _FEATURE_NAME.fullmatch(name), name
            slot = int(name.rpartition(".")[2])
            features[slot] = self._checked(name, tensor, channels[slot])
        self._features, self._torn = features, False

    def _checked(self, name: str, tensor: Tensor, channels: int) -> Feature:
        if tensor.shape == (0,):
            return _ONLY_SKIPPED
        fits = tensor.ndim == 5 and tensor.shape[1] == channels and tensor.shape[2] in (1, 2) and tensor.numel() > 0
        if not fits or tensor.dtype != self._vae.decoder_dtype:
            got = f"{tensor.dtype} {list(tensor.shape)}"
            raise BadValue(
                f"decoder state, {name}", got, f"{self._vae.decoder_dtype} [B, {channels}, 1 or 2, height, width]"
            )
        return tensor.to(self._vae.device)


def load_vae(
    paths: tuple[Path, ...], *, device: torch.device, decoder_dtype: torch.dtype, progress: Progress
) -> WanVae:
    """Load the VAE from diffusers' safetensors or the original ``Wan2.1_VAE.pth``; the encoder always as float32.

    Its width is read from the shapes. Latent statistics come from the ``config.json`` beside a diffusers file; the
    original has none and means the published ones. Raises NeedsLibrary, WeightsProblem.
    """
    network_of = network_class()
    with AssetFiles(paths, VAE_NAMES) as files:
        shape = files.shape("encoder.conv_in.weight", 5)
        width = shape[0] if shape is not None and 0 < shape[0] <= _MAX_WIDTH else _PUBLISHED_WIDTH
        with torch.device("meta"):
            network: nn.Module = network_of(base_dim=width)

        def dtype(name: str) -> torch.dtype:
            return decoder_dtype if name.startswith(("decoder.", "post_quant_conv.")) else torch.float32

        report = ByteProgress("Reading the VAE", file_bytes(paths), progress)
        files.fill(network, dtype=dtype, device=device, report=report)
    return WanVae(network, _statistics(paths[0].with_name("config.json")), device)


def network_class() -> type[nn.Module]:
    """The network of the VAE, to be built with ``base_dim``. Raises NeedsLibrary."""
    try:
        from diffusers.models.autoencoders.autoencoder_kl_wan import AutoencoderKLWan
    except ImportError as error:
        missing = (error.name or "diffusers").partition(".")[0]
        raise NeedsLibrary(missing, "lingbot", "The VAE of the large models needs") from error
    network: type[nn.Module] = AutoencoderKLWan
    return network


def _statistics(config: Path) -> LatentStatistics:
    published = LatentStatistics()
    if not config.is_file():
        return published
    cure = "Take it from the repository of the model again."
    try:
        with config.open("rb") as file:
            values = json.loads(file.read(1_000_000))
        if not isinstance(values, dict) or values.get("_class_name") != "AutoencoderKLWan":
            return published
        mean, std = (
            tuple(float(value) for value in values.get(name, default))
            for name, default in (("latents_mean", published.mean), ("latents_std", published.std))
        )
    except (OSError, ValueError, TypeError) as error:
        raise WeightsProblem(config, f"cannot be read ({error})", cure) from error
    fits = len(mean) == len(std) == LATENT_CHANNELS and all(map(math.isfinite, (*mean, *std))) and min(std) > 0
    if not fits:
        raise WeightsProblem(config, "latents_mean and latents_std are not 16 numbers each, the latter positive", cure)
    return LatentStatistics(mean, std)


def _causal_channels(part: nn.Module) -> list[int]:
    """Input channels of the convolutions that look back in time, as they are visited; 1x1x1 ones have no memory."""
    return [m.in_channels for m in part.modules() if isinstance(m, nn.Conv3d) and m.kernel_size[0] > 1]


def _true_float32(device: torch.device) -> AbstractContextManager[None]:
    if device.type != "cuda":
        return nullcontext()
    flags: AbstractContextManager[None] = torch.backends.cudnn.flags(enabled=True, allow_tf32=False)
    return flags
