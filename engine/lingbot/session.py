"""Worlds of the LingBot-World models: a picture and a sentence are how they begin, and the transformer does the rest.

``WorldSession`` runs them like the bundled model's. What is their own stands here: the picture as a condition, rows of
text, fresh noise in every pass, and the image codec's streaming decoder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

import torch
from torch import Tensor

from engine import optimize, schedule
from engine.backends import Log, Progress
from engine.camera import CameraConvention, CameraPreset, ChunkPoses, Poses
from engine.catalogue import RECORD, locate
from engine.config import EngineConfig, LingBotOptions
from engine.crossfade import Crossfade, between, restored, texts_of
from engine.device import DevicePlan, prepare_device, upload
from engine.errors import BadValue
from engine.geometry import ChunkGeometry
from engine.image_condition import (
    CONDITION_VIDEO_FRAMES,
    assemble_condition,
    condition_latent_frames,
    condition_slice,
    condition_video,
    encoded_video_frames,
    fit_image,
    required_video_frames,
)
from engine.lingbot.config import Family, LingBotConfig, ScheduleSpec, StreamOverrides, config_of
from engine.lingbot.layouts import CheckpointFiles, find
from engine.lingbot.loading import fingerprint, load_dit
from engine.lingbot.memory import MemoryPlan
from engine.lingbot.room import refuse_or_plan
from engine.lingbot.text import load_text
from engine.lingbot.text_cache import TextCache, default_folder
from engine.lingbot.vae import WanVae, load_vae
from engine.models.dit import CausalDiT
from engine.protocol import ModelCard, Prompt, PromptMix, SceneSpec
from engine.sampler import fresh_noise
from engine.scenery import PreparedChunk
from engine.schedule import DenoiseSchedule
from engine.session import LoadedModel
from engine.window import effective_cache_latent_frames

_DECODER = "decoder."


class PromptRows(Protocol):
    """What a world needs of a ``TextEncoder``."""

    def encode(self, prompt: str) -> Tensor:
        """The prompt's rows [L, D], float32 on the processor."""


@dataclass(frozen=True, slots=True)
class Codecs:
    """What all worlds of a model share besides its transformer. ``channels`` of a latent frame."""

    text: PromptRows
    vae: WanVae
    geometry: ChunkGeometry
    channels: int
    lazy_blank_frames: int
    device: torch.device
    crossfade_chunks: int = 0


