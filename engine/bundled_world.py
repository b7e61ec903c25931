"""Worlds of the bundled model: a layout is cast and painted from the map, and the transformer adds what it lacks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

import torch
from torch import Tensor

from engine import own_picture
from engine.bundled import MODEL_FOLDER, BundledModel, load_bundled_model
from engine.camera import CameraConvention, CameraPreset, ChunkPoses, Poses
from engine.conditioning import DEFAULT_MIX, Blend, ChunkCondition, Place
from engine.config import EngineConfig
from engine.crossfade import Crossfade, between, goes_on, restored, texts_of
from engine.device import prepare_device
from engine.errors import BadValue
from engine.events import check_prompt
from engine.grading import GRADING_SIZE, grade, look_between, ungrade
from engine.image_condition import fit_image
from engine.protocol import ModelCard, Optics, Pixels, Prompt, PromptMix, SceneSpec, prompt_to_wire
from engine.scenery import PreparedChunk
from engine.schedule import DenoiseSchedule, Prediction, explicit
from engine.session import LoadedModel, WorldSession
from engine.wishes import Mix, asked_mix, unknown_notice
from engine.wording import PICTURE_PROMPT
from engine.worldmap import BIOMES, MIX_SIZE

_RESIDUAL_LIMIT = 5.0
_DISSOLVE_SECONDS = 1.0
_FURTHER_NOISE = 0x5EED << 32


class LayoutScenery:
    """Where a bundled world lies on the map, which world it is on its way to, and its noises.

    The noises are drawn once, so that standing still is calm.
    """

    def __init__(
        self, model: BundledModel, steps: int, crossfade_chunks: int | None, scene: SceneSpec, seed: int
    ) -> None:
        self.model, self.crossfade_chunks = model, crossfade_chunks
        self.picture = None if scene.image is None else _in_size(scene.image, model)
        self.fitted = own_picture.fit(scene.image) if scene.own_image and scene.image is not None else None
        reading = model.reader.read(scene.prompt)
        told = []
        self.asked: Prompt | None = scene.prompt
        self.base: Mix = DEFAULT_MIX if self.fitted is None else self.fitted.mix
        """What the prompt in force was held against."""
        mix = asked_mix(self.base, reading.wish)
        self.remembered: Mix = mix
        """The world with whose picture the transformer's memory begins."""
        self.words = Crossfade(reading.rows)
        self.place, self.blend = Place.of(scene.map_seed, scene.start), Blend(mix, mix)
        if self.fitted is not None:
            told.append(own_picture.told(self.fitted, mix))
            self.words = Crossfade(model.reader.read(own_picture.sentence_of(mix)).rows)
            self.place = replace(self.place, pitch=math.radians(self.fitted.pitch_degrees))
        if not reading.understood and scene.prompt.strip() not in ("", PICTURE_PROMPT):
            told.append(unknown_notice(scene.prompt))
        self.notice: str | None = " ".join(told) or None
        self.look: Tensor | None = None
        """The world's own light [5] (``grading``): found in its first picture, taken out of it, and put on every frame.
        What the networks make is without one, so that none can drift or stay behind when the prompt changes."""
        self.fade_share: float | None = None
        self._words_share: float | None = None
        geometry, channels = model.config.geometry, model.config.dit.out_channels
        self._size = (1, channels, geometry.latent_frames, geometry.latent_height, geometry.latent_width)
        self._seed, self._steps = seed, steps
        self.redraw(seed)

    def redraw(self, seed: int) -> None:
        self.noise, self.renoise = _draw_noise(seed, self._size, self._steps)

    @property
    def text_rows(self) -> Tensor:
        return self.words.rows

    def follow(self, prompt: Prompt) -> None:
        """A prompt about nothing that the model knows, alone or mixed in, leaves the world as it is, words included.
        (What was in force when something was mixed with it may be such a prompt: it stands for that world.)"""
        is_same, texts = goes_on(self.asked, prompt), texts_of(prompt)
        readings = [self.model.reader.read(text) for text in texts]
        unknown = [t for t, reading in zip(texts, readings, strict=True) if not reading.understood]
        unknown = unknown[1:] if is_same and not readings[0].understood else unknown
        self.notice = unknown_notice(unknown[0]) if unknown else None
        if unknown:
            return
        self.asked, self.base = prompt, self.base if is_same else self.blend.target
        rows, mixes = readings[0].rows, [asked_mix(self.base, reading.wish) for reading in readings]
        if self.fitted is not None and not readings[0].understood:
            rows = self.model.reader.read(own_picture.sentence_of(self.base)).rows
        mix = mixes[0]
        if isinstance(prompt, PromptMix):
            share = prompt.share
            rows = between(rows, readings[1].rows, share)
            mix = tuple((1 - share) * a + share * b for a, b in zip(*mixes, strict=True))
        chunks = self.crossfade_chunks
        latent_frames = None if chunks is None else chunks * self.model.config.stream.chunk_latent_frames
        self.words = self.words.towards(rows, chunks or 0)
        self.blend = self.blend.towards(mix, latent_frames)

    def fade(self) -> bool:
        self.words, going = self.words.next(), self.words.is_going_on
        self._words_share = self.words.share if going else None
        return going

    def prepare(self, chunk: int, shown: Poses, poses: ChunkPoses) -> PreparedChunk:
        """The layout from the frame shown last to the chunk's end, painted. A world's first picture is known."""
        picture = self.picture if chunk == 0 else None
        shares = [] if self._words_share is None else [self._words_share]
        was_going = self.blend.share < 1
        anew = not was_going and _is_another_land(self.remembered, self.blend.target) and self.model.conditioner.paints
        self.remembered = self.blend.target if anew else self.remembered
        condition, self.blend = self.model.conditioner.prepare_chunk(
            self.place, self.blend, shown, poses.absolute, picture=picture is not None
        )
        self.fade_share = min([*shares, self.blend.share] if was_going else shares, default=None)
        return PreparedChunk(
            condition=condition.condition,
            noise=self.noise,
            renoise=self._renoise,
            shown=poses.absolute[-1] if picture is None else shown,
            decode=partial(self._decode, condition, chunk),
            known=self._known(picture, condition, anew=anew),
            anew=anew,
            rope=self.model.rope(condition),
        )

    def _renoise(self, step: int) -> Tensor:
        """What a chunk of more steps than usual needs beyond what was drawn follows from the world's first seed."""
        if step < len(self.renoise):
            return self.renoise[step]
        return _draw_noise(self._seed + _FURTHER_NOISE + step, self._size, 1)[0]

    def mark(self) -> Callable[[], None]:
        words, notice, place, blend, asked = self.words, self.notice, self.place, self.blend, (self.asked, self.base)
        noises, remembered = (self.noise, self.renoise), self.remembered

        def back() -> None:
            self.words, self.notice, self.place, self.blend = words, notice, place, blend
            self.asked, self.base = asked
            (self.noise, self.renoise), self.remembered = noises, remembered

        return back

    def plain(self) -> Mapping[str, object]:
        asked = None if self.asked is None else prompt_to_wire(self.asked)
        kept = {"place": asdict(self.place), "blend": asdict(self.blend), "asked": asked, "base": list(self.base)}
        return {**kept, "words": self.words.plain(), "remembered": list(self.remembered)}

    def tensors(self) -> dict[str, Tensor]:
        source = {} if self.words.source is None else {"text_source": self.words.source}
        look = {} if self.look is None else {"look": self.look}
        return {"text_rows": self.words.target, "noise": self.noise, "renoise": self.renoise, **source, **look}

    def take(self, plain: Mapping[str, object], tensors: Mapping[str, Tensor]) -> None:
        place, blend = plain["place"], plain["blend"]
        if not isinstance(place, dict) or not isinstance(blend, dict):
            raise ValueError("a bundled world needs its place and its blend")
        self.place = Place(*(float(str(place[k])) for k in ("x", "z", "yaw", "pitch")))
        source, target = (tuple(float(v) for v in blend[k]) for k in ("source", "target"))
        length = blend.get("latent_frames")
        self.blend = Blend(source, target, float(str(blend["share"])), None if length is None else float(str(length)))
        base, asked = plain.get("base"), plain.get("asked")  # files from before there were mixes have neither
        self.base = tuple(float(v) for v in base) if isinstance(base, list) else self.blend.target
        self.asked = None if asked is None else check_prompt(asked)
        remembered = plain.get("remembered")
        self.remembered = tuple(float(v) for v in remembered) if isinstance(remembered, list) else self.blend.target
        if len(self.remembered) != MIX_SIZE:
            raise ValueError(f"a world is {MIX_SIZE} parts")
        self.words = restored(tensors["text_rows"], tensors.get("text_source"), plain.get("words"))
        self.noise, self.renoise, self.look = tensors["noise"], tensors["renoise"], tensors.get("look")
        if self.look is not None and self.look.shape != (GRADING_SIZE,):
            raise ValueError(f"a look is {GRADING_SIZE} numbers")

    def _known(self, picture: Tensor | None, condition: ChunkCondition, *, anew: bool) -> Tensor | None:
        """x0 of a chunk with which a memory begins: of the first picture, or of the painter's own in another land."""
        if picture is None:
            return torch.zeros_like(condition.base) if anew else None
        begin = self._begin if self.model.conditioner.paints else self._residual
        return begin(picture, condition)

    def _begin(self, picture: Tensor, condition: ChunkCondition) -> Tensor:
        """Take the look of a world's first picture [1, 3, H, W] in -1..1; returns what else it says beyond the painter.

        A picture of the user's own is not a picture of this land: nothing but its look is taken.
        """
        autoencoder = self.model.networks.autoencoder
        painted = autoencoder.decode(condition.base[0].transpose(0, 1), condition.guides)[0, -1:]
        painted = (painted.clamp(-1, 1) + 1) / 2  # [1, 3, H, W]
        if self.fitted is not None:
            line = own_picture.horizon_line(self.fitted.pitch_degrees)
            self.look = own_picture.look_of(painted[0], line, self.fitted.tones)
            return torch.zeros_like(condition.base)
        picture = (picture + 1) / 2
        self.look = look_between(painted, picture)
        return self._residual(ungrade(picture, self.look[None]) * 2 - 1, condition)

    def _residual(self, picture: Tensor, condition: ChunkCondition) -> Tensor:
        """What a picture [1, 3, H, W] in -1..1 says beyond the painter."""
        latent = self.model.networks.autoencoder.encode(picture.expand(1, 4, -1, -1, -1))[:, :, None]
        residual = (latent - condition.base) / self.model.conditioner.scale
        return residual.clamp(-_RESIDUAL_LIMIT, _RESIDUAL_LIMIT)

    def _decode(self, condition: ChunkCondition, chunk: int, x0: Tensor) -> Iterator[Tensor]:
        latents = (condition.base + self.model.conditioner.scale * x0)[0].transpose(0, 1)  # [F, 16, h, w]
        frames = self.model.networks.autoencoder.decode(latents, condition.guides).flatten(0, 1)  # [F*4, 3, H, W]
        if condition.standing:  # one moment is one picture: the decoder's small differences would shimmer
            frames = frames.mean(0, keepdim=True).expand_as(frames)
        frames = frames[self.model.config.geometry.temporal_scale - 1 :] if chunk == 0 else frames
        if self.look is not None:
            frames = grade((frames.clamp(-1, 1) + 1) / 2, self.look.expand(len(frames), -1)) * 2 - 1
        yield frames if self.fitted is None else self._dissolved(frames, chunk)

    def _dissolved(self, frames: Tensor, chunk: int) -> Tensor:
        """A chunk's frames [T, 3, H, W] with what is still to be seen of the user's picture. Nothing is remembered of
        it: scene and number of the chunk tell everything, so that a restored world goes on alike."""
        assert self.picture is not None
        length = round(_DISSOLVE_SECONDS * self.model.config.fps)
        first = 0 if chunk == 0 else chunk * len(frames) - (self.model.config.geometry.temporal_scale - 1)
        if first >= length:
            return frames
        shares = [own_picture.picture_share(first + i, length) for i in range(len(frames))]
        return torch.lerp(frames, self.picture, torch.tensor(shares)[:, None, None, None])


