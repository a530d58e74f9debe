"""benchmarks/ops.py: format of its output lines."""

from __future__ import annotations

import collections

import pytest

from benchmarks import ops

LINES = ("max pool 1d gradient", "transposed conv 2x2/2", "segment maxima")


def test_lines_have_names_of_their_own() -> None:
    counts = collections.Counter(case.label for case in ops.cases())
    assert [label for label, count in counts.items() if count > 1] == []


@pytest.mark.usefixtures("hpu")
@pytest.mark.parametrize("name", LINES)
def test_line(name: str) -> None:
    case = next(case for case in ops.cases() if case.name == name)
    times = ops.measure(case, rounds=1, seconds_per_turn=0.001)
    result = ops.as_json(case, times)
    assert result["op"] == name
    assert result["ratio"]["median"] > 0
