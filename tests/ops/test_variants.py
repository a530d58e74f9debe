"""Zeros and sums of variants on the HPU: values and errors equal the CPU's for all contents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.ops.variant_cases import CASES
from tests.support.compare import CPU, HPU

pytestmark = pytest.mark.usefixtures("hpu")

OPS: dict[str, Callable[[tf.Tensor], tf.Tensor]] = {
    "zeros": lambda v: tf.zeros_like(v),
    "sum of two": lambda v: tf.raw_ops.AddN(inputs=[v, v]),
    "sum of three": lambda v: tf.raw_ops.AddN(inputs=[v, v, v]),
    "identity": lambda v: tf.identity(v),
}


def outcome(case: str, op: str, device: str | None, graph: bool) -> Any:
    def call() -> tf.Tensor:
        variant, look = CASES[case]()
        with tf.device(device):
            variant = OPS[op](variant)
        return look(variant)

    try:
        with tf.device(device if device == CPU else None):
            return (tf.function(call, autograph=False) if graph else call)().numpy()
    except tf.errors.OpError as error:
        return type(error)


@pytest.mark.parametrize("graph", [False, True], ids=["eager", "graph"])
@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("case", CASES)
def test_equals_the_cpu(case: str, op: str, graph: bool) -> None:
    if case == "list of bool" and op.startswith("sum") and graph:
        pytest.skip("a cluster adds booleans, as jit_compile=True does on the CPU")
    expected = outcome(case, op, CPU, graph)
    for device in (None, HPU):
        actual = outcome(case, op, device, graph)
        if isinstance(expected, type) or isinstance(actual, type):
            assert actual is expected, device
        else:
            np.testing.assert_array_equal(actual, expected, err_msg=str(device))
