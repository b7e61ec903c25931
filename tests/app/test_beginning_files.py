"""Dialogs, folders and pasted pictures, with real files and real small programs."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from app import file_dialog, path_listing
from app.beginning_files import BeginningFiles, BeginningParts, keep
from app.beginnings import (
    ClipboardHeld,
    ClipboardRefused,
    DialogEnded,
    Held,
    ListPaths,
    LookInClipboard,
    MakeFromWords,
    OpenDialog,
    PathsListed,
    WordsMade,
)
from app.choices import own_scenes, somewhere
from app.clipboard import Copied
from app.file_dialog import Machine
from app.messages import Message
from app.remembered import OwnWords, Remembered
from app.side_program import Answer, SideProgram

SEPARATOR = os.sep


def desk(folder: Path, *, which: Callable[[str], str | None] = lambda name: None, text: str = "") -> BeginningFiles:
    machine = Machine("linux", {"PATH": os.environ.get("PATH", "")}, which, None)
    parts = BeginningParts(folder / "pasted", somewhere, machine, lambda: folder)
    return BeginningFiles(parts, lambda: text, lambda: 5.0)


def answer(files: BeginningFiles, seconds: float = 20.0) -> Message:
    """What is told next."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        message = files.poll()
        if message is not None:
            files.close()
            return message
        time.sleep(0.01)
    raise AssertionError("nothing was told")


def program(folder: Path, code: str) -> Callable[[str], str | None]:
    """Stands for every program: a script that runs ``code`` with its arguments in sys.argv."""
    path = folder / "program"
    path.write_text(f"#!{sys.executable} -S\nimport sys\n{code}\n")
    path.chmod(0o755)
    return lambda name: str(path)


needs_scripts = pytest.mark.skipif(sys.platform == "win32", reason="scripts are no programs there")

# ---- folders -----------------------------------------------------------------------------------------------------


def test_folders_and_pictures_are_listed_that_begin_as_typed(tmp_path: Path) -> None:
    for name in ("Lake.PNG", "land.jpg", "list.txt", ".hidden.png", "beach.webp"):
        (tmp_path / name).touch()
    (tmp_path / "Lagoons").mkdir()
    here = str(tmp_path) + SEPARATOR
    found = path_listing.listed(here + "la", tmp_path, dialog=True)
    assert found == PathsListed(here + "la", here, ("Lagoons",), ("Lake.PNG", "land.jpg"), dialog=True)
    assert path_listing.listed("", tmp_path, dialog=False).files == ("beach.webp", "Lake.PNG", "land.jpg")
    assert path_listing.listed(here + ".h", tmp_path, dialog=True).files == (".hidden.png",)
    assert path_listing.listed(f"'{here}la", tmp_path, dialog=True).folders == ("Lagoons",)


def test_a_folder_that_is_not_there_is_empty(tmp_path: Path) -> None:
    found = path_listing.listed(str(tmp_path / "gone" / "a"), tmp_path, dialog=True)
    assert (found.folders, found.files) == ((), ())
    assert path_listing.folder_of(str(tmp_path / "gone" / "a"), tmp_path) == str(tmp_path) + SEPARATOR
    assert path_listing.listed("\0", tmp_path, dialog=True).files == ()


def test_the_list_comes_from_a_thread_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "a.png").touch()
    files = desk(tmp_path)
    files.perform(ListPaths(""))
    assert answer(files) == PathsListed("", str(tmp_path) + SEPARATOR, (), ("a.png",), dialog=False)


# ---- the dialog --------------------------------------------------------------------------------------------------


@needs_scripts
def test_what_is_chosen_in_a_dialog_comes_back_whatever_its_name(tmp_path: Path) -> None:
    files = desk(tmp_path, which=program(tmp_path, r"sys.stdout.write('/pictures/a\u0020\u96ea.png\n')"))
    files.perform(OpenDialog("title; rm -rf", ""))
    assert answer(files) == DialogEnded("/pictures/a 雪.png", 5.0)


@needs_scripts
@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("sys.exit(1)", None),
        ("sys.exit(5)", "told.dialog_failed"),
        ("print('relative.png')", "told.dialog_failed"),
        ("sys.stdout.write('/' + 'x' * 20000)", "told.dialog_failed"),
        ("pass", "told.dialog_failed"),
    ],
)
def test_a_dialog_that_gives_nothing_usable_gives_nothing(tmp_path: Path, code: str, why: str | None) -> None:
    files = desk(tmp_path, which=program(tmp_path, code))
    files.perform(OpenDialog("t", ""))
    assert answer(files) == DialogEnded(None, 5.0, why)


