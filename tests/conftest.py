"""Before anything imports pygame or torch: no display, no sound, one thread, so that tests run the same everywhere."""

from __future__ import annotations

import os
import sys
import tempfile

import pytest

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
os.environ.setdefault("SDL_AUDIODRIVER", "dummy")
os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")
os.environ.setdefault("GOMP_SPINCOUNT", "500")  # a model in a test may take two threads; they must not spin
for _name in [name for name in os.environ if name.startswith(("WORLDWALK_", "SGLANG_LINGBOT_"))]:
    del os.environ[_name]  # a developer's own overrides must not change what the tests see
_config = tempfile.TemporaryDirectory(prefix="worldwalk-tests-")
os.environ["WORLDWALK_CONFIG_DIR"] = _config.name  # nor their settings, nor may a test write to those


def pytest_unconfigure() -> None:
    _config.cleanup()


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    """A test before may have chosen more; two threads beside other work can be a hundred times slower than one."""
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(1)
