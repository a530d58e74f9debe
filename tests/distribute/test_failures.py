"""Workers that are lost, late or restarted."""

from __future__ import annotations

import json
import pathlib
import sys
import textwrap
from typing import Any

import pytest

from tests.distribute.jobs import run_job
from tests.support.processes import run

PROGRAM = pathlib.Path(__file__).with_name("lost_worker.py")


def train(directory: pathlib.Path, *arguments: str) -> None:
    run([sys.executable, str(PROGRAM), "--out", str(directory), *arguments], timeout=200)


def outcome(directory: pathlib.Path, rank: int) -> dict[str, Any]:
    fields: dict[str, Any] = json.loads((directory / f"outcome_{rank}.json").read_text())
    return fields


def check_error(directory: pathlib.Path, lost: int, left: int) -> None:
    """The worker that is left was told which one is lost, in good time."""
    ended = outcome(directory, left)
    assert f"/job:worker/replica:0/task:{lost}" in ended["error"]
    assert ended["ended"] - float((directory / "killed").read_text()) < 30


def test_a_lost_worker_is_named_and_a_restart_reaches_the_same_loss(tmp_path: pathlib.Path) -> None:
    train(tmp_path, "--kill", "1", "--backup")
    check_error(tmp_path, 1, 0)
    train(tmp_path, "--backup")
    restarted = [outcome(tmp_path, rank) for rank in range(2)]
    assert restarted[0]["error"] == ""
    assert restarted[0]["epochs"][0] > 0, "it began anew"
    (tmp_path / "alone").mkdir()
    train(tmp_path / "alone", "--workers", "1")
    expected = outcome(tmp_path / "alone", 0)["losses"][-1]
    for worker in restarted:
        assert worker["losses"][-1] == pytest.approx(expected, rel=1e-4)


@pytest.mark.slow
def test_the_lost_worker_is_the_leader(tmp_path: pathlib.Path) -> None:
    train(tmp_path, "--kill", "0")
    check_error(tmp_path, 0, 1)


def test_a_stall_is_explained(tmp_path: pathlib.Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(
        textwrap.dedent("""
            import time
            import tensorflow as tf
            from habana_frameworks.tensorflow import multinode_helpers
            from habana_frameworks.tensorflow.distribute import HPUStrategy
            strategy = HPUStrategy()

            @tf.function
            def step(x):
                context = tf.distribute.get_replica_context
                return strategy.run(lambda: context().all_reduce("sum", tf.tanh(x)))

            step(tf.zeros((2, 3)))
            if multinode_helpers.comm_rank() == 1:
                time.sleep(4)
            step(tf.zeros((2, 3)))
        """)
    )
    environment = {"HPU_COLLECTIVE_STALL_S": "1", "TF_CPP_MIN_LOG_LEVEL": "1"}
    result = run_job(2, script, environment=environment)
    (line,) = [line for line in result.output.splitlines() if "HPU_COLLECTIVE_STALL_S" in line]
    assert line.startswith("[0] ")
    assert "(CollectiveReduceV2 of float[6], group " in line
    assert "has waited 1s for other workers" in line
    assert "rank 0 (/job:worker/replica:0/task:0) this process" in line
    assert "rank 1 (/job:worker/replica:0/task:1) is up" in line
