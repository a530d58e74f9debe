"""Horovod's ops with tensors and variables on the HPU, without soft placement."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.hvd import ops_programs as programs
from tests.hvd.jobs import run_code
from tests.support.processes import call_to

pytestmark = pytest.mark.timeout(660)  # one job runs all programs, on a busy machine

Ranks = list[dict[str, np.ndarray]]


@pytest.fixture(scope="module")
def ranks(tmp_path_factory: pytest.TempPathFactory) -> Ranks:
    """Each rank's results, named program.result."""
    return run_code(tmp_path_factory.mktemp("ops"), call_to(programs.all_programs))


def results_of(program: Callable[..., object], ranks: Ranks) -> Ranks:
    """Returns each rank's results of one program."""
    prefix = f"{program.__name__}."
    return [{n.removeprefix(prefix): v for n, v in rank.items() if n.startswith(prefix)} for rank in ranks]


def test_eager_ops(ranks: Ranks) -> None:
    results = results_of(programs.eager_ops, ranks)
    zero, one = np.arange(4.0), np.arange(4.0) + 10
    assert len(results) == 2
    for rank, got in enumerate(results):
        np.testing.assert_array_equal(got["sum"], zero + one)
        np.testing.assert_array_equal(got["after"], zero + one + 1)
        np.testing.assert_array_equal(got["first"], (zero + one) / 2)
        np.testing.assert_array_equal(got["second"], zero + one)
        np.testing.assert_array_equal(got["sparse"][:, 0], [0.5, 1.0, 0.5, 0.0])
        np.testing.assert_array_equal(got["largest"], one)
        np.testing.assert_array_equal(got["half"], zero + one)
        np.testing.assert_array_equal(got["gathered"], [0, 10, 11])
        np.testing.assert_array_equal(got["broadcast"], one)
        np.testing.assert_array_equal(got["exchanged"], [[0, 1, 10, 11], [2, 3, 12, 13]][rank])
        np.testing.assert_array_equal(got["scattered"], (zero + one)[2 * rank : 2 * rank + 2])
        np.testing.assert_array_equal(got["alone"], [zero, one][rank])
        np.testing.assert_array_equal(got["int32"], [1, 14])
        assert got["object"] == 1


def test_ops_in_functions(ranks: Ranks) -> None:
    results = results_of(programs.ops_in_functions, ranks)
    zero, one = np.arange(4.0), np.arange(4.0) + 10
    for rank, got in enumerate(results):
        np.testing.assert_array_equal(got["y"], (zero**2 + one**2) * 2)
        # The gradient of a sum over ranks is the sum of the ranks' gradients.
        np.testing.assert_array_equal(got["gradient"], [zero, one][rank] * 4)
        np.testing.assert_array_equal(got["gathered"], np.concatenate([zero, one]))
        assert got["size"] == 2 and got["rank"] == rank


def test_broadcast_of_variables(ranks: Ranks) -> None:
    for got in results_of(programs.broadcasts_of_variables, ranks):
        np.testing.assert_array_equal(got["doubled"], (np.arange(4) + 10) * 2 + 1)


def test_sessions(ranks: Ranks) -> None:
    zero, one = np.arange(4.0), np.arange(4.0) + 10
    for got in results_of(programs.sessions, ranks):
        np.testing.assert_array_equal(got["start"], zero)
        np.testing.assert_array_equal(got["total"], (zero + one) * 2 + 1)
        np.testing.assert_array_equal(got["trained"], zero - 0.5 * (zero + one) / 2)
