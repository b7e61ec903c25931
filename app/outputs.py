"""Where a walk without a window goes, checked before anything is made; and how a recording is begun."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from app.mp4 import journal_path
from app.recorder import Recorder
from app.recordings import check_target
from app.session_log import SUFFIX, SessionLog
from engine.errors import FileProblem
from engine.protocol import SessionHeader


@dataclass(frozen=True, slots=True)
class Outputs:
    """What was asked for; each may be None. ``session``: write the session file beside the video."""

    video: Path | None = None
    frames: Path | None = None
    report: Path | None = None
    overwrite: bool = False
    session: bool = True
    source: Path | None = None
    """The session, in a file or a film, that is walked again whole: the new film carries it too."""

    def check(self) -> None:
        """Make the folder for pictures. Raises FileProblem for what can be known to fail."""
        if self.video is not None:
            check_target(self.video, overwrite=self.overwrite)
        if self.report is not None and (self.report.is_dir() or not self.report.parent.is_dir()):
            raise FileProblem(self.report, "this is no place for a file", "Name a file in a folder that exists.")
        if self.frames is not None:
            _check_folder(self.frames)


def start_recorder(
    video: Path,
    header: SessionHeader,
    *,
    blocking: bool,
    overwrite: bool,
    session: Path | None,
    captions: bool = False,
) -> Recorder:
    """A recorder for this walk, its facts in the file's metadata, the session file in the film's own box."""
    card, scene = header.card, header.scene
    metadata = {
        "scene": scene.name,
        "seed": str(header.seed),
        "prompt": scene.prompt,
        "backend": card.backend,
        "model": card.model,
        "model_sha256": card.model_sha256,
    }
    return Recorder(
        video,
        card.width,
        card.height,
        card.fps_nominal,
        metadata,
        blocking=blocking,
        overwrite=overwrite,
        session=session,
        captions=captions,
    )


def start_session_log(video: Path, header: SessionHeader) -> SessionLog:
    """The session file beside the video, from which the walk can be made again."""
    return SessionLog(video.with_name(video.stem + SUFFIX), header)


def start_journal(video: Path, header: SessionHeader) -> SessionLog:
    """A session file that lies beside the video while it is made, and then goes into it."""
    return SessionLog(journal_path(video), header)


def _check_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        used = next(folder.glob("*.png"), None)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise FileProblem(folder, f"this folder cannot be used ({reason})", "Choose another for --frames.") from error
    if used is not None:
        raise FileProblem(folder, "there are pictures in this folder already", "Choose an empty one for --frames.")
