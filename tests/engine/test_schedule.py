import pytest
import torch

from engine.sampler import clean, noised
from engine.schedule import (
    DenoiseSchedule,
    Prediction,
    explicit,
    official,
    official_table,
    residual_weights,
    sglang,
    sglang_table,
)
from tests.engine.tiny_dit import golden_json

DATA = golden_json("scheduler")
X_T, VELOCITY, NOISE = (torch.tensor(DATA["tensors"][name]) for name in ("x_t", "velocity", "noise"))
OFFICIAL = {name: case for name, case in DATA["official"].items() if name != "table_shift5"}
SGLANG = {name: case for name, case in DATA["sglang"].items() if name != "table_shift5"}


def assert_steps(schedule: DenoiseSchedule, steps: list[dict]) -> None:
    for i, step in enumerate(steps):
        x0 = clean(schedule.prediction, X_T, VELOCITY, schedule.x0_sigmas[i])
        assert torch.allclose(x0, torch.tensor(step["x0"]), rtol=0, atol=1e-6)
        again = noised(torch.tensor(step["x0"]), NOISE, schedule.renoise_sigmas[i])
        assert torch.allclose(again, torch.tensor(step["renoised_x0_at_this_timestep"]), rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", OFFICIAL)
def test_the_official_construction_as_golden(name):
    case = OFFICIAL[name]
    schedule = official(case["timesteps_index"], case["shift"])
    assert list(schedule.timesteps) == case["timesteps"]
    assert schedule.x0_sigmas == pytest.approx([step["x0_sigma"] for step in case["per_step"]], abs=1e-6)
    assert schedule.renoise_sigmas == pytest.approx([step["renoise_sigma"] for step in case["per_step"]], abs=1e-6)
    assert_steps(schedule, case["per_step"])


@pytest.mark.parametrize("name", SGLANG)
def test_the_sglang_construction_as_golden(name):
    case = SGLANG[name]
    schedule = sglang(case["dmd_denoising_steps"], case["shift"], warp=case["warp"])
    # The golden timesteps are float32 numbers of up to 1000, whose steps are 6e-5.
    assert schedule.timesteps == pytest.approx(case["timesteps"], abs=1e-4)
    assert schedule.x0_sigmas == pytest.approx([step["sigma"] for step in case["per_step"]], abs=1e-6)
    assert_steps(schedule, case["per_step"])


def test_both_full_tables_as_golden():
    sigmas, timesteps = official_table(5.0)
    assert sigmas == pytest.approx(DATA["official"]["table_shift5"]["sigmas_1001"][:1000], abs=1e-6)
    assert timesteps == DATA["official"]["table_shift5"]["timesteps_int_1000"]
    assert sglang_table(5.0) == pytest.approx(DATA["sglang"]["table_shift5"]["sigmas_1000"], abs=1e-6)


def test_an_explicit_schedule_says_a_thousand_times_its_sigmas():
    schedule = explicit([1.0, 0.5], Prediction.RESIDUAL)
    assert schedule.timesteps == (1000.0, 500.0)
    assert schedule.x0_sigmas == schedule.renoise_sigmas == (1.0, 0.5)


@pytest.mark.parametrize("sigmas", [[], [0.0], [1.5]])
def test_a_schedule_without_sense_is_refused(sigmas):
    with pytest.raises(ValueError, match="sigma"):
        explicit(sigmas)


def test_residual_weights_at_the_ends_and_between():
    assert residual_weights(1.0) == (0.0, 1.0)
    assert residual_weights(0.5) == (1.0, 0.5)
    k, b = residual_weights(0.25)
    assert (k, b) == pytest.approx((0.75 / 0.625, 1 - 0.75 * 0.75 / 0.625))


def test_a_residual_output_equal_to_x0_of_a_noiseless_input_gives_x0():
    x0 = torch.randn(1, 16, 1, 2, 2)
    k, b = residual_weights(0.3)
    assert torch.allclose(clean(Prediction.RESIDUAL, 0.7 * x0, x0, 0.3), x0, atol=1e-6)
    assert k * 0.7 + b == pytest.approx(1.0)
