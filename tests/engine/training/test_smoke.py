"""Every stage of ``python main.py train`` in small, one after the other: each lowers its loss, leaves what it should.

All of it runs on pictures of a quarter of the size, in processes of its own: the first is killed for good in the middle
of a stage, the second goes on from there.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from engine.bundled import CONFIG, WEIGHTS
from engine.errors import FileProblem, NeedsHardware
from engine.training import cli, evaluate_command

ROOT = Path(__file__).resolve().parents[3]
WIDTH_PX, HEIGHT_PX = 96, 48
STEPS = {"autoencoder": 12, "painter": 14, "text": 12, "dit": 14, "finish": 24, "dream": 12}
WALK = ["--walks", "1", "--seconds", "1"]
IN_SMALL = f"""
import json, sys
from engine.layout import Lens
from engine.training import recipe
# before anything reads it
recipe.WIDTH_PX, recipe.HEIGHT_PX, recipe.LENS = {WIDTH_PX}, {HEIGHT_PX}, Lens({WIDTH_PX}, {HEIGHT_PX})
from engine.training import cli, evaluate_command, loop
if sys.argv[1] == "often":
    loop.CHECKPOINT_SECONDS = -1.0  # a checkpoint after every step
for words in json.loads(sys.argv[2]):
    if words[0] == "unguided":
        evaluate_command.main(words[1:])
    else:
        cli.main(words, dict)
