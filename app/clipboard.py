"""What the system's clipboard holds besides text, which is all that pygame reads of it (2.6, SDL 2).

Pictures and lists of files come from the desktop's own small programs: wl-paste on Wayland, xclip on X11, osascript on
macOS; on Windows Pillow reads them. Slow ones are ended, so all this belongs on a thread of its own.
"""

from __future__ import annotations

import binascii
import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from PIL import Image, ImageGrab

from app.pasted_path import path_in
from app.side_program import Answer, SideProgram

MOST_PICTURE_BYTES = 128 * 1024 * 1024
MOST_TEXT_BYTES = 64 * 1024
SECONDS = 5.0
SUFFIXES: Mapping[str, str] = {
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "image/webp": ".webp",
    "image/bmp": ".bmp",
    "image/tiff": ".tif",
    "image/gif": ".gif",
}
"""Kinds of pictures that are taken, the best one first, and how files of them end."""
FILES = "text/uri-list"
TEXTS = ("text/plain;charset=utf-8", "UTF8_STRING", "text/plain", "STRING")
_MAC_FILE = "POSIX path of (the clipboard as «class furl»)"
_MAC_PICTURE = "get the clipboard as «class PNGf»"
_MAC_HEX = re.compile(rb"\s*\xc2\xabdata PNGf([0-9A-Fa-f]+)\xc2\xbb\s*\Z")

Which = Callable[[str], str | None]
Ask = Callable[[Sequence[str], int], Answer | None]
"""Runs a program with a limit to its answer's bytes; None where it did not answer."""


@dataclass(frozen=True, slots=True)
class Copied:
    """``path``: that of a file; else ``picture`` is one's bytes, and ``suffix`` how a file of it ends.

    ``is_readable`` is false where the system lacks the program that would read pictures. ``text``: other text.
    """

    path: str | None = None
    picture: bytes | None = None
    suffix: str = ""
    text: str = ""
    is_readable: bool = True


def reads_text(platform: str, environ: Mapping[str, str], which: Which) -> bool:
    """Whether ``look`` finds text too, and must be given none.

    On X11 SDL waits in vain for the owner of a picture that is asked for text and sends its picture piece by piece.
    """
    return platform not in ("win32", "darwin") and _programs(environ, which) is not None


def look(text: str, platform: str, environ: Mapping[str, str], which: Which, ask: Ask) -> Copied:
    """What is there, a file before a picture, a picture before text; ``text`` is what pygame read of it."""
    match platform:
        case "win32":
            found = _on_windows()
        case "darwin":
            found = _on_a_mac(ask)
        case _:
            found = _on_a_desktop(environ, which, ask)
    if found.path is not None or found.picture is not None:
        return found
    text = text or found.text
    path = path_in(text)
    return Copied(path, text="" if path is not None else text, is_readable=found.is_readable)


def run(environ: Mapping[str, str]) -> Ask:
    """Asks real programs."""

    def ask(arguments: Sequence[str], most_bytes: int) -> Answer | None:
        try:
            return SideProgram(arguments, environ, most_bytes).wait(SECONDS)
        except OSError:
            return None

    return ask


def _on_a_desktop(environ: Mapping[str, str], which: Which, ask: Ask) -> Copied:
    """Of Linux and its kin."""
    programs = _programs(environ, which)
    if programs is None:
        return Copied(is_readable=False)
    listing, reading = programs
    types = (_output(ask, listing, MOST_TEXT_BYTES) or b"").decode("utf-8", "replace").split()
    if FILES in types:
        path = path_in((_output(ask, [*reading, FILES], MOST_TEXT_BYTES) or b"").decode("utf-8", "replace"))
        if path is not None:
            return Copied(path)
    for kind, suffix in SUFFIXES.items():
        if kind in types:
            picture = _output(ask, [*reading, kind], MOST_PICTURE_BYTES)
            if picture:
                return Copied(None, picture, suffix)
    text_kind = next((kind for kind in TEXTS if kind in types), None)
    text = b"" if text_kind is None else _output(ask, [*reading, text_kind], MOST_TEXT_BYTES) or b""
    return Copied(text=text.decode("utf-8", "replace").rstrip("\0"))


def _programs(environ: Mapping[str, str], which: Which) -> tuple[list[str], list[str]] | None:
    """(what lists the kinds, what reads the kind that is added); Wayland's first where there is Wayland."""
    wayland, x11 = which("wl-paste"), which("xclip")
    if environ.get("WAYLAND_DISPLAY") and wayland is not None:
        return [wayland, "--list-types"], [wayland, "--no-newline", "--type"]
    if x11 is None:
        return None
    reading = [x11, "-selection", "clipboard", "-out", "-target"]
    return [*reading, "TARGETS"], reading


def _on_a_mac(ask: Ask) -> Copied:
    """A file first: with it Finder copies the picture of its icon."""
    path = path_in((_output(ask, ["osascript", "-e", _MAC_FILE], MOST_TEXT_BYTES) or b"").decode("utf-8", "replace"))
    if path is not None:
        return Copied(path)
    told = _MAC_HEX.match(_output(ask, ["osascript", "-e", _MAC_PICTURE], 2 * MOST_PICTURE_BYTES) or b"")
    if told is None or len(told[1]) % 2:
        return Copied()
    return Copied(None, binascii.unhexlify(told[1]), ".png")


def _on_windows() -> Copied:
    try:
        found = ImageGrab.grabclipboard()
    except (OSError, ValueError, SyntaxError):  # another program holds the clipboard, or its picture is damaged
        return Copied()
    if isinstance(found, list):
        return Copied(found[0]) if found else Copied()
    return Copied() if found is None else Copied(None, _as_png(found), ".png")


def _as_png(picture: Image.Image) -> bytes:
    file = io.BytesIO()
    picture.save(file, "PNG")
    return file.getvalue()


def _output(ask: Ask, arguments: Sequence[str], most_bytes: int) -> bytes | None:
    answer = ask(arguments, most_bytes)
    return answer.output if answer is not None and answer.code == 0 else None
