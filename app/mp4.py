"""MP4 files by way of ffmpeg: how they are encoded, finished, named inside, and read back. No threads here.

A recording is written as a *fragmented* MP4 straight to its final name, so that whatever happens the file plays up to
the last fragment. Beside it lies a marker, ``.NAME.mp4.recording``, in ffmpeg's metadata format and locked by its
writer; finishing rewrites the file as a plain fast-start MP4 with the marker's text in it, and a marker that nobody
locks is what a crash left behind (see ``app.repair``).
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import BinaryIO

import imageio_ffmpeg

from app import session_box
from engine.errors import FileProblem

_LAST_CAPTION_SECONDS = 5.0
_NO_MARKUP = str.maketrans("<>{}\\", "‹›()/")
_LOCK_OFFSET = 1 << 30  # far behind the text: Windows locks bytes against reading, and ffmpeg must read the marker
_QUIET = ("-hide_banner", "-nostdin", "-nostats", "-loglevel", "error", "-y")

if sys.platform == "win32":
    import msvcrt

    _SPAWN_FLAGS = subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW

    def _lock(file: BinaryIO) -> None:
        file.seek(_LOCK_OFFSET)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    _SPAWN_FLAGS = 0

    def _lock(file: BinaryIO) -> None:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)


class Marker:
    """The locked file beside a recording. It holds the metadata so far; the lock falls when its writers are gone."""

    def __init__(self, video: Path, *, create: bool = True) -> None:
        """Raises OSError where somebody holds it, FileNotFoundError where it is gone and must not be made anew."""
        self.path = marker_path(video)
        flags = os.O_RDWR | (os.O_CREAT if create else 0) | getattr(os, "O_BINARY", 0)
        descriptor = os.open(self.path, flags, 0o644)
        self._file = open(descriptor, "r+b", buffering=0)  # noqa: SIM115  held open, and locked, until close()
        try:
            _lock(self._file)
            if not os.path.samestat(os.fstat(descriptor), self.path.stat()):
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(self.path))
        except OSError:
            self._file.close()
            raise

    @property
    def shared_descriptors(self) -> tuple[int, ...]:
        """Handed to the encoder, so that a dead window's marker stays locked until its encoder has ended too."""
        return () if sys.platform == "win32" else (self._file.fileno(),)

    def write(self, tags: Mapping[str, str]) -> None:
        """Replace the text in place (a locked file cannot be swapped on Windows). Raises OSError."""
        text = metadata_text(tags).encode()
        self._file.seek(0)
        self._file.write(text)
        self._file.truncate()

    def close(self, *, remove: bool) -> None:
        gone = remove and self._remove()  # before it is free, so that nobody takes up what is done
        self._file.close()
        if remove and not gone:
            self._remove()  # Windows removes no open file

    def _remove(self) -> bool:
        try:
            self.path.unlink()
        except OSError:
            return False
        return True


def marker_path(video: Path) -> Path:
    return video.with_name(f".{video.name}.recording")


def journal_path(video: Path) -> Path:
    """Where the walk is written down while its film is made; in the end it goes into the film."""
    return video.with_name(f".{video.name}.session")


def find_ffmpeg() -> str:
    """The path of ffmpeg. Raises FileProblem where there is none."""
    try:
        return str(imageio_ffmpeg.get_ffmpeg_exe())
    except RuntimeError as error:
        raise no_ffmpeg("ffmpeg") from error


def no_ffmpeg(path: str) -> FileProblem:
    return FileProblem(path, "the video encoder cannot be started", "Install it: python -m pip install imageio-ffmpeg")


def start_ffmpeg(arguments: list[str], keep_open: tuple[int, ...] = ()) -> subprocess.Popen[bytes]:
    """Start ffmpeg in a process group of its own: Ctrl+C must reach the window, not the encoder. Raises FileProblem."""
    try:
        return subprocess.Popen(
            arguments,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            creationflags=_SPAWN_FLAGS,
            start_new_session=os.name == "posix",
            pass_fds=keep_open,
        )
    except OSError as error:
        raise no_ffmpeg(arguments[0]) from error


