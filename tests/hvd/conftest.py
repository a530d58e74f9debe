"""These tests need Horovod, which is optional."""

from __future__ import annotations

import importlib.util

import pytest


@pytest.fixture(scope="session", autouse=True)
def needs_horovod() -> None:
    if importlib.util.find_spec("horovod") is None:
        pytest.skip("Horovod is not installed (make horovod)")
