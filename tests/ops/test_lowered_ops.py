"""Ops that XLA compiles for the HPU also run eagerly on it for each dtype, or are listed here with a reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module
from tests.ops import registry
from tests.ops.variable_cases import DTYPES
from tests.support.compare import CPU, HPU, Tolerance, assert_close

load_habana_module()
pytestmark = pytest.mark.usefixtures("hpu")

WITHOUT_A_KERNEL = {
    "a tensor array lives on the CPU, clusters hold those that they make themselves": """
        TensorArrayCloseV3 TensorArrayConcatV3 TensorArrayGatherV3 TensorArrayGradV3 TensorArrayReadV3
        TensorArrayScatterV3 TensorArraySizeV3 TensorArraySplitV3 TensorArrayV3 TensorArrayWriteV3""",
    "the sizes of its results are data, which functions with jit_compile=True allow": """
        ListDiff NonMaxSuppressionV3 NonMaxSuppressionV4 UniqueV2""",
    "is made by TensorFlow's ahead-of-time compiler": "_XlaAotOnlyVarHandleOp",
}


def test_each_op_has_a_kernel_or_a_reason() -> None:
    without = {
        op
        for op, devices in registry.kernels_by_device().items()
        if "XLA_HPU_JIT" in devices and not {"HPU", "DEFAULT"} & set(devices)
    }
    assert without == {op for ops in WITHOUT_A_KERNEL.values() for op in ops.split()}


# Ops that the HPU supports for only some of the CPU's dtypes. The CPU runs the other dtypes.
GAPS: dict[str, Callable[[], Any]] = {
    "Cumprod": lambda: tf.math.cumprod(tf.constant([1 + 1j, 2j, 3])),
    "Cumsum": lambda: tf.cumsum(tf.constant([1, 2, 3], tf.int8)),
    "DataFormatDimMap": lambda: tf.raw_ops.DataFormatDimMap(x=tf.constant([0, 3], tf.int64)),
    "DataFormatVecPermute": lambda: tf.raw_ops.DataFormatVecPermute(x=tf.constant([1, 2, 3, 4], tf.int64)),
    "EuclideanNorm": lambda: tf.math.reduce_euclidean_norm(tf.constant([3j, 4])),
    "LeakyRelu": lambda: tf.raw_ops.LeakyRelu(features=tf.constant([1.0, -2.0], tf.float64)),
    "MatrixInverse": lambda: tf.linalg.inv(tf.constant([[2j, 0], [0, 4]])),
    "MatrixSolve": lambda: tf.linalg.solve(tf.constant([[2j, 0], [0, 4]]), tf.constant([[1 + 0j], [2]])),
    "Qr": lambda: tf.linalg.qr(tf.constant([[2j, 0], [0, 4]])),
    "RFFT": lambda: tf.signal.rfft(tf.constant([1, 2, 3, 4], tf.float64)),
    "Svd": lambda: tf.linalg.svd(tf.constant([[2j, 0], [0, 4]]), compute_uv=False),
    "TopKV2": lambda: tf.math.top_k(tf.constant([1, 3, 2], tf.uint16), 2).values,
    "expm": lambda: tf.linalg.expm(tf.constant([[0.1j, 0], [0, 0.2]])),
}


def gradient_of_expm() -> tf.Tensor:
    with tf.GradientTape() as tape:
        x = tf.constant([[0.1j, 0], [0, 0.2]])
        tape.watch(x)
        y = tf.abs(tf.linalg.expm(x))
    return tape.gradient(y, x)


@pytest.mark.parametrize("graph", [False, True], ids=["eager", "graph"])
@pytest.mark.parametrize("name", [*GAPS, "gradient_of_expm"])
def test_types_that_the_hpu_lacks(name: str, graph: bool) -> None:
    call = GAPS.get(name, gradient_of_expm)
    results = []
    for device in (CPU, HPU):
        with tf.device(device):
            results.append(tf.function(call, autograph=False)() if graph else call())
    assert_close(results[1], results[0], Tolerance(1e-5, 1e-5), context=name)


def test_each_type_of_an_op_on_arrays_has_a_kernel_somewhere() -> None:
    """For each op and dtype that XLA compiles for the HPU, the HPU or the CPU has a kernel."""
    only_with_jit = {"StatefulUniformInt"}  # for unsigned dtypes, which the CPU kernel also lacks
    missing = []
    for op, devices in registry.kernels_by_device().items():
        if "HPU" not in devices or registry.op_def(op) is None or op in only_with_jit:
            continue
        for kernel in devices.get("XLA_HPU_JIT", []):
            for types in registry.choices(kernel, DTYPES):
                if not registry.has_kernel(op, "HPU", types) and not registry.has_kernel(op, "CPU", types):
                    missing.append((op, {name: tf.as_dtype(enum).name for name, enum in types.items()}))
    assert not missing


def test_numbers_of_an_op_that_only_xla_has_do_not_change_with_its_calls() -> None:
    with tf.device(HPU):
        found = [tf.raw_ops.XlaSplitND(input=np.arange(4), N=2, num_splits=[2]) for _ in range(4)]
    assert all(part.numpy().tolist() == [0, 1] for part, _ in found)
