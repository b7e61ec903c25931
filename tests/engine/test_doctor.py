"""The doctor: looks at everything, names what is missing with its cure, and never falls over."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine import doctor
from engine.config import EngineConfig
from engine.doctor import Finding
from engine.lingbot.memory import PUBLISHED, Room
from engine.protocol import SceneSpec

SCENE = SceneSpec("green", "a meadow")


@pytest.fixture(autouse=True)
def short_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_WALK_SECONDS", 0.05)
    monkeypatch.setattr(doctor, "_MATMUL_SECONDS", 0.02)


def test_a_sound_machine_is_ready_and_measured() -> None:
    said: list[str] = []
    examined = doctor.examine(EngineConfig(backend="test_card"), SCENE, said.append)
    json.dumps(examined, allow_nan=False)
    assert examined["ready"] is True
    assert examined["matmul_gflops"] > 0
    assert examined["bundled_model"]["fps_measured"] > 0
    assert said
    assert "This machine is ready" in doctor.as_text(examined)


def test_missing_weights_are_named_with_the_cure(tmp_path: Path) -> None:
    examined = doctor.examine(EngineConfig(model=str(tmp_path)), SCENE, lambda _: None)
    assert examined["ready"] is False
    text = doctor.as_text(examined)
    assert f"MISSING  model: {tmp_path}" in text
    assert "-> Restore" in text


def test_every_finding_that_is_not_well_has_a_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.bench.machine.version_of", lambda _: None)
    monkeypatch.setattr("engine.bench.machine.memory_mb", lambda: (512.0, 100.0))
    monkeypatch.setattr("engine.bench.machine.usable_cores", lambda: 1)
    monkeypatch.setattr("engine.bench.machine.display_problem", lambda: "There is no display here.")
    found: list[Finding] = [*doctor._packages(), doctor._memory(), doctor._cores(), doctor._display()]
    assert not [finding for finding in found if finding.ok or not finding.cure]


def test_every_large_model_says_what_it_takes_and_whether_it_fits() -> None:
    without = doctor.large_models(EngineConfig(), None)
    assert [finding.name for finding in without] == [model.name for model in PUBLISHED.values()]
    assert all(not finding.ok and finding.cure and "GB of GPU memory" in finding.found for finding in without)
    small, large = (doctor.large_models(EngineConfig(), Room(gb * 10**9, (8, 9))) for gb in (24, 139))
    assert [finding.ok for finding in small] == [False, False, True]
    assert all(finding.ok or finding.cure for finding in small)
    assert all(finding.ok and finding.cure is None and not finding.needed for finding in large)
