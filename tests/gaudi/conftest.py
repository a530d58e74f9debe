"""Fixtures of tests with the Synapse double."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Iterator

import pytest

from tests.gaudi import synapse_library


@pytest.fixture
def clean_switches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Removes the double's switches from the environment. Tests set their switches before synInitialize."""
    for name in list(os.environ):
        if name.startswith(synapse_library.SWITCH_PREFIX):
            monkeypatch.delenv(name)


@pytest.fixture(params=synapse_library.RELEASES)
def double(
    request: pytest.FixtureRequest, clean_switches: None, capfd: pytest.CaptureFixture[str]
) -> Iterator[synapse_library.Double]:
    """An uninitialised double of each release."""
    made = synapse_library.Double(request.param, lambda: capfd.readouterr().err)
    yield made
    made.close()


@pytest.fixture
def device(double: synapse_library.Double) -> int:
    """Id of an acquired device. The double reads its switches here, so set them before."""
    double.ok("synInitialize")
    return double.acquire()


@pytest.fixture
def gate(clean_switches: None, monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> Iterator[pathlib.Path]:
    """Path of a file. No command runs while the file exists (`gate.touch()` to `gate.unlink()`)."""
    path = tmp_path / "gate"
    monkeypatch.setenv("SYNAPSE_DOUBLE_GATE", str(path))
    yield path
    path.unlink(missing_ok=True)
