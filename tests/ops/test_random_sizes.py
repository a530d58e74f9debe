"""Random programs whose sizes change from call to call: results and variables equal the CPU's."""

from __future__ import annotations

import pytest

from tests.ops.sweep.random_sizes import KNOWN, run_all

_SEEDS = (*range(1, 9), 2296, 2366, 2440, 2486, 2628, 4066)  # the latter had wrong values, or crashed
_SLOW_SEEDS = range(4_000, 4_200)


def _differences(seeds: range) -> list[str]:
    """Returns a command that reproduces each difference, with its description."""
    return [
        f"python -m tests.ops.sweep.random_sizes --only {result.run.seed}: {result.run.difference}"
        for result in run_all([seed for seed in seeds if seed not in KNOWN], explain=False)
        if result.run.difference
    ]


def test_programs() -> None:
    results = list(run_all([seed for seed in _SEEDS if seed not in KNOWN], explain=False))
    assert [(result.run.seed, result.run.difference) for result in results if result.run.difference] == []
    assert sum(result.run.bounded > 0 for result in results) > len(results) // 2


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_many_programs() -> None:
    assert _differences(_SLOW_SEEDS) == []
