"""benchmarks/compile_growth.py: compile times of an op, growth in recorded times, and compiles that take too long."""

from __future__ import annotations

import json
import sys

import pytest

from benchmarks import compile_growth
from benchmarks.compile_growth import Compiler, Row, growths
from tests.support.processes import WARM_PYTHON, run


def row(size: int, seconds: float, op: str = "Sort", constants: bool = False) -> Row:
    return Row(op, size, constants, size, seconds, 0.0, seconds, "")


def test_an_op_and_a_case_that_do_not_grow() -> None:
    command = [WARM_PYTHON, "-m", "benchmarks.compile_growth", "--json", "--sizes", "1000", "100", "--floor", "30"]
    rows = [Row(**json.loads(line)) for line in run([*command, "AddV2", "case:Range"]).stdout.splitlines()]
    assert [(r.op, r.size, r.elements, r.constants) for r in rows] == [
        ("AddV2", 100, 100, False),
        ("AddV2", 1000, 1000, False),
        ("AddV2", 100, 100, True),
        ("AddV2", 1000, 1000, True),
        ("case:Range", 100, 100, False),
        ("case:Range", 1000, 1000, False),
    ]
    assert rows[0].seconds > rows[0].lowering_seconds > 0


@pytest.mark.parametrize(
    "times, found",
    [
        ((0.01, 0.02, 0.05), []),
        ((0.01, 0.1, 0.19), []),  # below the floor
        ((0.3, 0.9, 2.7), []),  # below the factor
        ((0.01, 0.1, 10.0), [1000]),
        ((0.01, 0.3, 30.0), [100, 1000]),
    ],
)
def test_growths_of_recorded_times(times: tuple[float, ...], found: list[int]) -> None:
    rows = [row(10 ** (i + 2), seconds) for i, seconds in enumerate(times)]
    assert [growth.small.size for growth in growths(reversed(rows), factor=4, floor=0.2)] == found


def test_only_times_of_one_op_and_form_are_compared() -> None:
    rows = [row(100, 0.1), row(1000, 9.0, op="Add"), row(1000, 9.0, constants=True)]
    assert growths(rows, factor=4, floor=0.2) == []


def test_the_exponent_of_a_growth() -> None:
    (growth,) = growths([row(100, 0.1), row(1000, 10.0)], factor=4, floor=0.2)
    assert growth.exponent == pytest.approx(2)
    assert growth.describe().startswith("Sort: 0.10 s for 100 elements, 10.00 s for 1000 (exponent 2.0;")


def test_a_compile_that_exceeds_the_limit_ends_the_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile_growth, "_MARGIN_S", 0)
    compiler = Compiler([sys.executable, "-S", "-c", "print('compiling', flush=True); input(); input()"], limit=0.5)
    (found,) = compiler.rows("Sort", False, [100, 1000])
    assert (found.size, found.exceeded, found.seconds) == (100, True, 0.5)
