"""The app as a value, and the larger steps from one such value to the next; ``state.update`` decides which is taken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from app import errands, menu, messages, options, steering
from app.crop import CropPage
from app.errands import Ask
from app.film_pages import FilmPage, FilmsPage
from app.films import Rewalking
from app.gamepad import Gamepad, rest
from app.gestures import Focus
from app.menu import Gallery, Menu, Room
from app.options import SettingsPage
from app.prompt_box import PromptBox
from app.remembered import ModelLine, Remembered, arranged, play
from app.rewind import TimeMachine
from app.settings import Settings
from app.slots_page import SlotsPage
from app.steering import LookFeel, Steering
from app.timing import Timing
from app.words import table
from engine.config import EngineConfig
from engine.protocol import (
    ChunkTimings,
    CloseWorld,
    CompositeEvent,
    Failed,
    Loading,
    Look,
    ModelCard,
    OpenWorld,
    RemoteShares,
    Restore,
    SceneSpec,
    WindowReport,
)

TOAST_SECONDS = 5.0
BAD_TOAST_SECONDS = 9.0
READ_CHARACTERS_PER_SECOND = 18.0
MOST_TOASTS = 3


class Screen(StrEnum):
    STARTING = "starting"
    SCENES = "scenes"
    LOADING = "loading"
    WALK = "walk"


class Stage(StrEnum):
    """How far a prompt has come."""

    TYPED = "typed"
    ACCEPTED = "accepted"
    APPLIED = "applied"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class PromptStatus:
    """The newest prompt. ``chunk`` is the first chunk on show that follows it, once there is one."""

    text: str
    stage: Stage
    event_id: int | None = None
    chunk: int | None = None


@dataclass(frozen=True, slots=True)
class RecordingStatus:
    path: str
    frames: int = 0
    dropped: int = 0
    finishing: bool = False


@dataclass(frozen=True, slots=True)
class World:
    """What is known of the world that runs. ``chunk`` and ``prompt`` are those on show, not those made."""

    session_id: int
    card: ModelCard
    scene: SceneSpec
    seed: int
    chunk: int | None = None
    prompt: str | None = None
    window: WindowReport | None = None
    ms: ChunkTimings | None = None
    remote: RemoteShares | None = None
    """How the newest chunk came, where the model runs elsewhere; its shares of a delay are those of the last answer."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Raw stamps, newest last and few, from which the details panel computes its rates."""

    made: tuple[tuple[float, int], ...] = ()
    """(made_at, frames) of the latest chunks."""
    shown: tuple[float, ...] = ()
    """When the latest frames came on screen."""
    latencies: tuple[float, ...] = ()
    """Seconds from a key, motion or prompt to the first frame that answers it, of the latest events."""


@dataclass(frozen=True, slots=True)
class Toast:
    text: str
    bad: bool
    shown_at: float

    @property
    def gone_at(self) -> float:
        least = BAD_TOAST_SECONDS if self.bad else TOAST_SECONDS
        return self.shown_at + max(least, len(self.text) / READ_CHARACTERS_PER_SECOND)


