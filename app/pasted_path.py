"""Paths of files as they are pasted, dropped and typed. Pure, but for the home folder's name."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

MOST_CHARACTERS = 4096
_ADDRESS = "file://"
_BEGINNINGS = ("/", "~/", "./", "../", "\\\\", _ADDRESS)
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")


def plain_path(text: str) -> Path:
    """A path as people paste it: with quotes around it, as a file:// address, with ~ for the home folder."""
    text = text.strip().strip("\"'").strip()
    if text.startswith(_ADDRESS):
        text = _of_address(text)
    return Path(text).expanduser() if text else Path()


def path_in(text: str) -> str | None:
    """The path that a clipboard's text is, or the first of a list of files; None for any other text."""
    lines = [line.strip() for line in text.strip("\0").splitlines() if line.strip()]
    if lines and lines[0] in ("copy", "cut"):  # how file managers of the GNOME family begin such a list
        del lines[0]
    addresses = [line for line in lines if line.startswith(_ADDRESS)]
    if addresses and len(addresses[0]) <= MOST_CHARACTERS:
        return addresses[0]
    if len(lines) != 1 or len(lines[0]) > MOST_CHARACTERS:
        return None
    bare = lines[0].strip("\"'")
    return lines[0] if bare.startswith(_BEGINNINGS) or _DRIVE.match(bare) else None


def _of_address(address: str) -> str:
    """The path of a file:// address; one on another computer keeps that computer's name, so that it is not found."""
    parts = urlsplit(address)
    path = unquote(parts.path)
    if parts.netloc not in ("", "localhost"):
        return f"//{parts.netloc}{path}"
    return path[1:] if _DRIVE.match(path[1:]) else path