def _is_another_land(one: Mix, other: Mix) -> bool:
    """Whether most of the biome is another. Other weather or another hour do not make the trees others."""
    biomes = slice(0, len(BIOMES))
    return sum(abs(a - b) for a, b in zip(one[biomes], other[biomes], strict=True)) > 1


def _in_size(image: Pixels, model: BundledModel) -> Tensor:
    """[1, 3, H, W] in -1..1 at the model's size."""
    return fit_image(image, model.config.geometry.width_px, model.config.geometry.height_px)


def _draw_noise(seed: int, shape: tuple[int, ...], steps: int) -> tuple[Tensor, Tensor]:
    """The start noise and the noises between the steps of every chunk of a world, from its seed alone."""
    generator = torch.Generator().manual_seed(seed & 0x7FFFFFFFFFFFFFFF)
    noise = torch.randn(shape, generator=generator)
    renoise = torch.randn((max(0, steps - 1), *shape), generator=generator)
    return noise, renoise


class BundledWorldModel:
    """Opens worlds on the loaded networks. Holds nothing of any one world."""

    def __init__(self, model: BundledModel, config: EngineConfig, card: ModelCard) -> None:
        self.model, self.card = model, card
        own, schedule = model.config, _schedule(model.config.sigmas, config.steps)
        convention = CameraConvention(config.camera.convention or "sglang")
        if not convention.remembers_lengths:
            raise BadValue("engine.camera.convention", convention.value, "sglang or lingbot for the bundled model")
        self.loaded = LoadedModel(
            card=card,
            dit=model.networks.dit,
            geometry=own.geometry,
            stream=own.stream,
            schedule=schedule,
            schedule_of=partial(_schedule, own.sigmas),
            camera=CameraPreset(convention, own.camera_scale(convention), own.intrinsics),
            policy=config.window.within(*own.windows),
            begin=partial(LayoutScenery, model, schedule.steps, config.prompt.crossfade_chunks),
            device=torch.device("cpu"),
            dtype=torch.float32,
        )

    @property
    def optics(self) -> Optics:
        return self.loaded.camera.optics(self.card.width, shifts=True)

    def open(self, scene: SceneSpec, seed: int, session_id: int) -> WorldSession:
        return self.loaded.open(scene, seed, session_id)

    def restore(self, scene: SceneSpec, seed: int, session_id: int, path: Path) -> WorldSession:
        return self.loaded.restore(scene, seed, session_id, path)


