"""The Synapse double exports exactly the C functions of its release."""

from __future__ import annotations

import subprocess

import pytest

from tests.gaudi import synapse_library

# Functions that the backend does not bind.
_OWN = {"synapse_double_hccl_functions", "synapse_double_launch_count"}
OTHERS = {"1.5": _OWN, "1.18": {*_OWN, "synStreamGetAffinity"}}


@pytest.mark.parametrize("release", synapse_library.RELEASES)
def test_exports(release: str) -> None:
    path = str(synapse_library.path(release))
    listed = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True, check=True).stdout
    exported = {line.split()[-1] for line in listed.splitlines()}
    assert exported == synapse_library.declarations(release).keys() | OTHERS[release]


def test_releases_differ_in_their_functions() -> None:
    old, new = (synapse_library.declarations(release).keys() for release in synapse_library.RELEASES)
    assert old - new == {"synStreamCreate"}
    assert {"synStreamCreateGeneric", "synTensorSetDeviceDataType"} <= new - old
