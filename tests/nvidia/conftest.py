from __future__ import annotations

import pathlib

import pytest

from tests.nvidia.machine import Machine


@pytest.fixture
def machine(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path, monkeypatch)
