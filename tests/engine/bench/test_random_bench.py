"""The benches on random numbers, at the reduced size: what is printed, and what is no headline."""

import io
import json

import pytest

from app import command_line
from engine.bench import random_bench, throttle
from engine.bench.model_bench import Asked
from engine.bench.random_model import NAMES
from engine.bench.throttle import Clocks, card_problem, parse, processor_problem
from engine.config import DeviceConfig, EngineConfig, LingBotOptions
from engine.errors import BadValue, NeedsHardware
from engine.window import WindowPolicy

CONFIG = EngineConfig(
    device=DeviceConfig(device="cpu", dtype="float32", threads=1),
    window=WindowPolicy(interactive=True, moving_latent_frames=2, still_latent_frames=1),
)
COOL = Clocks(1900, 1980, 60, 600, 700, 0x04)


@pytest.fixture(autouse=True)
def _an_idle_machine(monkeypatch):
    monkeypatch.setattr(throttle.machine, "load_average", lambda: 0.1)


def run(bench, config=CONFIG, chunks=1):
    return random_bench.run(Asked(bench, "v2-1.3b", "tiny", 0, chunks), config, io.StringIO())


def test_a_roofline_says_floor_time_and_share_of_every_part_moving_and_still():
    written = run("roofline")
    json.dumps(written, allow_nan=False)
    result = written["result"]
    assert set(result["modes"]) == {"moving", "still"}
    for table in result["modes"].values():
        assert set(table["parts"]) == {"text", "camera", "denoise", "commit", "decode", "pixels"}
        assert all(row["measured_ms"] > 0 and row["floor_ms"] > 0 for row in table["parts"].values())
        assert table["parts"]["denoise"]["count"] == 4
        steady = [row["floor_ms"] for name, row in table["parts"].items() if name != "text"]
        assert table["chunk"]["floor_ms"] == pytest.approx(sum(steady), rel=0.01)
    seen = [table["visible_latent_frames"] for table in result["modes"].values()]
    assert seen == [6 + 2 + 4, 6 + 1 + 4]
    assert (result["waits"], result["recompiles"], result["refused"]) == (0, 0, [])
    assert "frames a second" in result["headline"]
    text = random_bench.as_text(written)
    assert "% of floor" in text
    assert result["headline"] in text


def test_the_whole_way_is_measured_on_the_real_session():
    written = run("e2e", chunks=2)
    assert len(written["samples"]["chunk_ms"]) == 2
    assert written["result"]["fps_generated"] > 0
    assert written["config"]["card"]["model"] == "LingBot-World v2 1.3B of random numbers (tiny)"


def test_a_recompile_after_the_warm_up_is_no_headline(monkeypatch):
    graphs = iter([5, 6])
    monkeypatch.setattr(random_bench, "graphs_compiled", lambda: next(graphs))
    monkeypatch.setattr(random_bench, "_measure", lambda *_: ({"fps_at_median": 99.0}, {}))
    written = run("e2e")
    assert written["result"]["headline"] is None
    assert written["result"]["refused"] == ["1 graphs were compiled after the warm-up"]
    assert "No headline: 1 graphs" in random_bench.as_text(written)


def test_a_busy_processor_gives_no_headline():
    assert processor_problem(0.4, 2) is None
    assert "load 1.7 on 2 cores" in processor_problem(1.7, 2)
    assert processor_problem(None, 2) is None


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (COOL, None),
        (None, "does not tell"),
        (Clocks(1900, 1980, 91, 600, 700, 0x40), "heat"),
        (Clocks(800, 1980, 60, 300, 700, 0), "800 of 1980 MHz"),
    ],
)
def test_a_throttled_card_gives_no_headline(now, said):
    problem = card_problem(now)
    assert (problem is None) if said is None else (said in problem)


def test_the_worst_moment_counts(monkeypatch):
    moments = [Clocks(300, 1980, 40, 90, 700, 0), COOL, Clocks(1500, 1980, 90, 500, 700, 0x20), COOL]
    watch = throttle.Watch(0)
    watch._seen.extend(moments)
    assert "heat" in watch.problem
    monkeypatch.setattr(throttle, "clocks", lambda index: COOL)
    with throttle.Watch(0) as looking:
        pass
    assert looking.problem is None


def test_the_words_of_nvidia_smi_are_read():
    assert parse("1980, 1980, 43, 119.44, 700.00, 0x0000000000000004\n") == Clocks(1980, 1980, 43, 119.44, 700, 4)
    assert parse("[N/A], 1980, 43, 1, 2, 0x4") is None
    assert parse("") is None


def test_what_cannot_be_measured_here_is_refused():
    with pytest.raises(BadValue, match="tiny"):
        random_bench.run(Asked("e2e", "v2-14b", "full", 0, 1), CONFIG, io.StringIO())
    fp8 = EngineConfig(device=CONFIG.device, lingbot=LingBotOptions(fp8_linears=True))
    with pytest.raises(NeedsHardware, match="fp8"):
        run("e2e", fp8)


def test_the_command_line_names_the_same_models_and_devices_as_settings_do():
    assert command_line.RANDOM_MODELS == NAMES
    asked = command_line.parse(
        ["bench", "roofline", "--random-weights", "v2-14b", "--scale", "tiny", "--device", "cpu"]
    )
    assert (asked.random_weights, asked.scale, asked.sets) == ("v2-14b", "tiny", ("engine.device.device=cpu",))


def test_a_recompile_is_a_failure_and_a_bench_without_the_counter_is_none():
    assert random_bench.recompiled({"result": {"recompiles": 2}})
    assert not random_bench.recompiled({"result": {"recompiles": 0}})
    assert not random_bench.recompiled({"result": {"fps_generated": 3.0}})


def test_a_roofline_needs_random_weights():
    with pytest.raises(BadValue, match="--random-weights"):
        random_bench.run(Asked("roofline", None, None, 0, None), CONFIG, io.StringIO())