def _schedule(sigmas: tuple[float, ...], steps: int | None) -> DenoiseSchedule:
    """The model's own noise levels, or ``steps`` of them evenly from 1 down."""
    chosen = sigmas if steps is None else tuple(1 - i / steps for i in range(steps))
    return explicit(chosen, Prediction.RESIDUAL)


def load_bundled(
    config: EngineConfig, progress: Callable[[str, float | None], None], log: Callable[[str], None]
) -> BundledWorldModel:
    """Load the bundled model and say what runs where."""
    asked = config.device
    if asked.device not in ("auto", "cpu"):
        raise BadValue("engine.device.device", asked.device, "auto or cpu: the bundled model is made for the processor")
    if asked.dtype not in ("auto", "float32"):
        raise BadValue("engine.device.dtype", asked.dtype, "auto or float32: the bundled model computes in float32")
    plan = prepare_device(replace(asked, device="cpu", dtype="float32"))
    log(plan.line)
    folder = MODEL_FOLDER if config.model is None else Path(config.model)
    model = load_bundled_model(folder, progress)
    own = model.config
    card = ModelCard(
        backend="bundled",
        model=own.name,
        model_sha256=model.sha256,
        device="cpu",
        dtype="float32",
        threads=plan.threads,
        width=own.geometry.width_px,
        height=own.geometry.height_px,
        fps_nominal=own.fps,
        latent_frames_per_chunk=own.stream.chunk_latent_frames,
    )
    return BundledWorldModel(model, config, card)
