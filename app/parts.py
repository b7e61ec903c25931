"""What the composition root gives to the window, and what a user may choose of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from app import errands
from app.beginning_files import BeginningParts
from app.cinema import its_own, no_clip
from app.errands import StartTake
from app.remembered import ModelLine, OwnPicture, Remembered
from app.settings import Settings
from engine.config import EngineConfig
from engine.protocol import Engine, Pixels, SceneSpec, SessionHeader


@dataclass(frozen=True, slots=True)
class AppConfig:
    """What a user may choose of the window."""

    recordings: Path
    worlds: Path = Path("worlds")
    """The folder of saved worlds."""
    width: int = 1280
    height: int = 720
    fullscreen: bool = False
    settings: Settings = field(default_factory=Settings)
    remembered: Remembered = field(default_factory=Remembered)
    system_language: str = "en"
    seed: int = 0
    record: bool = False
    """Record from the first frame on."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What the composition root gives. ``engine`` and ``scenes`` are called after the window is on screen."""

    engine: Callable[[EngineConfig], Engine]
    """Called once more with other settings, after the engine before was closed, where the user wants another."""
    restart: Callable[[], None]
    """Start the engine's process again after it was lost; the Engine object stays the same."""
    scenes: Callable[[], Sequence[SceneSpec]]
    start_take: StartTake
    start_clip: StartTake = no_clip
    engine_of: Callable[[SessionHeader, EngineConfig, str], EngineConfig] = its_own
    """The engine that makes a session's frames again; the one that runs, where that does."""
    keep_settings: Callable[[Mapping[str, object]], None] = lambda values: None
    """Writes the user's own settings. Raises FileProblem."""
    remember: Callable[[Remembered], None] = lambda remembered: None
    """Writes what the window remembers. Raises FileProblem."""
    models: Callable[[], Sequence[ModelLine]] = tuple
    read_picture: Callable[[str, EngineConfig], tuple[Pixels, tuple[int, int]]] = errands.no_picture
    """The picture at a path, and the (width, height) that this engine makes. Raises FileProblem."""
    make_picture: Callable[[OwnPicture, EngineConfig], SceneSpec] = errands.no_scene
    """The scene that begins with a picture. Raises FileProblem and BadValue."""
    beginning: BeginningParts = field(default_factory=lambda: BeginningParts(Path("pictures")))
    """What makes a world of the user's own words and pasted pictures."""
    news: Callable[[], str | None] = lambda: None
    """Asked at each pass for a sentence to show, e.g. of recordings that a crash had left unfinished."""
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
