"""Ops that backends want as marked calls are marked in HLO, with the CPU's results."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.gaudi import doubles
from tests.ops import marked_call_programs as programs
from tests.support.processes import call_to, run_with_tensorflow

EPSILON = "0.00100000005"  # 0.001 in float32
NORMS = [f"layer_norm {EPSILON}", f"layer_norm_gradient {EPSILON}"]
GAUDI_MARKS = [
    "gelu exact",
    "gelu tanh",
    "gelu_gradient tanh",
    *NORMS,
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


@pytest.mark.parametrize(
    ("backend", "marks"),
    [("emulator", []), ("pjrt:cpu", NORMS), (doubles.backend("1.18"), GAUDI_MARKS)],
    ids=["emulator", "pjrt", "gaudi"],
)
def test_marked_ops_have_the_cpus_results(backend: str, marks: list[str]) -> None:
    done = run_with_tensorflow(call_to(programs.compute), {"HPU_BACKEND": backend})
    output = json.loads(done.stdout.splitlines()[-1])
    assert output["operations"] == marks
    assert output["fallbacks"] == 0
    for name, values in output["expected"].items():
        # A sum of numbers with both signs has an error that is proportional to the largest number.
        largest = max([1.0, *map(abs, values)])
        np.testing.assert_allclose(output["got"][name], values, rtol=2e-4, atol=2e-6 * largest, err_msg=name)


@pytest.mark.parametrize(("backend", "has_marks"), [("emulator", False), ("pjrt:cpu", True)], ids=["emulator", "pjrt"])
def test_attention_whose_probabilities_have_no_other_use_is_marked(backend: str, has_marks: bool) -> None:
    done = run_with_tensorflow(call_to(programs.compute_attention), {"HPU_BACKEND": backend})
    results = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert [result["calls"] for result in results] == [calls * has_marks for calls in programs.ATTENTION.values()]
    for function, result in zip(programs.ATTENTION, results):
        assert result["error"] < (0.05 if function.__name__ == "_in_bfloat16" else 2e-5), function
