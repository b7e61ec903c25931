from __future__ import annotations

from pathlib import Path

import pytest

from app.pasted_path import path_in, plain_path


@pytest.mark.parametrize(
    ("text", "path"),
    [
        *(('"a b.png"', "a b.png"), ("file:///home/a%20b.png", "/home/a b.png"), ("  'x.jpg' ", "x.jpg"), ("", ".")),
        ("file://localhost/a.png", "/a.png"),
        ("file:///C:/pictures/a.png", "C:/pictures/a.png"),
        ("file://elsewhere/a.png", "//elsewhere/a.png"),
    ],
)
def test_a_path_is_read_as_people_paste_it(text: str, path: str) -> None:
    assert plain_path(text) == Path(path)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("/pictures/a.png", "/pictures/a.png"),
        ("  '~/a b.png'\n", "'~/a b.png'"),
        ("C:\\pictures\\a.png", "C:\\pictures\\a.png"),
        ('"D:/a.png"', '"D:/a.png"'),
        ("# comment\r\nfile:///a%20b.png\r\nfile:///c.png\r\n", "file:///a%20b.png"),
        ("copy\nfile:///a.png\0", "file:///a.png"),
        ("copy\n/a.png", "/a.png"),
    ],
)
def test_a_path_or_a_list_of_files_is_found_in_a_clipboards_text(text: str, path: str) -> None:
    assert path_in(text) == path


@pytest.mark.parametrize("text", ["", "a meadow at dusk", "/a\n/b", "http://a/b.png", "/" + "x" * 5000, "C:a", "\0\0"])
def test_other_text_is_no_path(text: str) -> None:
    assert path_in(text) is None
