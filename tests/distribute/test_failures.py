"""Lost, late and restarted workers."""

from __future__ import annotations

import contextlib
import json
import pathlib
import subprocess
import time
from collections.abc import Mapping
from typing import Any

import pytest

from habana_frameworks.tensorflow.monitor import server as device_server
from tests.distribute import failures_programs as programs
from tests.distribute.jobs import Backend, environment_of, run_job
from tests.remote.servers import Server
from tests.support.processes import WARM_PYTHON, call_to, run
from tests.support.processes import start as start_program

PROGRAM = pathlib.Path(__file__).with_name("lost_worker.py")


def train(directory: pathlib.Path, *arguments: str, environment: Mapping[str, str] | None = None) -> None:
    run([WARM_PYTHON, str(PROGRAM), "--out", str(directory), *arguments], environment, timeout=200)


def outcome(directory: pathlib.Path, rank: int) -> dict[str, Any]:
    fields: dict[str, Any] = json.loads((directory / f"outcome_{rank}.json").read_text())
    return fields


@pytest.fixture(scope="module")
def expected_loss(tmp_path_factory: pytest.TempPathFactory) -> float:
    """Loss of a single worker without failures."""
    directory = tmp_path_factory.mktemp("alone")
    train(directory, "--workers", "1")
    return float(outcome(directory, 0)["losses"][-1])


def check_error(directory: pathlib.Path, lost: int, left: int) -> None:
    """Checks that the surviving worker's error names the lost worker, within the time limit."""
    ended = outcome(directory, left)
    assert f"/job:worker/replica:0/task:{lost}" in ended["error"]
    assert ended["ended"] - float((directory / "killed").read_text()) < 30


def check_loss_and_restart(directory: pathlib.Path, expected: float, environment: Mapping[str, str]) -> None:
    train(directory, "--kill", "1", "--backup", environment=environment)
    check_error(directory, 1, 0)
    train(directory, "--backup", environment=environment)
    restarted = [outcome(directory, rank) for rank in range(2)]
    assert restarted[0]["error"] == ""
    assert restarted[0]["epochs"][0] > 0, "the training did not resume from its backup"
    for worker in restarted:
        assert worker["in_server"] == ("HPU_BACKEND" in environment)
        assert worker["losses"][-1] == pytest.approx(expected, rel=1e-4)


def test_a_lost_worker_is_named_and_a_restart_reaches_the_same_loss(
    tmp_path: pathlib.Path, expected_loss: float
) -> None:
    check_loss_and_restart(tmp_path, expected_loss, {})


@pytest.mark.slow
def test_a_worker_is_lost_while_a_device_server_reduces(tmp_path: pathlib.Path, expected_loss: float) -> None:
    with Server(tmp_path) as server:
        check_loss_and_restart(tmp_path, expected_loss, {"HPU_BACKEND": server.backend})


def test_a_worker_is_lost_while_a_communicator_forms(tmp_path: pathlib.Path) -> None:
    """Loss of a worker while a communicator forms frees its module immediately. Waiting workers get an error."""
    with Server(tmp_path) as server, contextlib.ExitStack() as running:
        variables = {"HPU_BACKEND": server.backend}

        def start(rank: int, told: str) -> subprocess.Popen[str]:
            command, pipe = [WARM_PYTHON, "-c", call_to(programs.join_communicator, rank)], subprocess.PIPE
            program = running.enter_context(
                start_program(command, variables, stdin=pipe, stdout=pipe, stderr=pipe, text=True)
            )
            running.callback(program.kill)
            assert program.stdin is not None
            program.stdin.write(told)
            program.stdin.close()
            return program

        def identity_of(program: subprocess.Popen[str]) -> str:
            assert program.stdout is not None
            return program.stdout.readline()

        lost = start(0, "")
        identity = identity_of(lost)
        left = start(1, identity)
        assert identity_of(left) == identity
        killed = time.monotonic()
        lost.kill()
        assert left.stderr is not None
        error = left.stderr.read()
        assert "rank 0 of 3 disconnected while waiting for rank 2" in error, error
        while any(module.held for module in device_server.describe(server.backend).modules):
            time.sleep(0.1)
        assert time.monotonic() - killed < 30


@pytest.mark.slow
def test_the_lost_worker_is_the_leader(tmp_path: pathlib.Path) -> None:
    train(tmp_path, "--kill", "0")
    check_error(tmp_path, 0, 1)


@pytest.mark.parametrize(
    "backend",
    [Backend.EMULATOR, pytest.param(Backend.SERVER, marks=pytest.mark.slow)],
    ids=lambda backend: backend.name,
)
def test_a_stall_is_explained(backend: Backend, tmp_path: pathlib.Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(call_to(programs.stall, str(tmp_path / "logs")))
    logs = {"HABANA_LOGS": str(tmp_path / "logs"), "LOG_LEVEL_KERNELS": "3"}
    environment = {"HPU_COLLECTIVE_STALL_S": "1", "TF_CPP_MIN_LOG_LEVEL": "1", **logs}
    with environment_of(backend, tmp_path) as variables:
        result = run_job(2, script, environment={**environment, **variables})
    # On a busy machine, the first step may also wait long.
    (line,) = [line for line in result.output.splitlines() if "(CollectiveReduceV2 of float[9], group " in line]
    assert line.startswith("[0] ")
    assert "HPU_COLLECTIVE_STALL_S" in line
    assert "has waited 1s for other workers" in line
    assert "rank 0 (/job:worker/replica:0/task:0) is this process" in line
    assert "rank 1 (/job:worker/replica:0/task:1) is up" in line