def output_of(arguments: list[str], timeout_seconds: float) -> tuple[bytes, bytes]:
    """What ffmpeg gives and says; as if it gave nothing where it takes too long. Raises FileProblem."""
    with start_ffmpeg(arguments) as process:
        try:
            return process.communicate(timeout=timeout_seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            return b"", b""


def encode_arguments(ffmpeg: str, video: Path, *, width: int, height: int, fps: float) -> list[str]:
    """Raw RGB frames on standard input -> a fragmented H.264 file, the marker's text as its metadata.

    ``zerolatency`` and fragments of a quarter second keep all but a few frames out of memory, so they survive a kill.
    The picture is converted and tagged as BT.709: untagged small videos are read as BT.601 and shift their greens.
    """
    colour = "color_primaries=bt709:color_trc=bt709:colorspace=bt709:range=tv"
    convert = "scale=out_color_matrix=bt709:out_range=tv:flags=bicubic+accurate_rnd+full_chroma_int,format=yuv420p"
    rate = Fraction(fps).limit_denominator(1001)
    return [
        *(ffmpeg, *_QUIET, "-probesize", "32", "-analyzeduration", "0"),
        *("-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", str(rate), "-i", "pipe:0"),
        *("-f", "ffmetadata", "-i", url(marker_path(video)), "-map", "0:v", "-map_metadata", "1"),
        *("-vf", f"{convert},setparams={colour}", "-fps_mode", "passthrough"),
        *("-c:v", "libx264", "-preset", "veryfast", "-tune", "zerolatency", "-crf", "16", "-pix_fmt", "yuv420p"),
        *("-g", str(max(1, round(rate))), "-threads", "1"),  # one thread: the model needs the other cores
        *("-movflags", "frag_keyframe+empty_moov+default_base_moof+use_metadata_tags"),
        *("-frag_duration", "250000", "-flush_packets", "1", "-f", "mp4", url(video)),
    ]


def finish_arguments(ffmpeg: str, video: Path, finished: Path, captions: Path | None = None) -> list[str]:
    """A fragmented file and its marker -> a plain file whose index stands in front. Nothing is encoded again.

    ``captions``: an SRT file that becomes a subtitle track.
    """
    inputs = () if captions is None else ("-f", "srt", "-i", url(captions))
    track = () if captions is None else ("-map", "2:s", "-c:s", "mov_text")
    return [
        *(ffmpeg, *_QUIET, "-i", url(video), "-f", "ffmetadata", "-i", url(marker_path(video)), *inputs),
        *("-map", "0:v", "-map_metadata", "1", "-c", "copy", *track),
        *("-movflags", "+faststart+use_metadata_tags", "-f", "mp4", url(finished)),
    ]


def finish(video: Path, started: Callable[[subprocess.Popen[bytes]], None], session: Path | None = None) -> str | None:
    """Make the fragmented ``video`` plain, in place and all at once. Returns what went wrong, or None.

    ``started`` is told the process, so that its owner can end it. ``session``: the session file that goes into it. On
    failure the fragmented file stays as it was.
    """
    finished, captions = video.with_name(f".{video.name}.finishing"), video.with_name(f".{video.name}.srt")
    try:
        text = captions_of(marker_path(video))
        if text:
            captions.write_text(text, encoding="utf-8")
        with start_ffmpeg(finish_arguments(find_ffmpeg(), video, finished, captions if text else None)) as process:
            started(process)
            _, said = process.communicate()
        if process.returncode != 0:
            return said_reason(said) or f"ffmpeg ended with status {process.returncode}"
        if session is not None:
            session_box.append(finished, session)
        os.replace(finished, video)
    except FileProblem as error:
        return str(error)
    except OSError as error:
        return error.strerror or str(error)
    finally:
        for path in (finished, captions):
            with contextlib.suppress(OSError):
                path.unlink()
    return None


def captions_of(marker: Path) -> str:
    """The prompts of a recording as SRT, where its marker says under ``captions`` that they are wanted; else nothing.

    Signs that SRT takes for markup become ones that look like them. Raises OSError.
    """
    facts = _facts(_parse_metadata(marker.read_text(encoding="utf-8", errors="replace")))
    try:
        prompts = [(int(frame), str(text)) for frame, text in facts["prompts"]]  # type: ignore[attr-defined]
        fps, frames = float(facts["captions"]["fps"]), facts["captions"]["frames"]  # type: ignore[index]
    except (KeyError, TypeError, ValueError):
        return ""  # none are wanted, or the marker was torn
    begins = [frame / fps for frame, _ in prompts]
    end = frames / fps if isinstance(frames, int) else begins[-1] + _LAST_CAPTION_SECONDS
    blocks = []
    for number, ((_, text), begin, until) in enumerate(zip(prompts, begins, [*begins[1:], end], strict=True), 1):
        if until > begin:
            words = " ".join(text.split()).translate(_NO_MARKUP)
            blocks.append(f"{number}\n{_srt_time(begin)} --> {_srt_time(until)}\n{words}\n")
    return "\n".join(blocks)


def _srt_time(seconds: float) -> str:
    whole, thousandths = divmod(round(seconds * 1000), 1000)
    return f"{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d},{thousandths:03d}"


def put_journal_away(video: Path, *, kept: bool) -> None:
    """``kept``: the film carries the walk, and its journal goes. Else the journal becomes a session file beside it."""
    journal, beside = journal_path(video), video.with_name(video.stem + session_box.SUFFIX)
    with contextlib.suppress(OSError):
        if kept or not video.exists() or beside.exists():
            journal.unlink(missing_ok=True)
        elif journal.exists():
            journal.rename(beside)


def metadata_text(tags: Mapping[str, str]) -> str:
    """Tags in ffmpeg's metadata format."""
    lines = [";FFMETADATA1"]
    for key, value in tags.items():
        lines.append(f"{_escaped(key)}={_escaped(value)}")
    return "\n".join(lines) + "\n"


def read_metadata(video: Path) -> dict[str, str]:
    """The tags of a video file; those that Worldwalk wrote are ``title``, ``comment`` and ``worldwalk`` (JSON).

    Raises FileProblem.
    """
    if not video.is_file():
        raise FileProblem(video, "there is no such file", "Check the name.")
    with start_ffmpeg([find_ffmpeg(), *_QUIET, "-i", url(video), "-f", "ffmetadata", "pipe:1"]) as process:
        text, said = process.communicate()
    if process.returncode != 0:
        raise FileProblem(video, f"it cannot be read as a video ({said_reason(said)})", "Choose an MP4 file.")
    return _parse_metadata(text.decode("utf-8", errors="replace"))


def read_walk(video: Path) -> dict[str, object]:
    """What Worldwalk wrote into a recording: scene, seed, model, prompts. Empty where it wrote nothing."""
    return _facts(read_metadata(video))


def _facts(tags: Mapping[str, str]) -> dict[str, object]:
    try:
        facts = json.loads(tags.get("worldwalk", "{}"))
    except json.JSONDecodeError:
        return {}
    return facts if isinstance(facts, dict) else {}


def said_reason(said: bytes) -> str:
    """The reason in ffmpeg's last words: the system's, where it names one, else its last line; may be empty."""
    text = said.decode("utf-8", errors="replace")
    for code in (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.ENOENT, errno.EIO):
        if os.strerror(code) in text:
            return os.strerror(code).lower()
    lines = text.strip().splitlines()
    return lines[-1].rpartition("] ")[2].strip().rstrip(".") if lines else ""


def url(path: Path) -> str:
    """With ``file:`` in front, so that a name with a colon or a leading dash is not taken for something else."""
    return f"file:{path.absolute()}"


def _escaped(text: str) -> str:
    for special in ("\\", "=", ";", "#", "\n"):
        text = text.replace(special, "\\" + special)
    return text.replace("\0", "").replace("\r", "")


def _parse_metadata(text: str) -> dict[str, str]:
    """The global section only; a backslash takes the next character as it is, line ends included."""
    tags: dict[str, str] = {}
    key: str | None = None
    word, characters = "", iter(text.replace("\r\n", "\n") + "\n")
    for character in characters:
        if character == "\\":
            word += next(characters, "")
        elif character == "=" and key is None:
            key, word = word, ""
        elif character == "\n":
            if key is None and word.startswith("["):
                break
            if key is not None:
                tags[key] = word
            key, word = None, ""
        else:
            word += character
    return tags
