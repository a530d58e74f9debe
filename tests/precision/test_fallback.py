"""CPU fallback of clusters and eager ops, including ops without a CPU kernel for their 16-bit type."""

from __future__ import annotations

import pytest

from tests.precision import fallback_programs as programs
from tests.support.processes import call_to, run_with_tensorflow

pytestmark = pytest.mark.cpu_fallback("the tests are about the fallback")


def test_ops_that_the_cpu_has_in_float32_only() -> None:
    environment = {"TF_BF16_CONVERSION": "full"}
    run_with_tensorflow(call_to(programs.ops_of_float32, falls_back=False), environment)
    run_with_tensorflow(call_to(programs.ops_of_float32, falls_back=True), {**environment, "HPU_FAULTS": "compile@1+"})


def test_updates_that_the_cpu_has_in_float32_only() -> None:
    run_with_tensorflow(call_to(programs.updates_of_float32, falls_back=False))
    run_with_tensorflow(call_to(programs.updates_of_float32, falls_back=True), {"HPU_FAULTS": "compile@1+"})


def test_an_eager_op_that_the_cpu_has_in_float32_only() -> None:
    run_with_tensorflow(call_to(programs.eager_op_of_float32), {"HPU_FAULTS": "compile@1+"})


def test_neither_the_hpu_nor_the_cpu_can_run_an_eager_op() -> None:
    run_with_tensorflow(call_to(programs.eager_op_of_neither_device), {"HPU_FAULTS": "compile@1+"})
