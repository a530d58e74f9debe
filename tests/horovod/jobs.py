"""Jobs of several ranks, started by the launchers that Horovod's users have."""

from __future__ import annotations

import dataclasses
import pathlib
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from tests.support.processes import run

TIMEOUT = 240.0
# What every rank's program begins with.
PREAMBLE = """
import os
import sys

import numpy as np
import tensorflow as tf

def result(**values):
    np.savez(os.path.join(os.environ["JOB_RESULTS"], f"{hvd.rank()}.npz"), **values)
"""


@dataclasses.dataclass(frozen=True)
class Job:
    """How a job ended, and the arrays that each rank gave to result()."""

    done: subprocess.CompletedProcess[str]
    results: list[dict[str, np.ndarray]]

    @property
    def output(self) -> str:
        return self.done.stdout + self.done.stderr


def launcher_command(launcher: str, processes: int) -> list[str]:
    """What precedes `python program`; skips the test where the launcher is not installed."""
    commands = {
        "horovodrun": ["horovodrun", "--gloo", "-np", str(processes)],
        "mpirun": ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-np", str(processes)],
    }
    command = commands[launcher]
    beside = pathlib.Path(sys.executable).parent / command[0]
    found = str(beside) if beside.exists() else shutil.which(command[0])
    if found is None:
        pytest.skip(f"{command[0]} is not installed")
    return [found, *command[1:]]


def run_job(
    directory: pathlib.Path,
    code: str,
    launcher: str = "horovodrun",
    processes: int = 2,
    environment: Mapping[str, str | None] | None = None,
    check: bool = True,
) -> Job:
    """Runs PREAMBLE and `code` in every rank. `directory` takes the program and its results."""
    program = directory / "program.py"
    program.write_text(PREAMBLE + textwrap.dedent(code))
    results = directory / "results"
    shutil.rmtree(results, ignore_errors=True)
    results.mkdir()
    command = [*launcher_command(launcher, processes), sys.executable, str(program)]
    variables: dict[str, Any] = {"JOB_RESULTS": str(results), **(environment or {})}
    done = run(command, variables, timeout=TIMEOUT, check=check)
    return Job(done, [dict(np.load(path)) for path in sorted(results.iterdir())])
