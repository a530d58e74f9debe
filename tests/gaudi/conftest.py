"""Fixtures of tests over the Synapse double."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Iterator

import pytest

from tests.gaudi import synapse_library


@pytest.fixture
def clean_switches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Removes the double's switches from the environment. Tests set those that they need before synInitialize."""
    for name in list(os.environ):
        if name.startswith(synapse_library.SWITCH_PREFIX):
            monkeypatch.delenv(name)


@pytest.fixture(params=synapse_library.RELEASES)
def double(
    request: pytest.FixtureRequest, clean_switches: None, capfd: pytest.CaptureFixture[str]
) -> Iterator[synapse_library.Double]:
    """A double of each release, which is not initialised."""
    made = synapse_library.Double(request.param, lambda: capfd.readouterr().err)
    yield made
    made.close()


@pytest.fixture
def device(double: synapse_library.Double) -> int:
    """The id of an acquired device. Switches set before are read; so request it after monkeypatch."""
    double.ok("synInitialize")
    return double.acquire()


@pytest.fixture
def gate(clean_switches: None, monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> Iterator[pathlib.Path]:
    """A path; no command runs while its file exists (`gate.touch()` to `gate.unlink()`)."""
    path = tmp_path / "gate"
    monkeypatch.setenv("SYNAPSE_DOUBLE_GATE", str(path))
    yield path
    path.unlink(missing_ok=True)
