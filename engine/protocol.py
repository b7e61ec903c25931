"""The door between the window and the world.

Everything that crosses it is a frozen dataclass of plain Python values and numpy arrays, so that it can be logged,
replayed, or sent to another process. Requests are imperative, reports are past tense. Times are seconds of
``time.monotonic`` (one clock for all processes of a machine); ``None`` stands for "not known".

This module is the door: whoever is on either side imports from here alone, also what ``inputs`` and ``facts`` hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from engine.facts import ChunkTimings as ChunkTimings
from engine.facts import ModelCard as ModelCard
from engine.facts import RemoteShares as RemoteShares
from engine.facts import SampledEvent as SampledEvent
from engine.facts import WindowReport as WindowReport
from engine.inputs import ACTIONS as ACTIONS
from engine.inputs import INPUT_TYPES as INPUT_TYPES
from engine.inputs import ActionScript as ActionScript
from engine.inputs import ActionState as ActionState
from engine.inputs import CameraActions as CameraActions
from engine.inputs import CompositeEvent as CompositeEvent
from engine.inputs import Look as Look
from engine.inputs import Prompt as Prompt
from engine.inputs import PromptMix as PromptMix
from engine.inputs import Retake as Retake
from engine.inputs import Transition as Transition
from engine.inputs import prompt_to_wire as prompt_to_wire
from engine.inputs import prompt_words as prompt_words
from engine.lines import WalkLine as WalkLine
from engine.optics import Optics as Optics

Pixels = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class StartPose:
    """Where a bundled world begins: metres on its map, heading in degrees (0 = north, positive to the right)."""

    x_metres: float = 0.0
    z_metres: float = 0.0
    yaw_degrees: float = 0.0


@dataclass(frozen=True, slots=True)
class SceneSpec:
    """How a world begins. ``image`` is RGB [H, W, 3]; ``own_image`` is true when the user brought it."""

    name: str
    prompt: str
    image: Pixels | None = None
    image_sha256: str | None = None
    own_image: bool = False
    map_seed: int = 0
    start: StartPose = StartPose()


@dataclass(frozen=True, slots=True)
class OpenWorld:
    """Load the model if need be and begin this scene. ``session_id`` comes back in every report of the world."""

    scene: SceneSpec
    seed: int
    session_id: int
    chunks: int = 0
    """So many are made at once, unseen, each after those of ``events`` with its number; the walk goes on from there."""
    events: tuple[tuple[int, Mapping[str, object]], ...] = ()
    model_sha256: str | None = None
    """The only model that may make them; None: any."""


@dataclass(frozen=True, slots=True)
class Steer:
    """One composite event in its wire form; it is checked in the engine, whole or not at all."""

    wire: Mapping[str, object]
    pressed_at: float | None = None


@dataclass(frozen=True, slots=True)
class Pause:
    paused: bool


@dataclass(frozen=True, slots=True)
class Restore:
    """Continue the world from the snapshot file at ``path`` (see ``SnapshotSaved``)."""

    scene: SceneSpec
    seed: int
    session_id: int
    path: str


@dataclass(frozen=True, slots=True)
class GoBack:
    """Go on from the newest moment not after ``chunk`` (see ``MomentsKept``) on the way to the end of ``line``; None:
    on the way that led here. The end of what is left stays, as a line of its own."""

    session_id: int
    chunk: int
    line: int | None = None


@dataclass(frozen=True, slots=True)
class ForgetLine:
    """The end of this line, which is not the present one, is not wanted any more."""

    session_id: int
    line: int


@dataclass(frozen=True, slots=True)
class MakeVariants:
    """Make the chunk on show again in each of these ways, unseen; the world stays what it is. ``VariantMade`` tells
    each one's picture of the frame that ends at ``position`` of the walk, in chunks: 5.0 is the end of chunk 4."""

    session_id: int
    position: float
    variants: tuple[Retake, ...]


@dataclass(frozen=True, slots=True)
class StopVariants:
    """No more of them are wanted."""

    session_id: int


@dataclass(frozen=True, slots=True)
class TakeVariant:
    """Go on from one of them: ``WentBack`` to before the chunk answers, then the chunk itself."""

    session_id: int
    variant: Retake


@dataclass(frozen=True, slots=True)
class SaveWorld:
    """Write the present state of the world to ``path``, from which ``Restore`` continues; ``WorldSaved`` answers."""

    session_id: int
    path: str


@dataclass(frozen=True, slots=True)
class CloseWorld:
    pass


VariantRequest = MakeVariants | StopVariants | TakeVariant
Request = OpenWorld | Steer | Pause | Restore | GoBack | ForgetLine | SaveWorld | VariantRequest | CloseWorld


@dataclass(frozen=True, slots=True)
class Loading:
    """A stage of loading in plain words; ``fraction`` in [0, 1] of the whole, or None where it cannot be known."""

    stage: str
    fraction: float | None = None