class ImageScenery:
    """The picture that a world began with, its prompt, its noise and its decoder's memory."""

    def __init__(self, codecs: Codecs, scene: SceneSpec, seed: int) -> None:
        if scene.image is None:
            raise BadValue("the scene", f"'{scene.name}' without a picture", "a picture to begin with", "Give --image.")
        self.codecs = codecs
        self.notice = _enlarged(scene, codecs.geometry)
        self._read: tuple[tuple[str, ...], tuple[Tensor, ...]] = ((), ())
        """The newest texts and their rows: a slider between two of them encodes each once."""
        self.words = Crossfade(self._rows(scene.prompt))
        self.fade_share: float | None = None
        self.condition = self._condition_of(scene)
        self.decoder = codecs.vae.decoder()
        self.generator = torch.Generator(codecs.device).manual_seed(seed)
        self._shown: Tensor | None = None
        """The chunk decoded last, from which a decoder whose work was broken off gets its memory again."""
        self._is_broken_off = False

    @property
    def text_rows(self) -> Tensor:
        return self.words.rows

    def follow(self, prompt: Prompt) -> None:
        self.words = self.words.towards(self._rows(prompt), self.codecs.crossfade_chunks)
        self.notice = None

    def fade(self) -> bool:
        self.words, going = self.words.next(), self.words.is_going_on
        self.fade_share = self.words.share if going else None
        return going

    def prepare(self, chunk: int, shown: Poses, poses: ChunkPoses) -> PreparedChunk:
        """The chunk's slice of the condition, and noise that no chunk had before."""
        geometry = self.codecs.geometry
        size = (1, self.codecs.channels, geometry.latent_frames, geometry.latent_height, geometry.latent_width)
        renoise = fresh_noise(torch.empty(size, device=self.codecs.device), self.generator)
        return PreparedChunk(
            condition=condition_slice(self.condition, chunk, geometry.latent_frames),
            noise=renoise(-1),
            renoise=renoise,
            shown=poses.absolute[-1],
            decode=self._decode,
        )

    def redraw(self, seed: int) -> None:
        self.generator.manual_seed(seed)

    def mark(self) -> Callable[[], None]:
        words, notice, noise = self.words, self.notice, self.generator.get_state()

        def back() -> None:
            self.words, self.notice = words, notice
            self.generator.set_state(noise)

        return back

    def plain(self) -> Mapping[str, object]:
        return {"words": self.words.plain()}

    def tensors(self) -> dict[str, Tensor]:
        memory = {_DECODER + name: tensor for name, tensor in self.decoder.state().items()}
        noise = self.generator.get_state()
        source = {} if self.words.source is None else {"text_source": self.words.source}
        own = {"text_rows": self.words.target, "condition": self.condition, "generator": noise}
        return {**own, **source, **memory}

    def take(self, plain: Mapping[str, object], tensors: Mapping[str, Tensor]) -> None:
        condition, device = tensors["condition"], self.codecs.device
        if condition.shape != self.condition.shape:
            raise ValueError(f"a condition of {tuple(condition.shape)} does not fit {tuple(self.condition.shape)}")
        memory = {k.removeprefix(_DECODER): v for k, v in tensors.items() if k.startswith(_DECODER)}
        self.decoder.load_state(memory)
        self._shown, self._is_broken_off = None, False
        source = None if "text_source" not in tensors else tensors["text_source"].to(device)
        self.words = restored(tensors["text_rows"].to(device), source, plain.get("words"))
        self.condition = condition.to(device)
        self.generator.set_state(tensors["generator"])

    def _rows(self, prompt: Prompt) -> Tensor:
        """[1, L, D]"""
        texts = texts_of(prompt)
        if texts != self._read[0]:
            device, encode = self.codecs.device, self.codecs.text.encode
            self._read = texts, tuple(upload(encode(text)[None], device) for text in texts)
        rows = self._read[1]
        return between(rows[0], rows[1], prompt.share) if isinstance(prompt, PromptMix) else rows[0]

    def _condition_of(self, scene: SceneSpec) -> Tensor:
        """The picture and blank frames after it, encoded once: mask and latents [1, 20, F, h, w]."""
        assert scene.image is not None
        geometry = self.codecs.geometry
        frames = required_video_frames(CONDITION_VIDEO_FRAMES, geometry.latent_frames)
        picture = fit_image(scene.image, geometry.width_px, geometry.height_px)
        video = condition_video(picture, encoded_video_frames(frames, self.codecs.lazy_blank_frames))
        encoded = self.codecs.vae.encode(video)
        return assemble_condition(encoded, condition_latent_frames(frames, geometry.latent_frames))

    def _decode(self, x0: Tensor) -> Iterator[Tensor]:
        """Latent frame by latent frame, so that the first is on its way while the next is decoded."""
        if self._is_broken_off:
            self._mend_decoder()
        self._is_broken_off = True
        for f in range(x0.shape[2]):
            yield self.decoder.decode(x0[:, :, f : f + 1])[0].transpose(0, 1).float()  # [T, 3, H, W]
        self._shown, self._is_broken_off = x0, False

    def _mend_decoder(self) -> None:
        """Its memory reaches back a few latent frames, so that of the chunk before is nearly the one that was lost."""
        self.decoder.load_state({})
        if self._shown is not None:
            self.decoder.decode(self._shown)


