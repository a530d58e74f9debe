"""Horovod jobs of several ranks, with all supported launchers."""

from __future__ import annotations

import enum
import os
import pathlib
import shutil
import subprocess
import sys
from collections.abc import Mapping

import numpy as np
import pytest

from habana_frameworks.tensorflow.cli.checks import horovod
from tests.distribute.jobs import Trained, trained
from tests.support import machines
from tests.support.processes import ROOT, WARM_PYTHON, run, shared_recipes

TRAIN = pathlib.Path(__file__).with_name("train.py")
SPAWN = pathlib.Path(__file__).with_name("spawn.py")
TIMEOUT = 600.0  # a minute of work, on a busy machine
HOSTS = ("localhost", "127.0.0.1")


class Start(enum.Enum):
    """Launcher of a job."""

    HOROVODRUN = "horovodrun"
    MPIRUN = "mpirun, Horovod over MPI"
    MPIRUN_GLOO = "mpirun, Horovod over Gloo"
    HPU_RUN = "hpu run"
    HPU_RUN_RESTARTS = "hpu run, one restart"
    ELASTIC = "horovodrun, elastic, each process a host"
    MULTIPROCESSING = "multiprocessing"
    SRUN_GLOO = "srun's variables"
    MACHINES = "machines with TF_CONFIG"
    MACHINES_MPI = "machines with mpirun's variables"


def _command(start: Start, processes: int, python: str) -> list[str]:
    """Returns the launcher's command line before the program. Skips the test if the launcher is not installed.

    python: interpreter of the ranks. Machines use new interpreters, because WARM_PYTHON leaves their namespaces.
    """
    count = str(processes)
    if start is Start.HOROVODRUN:
        return [_installed("horovodrun"), "--gloo", "-np", count, python]
    if start in (Start.MPIRUN, Start.MPIRUN_GLOO):
        # plm isolated: uses only this machine, so no ssh.
        options = ["--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "--mca", "plm", "isolated"]
        return [_installed("mpirun"), *options, "-np", count, python]
    if start in (Start.HPU_RUN, Start.HPU_RUN_RESTARTS):
        options = ["--restarts", "1"] if start is Start.HPU_RUN_RESTARTS else []
        return [python, "-m", "habana_frameworks.tensorflow", "run", "-np", count, *options]
    if start is Start.ELASTIC:
        # Horovod excludes a host that has lost a process, so each host is an alias of this machine.
        hosts = ",".join(f"{host}:1" for host in HOSTS[:processes])
        options = ["--gloo", "-np", count, "--min-np", "1", "-H", hosts, "--network-interface", "lo"]
        return [_installed("horovodrun"), *options, python]
    if start in (Start.MULTIPROCESSING, Start.SRUN_GLOO):
        return [python, str(SPAWN), *(["--slurm"] if start is Start.SRUN_GLOO else []), count]
    reason = machines.why_not()
    if reason:
        pytest.skip(f"no network namespaces: {reason}")
    return [*machines.COMMAND, *(["--mpi"] if start is Start.MACHINES_MPI else []), count]


def take_modules_of_host() -> None:
    """Assigns private modules to this rank's host. In an elastic job, each alias of this machine stands for a host."""
    host = os.environ.get("HOROVOD_HOSTNAME", HOSTS[0])
    os.environ["HPU_MODULE_LOCK_DIR"] = f"{os.environ['HPU_MODULE_LOCK_DIR']}-{host}"


def _installed(name: str) -> str:
    beside = pathlib.Path(sys.executable).parent / name
    found = str(beside) if beside.exists() else shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def hooked(directory: pathlib.Path) -> str:
    """Creates a directory for PYTHONPATH in which Python finds hpu_tensorflow.pth, as if the package were installed."""
    directory.mkdir(exist_ok=True)
    shutil.copy(ROOT / "tools" / "hpu_tensorflow.pth", directory)
    (directory / "sitecustomize.py").write_text(f"import site\nsite.addsitedir({str(directory)!r})\n")
    return f"{directory}{os.pathsep}{ROOT}"


def run_program(
    directory: pathlib.Path,
    program: pathlib.Path,
    *arguments: str,
    start: Start = Start.HPU_RUN,
    processes: int = 2,
    environment: Mapping[str, str | None] | None = None,
    check: bool = True,
    timeout: float = TIMEOUT,
    python: str = WARM_PYTHON,
) -> subprocess.CompletedProcess[str]:
    """Runs a program that uses only Horovod on every rank. `check` fails the test if the job fails.

    The jobs of a test run share their recipes, unless `environment` sets TF_RECIPE_CACHE_PATH.
    """
    variables: dict[str, str | None] = {
        **shared_recipes(),
        "PYTHONPATH": hooked(directory / "site"),
        # Ranks acquire the module of their local rank, which this process may hold.
        "HPU_MODULE_LOCK_DIR": str(directory / "modules"),
    }
    if start is Start.MPIRUN_GLOO:
        variables["HOROVOD_CONTROLLER"] = "gloo"
    build = horovod.find()
    if start is Start.MPIRUN and not (build and build.mpi):
        pytest.skip("Horovod is built without MPI")
    variables.update(environment or {})
    return run([*_command(start, processes, python), str(program), *arguments], variables, timeout=timeout, check=check)


def run_code(
    directory: pathlib.Path,
    code: str,
    start: Start = Start.HPU_RUN,
    processes: int = 2,
    environment: Mapping[str, str | None] | None = None,
    python: str = WARM_PYTHON,
) -> list[dict[str, np.ndarray]]:
    """Runs `code`, from call_to(), on every rank. Returns the values that each rank passed to results.result()."""
    program = directory / "program.py"
    program.write_text(code)
    results = directory / "results"
    shutil.rmtree(results, ignore_errors=True)
    results.mkdir()
    run_program(
        directory,
        program,
        start=start,
        processes=processes,
        environment={"JOB_RESULTS": str(results), **(environment or {})},
        python=python,
    )
    return [dict(np.load(results / f"{rank}.npz")) for rank in range(processes)]


def train(
    directory: pathlib.Path,
    processes: int,
    *cases: str,
    steps: int = 5,
    start: Start = Start.HPU_RUN,
    environment: Mapping[str, str | None] | None = None,
    timeout: float = TIMEOUT,
) -> dict[str, list[Trained]]:
    """Trains cases of train.py on `processes` ranks. Returns each rank's result, by case."""
    directory.mkdir(parents=True, exist_ok=True)
    arguments = ("--out", str(directory), "--steps", str(steps), *cases)
    run_program(
        directory, TRAIN, *arguments, start=start, processes=processes, environment=environment, timeout=timeout
    )
    return {case: [trained(directory, case, rank) for rank in range(processes)] for case in cases}
