"""What can make a world, by name. Nothing heavy is imported before a backend is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol, runtime_checkable

from engine.config import BACKENDS, EngineConfig
from engine.errors import BadValue, NeedsLibrary
from engine.protocol import EventAccepted, EventRejected, FrameChunk, ModelCard, Optics, PromptMix, SceneSpec

Progress = Callable[[str, float | None], None]
Log = Callable[[str], None]


class World(Protocol):
    """One running world: events at any time between chunks, chunks one after the other."""

    @property
    def notice(self) -> str | None:
        """A sentence that the user must be told, or None."""

    @property
    def prompt(self) -> str:
        """The prompt in force, in words."""

    @property
    def mix(self) -> PromptMix | None:
        """The prompt in force, where it is two at once."""

    @property
    def text_encodes(self) -> int:
        """How often a prompt was encoded, the scene's own included."""

    @property
    def cross_attention_resets(self) -> int: ...

    def apply(self, wire: Mapping[str, object], pressed_at: float | None, now: float) -> EventAccepted | EventRejected:
        """Take a composite event whole, or refuse it whole. ``now``: seconds of the monotonic clock."""

    def step(self, clock: Callable[[], float]) -> FrameChunk:
        """Make the next chunk."""

    def save(self, path: Path) -> None:
        """Write a snapshot, whole or not at all; ``WorldModel.restore`` continues from it bit for bit."""


@runtime_checkable
class StreamedWorld(World, Protocol):
    """A world that is made elsewhere and comes by itself: its chunks are waited for, not made."""

    def go_live(self, wake: Callable[[], None]) -> None:
        """Somebody looks on: chunks come at the pace of the walk, old ones are dropped, and ``wake`` is called, from
        any thread, when ``is_ready`` has become true. Without this call, ``step`` waits, and nothing is dropped."""

    @property
    def is_ready(self) -> bool:
        """Whether ``step`` would return or raise at once."""

    @property
    def last_chunk(self) -> int | None:
        """The newest chunk that was seen of this world or of the one that it goes on from; with none there is nothing
        to save."""

    def pause(self, paused: bool) -> None: ...

    def close(self) -> None:
        """Let go of the other side. Does not wait."""


class WorldModel(Protocol):
    """A loaded model, on which worlds are opened; it holds nothing of any one of them."""

    @property
    def card(self) -> ModelCard: ...

    @property
    def optics(self) -> Optics: ...

    def open(self, scene: SceneSpec, seed: int, session_id: int) -> World: ...

    def restore(self, scene: SceneSpec, seed: int, session_id: int, path: Path) -> World:
        """Raises FileProblem where the snapshot is not one of this model."""


def load(config: EngineConfig, progress: Progress, log: Log) -> WorldModel:
    """Load what the configuration names. Raises WorldwalkError; ``progress`` gets stages in plain words."""
    if config.backend == "bundled":
        progress("Loading torch", 0.05)
        from engine.bundled_world import load_bundled

        return load_bundled(config, progress, log)
    if config.backend == "test_card":
        from engine.fake import TestCardModel

        return TestCardModel(config)
    if config.backend == "lingbot":
        progress("Loading torch", 0.05)
        from engine.lingbot.session import load_lingbot

        return load_lingbot(config, progress, log)
    if config.backend == "sglang":
        for library in ("websockets", "msgpack"):
            if find_spec(library) is None:
                raise NeedsLibrary(library, "remote", "Walking on a server needs")
        from engine.remote.world import load_remote

        return load_remote(config, progress, log)
    raise BadValue("engine.backend", f"'{config.backend}'", f"one of {', '.join(BACKENDS)}")