@dataclass(frozen=True, slots=True)
class WorldOpened:
    session_id: int
    card: ModelCard
    scene: str
    seed: int
    prompt: str
    notice: str | None = None
    """A sentence that the user must be told, e.g. what this model does with an image of one's own."""
    mix: PromptMix | None = None
    """The prompt in force, where it is two at once."""
    optics: Optics | None = None
    """How the model's camera turns and sees; None: not known, and nothing is foreseen."""


@dataclass(frozen=True, slots=True)
class EventAccepted:
    event_id: int | None
    pressed_at: float | None
    accepted_at: float


@dataclass(frozen=True, slots=True)
class EventRejected:
    """Nothing of the event was applied. ``path`` is the place of the bad value, e.g. ``look.yaw_degrees``."""

    event_id: int | None
    path: str
    got: str
    expected: str

    def sentence(self) -> str:
        where = "the event" if not self.path else self.path
        name = "(no id)" if self.event_id is None else str(self.event_id)
        return f"Event {name} rejected: {where} was {self.got}, expected {self.expected}."


@dataclass(frozen=True, slots=True)
class FrameChunk:
    """The frames of one chunk, RGB uint8 [T, H, W, 3], and what they answer to."""

    session_id: int
    chunk: int
    frames: Pixels
    prompt: str
    prompt_updated: bool
    moving: bool
    window: WindowReport
    pose: tuple[float, ...]
    """Camera to world after the chunk: 16 numbers, row-major, OpenCV axes."""
    ms: ChunkTimings
    made_at: float
    events: tuple[SampledEvent, ...] = ()
    """The events first sampled in this chunk, in the order of their acceptance."""
    remote: RemoteShares | None = None
    """None where the model runs on this computer."""
    notice: str | None = None
    """A sentence that the user must be told about this chunk, e.g. that its prompt was not understood."""
    fade: float | None = None
    """How far the world has come to its prompt from the one before, 0 to 1; None where it is not on its way."""


@dataclass(frozen=True, slots=True)
class SnapshotSaved:
    """The state after ``chunk`` lies in the file at ``path``; ``Restore`` continues from it."""

    session_id: int
    chunk: int
    path: str


@dataclass(frozen=True, slots=True)
class MomentsKept:
    """The world can go back to what it was after each of ``chunks``, oldest first; together they take ``byte_count``.

    ``problem``: a sentence why no more of them are kept, or None. ``lines``: all that was walked and can still be gone
    to, of which ``line`` is walked now.
    """

    session_id: int
    chunks: tuple[int, ...]
    byte_count: int
    problem: str | None = None
    line: int = 0
    lines: tuple[WalkLine, ...] = ()


@dataclass(frozen=True, slots=True)
class WentBack:
    """The world is again what it was after ``chunk``, which ``origin`` made; the next one has the number after it, and
    is a part of ``line``, which is new unless ``chunk`` is the end of it."""

    session_id: int
    chunk: int
    prompt: str
    mix: PromptMix | None = None
    line: int = 0
    origin: int = 0


@dataclass(frozen=True, slots=True)
class StayedHere:
    """There was no moment to go back to; the world goes on as it was."""

    session_id: int
    reason: str


@dataclass(frozen=True, slots=True)
class VariantMade:
    """``picture`` [H, W, 3] of ``chunk`` in the way ``number`` of the request; it took so many seconds."""

    session_id: int
    chunk: int
    number: int
    picture: Pixels
    seconds: float


@dataclass(frozen=True, slots=True)
class NoVariants:
    """``why``: elsewhere (a server makes each chunk once), first (the world's first chunk is given), no_moment (none
    before the chunk is near enough), memory (of the graphics card) or gone (there is nothing to take any more)."""

    session_id: int
    why: str


@dataclass(frozen=True, slots=True)
class WorldSaved:
    """The state after ``chunk`` (-1: its beginning) lies at ``path``; or nothing does, and ``problem`` says why."""

    session_id: int
    chunk: int
    path: str
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """One sentence of what happened and one of the cure. ``engine_lost``: the engine's process is gone."""

    message: str
    cure: str
    engine_lost: bool = False


@dataclass(frozen=True, slots=True)
class EngineLog:
    """A line for the log: choices made once (attention, dtype, threads) and other facts for the curious."""

    line: str


TimeReport = MomentsKept | WentBack | StayedHere | VariantMade | NoVariants | WorldSaved
Report = (
    Loading | WorldOpened | EventAccepted | EventRejected | FrameChunk | SnapshotSaved | TimeReport | Failed | EngineLog
)


class Engine(Protocol):
    """What the window knows of the world. None of these calls blocks."""

    def send(self, request: Request) -> None: ...

    def poll(self) -> Report | None: ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class SessionHeader:
    """The first line of a session file: all that ``replay`` needs besides the events."""

    scene: SceneSpec
    seed: int
    card: ModelCard
    settings: Mapping[str, object] = field(default_factory=dict)
