"""Worldwalk's command line and composition root: the one module that knows both rooms. Torch is loaded only where a
model runs in this process; ``play`` has the engine in a process of its own."""

from __future__ import annotations

import contextlib
import json
import locale
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from app import choices, command_line, own_settings, remembered
from app.command_line import Options
from app.progress_line import ProgressLine
from app.remembered import ModelLine
from app.settings import Settings
from engine.bench import machine
from engine.config import EngineConfig, to_dict
from engine.errors import BadValue, NeedsHardware, WorldwalkError
from engine.pacing import let_idle_threads_sleep
from engine.protocol import ModelCard, SceneSpec, SessionHeader
from engine.wording import shown

if TYPE_CHECKING:
    from app.app import App
    from app.outputs import Outputs
    from app.parts import AppConfig
    from app.render import Plan
    from engine.backends import WorldModel
    from engine.catalogue import Licence
    from engine.host import EngineHost

ROOT = Path(__file__).resolve().parent
ASSETS = ROOT / "assets"
INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Do what was asked; returns the exit code. Every mistake is one sentence on stderr."""
    try:
        return _run(command_line.parse(sys.argv[1:] if argv is None else argv))
    except WorldwalkError as error:
        print(f"worldwalk: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        from app.crash_log import keep_traceback

        where = keep_traceback(" ".join(sys.argv))
        print(f"worldwalk: an error of the program itself ({type(error).__name__}). {where}", file=sys.stderr)
        return 1


def _run(options: Options) -> int:
    commands: Mapping[str, Callable[[Options, Settings], int]] = {
        "play": _play,
        "render": _render,
        "replay": _replay,
        "bench": _bench,
        "doctor": _doctor,
    }
    if options.command == "models":
        return _models(options)
    let_idle_threads_sleep()
    if options.command in command_line.PASSED_ON:
        from engine.training import cli

        return cli.evaluate(options.rest) if options.command == "evaluate" else cli.main(options.rest, _shipped_scenes)
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")  # else it greets on stdout
    own = own_settings.read(own_settings.default_path(os.environ), datetime.now())
    chosen = choices.settings_of(options, ROOT / "settings.yaml", os.environ, own)
    if chosen.notice is not None:
        print(chosen.notice, file=sys.stderr)
    return commands[options.command](options, chosen)


# ---- what the options mean ---------------------------------------------------------------------------------------


def _scene(options: Options, chosen: Settings, size: Callable[[], tuple[int, int]]) -> SceneSpec | None:
    return choices.scene_of(options, chosen.app.scene, ASSETS, size)


def _scene_or_first(options: Options, chosen: Settings, card: ModelCard) -> SceneSpec:
    size = card.width, card.height
    scene = _scene(options, chosen, lambda: size) or _scene(_first(options), chosen, lambda: size)
    assert scene is not None
    return scene


def _shipped_scenes() -> dict[Path, SceneSpec]:
    """All scenes by the files of their pictures."""
    from app.scenes import PICTURE, find_scene, list_scenes

    return {card.folder / PICTURE: find_scene(ASSETS, card.name) for card in list_scenes(ASSETS)}


def _first(options: Options) -> Options:
    return replace(options, scene=choices.first_scene(ASSETS))


def _load_model(config: EngineConfig) -> WorldModel:
    from engine import backends

    line = ProgressLine(sys.stderr)

    def log(text: str) -> None:
        line.end()
        print(text, file=sys.stderr)

    with line:
        return backends.load(config, line.show, log)


# ---- without a window --------------------------------------------------------------------------------------------


def _render(options: Options, chosen: Settings) -> int:
    from app.render import Plan
    from app.strict_yaml import load_file
    from engine import scripts

    assert options.script is not None
    _outputs(options)
    document = load_file(options.script)
    script = scripts.parse(document.value, document.where)
    model = _load_model(chosen.engine)
    scene = _scene_or_first(options, chosen, model.card)
    seed, chunks = chosen.app.seed, options.chunks or script.chunks
    plan = Plan(scene, seed, chunks, lambda chunk: [event.wire for event in script.at(chunk)])
    header = SessionHeader(scene, seed, model.card, {"engine": to_dict(chosen.engine)})
    return _walk(options, model, header, [plan])


def _replay(options: Options, chosen: Settings) -> int:
    from app.render import Plan
    from app.session_log import read_session
    from app.takes import FIRST_CHUNK

    assert options.file is not None
    _outputs(options)
    session = read_session(options.file)
    header = session.header
    model = _load_model(choices.engine_of(header, chosen.engine, str(options.file)))
    if model.card.model_sha256 != header.card.model_sha256 and not options.any_model:
        got = f"a session of {header.card.model} {header.card.model_sha256[:12]}"
        cure = "Give its folder in engine.model, or --any-model to see the same walk with other frames."
        raise BadValue(str(options.file), got, f"one of {model.card.model} {model.card.model_sha256[:12]}", cure)
    recorded_from = header.settings.get(FIRST_CHUNK, 0)
    plans = []
    for number, run in enumerate(session.runs):
        begin = recorded_from if number == 0 and isinstance(recorded_from, int) else run.first_chunk
        plans.append(Plan(run.scene, run.seed, options.chunks or run.chunks, run.at, begin))
    return _walk(options, model, replace(header, card=model.card), plans)


def _walk(options: Options, model: WorldModel, header: SessionHeader, plans: Sequence[Plan]) -> int:
    from app.render import Clocks, render

    clocks = Clocks(time.monotonic, machine.process_age_seconds, machine.peak_rss_mb)
    report = render(header, plans, lambda scene, seed: model.open(scene, seed, 1), _outputs(options), clocks)
    print(f"{report.frames} frames, {report.fps_generated} a second, sha256 {report.frames_sha256}")
    return 0


def _outputs(options: Options) -> Outputs:
    from app.outputs import Outputs

    session = options.command == "render"
    same = not session and options.chunks is None and not options.any_model
    source = options.file if same else None
    outputs = Outputs(options.out, options.frames, options.report, options.overwrite, session, source)
    outputs.check()
    return outputs


# ---- with a window -----------------------------------------------------------------------------------------------


def _play(options: Options, chosen: Settings) -> int:
    with _window(options, chosen, time.monotonic) as (app, _):
        return app.run()


@contextlib.contextmanager
def _window(
    options: Options, chosen: Settings, clock: Callable[[], float]
) -> Iterator[tuple[App, Callable[[], EngineHost | None]]]:
    """The window, not yet open, wired to an engine that starts in a process of its own once the window is there."""
    problem = machine.display_problem()
    if problem is not None:
        cure = "Without one, this makes a video: python main.py render --script walk.yaml --out walk.mp4"
        raise NeedsHardware(problem, cure)
    from app import beginning_files, scenes
    from app.app import App
    from app.beginning_files import BeginningParts
    from app.parts import Parts
    from app.repair import Repair
    from engine.host import EngineHost

    hosts: list[EngineHost] = []
    scene = _scene(options, chosen, lambda: _frame_size(chosen.engine))
    with tempfile.TemporaryDirectory(prefix="worldwalk-", ignore_cleanup_errors=True) as runtime:
        running = [chosen.engine]

        def engine(config: EngineConfig) -> EngineHost:
            folder = Path(runtime) / str(len(hosts))  # snapshots of another model are of no use
            folder.mkdir()
            running[0] = config
            hosts.append(EngineHost(config, folder))
            return hosts[-1]

        config, captions = _window_config(options, chosen), chosen.app.captions
        parts = Parts(
            engine=engine,
            restart=lambda: hosts[-1].restart(),
            scenes=lambda: [
                *choices.own_scenes(config.remembered, _frame_size(chosen.engine)),
                *(scenes.load_scene(card.folder) for card in scenes.list_scenes(ASSETS)),
            ],
            start_take=choices.takes_of(options.record, config.recordings, lambda: running[0], captions=captions),
            start_clip=choices.clips_of(config.recordings, lambda: running[0], captions=captions),
            engine_of=choices.fitting_engine,
            keep_settings=lambda values: own_settings.write(own_settings.default_path(os.environ), values),
            remember=lambda known: remembered.write(remembered.default_path(os.environ), known),
            models=_model_lines,
            read_picture=lambda path, engine: choices.picture_at(path, _frame_size(engine)),
            make_picture=lambda own, engine: choices.scene_with(own, _frame_size(engine)),
            beginning=BeginningParts(beginning_files.default_folder(os.environ), choices.somewhere),
            news=Repair(config.recordings).news,
            clock=clock,
        )
        yield App(config, parts, scene), lambda: hosts[-1] if hosts else None


def _frame_size(config: EngineConfig) -> tuple[int, int]:
    """(width, height) of the pictures that an engine of these settings makes."""
    from engine import catalogue

    match config.backend:
        case "lingbot":
            return config.lingbot.width_px or 832, config.lingbot.height_px or 480
        case "sglang":
            return config.remote.width_px, config.remote.height_px
    return catalogue.frame_size(None if config.model is None else Path(config.model))


def _model_lines() -> list[ModelLine]:
    from engine import catalogue

    return [
        ModelLine(
            found.backend,
            found.name if found.backend == "lingbot" else None,
            found.name,
            tuple(fact for fact in (f"{found.what}; {found.state}", found.needs, found.licence) if fact),
        )
        for found in catalogue.listed()
    ]


def _window_config(options: Options, chosen: Settings) -> AppConfig:
    from app import recordings, slot_files
    from app.parts import AppConfig

    app = chosen.app
    width, height = options.size or (app.window_width, app.window_height)
    return AppConfig(
        recordings=Path(app.recordings_dir).expanduser() if app.recordings_dir else recordings.default_folder(),
        worlds=slot_files.default_folder(os.environ),
        width=width,
        height=height,
        fullscreen=options.fullscreen or app.fullscreen,
        settings=chosen,
        remembered=remembered.read(remembered.default_path(os.environ)),
        system_language=locale.getlocale()[0] or "en",
        seed=app.seed,
        record=options.record is not None,
    )


# ---- measuring ---------------------------------------------------------------------------------------------------


def _bench(options: Options, chosen: Settings) -> int:
    from engine.bench import model_bench, random_bench

    if options.bench == "window":
        return _bench_window(options, chosen)
    asked = model_bench.Asked(options.bench, options.random_weights, options.scale, chosen.app.seed, options.chunks)
    if options.random_weights is not None or options.bench == "roofline":
        written = random_bench.run(asked, chosen.engine, sys.stderr)
    else:
        model = _load_model(chosen.engine)
        written = model_bench.run(asked, model, _scene_or_first(options, chosen, model.card), chosen.engine)
    _print_json(options.json, written)
    return int(random_bench.recompiled(written))


def _bench_window(options: Options, chosen: Settings) -> int:
    from app.window_bench import MOST_SECONDS, Walker, passes_ms, result
    from engine.bench import record

    if options.scene is None and options.image is None and chosen.app.scene is None:
        options = _first(options)
    peaks: list[float | None] = []
    walker = Walker(min(options.seconds, MOST_SECONDS))
    with _window(options, chosen, walker) as (app, host):

        def at_end() -> None:
            running = host()
            pid = None if running is None else running.pid
            peaks.append(None if pid is None else machine.peak_rss_mb(pid))

        walker.app, walker.at_end = app, at_end
        app.run()
    world = app.state.world
    if world is None:
        raise WorldwalkError("No world was opened, so nothing was measured. 'python main.py doctor' says why.")
    rss = {"window_peak_rss_mb": machine.peak_rss_mb(), "engine_peak_rss_mb": peaks[0] if peaks else None}
    measured = {**result(app, walker), **rss}
    asked = {"scene": world.scene.name, "seed": world.seed, "seconds": walker.seconds}
    samples = {"window_ms": passes_ms(app, walker.seconds)}
    written = record.record("window", world.card, chosen.engine, options=asked, result=measured, samples=samples)
    _print_json(options.json, written)
    return 0


def _doctor(options: Options, chosen: Settings) -> int:
    from engine import doctor

    card = ModelCard("", "", "", "", "", 0, 0, 0, 0.0, 0)
    scene = _scene_or_first(options, chosen, card)
    examined = doctor.examine(chosen.engine, scene, lambda doing: print(doing, file=sys.stderr))
    if options.json is not None:
        _print_json(options.json, examined)
    print(doctor.as_text(examined))
    return 0 if examined["ready"] else 1


def _models(options: Options) -> int:
    from engine import catalogue

    if options.models == "list":
        print(catalogue.as_text())
        return 0
    assert options.model is not None
    with ProgressLine(sys.stderr) as line:
        if options.models == "get":
            from engine.lingbot import download

            wanted = catalogue.published(options.model)
            _accept_licence(wanted.title, wanted.licence, options.accept_licence)
            said = [f"{wanted.title} is in {download.get(wanted, options.to or wanted.folder, line.show)}"]
        else:
            from engine.lingbot.checking import check

            assets = None if options.assets is None else catalogue.locate(options.assets)
            said = check(catalogue.locate(options.model), assets, line.show, hashes=options.checksums)
    print("\n".join(said))
    return 0


def _accept_licence(title: str, licence: Licence, accepted: bool) -> None:
    print(f"{title}, licence {licence.name}: {licence.says}.", file=sys.stderr)
    if accepted or not licence.restricts:
        return
    if not sys.stdin.isatty():
        raise BadValue("models get", "no word on the licence", "--accept-licence, which says that you accept it")
    print("Type yes to accept it: ", end="", file=sys.stderr, flush=True)
    answer = sys.stdin.readline().strip()
    if answer.lower() != "yes":
        raise BadValue("models get", shown(answer), "yes", "Nothing was fetched.")


def _print_json(path: Path | None, content: Mapping[str, object]) -> None:
    from app.report import write_json

    if path is None:
        print(json.dumps(content, indent=1))
    else:
        write_json(path, content)


if __name__ == "__main__":
    sys.exit(main())
