"""Faults of cards and of SynapseAI, as a TensorFlow program sees them: one clear error, and the CPU still computes."""

from __future__ import annotations

import pathlib
import subprocess

import pytest

from tests.gaudi import doubles
from tests.gaudi import error_programs as programs
from tests.support.processes import WARM_PYTHON, call_to, run_with_tensorflow, start


def output(**switches: str) -> str:
    environment = {"HPU_BACKEND": doubles.backend("1.18")}
    environment |= {f"SYNAPSE_DOUBLE_{name}": value for name, value in switches.items()}
    return run_with_tensorflow(call_to(programs.compute), environment).stdout


@pytest.mark.parametrize(
    ("switches", "messages"),
    [
        ({"VERSION": "1.9.0"}, ["BackendError", "cannot use SynapseAI 1.9", "supported releases: 1.5, 1.18"]),
        ({"DEVICES": "0"}, ["BackendError", "finds no device", "hl-smi"]),
        ({"DEVICE_BYTES": str(10**9)}, ["ResourceExhausted", "TF_HCCL_MEMORY_ALLOWANCE_MB reserves 1024 MiB; lower"]),
        ({"FAIL_COMMAND": "4", "FAIL_STATUS": "17"}, ["Aborted", "the HPU is lost", "restart the process"]),
        ({"FAIL_COMMAND": "4", "FAIL_STATUS": "26"}, ["Internal", "failed with synFail (26)", "HABANA_LOGS"]),
    ],
    ids=["release", "no card", "no memory", "lost card", "failed command"],
)
def test_faults_are_errors(switches: dict[str, str], messages: list[str]) -> None:
    text = output(**switches)
    assert all(message in text for message in messages), text
    assert "CPU computes 3.0" in text


def test_held_cards_are_named_with_their_holders(tmp_path: pathlib.Path) -> None:
    switches = {"LOCKS": str(tmp_path), "DEVICES": "1"}
    environment = {"HPU_BACKEND": doubles.backend("1.18")}
    environment |= {f"SYNAPSE_DOUBLE_{name}": value for name, value in switches.items()}
    command = [WARM_PYTHON, "-c", call_to(programs.hold)]
    with start(command, environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        try:
            assert holder.stdout is not None
            assert holder.stdout.readline().strip() == "4.0"
            text = output(**switches)
        finally:
            holder.kill()
    assert "no Gaudi is free. Held by module 0: pid " in text
    assert "CPU computes 3.0" in text
