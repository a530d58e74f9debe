"""hvd.init() brings the HPU, and forms the job that the launcher started, or fails."""

from __future__ import annotations

import pathlib
import sys
import textwrap

import pytest

from tests.hvd.jobs import Start, hooked, run_code, run_program
from tests.support.processes import run, run_python

# As where hpu_tensorflow.pth is not installed.
WITHOUT_HOOK = """
import sys
sys.meta_path = [finder for finder in sys.meta_path if finder.__module__ != "habana_frameworks._hpu_import_hook"]
"""
STARTS = [Start.MPIRUN, Start.MPIRUN_GLOO]


@pytest.mark.parametrize("start", STARTS, ids=lambda start: start.name)
def test_a_program_that_imports_only_horovod(start: Start, tmp_path: pathlib.Path) -> None:
    code = """
        hvd.init()
        with tf.device("/HPU:0"):
            doubled = tf.constant([1.0, 2.0]) * 2.0
        assert doubled.device.endswith("HPU:0"), doubled.device
        from habana_frameworks.tensorflow import habana_device, multinode_helpers
        assert (hvd.size(), hvd.rank()) == (multinode_helpers.comm_size(), multinode_helpers.comm_rank())
        gathered = hvd.allgather(tf.constant([habana_device.info()["module_id"]]))
        result(modules=gathered, local=hvd.local_rank(), locals=hvd.local_size(), cross=hvd.cross_size())
        if not hvd.mpi_enabled():  # which cannot begin again in one process
            hvd.shutdown()
            hvd.init()
            assert float(hvd.allreduce(tf.constant(1.0), op=hvd.Sum)) == 2.0
    """
    for rank, got in enumerate(run_code(tmp_path, code, start)):
        assert sorted(got["modules"]) == [0, 1]
        assert [int(got[name]) for name in ("local", "locals", "cross")] == [rank, 2, 1]


def test_the_hpu_does_not_come_where_it_is_not_wanted(tmp_path: pathlib.Path) -> None:
    code = """
        hvd.init()
        assert not tf.config.list_physical_devices("HPU")
        result(size=hvd.size())
    """
    for got in run_code(tmp_path, code, Start.HPU_RUN, environment={"HPU_AUTOLOAD": "0"}):
        assert got["size"] == 2


@pytest.mark.parametrize("order", ["load, import, init", "import, load, init", "import, init, load"])
def test_orders_of_loading(order: str, tmp_path: pathlib.Path) -> None:
    """Without the hook of the installed package, too: loading the module does its work."""
    parts = {
        "load": "from habana_frameworks.tensorflow import load_habana_module; load_habana_module()",
        "import": "import horovod.tensorflow as hvd",
        "init": "hvd.init()",
    }
    program = tmp_path / "program.py"
    lines = [WITHOUT_HOOK, "import tensorflow as tf", *(parts[part] for part in order.split(", "))]
    lines += ["x = tf.constant(2.0) * 3.0", "assert 'HPU:0' in x.device", "print('size', hvd.size())"]
    program.write_text("\n".join(lines))
    start = Start.HOROVODRUN if order.endswith("load") else Start.HPU_RUN
    done = run_program(tmp_path, program, start=start)
    assert done.stdout.count("size 2") == 2


def test_n_jobs_of_one_rank_are_an_error(tmp_path: pathlib.Path) -> None:
    code = """
        import os
        os.environ.update(OMPI_COMM_WORLD_SIZE="4", OMPI_COMM_WORLD_RANK="1")
        os.environ.update(HOROVOD_CONTROLLER="gloo", HOROVOD_CPU_OPERATIONS="gloo")
        import horovod.tensorflow as hvd
        hvd.init()
        assert hvd.size() == 1
        from habana_frameworks.tensorflow import load_habana_module
        load_habana_module()
    """
    done = run_python(WITHOUT_HOOK + textwrap.dedent(code), check=False)
    assert done.returncode == 1
    assert "JobError: Open MPI started 4 processes, but Horovod's job has 1" in done.stderr


def test_ranks_that_cannot_meet_are_told_why(tmp_path: pathlib.Path) -> None:
    code = """
        import horovod.tensorflow as hvd
        hvd.init()
    """
    # As mpirun over two machines sets it.
    machines = {"OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_LOCAL_SIZE": "2"}
    environment = {**machines, "HOROVOD_CONTROLLER": "gloo", "PYTHONPATH": hooked(tmp_path / "site")}
    done = run([sys.executable, "-c", textwrap.dedent(code)], environment, check=False)
    assert done.returncode == 1
    assert "JobError: Open MPI started 4 processes on several machines" in done.stderr
    assert "set HPU_HOROVOD_RENDEZVOUS=host:port" in done.stderr


def test_helpers_of_old_releases(tmp_path: pathlib.Path) -> None:
    code = """
        from habana_frameworks.tensorflow import horovod_helpers as helpers
        from habana_frameworks.tensorflow.horovod_helpers import Framework, hvd as lazy
        assert not lazy.is_initialized()
        assert (helpers.hvd_size(), helpers.hvd_rank(), helpers.hvd_local_size()) == (1, 0, 1)
        assert helpers.hvd_rank_prefix() == "" and not helpers.horovod_enabled()
        try:
            lazy.allreduce
        except AssertionError as error:
            assert "hvd_init()" in str(error)
        else:
            raise RuntimeError("hvd is there before hvd_init()")
        helpers.hvd_init(framework=Framework.KERAS)
        helpers.hvd_init(framework=Framework.KERAS)
        assert lazy.is_initialized() and helpers.horovod_enabled()
        assert lazy.callbacks.BroadcastGlobalVariablesCallback
        assert (helpers.hvd_size(), helpers.hvd_rank(), helpers.hvd_local_size()) == (2, hvd.rank(), 2)
        assert helpers.hvd_rank_prefix() == f"rank_{hvd.rank()}_"
        result(devices=len(tf.config.list_physical_devices("HPU")))
    """
    for got in run_code(tmp_path, code):
        assert got["devices"] == 1
