"""The app as a value. ``steps`` has the larger steps to the next one, ``state.update`` decides which is taken."""

from __future__ import annotations

from dataclasses import dataclass, field

from app import messages
from app.branches import Tree, TreePage
from app.crop import CropPage
from app.errands import Ask
from app.facts import Measured, PromptStatus, RecordingStatus, Screen, Stage, Toast, World
from app.film_pages import FilmPage, FilmsPage
from app.gamepad import Gamepad
from app.gestures import Focus
from app.instant import Instant
from app.line_page import LinePage
from app.menu import Gallery, Menu, Room
from app.options import SettingsPage
from app.photo import Photo
from app.prompt_box import PromptBox
from app.prompts import Prompts
from app.remembered import ModelLine, Remembered
from app.rewind import TimeMachine
from app.settings import Settings
from app.slots_page import SlotsPage
from app.steering import LookFeel, Steering
from app.timing import Timing
from app.words import table
from engine.config import EngineConfig
from engine.protocol import CompositeEvent, Failed, Loading, Look, SceneSpec


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
    tree: Tree = field(default_factory=Tree)
    """What was walked in this world, and can be gone to."""
    branches: TreePage | None = None
    """The page that shows it, while it is open."""
    films: FilmsPage | None = None
    film: FilmPage | None = None
    """The film that is watched."""
    photo: Photo | None = None
    crop: CropPage | None = None
    line_page: LinePage | None = None
    """The path of a picture, or the words of a world, while they are typed."""
    is_dialog_open: bool = False
    """Whether the system's file dialog is open beside the window."""
    by_pad: bool = False
    """Whether a gamepad was used last, so that its buttons are named."""
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
    prompts: Prompts = field(default_factory=Prompts)
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
    instant: Instant = field(default_factory=Instant)
    saving: tuple[tuple[str, str], ...] = ()  # (file, slot) that the engine is about to write
    measured: Measured = field(default_factory=Measured)
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
        return Focus.MENU if self.behind or self.prompts.chosen is not None else Focus.WALK

    @property
    def typing(self) -> PromptBox | None:
        """The line that gets what is typed."""
        if self.page is not None:
            return self.page.line
        if self.slots is not None and self.slots.line is not None:
            return self.slots.line
        if self.films is not None and self.film is None and self.films.line is not None:
            return self.films.line
        if self.prompt_box is not None:
            return self.prompt_box
        if self.line_page is not None:
            return self.line_page.line
        return None if self.crop is None else self.crop.line

    @property
    def behind(self) -> bool:
        """Whether the world, if there is one, lies behind something that is chosen from."""
        opened = (self.menu, self.page, self.picker, self.crop, self.line_page, self.films, self.film, self.slots)
        shown = self.screen is Screen.SCENES or self.photo is not None or self.branches is not None
        return shown or any(part is not None for part in opened)

    @property
    def teaching(self) -> bool:
        """Whether the keys are told to somebody who walks for the first time."""
        listed = self.prompts.hinted or self.prompts.chosen is not None
        busy = self.behind or listed or self.prompt_box is not None or self.time.rewind is not None
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