@dataclass(frozen=True, slots=True)
class AppState:
    seed: int = 0
    settings: Settings = field(default_factory=Settings)
    unkept_at: float | None = None
    """When a setting was changed that is not written yet."""
    system_language: str = "en"
    record_next: bool = False
    """Begin recording as soon as a world is open."""
    width: int = 1280
    height: int = 720
    screen: Screen = Screen.STARTING
    scenes: tuple[SceneSpec, ...] = ()
    gallery: Gallery = field(default_factory=Gallery)
    menu: Menu | None = None
    page: SettingsPage | None = None
    gamepad: Gamepad = field(default_factory=Gamepad)
    remembered: Remembered = field(default_factory=Remembered)
    kept: Remembered = field(default_factory=Remembered)
    """What of it is on the disk."""
    timing: Timing = field(default_factory=Timing)
    models: tuple[ModelLine, ...] = ()
    picker: int | None = None
    """Which of the models is chosen, while their list is open."""
    slots: SlotsPage | None = None
    films: FilmsPage | None = None
    film: FilmPage | None = None
    """The film that is watched."""
    crop: CropPage | None = None
    path_line: PromptBox | None = None
    """The path of a picture while it is typed."""
    taught_at: float | None = None
    """When the first walk's hint was first acted upon; it goes a little later."""
    help: bool = False
    details: bool = False
    inputs: bool = False
    """Whether held, sent and applied are shown apart."""
    fullscreen: bool = False
    captured: bool = False
    ignores_motion: bool = False
    """The pointer was just captured; its first motion is the jump to where it was put, not the hand's."""
    first_motion_at: float | None = None
    paused: bool = False
    told_paused: bool = False
    quitting: bool = False
    prompt_box: PromptBox | None = None
    history: tuple[str, ...] = ()
    steering: Steering = field(default_factory=Steering)
    turned: Look = field(default_factory=Look)
    """What the last tick's event turned the view by."""
    engine: EngineConfig | None = None
    """What the engine that runs was told; None before it is started."""
    scene: SceneSpec | None = None
    session_id: int = 0
    world: World | None = None
    snapshot: str | None = None
    loading: Loading | None = None
    failure: Failed | None = None
    prompt: PromptStatus | None = None
    in_flight: tuple[CompositeEvent, ...] = ()
    accepted: tuple[str, ...] = ()
    applied: tuple[str, ...] = ()
    recording: RecordingStatus | None = None
    time: TimeMachine = field(default_factory=TimeMachine)
    saving: tuple[tuple[str, str], ...] = ()  # (file, slot) that the engine is about to write
    measured: Measured = Measured()
    pace: messages.LoopMeasured | None = None
    toasts: tuple[Toast, ...] = ()
    touched_at: float = 0.0
    """When the user last did something; the HUD fades some time after."""
    exposures: int = 0

    @property
    def focus(self) -> Focus:
        if self.typing is not None:
            return Focus.TEXT
        if self.page is not None and self.page.catching:
            return Focus.KEY
        return Focus.MENU if self.behind else Focus.WALK

    @property
    def typing(self) -> PromptBox | None:
        """The line that gets what is typed."""
        if self.page is not None:
            return self.page.line
        if self.slots is not None and self.slots.line is not None:
            return self.slots.line
        if self.films is not None and self.film is None and self.films.line is not None:
            return self.films.line
        if self.prompt_box is not None or self.path_line is not None:
            return self.prompt_box or self.path_line
        return None if self.crop is None else self.crop.line

    @property
    def behind(self) -> bool:
        """Whether the world, if there is one, lies behind something that is chosen from."""
        opened = (self.menu, self.page, self.picker, self.crop, self.path_line, self.films, self.film, self.slots)
        return self.screen is Screen.SCENES or any(part is not None for part in opened)

    @property
    def teaching(self) -> bool:
        """Whether the keys are told to somebody who walks for the first time."""
        busy = self.behind or self.prompt_box is not None or self.time.rewind is not None
        return self.walking and not self.remembered.walked and not busy

    @property
    def standing(self) -> bool:
        """Whether the world stands still: paused, behind a menu, or on its way back in time."""
        return self.paused or self.behind or self.time.rewind is not None

    @property
    def room(self) -> Room:
        return Room(self.width, self.height, self.settings.app.text_size)

    @property
    def language(self) -> str:
        return table.chosen(self.settings.app.language, self.system_language)

    @property
    def feel(self) -> LookFeel:
        """How the mouse turns the view."""
        app = self.settings.app
        return LookFeel(
            app.mouse_degrees_per_100_px / 100,
            app.invert_y,
            app.mouse_smoothing_ms / 1000,
            app.turn_cap_degrees_per_second,
        )

    def say(self, key: str, /, **values: str | int | float) -> str:
        """Words of the window in the user's language."""
        return table.say(self.language, key, **values)

    @property
    def walking(self) -> bool:
        return self.screen is Screen.WALK and self.world is not None and self.failure is None

    @property
    def current_prompt(self) -> str | None:
        """What a reset keeps: the newest prompt that was not refused."""
        if self.prompt is not None and self.prompt.stage is not Stage.REJECTED:
            return self.prompt.text
        if self.world is not None and self.world.prompt is not None:
            return self.world.prompt
        return self.scene.prompt if self.scene is not None else None


Change = tuple[AppState, tuple[Ask, ...]]


def open_world(state: AppState, scene: SceneSpec, now: float, again: Rewalking | None = None) -> Change:
    """Begin a world. What is on show stays until the new world's first frame, if a world was there before.

    ``again``: make it as it was at a moment of an earlier walk, with the engine that walked it.
    """
    switch = _switch(state) if again is None else _switch_to(again.engine)
    restart = switch or _restart(state)
    state = _new_session(state, scene, now)
    state = replace(state, remembered=play(state.remembered, scene.name), snapshot=None)
    if again is None:
        screen = Screen.WALK if state.screen is Screen.WALK else Screen.LOADING
        return replace(state, screen=screen), (*restart, OpenWorld(scene, state.seed, state.session_id))
    state = replace(state, screen=Screen.LOADING, seed=again.seed, time=TimeMachine(resumed=True))
    request = OpenWorld(scene, again.seed, state.session_id, again.chunks, again.events, again.model_sha256)
    return state, (*restart, request)


