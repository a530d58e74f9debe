"""What benchmarks.overlap reads from traces."""

from __future__ import annotations

from benchmarks.overlap import common


def test_time_that_is_in_both() -> None:
    assert common([(0, 2), (1, 4)], [(3, 5), (-1, 1)]) == 2
