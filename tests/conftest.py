"""What all tests share: the module is loaded once, and this run's emulated modules are its own."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator

import pytest
from hypothesis import settings

# Before TensorFlow is imported anywhere.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")

# The same examples each time; `make soak` draws others.
settings.register_profile("default", derandomize=True)
settings.register_profile("random", derandomize=False, print_blob=True)
settings.load_profile("default")


@pytest.fixture(scope="session", autouse=True)
def module_locks() -> Iterator[None]:
    """Other runs on this machine, which hold modules too, do not disturb this one."""
    with tempfile.TemporaryDirectory(prefix="hpu-tests-") as directory:
        os.environ.setdefault("HPU_EMULATOR_LOCK_DIR", directory)
        yield


@pytest.fixture(scope="session")
def hpu(module_locks: None) -> str:
    """The device's name; the module is loaded. For tests that run something on it."""
    from habana_frameworks.tensorflow import load_habana_module

    devices = load_habana_module()
    assert len(devices) == 1, devices
    return "/device:HPU:0"
