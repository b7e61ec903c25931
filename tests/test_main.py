"""The command line as a user meets it: one sentence and the right exit code, and walks that repeat byte for byte."""

from __future__ import annotations

import hashlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import imageio.v3 as iio
import pytest

from main import ROOT, main
from tests.lingbot_checkpoints import write

WALK = """
- {hold: [w], chunks: 3}
- {prompt: "snow at night"}
- {hold: [w, l], look: {yaw_degrees: 10}, chunks: 3}
- {event: {event_id: 77, input_types: [prompt], prompt: ""}}
- {wait: 4}
"""
CARD = ("--backend", "test_card", "--scene", "lagoon")


def script(folder: Path, text: str = WALK) -> Path:
    path = folder / "walk.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def render(folder: Path, *more: str) -> dict[str, object]:
    report = folder / "report.json"
    assert main(["render", "--script", str(script(folder)), "--report", str(report), *CARD, *more]) == 0
    return json.loads(report.read_text("utf-8"))


def refused(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    """The one sentence with which the command is refused."""
    assert main([str(word) for word in words]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1, said
    assert "Traceback" not in said
    return said


def test_a_rendered_walk_reports_what_happened(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = render(tmp_path, "--seed", "5", "--set", "engine.window.interactive=true")
    assert (report["backend"], report["seed"], report["chunks"], report["frames"]) == ("test_card", 5, 10, 37)
    assert (report["prompt_updates"], report["text_encodes"], report["cross_attention_resets"]) == (1, 2, 1)
    events = report["events"]
    assert (events["accepted"], events["rejected"]) == (4, 1)
    assert (events["rejections"][0]["event_id"], events["rejections"][0]["path"]) == (77, "prompt")
    modes = [chunk["window"]["mode"] for chunk in report["per_chunk"]]
    assert modes == ["moving"] * 7 + ["still"] * 3
    assert "Event 77 rejected" in capsys.readouterr().err


def test_the_engines_window_is_off_unless_a_setting_turns_it_on(tmp_path: Path) -> None:
    settings = tmp_path / "settings.yaml"
    settings.write_text("engine:\n  steps: 2\n")
    report = render(tmp_path, "--settings", str(settings))
    assert {chunk["window"]["mode"] for chunk in report["per_chunk"]} == {"full"}


def test_frames_are_hashed_as_they_lie_in_the_folder(tmp_path: Path) -> None:
    report = render(tmp_path, "--frames", str(tmp_path / "frames"))
    names = sorted(path.name for path in (tmp_path / "frames").iterdir())
    assert names == [f"{number:06d}.png" for number in range(37)]
    digest = hashlib.sha256()
    for name in names:
        digest.update(iio.imread(tmp_path / "frames" / name).tobytes())
    assert digest.hexdigest() == report["frames_sha256"]


def test_a_replay_makes_the_same_bytes(tmp_path: Path) -> None:
    folder = tmp_path / "mit Leerzeichen ü"
    folder.mkdir()
    first = render(folder, "--out", str(folder / "walk.mp4"), "--seed", "9")
    again = folder / "again.json"
    assert main(["replay", str(folder / "walk.worldwalk.jsonl"), "--report", str(again)]) == 0
    second = json.loads(again.read_text("utf-8"))
    assert second["frames_sha256"] == first["frames_sha256"]
    film = folder / "the film alone.mp4"
    (folder / "walk.mp4").rename(film)
    assert main(["replay", str(film), "--report", str(again), "--out", str(folder / "again.mp4")]) == 0
    assert json.loads(again.read_text("utf-8"))["frames_sha256"] == first["frames_sha256"]
    assert main(["replay", str(folder / "again.mp4"), "--report", str(again)]) == 0
    assert json.loads(again.read_text("utf-8"))["frames_sha256"] == first["frames_sha256"]
    assert (second["frames"], second["seed"], second["prompt_updates"]) == (37, 9, 1)


def test_chunks_cuts_a_walk_or_lets_it_stand(tmp_path: Path) -> None:
    assert render(tmp_path, "--chunks", "2")["chunks"] == 2
    assert render(tmp_path, "--chunks", "14")["chunks"] == 14


def test_a_session_of_another_model_is_refused_unless_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    render(tmp_path, "--out", str(tmp_path / "walk.mp4"))
    session = tmp_path / "walk.worldwalk.jsonl"
    lines = session.read_text("utf-8").splitlines()
    first = json.loads(lines[0])
    first["card"]["model_sha256"] = "ab" * 32
    session.write_text("\n".join([json.dumps(first), *lines[1:]]) + "\n", encoding="utf-8")
    capsys.readouterr()
    assert main(["replay", str(session)]) == 2
    assert "abababababab" in capsys.readouterr().err
    assert main(["replay", str(session), "--any-model"]) == 0


def test_a_film_is_not_replaced_unless_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    film = tmp_path / "walk.mp4"
    film.write_bytes(b"mine")
    said = refused(capsys, "render", "--script", script(tmp_path), "--out", film, *CARD)
    assert "already" in said
    assert film.read_bytes() == b"mine"
    assert list(tmp_path.glob("*.jsonl")) == []
    render(tmp_path, "--out", str(film), "--overwrite")
    assert film.read_bytes() != b"mine"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- {hold: [x], chunks: 2}", "walk.yaml:1"),
        ("- {hold: [w], chunks: -2}", "walk.yaml:1"),
        ("- {hold: [w], chunks: 2}\n- {promt: snow}", "walk.yaml:2"),
        ("- {wait: 99999999999999999999999}", "walk.yaml:1"),
        ("- {prompt: no}", "walk.yaml:1"),
        ("\t- {wait: 1}", "walk.yaml:1"),
        ("", "walk.yaml:1"),
    ],
)
def test_a_mistake_in_a_script_names_file_and_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, said: str
) -> None:
    assert said in refused(capsys, "render", "--script", script(tmp_path, text), *CARD)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--scene", "atlantis"), "atlantis"),
        (("--scene", "../lagoon"), "lagoon"),
        (("--image", "absent.jpg"), "absent.jpg: no such file"),
        (("--scene", "lagoon", "--prompt", " "), "--prompt"),
        (("--model", "/absent/model"), "absent"),
        (("--backend", "lingbot"), "engine.model"),
        (("--settings", "absent.yaml"), "absent.yaml: no such file"),
        (("--set", "engine.stepps=4"), "Did you mean engine.steps?"),
        (("--out", "walk.avi"), ".mp4"),
        (("--out", "absent/walk.mp4"), "folder"),
        (("--report", "absent/report.json"), "absent/report.json"),
        (("--seed", "-1"), "--seed"),
        (("--chunks", "0"), "--chunks"),
    ],
)
def test_a_mistake_in_an_option_is_one_sentence(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    backend = () if {"--backend", "--model"} & set(words) else ("--backend", "test_card")
    assert said in refused_last(capsys, "render", "--script", script(tmp_path), *backend, *words)


def refused_last(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    """The last line said; stages of loading may stand before it."""
    assert main([str(word) for word in words]) == 2
    said = capsys.readouterr().err
    assert "Traceback" not in said
    return said.splitlines()[-1]


def test_a_bad_variable_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SGLANG_LINGBOT_LAZY_VAE_ENCODE_BLACK_FRAMES", "many")
    said = refused(capsys, "render", "--script", script(tmp_path), *CARD)
    assert "SGLANG_LINGBOT_LAZY_VAE_ENCODE_BLACK_FRAMES" in said


def test_without_a_display_the_other_command_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    assert "python main.py render" in refused(capsys)


def test_an_error_of_the_program_is_kept_and_said_in_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr("platformdirs.user_log_dir", lambda *_, **__: str(tmp_path / "log"))
    monkeypatch.setattr("main._models", broken)
    assert main(["models"]) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "ZeroDivisionError" in (tmp_path / "log" / "errors.log").read_text("utf-8")


def test_ctrl_c_is_quiet(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("main._models", interrupted)
    assert main(["models"]) == 130
    assert capsys.readouterr().err == ""


def test_models_are_listed_with_their_state(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models"]) == 0
    said = capsys.readouterr().out
    assert "test_card" in said
    assert "CC BY-NC-SA 4.0" in said
    assert "GB of GPU memory" in said


def test_a_checkpoint_is_told_and_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = write(tmp_path, "v2-1.3b")
    assert main(["models", "check", str(made.path), "--assets", str(made.assets)]) == 0
    assert "holds LingBot-World v2 1.3B in the flat layout" in capsys.readouterr().out
    assert "does not hold the text encoder" in refused(capsys, "models", "check", made.path)
    assert "is not there" in refused(capsys, "models", "check", tmp_path / "none")


def test_a_model_whose_licence_is_not_accepted_is_not_fetched(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "get", "v2-1.3b"]) == 2
    told, refusal = capsys.readouterr().err.splitlines()
    assert "no commercial use" in told
    assert "--accept-licence" in refusal
    assert "one of v2-1.3b, v2-14b, v1-fast" in refused(capsys, "models", "get", "v3")


def test_a_licence_is_accepted_with_the_word_yes_and_no_other(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for answer in ("maybe\n", ""):
        terminal = io.StringIO(answer)
        monkeypatch.setattr(terminal, "isatty", lambda: True)
        monkeypatch.setattr("sys.stdin", terminal)
        assert main(["models", "get", "v2-14b"]) == 2
        assert "Nothing was fetched." in capsys.readouterr().err


def test_a_bench_prints_one_record(capsys: pytest.CaptureFixture[str]) -> None:
    for bench in ("e2e", "stages"):
        assert main(["bench", bench, "--chunks", "20", *CARD]) == 0
        written = json.loads(capsys.readouterr().out)
        assert list(written) == ["schema", "bench", "env", "config", "result", "samples"]
        assert (written["bench"], written["config"]["chunks"]) == (bench, 20)


def test_the_real_window_closes_with_every_process_after_a_bench(tmp_path: Path) -> None:
    """The whole product: window, engine process, frames through shared memory, and the end of it all."""
    words = [sys.executable, "main.py", "bench", "window", "--seconds", "1", "--json", str(tmp_path / "w.json"), *CARD]
    environ = {**os.environ, "SDL_VIDEODRIVER": "dummy"}
    done = subprocess.run(words, cwd=ROOT, env=environ, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / "w.json").read_text("utf-8"))["result"]
    assert result["passes"] > 10
    assert result["fps_generated"] > 1