"""


def words(stage, folder, *more):
    """The command line of a small ``stage``."""
    small = ["--steps", str(STEPS[stage])] if stage in STEPS else WALK if stage == "evaluate" else []
    return [stage, "--folder", str(folder), "--clips", "2", "--batch", "2", "--processes", "1", *small, *more]


def command(mode, lines):
    return [sys.executable, "-c", IN_SMALL, mode, json.dumps(lines)]


def kill_in_the_middle(lines, checkpoint):
    child = subprocess.Popen(command("often", lines), cwd=ROOT, stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 120
        while not checkpoint.exists():
            assert child.poll() is None, "the stage ended before it could be killed"
            assert time.monotonic() < end, "no checkpoint came"
            time.sleep(0.01)
    finally:
        os.kill(child.pid, signal.SIGKILL) if sys.platform != "win32" else child.kill()
        child.wait()
    assert child.returncode != 0


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """The folder of a run of all stages whose first was killed, and of that first stage alone without a kill."""
    run, whole = tmp_path_factory.mktemp("run"), tmp_path_factory.mktemp("whole")
    kill_in_the_middle([words("autoencoder", run)], run / "autoencoder.pt")
    lines = [words("autoencoder", whole), words("autoencoder", run, "--resume")]
    lines += [words(stage, run) for stage in ("render", "painter", "text", "dit", "finish", "evaluate", "dream")]
    dream = ["--unguided", "--model", str(run / "model"), "--dream", str(run / "dream.safetensors")]
    lines += [["unguided", *WALK, *dream, "--processes", "1", "--report", str(run / "dreamt.json")]]
    carry_out(lines)
    return run, whole


def carry_out(lines):
    done = subprocess.run(command("seldom", lines), cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]


def losses(folder, name):
    return torch.load(folder / f"{name}.pt", weights_only=True)["losses"]


def rows(folder, name):
    return [{**json.loads(line), "minutes": 0} for line in (folder / f"{name}.jsonl").read_text().splitlines()]


def test_a_stage_that_was_killed_makes_the_same_losses_and_weights_as_one_that_was_not(runs):
    run, whole = runs
    assert len(losses(run, "autoencoder")) == STEPS["autoencoder"]
    assert torch.equal(losses(run, "autoencoder"), losses(whole, "autoencoder"))
    assert rows(run, "autoencoder") == rows(whole, "autoencoder")
    name = "autoencoder.safetensors"
    assert (run / name).read_bytes() == (whole / name).read_bytes()


STAGES = ["autoencoder", "painter", "text", "transformer", "finish", "dream/decoder", "dream/transformer"]


@pytest.mark.parametrize("name", [name for name in STAGES if name != "finish"])
def test_every_stage_lowers_its_loss(runs, name):
    made = losses(runs[0], name)
    assert float(made[-4:].mean()) < float(made[:4].mean()), made.tolist()


def test_finishing_brings_pictures_nearer_that_it_does_not_train_on(runs):
    """Its steps are two walks each, which differ by more than so few of them can mend."""
    first, last = (rows(runs[0], "finish")[at]["psnr_db"] for at in (0, -1))
    assert last > first


@pytest.mark.parametrize("name", STAGES)
def test_every_validation_leaves_curves_and_pictures(runs, name):
    folder = (runs[0] / name).parent / "sheets"
    for sheet in (f"{Path(name).name}_curves", Path(name).name):
        if sheet == "text":  # reads, and makes no pictures
            continue
        with Image.open(folder / f"{sheet}.png") as picture:
            assert min(picture.size) >= 2 * HEIGHT_PX
            assert float(np.asarray(picture).std()) > 1
    assert not list(folder.glob("part*"))


def test_a_stage_trained_further_begins_with_what_it_had_learned(runs, tmp_path):
    shutil.copytree(runs[0], tmp_path / "run")
    further = {"painter": "painter", "dit": "transformer", "autoencoder": "autoencoder"}
    carry_out([words(stage, tmp_path / "run", "--further") for stage in further])
    for name in further.values():
        assert float(losses(tmp_path / "run", name)[0]) < float(losses(runs[0], name)[0])


def test_the_folders_model_is_measured_where_all_stages_are_finished(runs):
    told = json.loads((runs[0] / "evaluation.json").read_text())
    assert {"psnr_60s", "transformer_gain_db", "prompt_hit_rate", "fps_generated", "memory_agreement_none"} <= set(told)
    assert (told["width"], told["height"]) == (WIDTH_PX, HEIGHT_PX)
    assert all(np.isfinite(value) for value in told.values())
    assert {CONFIG, WEIGHTS} <= {path.name for path in (runs[0] / "model").iterdir()}
    with Image.open(runs[0] / "evaluation.png") as sheet:
        assert sheet.size == (8 * WIDTH_PX, 2 * HEIGHT_PX)


def test_dreaming_is_measured_with_the_same_numbers(runs):
    guided, dreamt = (json.loads((runs[0] / f"{name}.json").read_text()) for name in ("evaluation", "dreamt"))
    assert set(dreamt) == set(guided)
    assert dreamt["psnr_60s"] != guided["psnr_60s"]
    assert dreamt["copy_psnr_1s"] == guided["copy_psnr_1s"]


def test_dreaming_without_weights_says_what_makes_them(tmp_path):
    with pytest.raises(FileProblem, match="train dream"):
        evaluate_command.main(["--unguided", "--dream", str(tmp_path / "none.safetensors")])


def test_a_stage_whose_forerunner_is_missing_names_it(tmp_path):
    with pytest.raises(FileProblem, match="train autoencoder"):
        cli.main(["render", "--folder", str(tmp_path)], dict)


@pytest.mark.skipif(torch.cuda.is_available(), reason="has a CUDA device")
def test_a_device_that_is_not_there_is_said(tmp_path):
    with pytest.raises(NeedsHardware):
        cli.main(["painter", "--folder", str(tmp_path), "--device", "cuda"], dict)


@pytest.mark.parametrize("number", ["0", "-3", "two", "1.5"])
def test_a_count_that_is_none_is_refused_with_what_was_expected(number, capsys):
    with pytest.raises(SystemExit):
        cli.main(["render", "--clips", number], dict)
    assert "a whole number above 0" in capsys.readouterr().err


def test_help_tells_how_long_all_of_it_takes(capsys):
    with pytest.raises(SystemExit):
        cli.main(["--help"], dict)
    told = " ".join(capsys.readouterr().out.split())
    assert "hours on two cores" in told
    assert all(stage in told for stage in cli.STAGES)
