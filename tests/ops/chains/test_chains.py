"""Random programs: results, errors and variables equal the CPU's, for any order of ops."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from tests.ops.chains.known import KNOWN
from tests.ops.chains.pool import examine_all

PROGRAMS = 120
SLOW_PROGRAMS = 20_000


def differences(seeds: Iterable[int]) -> list[str]:
    """Returns a command that reproduces each difference, with its description."""
    return [
        f"python -m tests.ops.chains --seed {outcome.seed} --shrink: {outcome.difference}"
        for outcome in examine_all(seeds, KNOWN)
        if outcome.difference
    ]


def test_programs() -> None:
    assert differences(range(PROGRAMS)) == []


@pytest.mark.parametrize(
    "seed",
    [
        pytest.param(20121, id="a loop that waits for a string variable"),
        pytest.param(20414, id="an inlined call beside a loop"),
        pytest.param(23401, id="a branch that waits for a switch"),
        pytest.param(25314, id="a branch of a case that waits for a switch"),
        pytest.param(27741, id="a call that takes another call's result"),
        pytest.param(23191, id="a branch with a result that nothing uses"),
        pytest.param(23754, id="a list of strings"),
        pytest.param(1004710, id="a list of strings that a function takes"),
        pytest.param(1013252, id="a branch that compiles only in part"),
    ],
)
def test_programs_that_once_failed(seed: int) -> None:
    assert differences([seed]) == []


@pytest.mark.slow
@pytest.mark.timeout(6 * 3600)
def test_many_programs() -> None:
    assert differences(range(1_000_000, 1_000_000 + SLOW_PROGRAMS)) == []
