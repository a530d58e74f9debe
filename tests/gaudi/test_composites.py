"""Ops that one Gaudi kernel computes become marked calls in HLO, with the CPU's results."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from tests.gaudi import composite_programs as programs
from tests.gaudi import doubles
from tests.support.processes import call_to, run_with_tensorflow

MARKS = [
    "gelu exact",
    "gelu tanh",
    "gelu_gradient tanh",
    "log_softmax ",
    "softmax ",
    "softmax_gradient ",
    "sparse_cross_entropy ",
    "unary erf",
    "unary erf_inv",
    "unary erfc",
    "unary lgamma",
    "unary sinh",
]


def run(backend: str) -> Any:
    done = run_with_tensorflow(call_to(programs.compute), {"HPU_BACKEND": backend})
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("release", ["1.18", None])
def test_marked_ops_have_the_cpus_results(release: str | None) -> None:
    output = run("emulator" if release is None else doubles.backend(release))
    assert output["operations"] == ([] if release is None else MARKS)
    assert output["fallbacks"] == 0
    for name, values in output["expected"].items():
        np.testing.assert_allclose(output["got"][name], values, rtol=2e-4, atol=2e-6, err_msg=name)
