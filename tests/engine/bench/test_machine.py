"""Facts of the process and the machine: present, plausible, and honest where a system does not tell."""

from __future__ import annotations

import sys

import pytest

from engine.bench import machine


def test_the_process_is_older_than_nothing_and_grows_older() -> None:
    first = machine.process_age_seconds()
    assert 0.0 < first <= machine.process_age_seconds() < 24 * 3600


@pytest.mark.skipif(sys.platform != "linux", reason="the sizes of a process are read from /proc")
def test_memory_is_in_megabytes() -> None:
    now, peak = machine.rss_mb(), machine.peak_rss_mb()
    assert now is not None
    assert peak is not None
    assert 5.0 < now <= peak + 1.0
    assert machine.peak_rss_mb(2**22 + 1) is None


def test_there_is_at_least_one_core() -> None:
    assert machine.usable_cores() >= 1


def test_a_package_that_is_not_there_has_no_version() -> None:
    assert machine.version_of("no-such-package-anywhere") is None
    assert machine.version_of("numpy") is not None


@pytest.mark.parametrize("name", ["DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER"])
def test_a_display_is_named_by_any_of_three_variables(name: str) -> None:
    assert machine.display_problem({name: "x"}, "linux") is None


def test_only_linux_needs_a_display_in_the_environment() -> None:
    assert machine.display_problem({}, "linux") is not None
    assert machine.display_problem({"DISPLAY": ""}, "linux") is not None
    assert machine.display_problem({}, "darwin") is None
