"""The system's own file dialog, as a program beside the window: the window goes on, whatever becomes of the dialog.

Which one: zenity or kdialog, as the desktop has it; Tk's, which is the native one on Windows, from our own Python;
PowerShell's where Python came without Tk; AppleScript's on macOS.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from app.path_listing import SUFFIXES
from app.side_program import Answer

MOST_BYTES = 16 * 1024
CANCELLED = 1
"""The exit code of all of them when nothing was chosen."""
_TITLE, _FOLDER = "WORLDWALK_DIALOG_TITLE", "WORLDWALK_DIALOG_FOLDER"
_PATTERNS = " ".join(f"*{suffix}" for suffix in SUFFIXES)
_ANY_CASE = " ".join(f"*{suffix} *{suffix.upper()}" for suffix in SUFFIXES)

_TK = """
import sys, tkinter
from tkinter import filedialog
title, folder, patterns = sys.argv[1:4]
root = tkinter.Tk()
root.withdraw()
try:
    root.attributes("-topmost", True)
except tkinter.TclError:
    pass
kinds = [("Pictures", tuple(patterns.split())), ("*", "*")]
path = filedialog.askopenfilename(parent=root, title=title, initialdir=folder, filetypes=kinds)
if not path:
    sys.exit(1)
sys.stdout.buffer.write(path.encode("utf-8", "surrogateescape"))
"""

_POWERSHELL = f"""
[Console]::OutputEncoding = New-Object System.Text.UTF8Encoding $false
Add-Type -AssemblyName System.Windows.Forms
$dialog = New-Object System.Windows.Forms.OpenFileDialog
$dialog.Title = $env:{_TITLE}
$dialog.InitialDirectory = $env:{_FOLDER}
$dialog.Filter = 'Pictures|{_PATTERNS.replace(" ", ";")}|*|*.*'
if ($dialog.ShowDialog() -ne 'OK') {{ exit 1 }}
[Console]::Out.Write($dialog.FileName)
"""

_APPLESCRIPT = """
on run argv
    set there to POSIX file (item 2 of argv)
    POSIX path of (choose file with prompt (item 1 of argv) of type {"public.image"} default location there)
end run
"""

Which = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class Machine:
    """What decides about the dialog. ``python``: our own, where it has Tk; else None."""

    platform: str
    environ: Mapping[str, str]
    which: Which
    python: str | None


@dataclass(frozen=True, slots=True)
class Opening:
    """A program with its arguments and what its environment has besides ours."""

    arguments: tuple[str, ...]
    environ: Mapping[str, str]


def opening(machine: Machine, title: str, folder: str) -> Opening | None:
    """How to open the dialog of this system, at first in ``folder``; None where there is none.

    Title and folder are handed over as arguments or in the environment, and never become part of a script.
    """
    folder = folder if folder.endswith(os.sep) else folder + os.sep
    tk = None if machine.python is None else Opening((machine.python, "-I", "-c", _TK, title, folder, _ANY_CASE), {})
    if machine.platform == "win32":
        shell = machine.which("powershell") or machine.which("pwsh")
        script = ("-NoProfile", "-NonInteractive", "-STA", "-Command", _POWERSHELL)
        return tk or (None if shell is None else Opening((shell, *script), {_TITLE: title, _FOLDER: folder}))
    if machine.platform == "darwin":
        apple = machine.which("osascript")
        return tk if apple is None else Opening((apple, "-e", _APPLESCRIPT, title, folder), {})
    names = ("zenity", "kdialog")
    for name in reversed(names) if "KDE" in machine.environ.get("XDG_CURRENT_DESKTOP", "").upper() else names:
        program = machine.which(name)
        if program is not None:
            asked: tuple[str, ...] = _ZENITY if name == "zenity" else _KDIALOG
            return Opening((program, *(part.format(title=title, folder=folder) for part in asked)), {})
    return tk


_ZENITY: tuple[str, ...] = (
    "--file-selection",
    "--title={title}",
    "--filename={folder}",
    f"--file-filter=Pictures | {_ANY_CASE}",
)
_ZENITY += ("--file-filter=* | *",)
_KDIALOG = ("--title", "{title}", "--getopenfilename", "{folder}", f"Pictures ({_ANY_CASE})")


def chosen(answer: Answer) -> str | None:
    """The path that was chosen; empty where the user cancelled, None where the answer is none that can be used."""
    if answer.code == CANCELLED:
        return ""
    if answer.code != 0 or answer.output is None:
        return None
    path = os.fsdecode(answer.output.removesuffix(b"\n").removesuffix(b"\r"))
    return path if os.path.isabs(path) and "\0" not in path else None
