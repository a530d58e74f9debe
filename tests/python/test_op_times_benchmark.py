"""benchmarks/op_times.py: rows of one op, and workers that end."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from benchmarks.op_times import Worker
from tests.support.processes import WARM_PYTHON, run

COMMAND = [WARM_PYTHON, "-m", "benchmarks.op_times", "--worker", "--rounds", "1", "--seconds", "0.001"]


def rows_of(output: str) -> list[dict[str, Any]]:
    lines = output.split("\n\n")[0].splitlines()
    return [json.loads(line) for line in lines if not line.startswith("seed ")]


def test_rows_of_an_op() -> None:
    rows = rows_of(run(COMMAND, input="Neg 0\n").stdout)
    assert [(row["size"], row["how"]) for row in rows] == [
        (size, how) for size in (100, 100_000) for how in ("eager", "function")
    ]
    assert all(row["hpu"] > 0 and row["cpu"] > 0 for row in rows)
    assert all(0.5 < row["elements"] / row["size"] < 2 for row in rows)


def test_rows_of_one_size() -> None:
    (row,) = rows_of(run([*COMMAND, "--sizes", "1000", "--how", "function"], input="Neg 0\n").stdout)
    assert (row["size"], row["how"]) == (1000, "function")


def test_arguments_that_end_a_worker_are_skipped(capsys: pytest.CaptureFixture[str]) -> None:
    worker = Worker([sys.executable, "-m", "tests.python.op_times_programs"], timeout=2)
    seeds = {op: [row.elements for row in worker.rows(op)] for op in ("Neg", "End", "Abort", "Hang", "Exp")}
    worker.close()
    assert seeds == {"Neg": [0], "End": [1], "Abort": [], "Hang": [], "Exp": [0]}
    ends = [
        f"{op}: the worker ended: {end}" for op, end in (("Abort", "SIGABRT"), ("Hang", "SIGKILL")) for _ in range(3)
    ]
    assert capsys.readouterr().err.splitlines() == ["End: the worker ended: SIGABRT", *ends]
