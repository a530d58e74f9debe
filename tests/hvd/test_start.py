"""hvd.init() loads the HPU, and forms the launcher's job or fails."""

from __future__ import annotations

import pathlib
import sys

import pytest

from tests.hvd import start_programs as programs
from tests.hvd.jobs import Start, hooked, run_code, run_program
from tests.support.processes import call_to, run_with_tensorflow

STARTS = [Start.MPIRUN, pytest.param(Start.MPIRUN_GLOO, marks=pytest.mark.slow)]


@pytest.mark.parametrize("start", STARTS, ids=lambda start: start.name)
def test_a_program_that_imports_only_horovod(start: Start, tmp_path: pathlib.Path) -> None:
    # New interpreters, because hpu_tensorflow.pth acts when Python starts.
    results = run_code(tmp_path, call_to(programs.horovod_alone), start, python=sys.executable)
    for rank, got in enumerate(results):
        assert sorted(got["modules"]) == [0, 1]
        assert [int(got[name]) for name in ("local", "locals", "cross")] == [rank, 2, 1]


def test_without_autoload_there_is_no_hpu(tmp_path: pathlib.Path) -> None:
    for got in run_code(tmp_path, call_to(programs.no_hpu), Start.HPU_RUN, environment={"HPU_AUTOLOAD": "0"}):
        assert got["size"] == 2


@pytest.mark.parametrize("order", ["load, import, init", "import, load, init", "import, init, load"])
def test_orders_of_loading(order: str, tmp_path: pathlib.Path) -> None:
    """Without the installed import hook, loading the module must have the same effect."""
    program = tmp_path / "program.py"
    program.write_text(call_to(programs.order_of_loading, order))
    start = Start.HOROVODRUN if order.endswith("load") else Start.HPU_RUN
    done = run_program(tmp_path, program, start=start)
    assert done.stdout.count("size 2") == 2


def test_n_jobs_of_one_rank_are_an_error(tmp_path: pathlib.Path) -> None:
    done = run_with_tensorflow(call_to(programs.job_of_one_rank), check=False)
    assert done.returncode == 1
    assert "JobError: Open MPI started 4 processes, but Horovod's job has 1" in done.stderr


def test_failed_rendezvous_names_the_reason(tmp_path: pathlib.Path) -> None:
    # Variables of mpirun on two machines.
    machines = {"OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_LOCAL_SIZE": "2"}
    environment = {**machines, "HOROVOD_CONTROLLER": "gloo", "PYTHONPATH": hooked(tmp_path / "site")}
    done = run_with_tensorflow(call_to(programs.init), environment, check=False)
    assert done.returncode == 1
    assert "JobError: Open MPI started 4 processes on several machines" in done.stderr
    assert "set HPU_HOROVOD_RENDEZVOUS=host:port" in done.stderr


def test_helpers_of_old_releases(tmp_path: pathlib.Path) -> None:
    for got in run_code(tmp_path, call_to(programs.helpers_of_old_releases), Start.HOROVODRUN):
        assert got["devices"] == 1