def load_lingbot(config: EngineConfig, progress: Progress, log: Log) -> LoadedModel:
    """Find, check and load the model of ``config``; what is wrong is said before the large files are read."""
    files, model = _found(config)
    place = prepare_device(config.device)
    log(place.line)
    memory = refuse_or_plan(model, config, files, place)
    model = replace(model, width_px=memory.setup.width_px, height_px=memory.setup.height_px)
    geometry = ChunkGeometry(model.width_px, model.height_px, model.stream.chunk_latent_frames)
    _refuse_short_positions(model, memory, config.lingbot)
    codecs = _load_codecs(files, memory, geometry, model, config, place, progress, log)
    dit = _load_transformer(files, memory, model, config.lingbot, place, _part(progress, 0.2, 0.9), log)
    convention = CameraConvention(config.camera.convention or model.camera)
    denoise = schedule_of(model.schedule, config.lingbot.schedule, config.steps)
    if place.device.type == "cuda":
        log(memory.line)
    for line in (*memory.notes, _told(model, convention, denoise), *_doubts(model, files, config.lingbot)):
        log(line)
    return LoadedModel(
        card=_card(model, fingerprint(files), place),
        dit=dit,
        geometry=geometry,
        stream=model.stream,
        schedule=denoise,
        schedule_of=partial(schedule_of, model.schedule, config.lingbot.schedule),
        camera=CameraPreset(convention, convention.scale, convention.intrinsics(model.width_px, model.height_px)),
        policy=memory.policy,
        begin=partial(ImageScenery, codecs),
        device=place.device,
        dtype=place.dtype,
        position_limit_latent_frames=config.lingbot.position_limit_latent_frames,
        snapshot_limit_bytes=config.lingbot.snapshot_limit_mb * 1_000_000,
    )


