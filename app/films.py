"""Films as the window knows them: what is known of one, what happens to them, and what is asked of them.

Pure values; ``film_pages`` has what is on show, ``cinema`` does what is asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.config import EngineConfig
from engine.protocol import Pixels, SceneSpec

SUFFIXES = (".mp4", ".m4v", ".mov", ".mkv", ".webm", ".avi")


@dataclass(frozen=True, slots=True)
class FilmFacts:
    """What is known of a film before it plays. ``walks``: whether it carries the walk that made it."""

    path: str
    width: int
    height: int
    fps: float
    seconds: float
    walks: bool

    @property
    def title(self) -> str:
        return self.path.replace("\\", "/").rpartition("/")[2].rpartition(".")[0]


@dataclass(frozen=True, slots=True)
class FilmCard:
    """A film of the page; ``picture`` is a small one from its beginning. ``problem``: why it cannot be played."""

    facts: FilmFacts
    made_at: str
    byte_count: int
    picture: Pixels | None = None
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Rewalking:
    """How a moment of a film is walked up to: scene and seed, then events before their chunks, ``chunks`` in all.

    ``engine``: what the engine was told when the film was made; None where the session does not say.
    """

    scene: SceneSpec
    seed: int
    chunks: int
    events: tuple[tuple[int, Mapping[str, object]], ...]
    model: str
    model_sha256: str
    engine: EngineConfig | None


@dataclass(frozen=True, slots=True)
class FilmOpened:
    facts: FilmFacts
    at: float


@dataclass(frozen=True, slots=True)
class FilmMoved:
    """Another frame of the film is on show, or it has ended."""

    seconds: float
    ended: bool


@dataclass(frozen=True, slots=True)
class FilmsListed:
    """The films of the folder, the newest first; told again with each picture that was made. ``done``: with all."""

    films: tuple[FilmCard, ...]
    done: bool


@dataclass(frozen=True, slots=True)
class WheelReady:
    """It is known how to make the world of that moment again."""

    rewalking: Rewalking
    at: float


@dataclass(frozen=True, slots=True)
class WheelRefused:
    """``sentence``: why the film cannot be walked on."""

    sentence: str
    at: float


FilmMessage = FilmOpened | FilmMoved | FilmsListed | WheelReady | WheelRefused


@dataclass(frozen=True, slots=True)
class OpenFilm:
    path: str


@dataclass(frozen=True, slots=True)
class CloseFilm:
    pass


@dataclass(frozen=True, slots=True)
class PlayFilm:
    """Play on, or stand still."""

    playing: bool


@dataclass(frozen=True, slots=True)
class SeekFilm:
    seconds: float


@dataclass(frozen=True, slots=True)
class TakeWheel:
    """Find out how the world of this second is made again; the answer is ``WheelReady`` or ``WheelRefused``."""

    path: str
    seconds: float
    fps: float


@dataclass(frozen=True, slots=True)
class ListFilms:
    """The answer is ``FilmsListed``, more than once."""


@dataclass(frozen=True, slots=True)
class RenameFilm:
    path: str
    name: str


@dataclass(frozen=True, slots=True)
class DeleteFilm:
    path: str


@dataclass(frozen=True, slots=True)
class OpenFolder:
    """Show the folder of films in the system's own window."""


@dataclass(frozen=True, slots=True)
class SaveClip:
    """Make a film of the last half minute."""


FilmAsk = (
    OpenFilm | CloseFilm | PlayFilm | SeekFilm | TakeWheel | ListFilms | RenameFilm | DeleteFilm | OpenFolder | SaveClip
)
