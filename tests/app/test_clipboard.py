"""What is taken out of a clipboard: programs are stood in for by a table of their answers."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from PIL import Image

from app.clipboard import Ask, Copied, look, reads_text
from app.side_program import Answer

X11: Mapping[str, str] = {"DISPLAY": ":0"}
WAYLAND: Mapping[str, str] = {"DISPLAY": ":0", "WAYLAND_DISPLAY": "wayland-0"}


def png() -> bytes:
    file = io.BytesIO()
    Image.fromarray(np.zeros((2, 3, 3), np.uint8)).save(file, "PNG")
    return file.getvalue()


def answers(by_last_word: Mapping[str, bytes]) -> Ask:
    def ask(arguments: Sequence[str], most_bytes: int) -> Answer | None:
        found = by_last_word.get(arguments[-1])
        return Answer(1, b"") if found is None else Answer(0, found if len(found) <= most_bytes else None)

    return ask


def has(*programs: str) -> Mapping[str, str]:
    return {program: f"/bin/{program}" for program in programs}


@pytest.mark.parametrize(
    ("environ", "program", "listing"), [(X11, "xclip", "TARGETS"), (WAYLAND, "wl-paste", "--list-types")]
)
def test_a_picture_is_taken_in_the_best_kind_there_is(environ: Mapping[str, str], program: str, listing: str) -> None:
    ask = answers({listing: b"TARGETS\nimage/jpeg\nimage/png\ntext/html\n", "image/png": png(), "image/jpeg": b"x"})
    assert look("", "linux", environ, has(program).get, ask) == Copied(None, png(), ".png")


def test_a_file_is_taken_before_the_picture_that_comes_with_it() -> None:
    found = {"TARGETS": b"text/uri-list\nimage/png\n", "text/uri-list": b"file:///a.png\r\n", "image/png": png()}
    assert look("", "linux", X11, has("xclip").get, answers(found)) == Copied("file:///a.png")
    web = {**found, "text/uri-list": b"https://a/b.png"}
    assert look("", "linux", X11, has("xclip").get, answers(web)).picture == png()


def test_without_a_program_text_is_still_a_path_and_the_lack_is_known() -> None:
    assert look("/a.png", "linux", X11, has().get, answers({})) == Copied("/a.png", is_readable=False)
    assert look("a meadow", "linux", X11, has().get, answers({})) == Copied(text="a meadow", is_readable=False)


def test_where_a_program_reads_the_clipboard_it_reads_text_too() -> None:
    """SDL, asked for text, hung on X11 until the owner of a picture had sent all of it."""
    assert reads_text("linux", X11, has("xclip").get)
    assert not reads_text("linux", X11, has("wl-paste").get)
    assert not reads_text("darwin", {}, has("xclip").get)
    ask = answers({"TARGETS": b"UTF8_STRING\ntext/html\n", "UTF8_STRING": "雪\n".encode()})
    assert look("", "linux", X11, has("xclip").get, ask) == Copied(text="雪\n")
    ask = answers({"TARGETS": b"STRING\n", "STRING": b"~/a.png\n"})
    assert look("", "linux", X11, has("xclip").get, ask) == Copied("~/a.png")


def test_a_program_that_does_not_answer_or_says_too_much_gives_nothing() -> None:
    def silent(arguments: Sequence[str], most_bytes: int) -> Answer | None:
        return None

    assert look("", "linux", X11, has("xclip").get, silent) == Copied()
    huge = answers({"TARGETS": b"image/png " * 10_000})
    assert look("", "linux", X11, has("xclip").get, huge) == Copied()


def test_a_macs_picture_is_read_from_its_hexadecimal_and_a_file_comes_first() -> None:
    picture = "get the clipboard as «class PNGf»"
    told = "«data PNGf".encode() + png().hex().upper().encode() + "»\n".encode()
    assert look("", "darwin", {}, has().get, answers({picture: told})) == Copied(None, png(), ".png")
    assert look("", "darwin", {}, has().get, answers({picture: "«data PNGf8".encode()})) == Copied()
    file = "POSIX path of (the clipboard as «class furl»)"
    assert look("", "darwin", {}, has().get, answers({picture: told, file: b"/a.png\n"})) == Copied("/a.png")
