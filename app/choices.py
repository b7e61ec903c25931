"""What the options and settings mean: which settings hold, which scene begins, how the window opens, where takes go."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from app import recordings, scenes
from app.command_line import Options
from app.crop import DEFAULT_PROMPT
from app.errands import StartTake, Take
from app.outputs import start_journal, start_recorder
from app.own_settings import Own
from app.pasted_path import plain_path
from app.remembered import MAP_SEEDS, OwnPicture, OwnWords, Remembered
from app.settings import Settings, load
from engine.config import DTYPES, EngineConfig, parse, to_dict
from engine.errors import BadValue, FileProblem
from engine.protocol import Pixels, SceneSpec, SessionHeader
from engine.wording import prompt_problem


def settings_of(options: Options, shipped: Path, environ: Mapping[str, str], own: Own | None = None) -> Settings:
    """Settings file, the user's ``own`` changes unless a file is named, ``--set``, named options, environment."""
    path = options.settings or (shipped if shipped.is_file() else None)
    own = own if own is not None and options.settings is None else Own()
    loaded = load(path, options.sets, environ, own.values)
    app, engine = loaded.app, loaded.engine
    if options.seed is not None:
        app = replace(app, seed=options.seed)
    if options.backend is not None:
        engine = replace(engine, backend=options.backend)
    if options.model is not None:
        engine = replace(engine, model=options.model)
    if options.server is not None:
        remote = replace(engine.remote, server=options.server)
        engine = replace(engine, backend=options.backend or "sglang", remote=remote)
    if options.assets is not None:
        engine = replace(engine, lingbot=replace(engine.lingbot, assets=options.assets))
    return Settings(app, engine, own.values, own.notice)


def scene_of(options: Options, name: str | None, assets: Path, size: Callable[[], tuple[int, int]]) -> SceneSpec | None:
    """The scene asked for, from a picture of ``size`` or from those that come along; None where none was named."""
    if options.image is not None:
        return scenes.scene_from_image(options.image, options.prompt or DEFAULT_PROMPT, *size())
    wanted = options.scene or name
    if wanted is None:
        return None
    scene = scenes.find_scene(assets, wanted)
    if options.prompt is None:
        return scene
    problem = prompt_problem(options.prompt)
    if problem is not None:
        raise BadValue("--prompt", *problem)
    return replace(scene, prompt=options.prompt)


MOST_SHOWN_PX = 1600


def picture_at(text: str, size: tuple[int, int]) -> tuple[Pixels, tuple[int, int]]:
    """The picture at a path as people paste it, for the page that shows which part of it is taken."""
    return scenes.picture_to_show(plain_path(text), MOST_SHOWN_PX), size


def scene_with(own: OwnPicture, size: tuple[int, int]) -> SceneSpec:
    """The scene that begins with a picture of the user's."""
    return scenes.scene_from_image(plain_path(own.path), own.prompt, *size, own.shift)


def scene_of_words(own: OwnWords) -> SceneSpec:
    """The scene that begins with words alone."""
    return SceneSpec(own.name, own.words, map_seed=own.map_seed)


def somewhere(words: str) -> tuple[OwnWords, SceneSpec]:
    """Words with a place of the map drawn for them, and the scene of both."""
    own = OwnWords(words, secrets.randbelow(MAP_SEEDS))
    return own, scene_of_words(own)


def own_scenes(remembered: Remembered, size: tuple[int, int]) -> list[SceneSpec]:
    """Those that began with words, and those of the user's pictures that are still where they were."""
    found = [scene_of_words(own) for own in remembered.words]
    for own in remembered.pictures:
        with contextlib.suppress(FileProblem, BadValue):
            found.append(scene_with(own, size))
    return found


def first_scene(assets: Path) -> str:
    """The name of the first scene that comes along. Raises FileProblem where there is none."""
    names = [card.name for card in scenes.list_scenes(assets)]
    if not names:
        raise FileProblem(assets / "scenes", "there is no scene here", "Restore the folder, or give --image FILE.")
    return names[0]


def takes_of(
    first: Path | None, folder: Path, engine: Callable[[], EngineConfig], *, captions: bool = False
) -> StartTake:
    """Begins recordings: the first one in the file that was named, all others in the folder of recordings.

    ``engine`` tells the settings of the engine that runs; ``captions``: films get the prompts as subtitles.
    """
    named = [first] if first is not None else []
    if first is not None:
        recordings.check_target(first)

    def start(header: SessionHeader) -> Take:
        path = named.pop() if named else recordings.unused_path(folder, header.scene.name, ".mp4", datetime.now())
        header = replace(header, settings={**header.settings, "engine": to_dict(engine())})
        log = start_journal(path, header)
        recorder = start_recorder(path, header, blocking=False, overwrite=False, session=log.path, captions=captions)
        return Take(recorder, log)

    return start


def clips_of(folder: Path, engine: Callable[[], EngineConfig], *, captions: bool = False) -> StartTake:
    """Begins clips in the folder of recordings: films whose frames are there already, and wait for the encoder."""

    def start(header: SessionHeader) -> Take:
        path = recordings.unused_path(folder, f"{header.scene.name} clip", ".mp4", datetime.now())
        header = replace(header, settings={**header.settings, "engine": to_dict(engine())})
        log = start_journal(path, header)
        recorder = start_recorder(path, header, blocking=True, overwrite=False, session=log.path, captions=captions)
        return Take(recorder, log)

    return start


def engine_of(header: SessionHeader, chosen: EngineConfig, place: str) -> EngineConfig:
    """The engine as the session had it; where and on how many threads it runs is this machine's business.

    Raises BadValue with ``place`` for settings that are none.
    """
    config = _engine_told(header, chosen, place)
    model = chosen.model or config.model
    card, device = header.card, chosen.device
    if device.dtype == "auto" and card.dtype in DTYPES:
        device = replace(device, dtype=card.dtype)
    assets = chosen.lingbot.assets or config.lingbot.assets
    lingbot = replace(config.lingbot, assets=assets, width_px=card.width, height_px=card.height)
    remote = replace(config.remote, server=chosen.remote.server or config.remote.server)
    return replace(config, backend=card.backend, model=model, device=device, lingbot=lingbot, remote=remote)


def fitting_engine(header: SessionHeader, running: EngineConfig, place: str) -> EngineConfig:
    """``engine_of``; but the one that runs, where it was told what the session's engine was told."""
    return running if _engine_told(header, running, place) == running else engine_of(header, running, place)


def _engine_told(header: SessionHeader, chosen: EngineConfig, place: str) -> EngineConfig:
    kept = header.settings.get("engine")
    return parse(kept, lambda name: f"{place}:1, {name}") if isinstance(kept, Mapping) else chosen
