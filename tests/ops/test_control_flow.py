"""Loops and branches inside and outside clusters: runs control_flow_cases.py with each setting in its own process."""

from __future__ import annotations

import pathlib

import pytest

from tests.support.processes import WARM_PYTHON, run

CASES = pathlib.Path(__file__).with_name("control_flow_cases.py")

SETTINGS: dict[str, dict[str, str]] = {
    "default": {},
    "no clusters": {"HPU_CLUSTERING": "off"},
    "no fuel": {"HPU_CLUSTER_FUEL": "0"},
    "little fuel": {"HPU_CLUSTER_FUEL": "9"},
    "large clusters": {"HPU_MIN_CLUSTER_SIZE": "1000"},
    "compiled never": {"HPU_COMPILE_MODE": "never"},
    "compiled in the background": {"HPU_COMPILE_MODE": "async"},
    "compiled later": {"HPU_COMPILE_MODE": "lazy"},
}


# One setting that changes clusters and one that changes compiles; the others take a minute.
QUICK = ("default", "no clusters", "compiled in the background")


@pytest.mark.timeout(660)  # a process with a minute of work, on a busy machine
@pytest.mark.parametrize(
    "setting", [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in SETTINGS]
)
def test_control_flow(setting: str) -> None:
    command = [WARM_PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(CASES)]
    if setting != "default":
        command += ["-k", "arguments or handles or that_run"]
    assert "passed" in run(command, SETTINGS[setting], timeout=600).stdout
