"""Device, type and threads."""

import pytest
import torch

from engine.config import DeviceConfig
from engine.device import available_cores, prepare_device
from engine.errors import NeedsHardware


@pytest.fixture(autouse=True)
def _keep_threads():
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)


def test_threads_are_never_more_than_the_cores_of_this_process():
    assert prepare_device(DeviceConfig(device="cpu", dtype="float32")).threads == available_cores()


@pytest.mark.parametrize(("asked", "most"), [("1", 1), ("0", None), ("", None), ("many", None), ("99999", None)])
def test_omp_num_threads_is_a_bound(monkeypatch, asked, most):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    free = available_cores()
    monkeypatch.setenv("OMP_NUM_THREADS", asked)
    assert available_cores() == (free if most is None else min(free, most))


def test_a_number_of_threads_can_be_chosen():
    prepare_device(DeviceConfig(device="cpu", dtype="float32", threads=1))
    assert torch.get_num_threads() == 1


def test_the_plan_says_what_was_chosen():
    line = prepare_device(DeviceConfig(device="cpu", dtype="float32", threads=1)).line
    assert "cpu" in line
    assert "float32" in line
    assert "1 threads" in line


@pytest.mark.parametrize("device", ["cuda:99", "abacus"])
def test_forcing_a_device_that_is_absent_fails_with_a_cure(device):
    with pytest.raises(NeedsHardware, match="Set engine"):
        prepare_device(DeviceConfig(device=device))


def test_half_floats_on_a_processor_are_refused():
    with pytest.raises(NeedsHardware, match="float16"):
        prepare_device(DeviceConfig(device="cpu", dtype="float16"))
