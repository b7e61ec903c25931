"""The words of the command line: what they mean, and one sentence for what means nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.command_line import COMMANDS, Options, parse
from engine.errors import BadValue


def test_without_a_command_it_plays() -> None:
    assert parse([]) == Options("play")
    assert parse(["--seed", "5"]) == Options("play", seed=5)


def test_play_takes_what_the_help_says() -> None:
    words = "--scene lagoon --prompt snow --backend test_card --model m --record a.mp4 --fullscreen --size 800x600"
    options = parse([*words.split(), "--settings", "s.yaml", "--set", "app.seed=1", "--set", "engine.steps=2"])
    assert options == Options(
        "play",
        scene="lagoon",
        prompt="snow",
        backend="test_card",
        model="m",
        record=Path("a.mp4"),
        fullscreen=True,
        size=(800, 600),
        settings=Path("s.yaml"),
        sets=("app.seed=1", "engine.steps=2"),
    )


def test_render_and_replay_name_their_files() -> None:
    words = "render --script w.yaml --out w.mp4 --frames d --report r.json --chunks 3 --overwrite"
    rendered = parse(words.split())
    assert (rendered.script, rendered.out, rendered.frames) == (Path("w.yaml"), Path("w.mp4"), Path("d"))
    assert (rendered.report, rendered.chunks, rendered.overwrite) == (Path("r.json"), 3, True)
    replayed = parse(["replay", "w.worldwalk.jsonl", "--any-model"])
    assert (replayed.file, replayed.any_model) == (Path("w.worldwalk.jsonl"), True)


def test_train_and_evaluate_pass_their_words_on() -> None:
    assert parse(["train", "dit", "--minutes", "3"]) == Options("train", ("dit", "--minutes", "3"))
    assert parse(["evaluate", "--help"]) == Options("evaluate", ("--help",))


@pytest.mark.parametrize(
    "words",
    [
        "plaay",
        "--sed 5",
        "render",
        "render --script",
        "--scene a --image b",
        "bench",
        "bench e3e",
        "--backend llama",
        "models extra",
    ],
)
def test_what_is_no_option_is_one_sentence_and_code_2(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        parse(words.split())
    said = capsys.readouterr().err
    assert caught.value.code == 2
    assert said.count("\n") == 1
    assert "--help" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--seed x", "--seed: got the text 'x', expected a whole number from 0 to 4294967295"),
        ("--seed -1", "--seed: got the whole number -1"),
        ("--seed 99999999999999999999", "--seed: got the text '99999999999999999999'"),
        ("--size 800", "--size: got the text '800', expected WIDTHxHEIGHT"),
        ("--size 10x10", "--size .width.: got the whole number 10"),
        ("render --script w --chunks 0", "--chunks: got the whole number 0, expected a whole number from 1 to 100000"),
        ("bench window --seconds nan", "--seconds: got the number nan"),
    ],
)
def test_a_bad_number_names_its_option(words: str, said: str) -> None:
    with pytest.raises(BadValue, match=said):
        parse(words.split())


@pytest.mark.parametrize("command", [command for command in COMMANDS if command not in ("train", "evaluate")])
def test_every_command_explains_itself(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        parse([command, "--help"])
    assert caught.value.code == 0
    assert "usage: python main.py" in capsys.readouterr().out


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse(["--help"])
    said = capsys.readouterr().out
    assert not [command for command in COMMANDS if command not in said]
