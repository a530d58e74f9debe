"""Special values that coincide in the operands of elementwise ops. `python -m tests.ops.pairs_program` prints them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.ops.sweep import pairs
from tests.ops.sweep.records import Mode

pytestmark = pytest.mark.usefixtures("hpu")


@pytest.fixture(autouse=True)
def single_ops_are_clusters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HPU_MIN_CLUSTER_SIZE", "1")


def assert_only_known_differences(op: str, types: Sequence[str], modes: Sequence[Mode]) -> None:
    """Checks that each difference is known, and that each known difference occurs."""
    expected = {entry for entry in pairs.known() if entry.types[0] in types and entry.is_of(op, entry.types[0])}
    found, unknown = set(), []
    for grid in pairs.grids(op, types):
        for difference in pairs.differences(grid, modes):
            for text in difference.places or [difference.detail]:
                fitting = [entry for entry in pairs.known() if entry.fits(grid, text)]
                found.update(fitting)
                if not fitting:
                    unknown.append(f"{grid.name}, {difference.mode.value}, call {difference.call}: {text}")
    assert not unknown, unknown[:20]
    assert not expected - found, "remove these entries of pair_differences.yaml, which no difference matches"


@pytest.mark.parametrize("op", pairs.ops())
def test_graphs(op: str) -> None:
    assert_only_known_differences(op, ["float32", "int32", "int64"], [Mode.GRAPH, Mode.GRADIENT])


@pytest.mark.slow
@pytest.mark.parametrize("op", pairs.ops())
def test_all_types_and_modes(op: str) -> None:
    assert_only_known_differences(op, pairs.TYPES, pairs.MODES)