def test_where_no_dialog_is_found_that_is_told(tmp_path: Path) -> None:
    files = desk(tmp_path)
    files.perform(OpenDialog("t", ""))
    assert answer(files) == DialogEnded(None, 5.0, "told.no_dialog")


@needs_scripts
def test_an_open_dialog_ends_with_the_window(tmp_path: Path) -> None:
    started = SideProgram([sys.executable, "-S", "-c", "import time; time.sleep(60)"], os.environ, 10)
    assert started.poll() is None
    started.close()
    slow = SideProgram([sys.executable, "-S", "-c", "import time; time.sleep(60)"], os.environ, 10)
    assert slow.wait(0.05) is None


@pytest.mark.parametrize(
    ("platform", "desktop", "there", "first"),
    [
        ("linux", "GNOME", ("zenity", "kdialog"), "zenity"),
        ("linux", "KDE", ("zenity", "kdialog"), "kdialog"),
        ("linux", "KDE", ("zenity",), "zenity"),
        ("linux", "", (), "python"),
        ("win32", "", ("powershell",), "python"),
        ("darwin", "", ("osascript",), "osascript"),
    ],
)
def test_each_desktop_opens_its_own_dialog(platform: str, desktop: str, there: tuple[str, ...], first: str) -> None:
    machine = Machine(platform, {"XDG_CURRENT_DESKTOP": desktop}, {name: name for name in there}.get, "python")
    opening = file_dialog.opening(machine, "$(title)", "/a b")
    assert opening is not None
    assert opening.arguments[0] == first
    assert any("/a b" in argument for argument in opening.arguments[1:])


def test_title_and_folder_never_become_part_of_a_script() -> None:
    machine = Machine("win32", {}, {"powershell": "powershell"}.get, None)
    opening = file_dialog.opening(machine, "'; evil", "C:\\evil'")
    assert opening is not None
    assert not any("evil" in argument for argument in opening.arguments)
    assert [value for value in opening.environ.values() if "evil" in value]
    assert file_dialog.opening(Machine("win32", {}, lambda name: None, None), "t", "/") is None


def test_a_line_end_belongs_to_the_answer_and_not_to_the_name() -> None:
    assert file_dialog.chosen(Answer(0, b"/a\n")) == "/a"
    assert file_dialog.chosen(Answer(0, b"/a\nb.png\n")) == "/a\nb.png"
    assert file_dialog.chosen(Answer(1, b"")) == ""


# ---- clipboard and words -----------------------------------------------------------------------------------------


def test_a_pasted_picture_is_kept_once_and_unwanted_ones_go(tmp_path: Path) -> None:
    first = keep(tmp_path / "new", Copied(None, b"one", ".png"), ())
    assert keep(tmp_path / "new", Copied(None, b"one", ".png"), ()) == first
    mine = tmp_path / "new" / "holiday.png"
    mine.touch()
    second = keep(tmp_path / "new", Copied(None, b"two", ".jpg"), (str(first),))
    third = keep(tmp_path / "new", Copied(None, b"three", ".png"), (str(second),))
    assert sorted(tmp_path.glob("new/*")) == sorted((mine, second, third))
    assert third.read_bytes() == b"three"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("/a.png", ClipboardHeld(Held.PICTURE, "/a.png", 5.0)),
        ("a meadow", ClipboardHeld(Held.TEXT, "a meadow", 5.0)),
        ("", ClipboardRefused("told.clipboard_program", 5.0)),
    ],
)
def test_what_the_clipboard_holds_is_told(tmp_path: Path, text: str, told: Message) -> None:
    files = desk(tmp_path, text=text)
    files.perform(LookInClipboard())
    assert answer(files) == told


def test_words_get_a_place_of_the_map_and_come_back_as_the_same_world(tmp_path: Path) -> None:
    files = desk(tmp_path)
    files.perform(MakeFromWords("a snowy forest"))
    made = answer(files)
    assert isinstance(made, WordsMade)
    assert (made.scene.prompt, made.scene.image, made.scene.map_seed) == ("a snowy forest", None, made.own.map_seed)
    assert own_scenes(Remembered(words=(made.own,)), (192, 112)) == [made.scene]
    assert len({somewhere("x")[0].map_seed for _ in range(20)}) > 15
    assert len(OwnWords("very " * 30, 1).name) <= 48