def reset(state: AppState, now: float) -> Change:
    """The same scene from its beginning, with the prompt that is current now."""
    if state.scene is None:
        return state, ()
    scene = state.scene if state.current_prompt is None else replace(state.scene, prompt=state.current_prompt)
    return open_world(state, scene, now)


def recover(state: AppState, now: float) -> Change:
    """After a failure: the engine again if it was lost, then the world from its last snapshot, or from the start."""
    if state.scene is None or state.snapshot is None:
        return reset(state, now)
    restart, snapshot = _restart(state), state.snapshot
    state = replace(_new_session(state, state.scene, now), time=TimeMachine(resumed=True))
    assert state.scene is not None
    return state, (*restart, Restore(state.scene, state.seed, state.session_id, snapshot))


def resume(state: AppState, scene: SceneSpec, seed: int, path: str, now: float) -> Change:
    """Go on from a saved world; a new beginning of it will have its seed."""
    restart = _switch(state) or _restart(state)
    screen = Screen.WALK if state.screen is Screen.WALK else Screen.LOADING
    began = _new_session(replace(state, screen=screen, seed=seed, snapshot=None), scene, now)
    state = replace(began, time=TimeMachine(resumed=True))
    return state, (*restart, Restore(scene, seed, state.session_id, path))


def _switch(state: AppState) -> tuple[Ask, ...]:
    """Settings of the engine count from the next world on: one that was told others is ended before."""
    if state.engine is None or state.engine == state.settings.engine:
        return ()
    return (errands.SwitchEngine(state.settings.engine),)


def _switch_to(engine: EngineConfig | None) -> tuple[Ask, ...]:
    return () if engine is None else (errands.SwitchEngine(engine),)


def _restart(state: AppState) -> tuple[Ask, ...]:
    lost = state.failure is not None and state.failure.engine_lost
    return (errands.RestartEngine(),) if lost else ()


def close_world(state: AppState) -> Change:
    """Leave the program. The recording is finished by the app, whatever happens."""
    keeps = (errands.KeepSettings(state.settings.own),) if state.unkept_at is not None else ()
    return replace(state, quitting=True, unkept_at=None), (*keeps, CloseWorld())


def tell(state: AppState, text: str, now: float, *, bad: bool = False) -> AppState:
    """Show a sentence for some seconds; the same sentence is not stacked."""
    others = tuple(toast for toast in state.toasts if toast.text != text)
    return replace(state, toasts=(*others, Toast(text, bad, now))[-MOST_TOASTS:])


def list_scenes(state: AppState, scenes: Sequence[SceneSpec]) -> AppState:
    """The scenes in their order, with a card behind them for a picture of the user's own."""
    return replace(
        state, scenes=arranged(scenes, state.remembered), gallery=replace(state.gallery, count=len(scenes) + 1)
    )


def open_gallery(state: AppState) -> AppState:
    state = list_scenes(state, state.scenes)
    names = [scene.name for scene in state.scenes]
    last = names.index(state.remembered.played[0]) if set(names) & set(state.remembered.played[:1]) else 0
    gallery = menu.select(state.gallery, last, state.room)
    return replace(state, screen=Screen.SCENES, gallery=gallery, menu=None, page=None)


def fitted(state: AppState) -> AppState:
    """What is chosen lies in view, whatever the room has become."""
    state = replace(state, gallery=menu.select(state.gallery, state.gallery.selected, state.room))
    if state.page is None:
        return state
    shown = options.choose(state.page, state.page.selected, state.room)
    return replace(state, page=replace(state.page, first=shown.first))


def let_go(state: AppState, at: float) -> AppState:
    """No key is held any longer, no stick pushed, the pointer is free."""
    page = None if state.page is None else replace(state.page, trying=False)
    released = steering.release_all(state.steering, at)
    return replace(state, steering=released, gamepad=rest(state.gamepad), captured=False, page=page)


def _new_session(state: AppState, scene: SceneSpec, now: float) -> AppState:
    return replace(
        state,
        scene=scene,
        session_id=state.session_id + 1,
        world=None,
        failure=None,
        loading=None,
        menu=None,
        page=None,
        picker=None,
        crop=None,
        path_line=None,
        slots=None,
        films=None,
        film=None,
        paused=False,
        prompt=PromptStatus(scene.prompt, Stage.TYPED),
        in_flight=(),
        accepted=(),
        applied=(),
        measured=Measured(),
        time=TimeMachine(),
        steering=steering.forget_sent(state.steering),
        touched_at=now,
    )