def schedule_of(spec: ScheduleSpec, kind: str | None, steps: int | None) -> DenoiseSchedule:
    """The model's schedule in the construction ``kind`` (None: its own), with ``steps`` even steps (None: its own)."""
    table = schedule.TABLE_STEPS
    indices = spec.steps if spec.kind == "official" else tuple(table - step for step in spec.steps)
    if steps is not None:
        indices = tuple(i * table // steps for i in range(steps))
    if (kind or spec.kind) == "official":
        return schedule.official(indices, spec.shift)
    return schedule.sglang([table - index for index in indices], spec.shift)


def _found(config: EngineConfig) -> tuple[CheckpointFiles, LingBotConfig]:
    """The files and what they say, with the user's own choices in it."""
    options = config.lingbot
    if config.model is None:
        cure = "Give it with --model PATH; 'python main.py models' lists the models and fetches them."
        raise BadValue("engine.model", "nothing", "the folder of a LingBot-World model", cure)
    files = find(locate(config.model), None if options.assets is None else locate(options.assets))
    asked = StreamOverrides(
        None if options.family is None else Family(options.family),
        options.chunk_latent_frames,
        options.window_latent_frames,
        options.sink_latent_frames,
    )
    model = config_of(files, asked)
    model = replace(model, width_px=options.width_px or model.width_px, height_px=options.height_px or model.height_px)
    for name, px in (("width_px", model.width_px), ("height_px", model.height_px)):
        if px % 16:
            raise BadValue(f"engine.lingbot.{name}", str(px), f"a multiple of 16, such as {max(16, px // 16 * 16)}")
    return files, model


def _load_codecs(
    files: CheckpointFiles,
    memory: MemoryPlan,
    geometry: ChunkGeometry,
    model: LingBotConfig,
    config: EngineConfig,
    place: DevicePlan,
    progress: Progress,
    log: Log,
) -> Codecs:
    """Image codec and text encoder. The codec's decoder is half precision on a graphics card, its encoder never."""
    on_card = place.device.type == "cuda"
    decoder_dtype = torch.float16 if on_card else torch.float32
    assert files.tokenizer is not None, "layouts.find finds all that is needed"
    vae = load_vae(files.vae, device=place.device, decoder_dtype=decoder_dtype, progress=_part(progress, 0.05, 0.1))
    text = load_text(
        files.text_encoder,
        files.tokenizer,
        device=place.device,
        dtype=torch.bfloat16 if on_card else torch.float32,
        policy=memory.setup.text_encoder,
        cache=TextCache(default_folder(), log=log),
        progress=_part(progress, 0.1, 0.2),
    )
    lazy = config.image.lazy_vae_encode_black_frames
    fade = config.prompt.crossfade_chunks or 0
    return Codecs(text, vae, geometry, model.dit.out_channels, lazy, place.device, fade)


def _load_transformer(
    files: CheckpointFiles,
    memory: MemoryPlan,
    model: LingBotConfig,
    options: LingBotOptions,
    place: DevicePlan,
    progress: Progress,
    log: Log,
) -> CausalDiT:
    """The transformer with the passes that make it faster. Matrices become fp8 in main memory: where they must, there
    is no room for them on the card before."""
    passes = optimize.Passes.of(memory, options.compile_blocks, model.stream)
    by_host = passes.fp8_linears and place.device.type == "cuda"
    first = torch.device("cpu") if by_host else place.device
    dit = load_dit(files, model.dit, dtype=place.dtype, device=first, progress=progress)
    if by_host:
        log(optimize.fp8_linears(dit, torch.cuda.get_device_capability(place.device)))
        dit, passes = dit.to(place.device), replace(passes, fp8_linears=False)
    for line in optimize.apply(dit, passes):
        log(line)
    return dit


def _refuse_short_positions(model: LingBotConfig, memory: MemoryPlan, options: LingBotOptions) -> None:
    least = effective_cache_latent_frames(memory.policy, model.stream) + model.stream.chunk_latent_frames
    if options.position_limit_latent_frames < least:
        where = "engine.lingbot.position_limit_latent_frames"
        raise BadValue(where, str(options.position_limit_latent_frames), f"{least} or more: all that is remembered")


def _card(model: LingBotConfig, sha256: str, place: DevicePlan) -> ModelCard:
    return ModelCard(
        backend="lingbot",
        model=model.name,
        model_sha256=sha256,
        device=str(place.device),
        dtype=str(place.dtype).removeprefix("torch."),
        threads=place.threads,
        width=model.width_px,
        height=model.height_px,
        fps_nominal=model.fps,
        latent_frames_per_chunk=model.stream.chunk_latent_frames,
    )


def _told(model: LingBotConfig, convention: CameraConvention, denoise: DenoiseSchedule) -> str:
    stream, steps = model.stream, ", ".join(f"{timestep:g}" for timestep in denoise.timesteps)
    return (
        f"{model.name}: chunk {stream.chunk_latent_frames}, window {stream.window_latent_frames}, "
        f"sink {stream.sink_latent_frames} latent frames; timesteps {steps}; camera as {convention.value}"
    )


def _doubts(model: LingBotConfig, files: CheckpointFiles, options: LingBotOptions) -> tuple[str, ...]:
    """What the files could not tell: v1-fast and v2 14B have one shape and two schedules."""
    if model.family is not Family.V2_14B or options.family is not None or (files.root / RECORD).is_file():
        return ()
    return ("Taken for v2 14B, as its files do not tell; for v1-fast set engine.lingbot.family to v1-fast.",)


def _part(progress: Progress, begin: float, end: float) -> Progress:
    """Progress of one stage as a part of the whole."""

    def report(stage: str, fraction: float | None) -> None:
        progress(stage, None if fraction is None else begin + (end - begin) * fraction)

    return report


def _enlarged(scene: SceneSpec, geometry: ChunkGeometry) -> str | None:
    assert scene.image is not None
    height, width, _ = scene.image.shape
    if 2 * width > geometry.width_px and 2 * height > geometry.height_px:
        return None
    return (
        f"This picture of {width}x{height} pixels was enlarged to {geometry.width_px}x{geometry.height_px}, so the "
        "world begins blurred. Give --image FILE for a sharp one."
    )
