"""benchmarks/op_times.py: rows of one op, and workers that end."""

from __future__ import annotations

import json
import sys

import pytest

from benchmarks.op_times import Worker
from tests.support.processes import WARM_PYTHON, run

COMMAND = [WARM_PYTHON, "-m", "benchmarks.op_times", "--worker", "--rounds", "1", "--seconds", "0.001"]


def test_rows_of_an_op() -> None:
    rows = [json.loads(line) for line in run(COMMAND, input="Neg\n").stdout.split("\n\n")[0].splitlines()]
    assert [(row["size"], row["how"]) for row in rows] == [
        (size, how) for size in (100, 100_000) for how in ("eager", "function")
    ]
    assert all(row["hpu"] > 0 and row["cpu"] > 0 for row in rows)
    assert all(0.5 < row["elements"] / row["size"] < 2 for row in rows)


def test_rows_of_one_size() -> None:
    command = [*COMMAND, "--sizes", "1000", "--how", "function"]
    (row,) = (json.loads(line) for line in run(command, input="Neg\n").stdout.split("\n\n")[0].splitlines())
    assert (row["size"], row["how"]) == (1000, "function")


def test_a_worker_that_ends_costs_one_op(capsys: pytest.CaptureFixture[str]) -> None:
    worker = Worker([sys.executable, "-m", "tests.python.ending_worker"], timeout=5)
    rows = {op: list(worker.rows(op)) for op in ("Neg", "End", "Abs", "Hang", "Exp")}
    worker.close()
    assert {op: len(found) for op, found in rows.items()} == dict.fromkeys(rows, 1)
    errors = capsys.readouterr().err
    assert errors.splitlines() == ["End: the worker ended: SIGABRT", "Hang: the worker ended: SIGKILL"]
