"""The app as a value, and the larger steps from one such value to the next; ``state.update`` decides which is taken."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum

from app import menu, messages, steering
from app.menu import Gallery, Menu
from app.messages import Ask, Focus
from app.prompt_box import PromptBox
from app.steering import MOUSE_DEGREES_PER_PX, Steering
from engine.protocol import (
    ChunkTimings,
    CloseWorld,
    CompositeEvent,
    Failed,
    Loading,
    ModelCard,
    OpenWorld,
    Restore,
    SceneSpec,
    WindowReport,
)

TOAST_SECONDS = 5.0
BAD_TOAST_SECONDS = 9.0
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
        return self.shown_at + (BAD_TOAST_SECONDS if self.bad else TOAST_SECONDS)


@dataclass(frozen=True, slots=True)
class AppState:
    seed: int = 0
    degrees_per_px: float = MOUSE_DEGREES_PER_PX
    record_next: bool = False
    """Begin recording as soon as a world is open."""
    width: int = 1280
    height: int = 720
    screen: Screen = Screen.STARTING
    scenes: tuple[SceneSpec, ...] = ()
    gallery: Gallery = field(default_factory=Gallery)
    menu: Menu | None = None
    help: bool = False
    details: bool = False
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
    measured: Measured = Measured()
    pace: messages.LoopMeasured | None = None
    toasts: tuple[Toast, ...] = ()
    touched_at: float = 0.0
    """When the user last did something; the HUD fades some time after."""
    exposures: int = 0

    @property
    def focus(self) -> Focus:
        if self.prompt_box is not None:
            return Focus.TEXT
        return Focus.MENU if self.menu is not None or self.screen is Screen.SCENES else Focus.WALK

    @property
    def standing(self) -> bool:
        """Whether the world stands still: paused, or behind a menu."""
        return self.paused or self.menu is not None or self.screen is Screen.SCENES

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


def open_world(state: AppState, scene: SceneSpec, now: float) -> Change:
    """Begin a world. What is on show stays until the new world's first frame, if a world was there before."""
    restart = _restart(state)
    state = _new_session(state, scene, now)
    screen = Screen.WALK if state.screen is Screen.WALK else Screen.LOADING
    request = OpenWorld(scene, state.seed, state.session_id)
    return replace(state, screen=screen, snapshot=None), (*restart, request)


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
    state = _new_session(state, state.scene, now)
    assert state.scene is not None
    return state, (*restart, Restore(state.scene, state.seed, state.session_id, snapshot))


def _restart(state: AppState) -> tuple[Ask, ...]:
    lost = state.failure is not None and state.failure.engine_lost
    return (messages.RestartEngine(),) if lost else ()


def close_world(state: AppState) -> Change:
    """Leave the program. The recording is finished by the app, whatever happens."""
    return replace(state, quitting=True), (CloseWorld(),)


def tell(state: AppState, text: str, now: float, *, bad: bool = False) -> AppState:
    """Show a sentence for some seconds; the same sentence is not stacked."""
    others = tuple(toast for toast in state.toasts if toast.text != text)
    return replace(state, toasts=(*others, Toast(text, bad, now))[-MOST_TOASTS:])


def open_gallery(state: AppState) -> AppState:
    gallery = menu.select(replace(state.gallery, count=len(state.scenes)), state.gallery.selected, *size(state))
    return replace(state, screen=Screen.SCENES, gallery=gallery, menu=None)


def size(state: AppState) -> tuple[int, int]:
    return state.width, state.height


def let_go(state: AppState, at: float) -> AppState:
    """No key is held any longer, the pointer is free."""
    return replace(state, steering=steering.release_all(state.steering, at), captured=False)


def _new_session(state: AppState, scene: SceneSpec, now: float) -> AppState:
    return replace(
        state,
        scene=scene,
        session_id=state.session_id + 1,
        world=None,
        failure=None,
        loading=None,
        menu=None,
        paused=False,
        told_paused=False,
        prompt=PromptStatus(scene.prompt, Stage.TYPED),
        in_flight=(),
        accepted=(),
        applied=(),
        measured=Measured(),
        steering=steering.forget_sent(state.steering),
        touched_at=now,
    )
