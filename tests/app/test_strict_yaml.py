import math
import random

import pytest

from app.strict_yaml import MAX_BYTES, load, load_file
from engine.errors import BadValue, FileProblem


def value(text):
    return load(text, "f.yaml").value


def problem(text) -> BadValue:
    with pytest.raises(BadValue) as caught:
        load(text, "f.yaml")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400
    return caught.value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("# only a comment\n", None),
        ("12", 12),
        ("-0", 0),
        ("+3", 3),
        ("0x1F", 31),
        ("1e-3", 0.001),
        ("-1.5", -1.5),
        (".5", 0.5),
        ("3.", 3.0),
        ("-.inf", -math.inf),
        ("9" * 100, int("9" * 100)),
        ("snow", "snow"),
        ("2026-01-02", "2026-01-02"),
        ("12:30:45", "12:30:45"),
        ("1_000", "1_000"),
        ('"no"', "no"),
        ("'12'", "12"),
        ("|\n two\n lines\n", "two\nlines\n"),
        ("no wind", "no wind"),
        ("雪", "雪"),
        ("\ufeffa: 1", {"a": 1}),
        ("a: 1\r\nb: [1, {c: d}]\r\n", {"a": 1, "b": [1, {"c": "d"}]}),
        ("---\na: 1\n", {"a": 1}),
        ("a:\nb: ''", {"a": None, "b": ""}),
        ("<<: 1", {"<<": 1}),
    ],
)
def test_plain_values_are_read_as_people_read_them(text, expected):
    found = value(text)
    assert found == expected
    assert type(found) is type(expected)


def test_not_a_number_and_numbers_too_long_are_left_to_who_uses_them():
    assert math.isnan(value(".nan"))
    assert value("9" * 5000) == math.inf


def test_each_value_knows_its_line():
    document = load("# head\napp:\n  size:\n    - 1\n    - 2\nlook: {yaw: 3,\n  pitch: 4}\n", "walk.yaml")
    places = {(): 2, ("app",): 2, ("app", "size"): 3, ("app", "size", 1): 5, ("look", "pitch"): 7, ("look", "roll"): 6}
    assert {path: document.where(path) for path in places} == {
        path: f"walk.yaml:{line}" for path, line in places.items()
    }
    assert load("", "e.yaml").where(("a", 0)) == "e.yaml:1"


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("a:\n\tb: 1", 2, "tab"),
        ("a:\n  \tb: 1", 2, "tab"),
        ("a: 1\nb: 2\na: 3", 3, "first in line 1"),
        ("x:\n  a: 1\n  a: 1", 3, "'a' again"),
        ("{a: 1, a: 2}", 1, "each key once"),
        ("a: &x 1\nb: *x", 1, "anchor &x"),
        ("a: *x", 1, "alias *x"),
        ("a: [1]\n*x : 2", 2, "alias"),
        ("a: !!python/object/apply:os.system ['echo']", 1, "tag"),
        ("a: !!str 1", 1, "tag"),
        ("a: ! b", 1, "tag"),
        ("1: a", 1, "the whole number 1 as a key"),
        ("true: a", 1, "true as a key"),
        ("null: a", 1, "null as a key"),
        ("? [a, b]\n: c", 1, "a list or map as a key"),
        ("a: 1\n---\nb: 2", 2, "second document"),
        ("a: 010", 1, "leading zeros"),
        ("a: [1, 2\nb: 3", 2, "YAML"),
        ("a: 'open", 1, "quot"),
        ("a: b: c", 1, "YAML"),
        ("a: 1\n b: 2", 2, "YAML"),
        ("a: 1\nb: \x01", 2, "not text"),
        ("a: \ud800", 1, "not text"),
        ("a: @b", 1, "cannot start"),
        ("[" * 50 + "]" * 50, 1, "nested"),
        ("[" * 400_000, 1, "nested"),
        ("{a: " * 30, 1, "nested"),
        ("%YAML 7.7\n---\na: 1", 1, "YAML"),
        *[(f"a: 1\nb: {word}", 2, word) for word in ("no", "No", "NO", "on", "off", "Yes", "y", "N")],
        ("a: [w, off]", 1, "quotes"),
        ("no: 3", 1, "quotes"),
    ],
)
def test_a_trap_is_refused_with_its_line(text, line, says):
    error = problem(text)
    assert error.where == f"f.yaml:{line}"
    assert says in str(error)


def test_an_escape_that_is_no_character_is_refused():
    assert "escape" in str(problem('a: "\\UFFFFFFFF"'))


def test_a_document_of_a_megabyte_and_more_is_refused_at_once():
    assert "bytes" in str(problem("a: " + "x" * MAX_BYTES))
    assert "bytes" in str(problem("é" * (MAX_BYTES // 2 + 1)))


def test_any_damage_to_a_document_gives_a_value_or_one_sentence():
    generator = random.Random(3)
    whole = 'app:\n  size: [1280, 720]\n  name: "wide"\nsteps:\n- {hold: [w, l], chunks: 8}\n- prompt: |\n    snow\n'
    for _ in range(1500):
        text = list(whole)
        for _ in range(generator.randint(1, 4)):
            place = generator.randrange(len(text))
            text[place : place + generator.randint(0, 3)] = generator.choice(
                list("\t\n -:[]{}&*!|>'\"%@`#,?\\\x00\ud800é")
            )
        try:
            load("".join(text), "f.yaml")
        except BadValue as error:
            assert "\n" not in str(error), error  # noqa: PT017 - most of the damaged texts are fine


def test_a_file_is_read(tmp_path):
    path = tmp_path / "ein Gang ü.yaml"
    path.write_bytes("a: ü\r\n".encode())
    document = load_file(path)
    assert document.value == {"a": "ü"}
    assert document.where(("a",)) == f"{path}:1"


def test_a_file_that_cannot_be_read_is_told_in_a_sentence(tmp_path):
    with pytest.raises(FileProblem, match="no such file"):
        load_file(tmp_path / "none.yaml")
    with pytest.raises(FileProblem, match=r"folder|cannot be read"):
        load_file(tmp_path)
    path = tmp_path / "f.yaml"
    path.write_bytes(b"a: 1\nb: \xff\xfe\n")
    with pytest.raises(BadValue, match=r"f\.yaml:2.*UTF-8"):
        load_file(path)
    path.write_bytes(("é" * MAX_BYTES).encode())
    with pytest.raises(BadValue, match="bytes"):
        load_file(path)
