"""benchmarks/op_times.py: rows of one op."""

from __future__ import annotations

import json

from tests.support.processes import WARM_PYTHON, run


def test_rows_of_an_op() -> None:
    command = [WARM_PYTHON, "-m", "benchmarks.op_times", "--worker", "--rounds", "1", "--seconds", "0.001"]
    rows = [json.loads(line) for line in run(command, input="Neg\n").stdout.split("\n\n")[0].splitlines()]
    assert [(row["size"], row["how"]) for row in rows] == [
        (size, how) for size in (100, 100_000) for how in ("eager", "function")
    ]
    assert all(row["hpu"] > 0 and row["cpu"] > 0 for row in rows)
    assert all(0.5 < row["elements"] / row["size"] < 2 for row in rows)
