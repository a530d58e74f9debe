"""Horovod's ops with tensors and variables on the HPU, without soft placement."""

from __future__ import annotations

import pathlib

import numpy as np

from tests.hvd import ops_programs as programs
from tests.hvd.jobs import run_code
from tests.support.processes import call_to


def test_eager_ops(tmp_path: pathlib.Path) -> None:
    results = run_code(tmp_path, call_to(programs.eager_ops))
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


def test_ops_in_functions(tmp_path: pathlib.Path) -> None:
    results = run_code(tmp_path, call_to(programs.ops_in_functions))
    zero, one = np.arange(4.0), np.arange(4.0) + 10
    for rank, got in enumerate(results):
        np.testing.assert_array_equal(got["y"], (zero**2 + one**2) * 2)
        # The gradient of a sum over ranks is the sum of the ranks' gradients.
        np.testing.assert_array_equal(got["gradient"], [zero, one][rank] * 4)
        np.testing.assert_array_equal(got["gathered"], np.concatenate([zero, one]))
        assert got["size"] == 2 and got["rank"] == rank


def test_broadcast_of_variables(tmp_path: pathlib.Path) -> None:
    for got in run_code(tmp_path, call_to(programs.broadcasts_of_variables)):
        np.testing.assert_array_equal(got["doubled"], (np.arange(4) + 10) * 2 + 1)


def test_sessions(tmp_path: pathlib.Path) -> None:
    zero, one = np.arange(4.0), np.arange(4.0) + 10
    for got in run_code(tmp_path, call_to(programs.sessions)):
        np.testing.assert_array_equal(got["start"], zero)
        np.testing.assert_array_equal(got["total"], (zero + one) * 2 + 1)
        np.testing.assert_array_equal(got["trained"], zero - 0.5 * (zero + one) / 2)
