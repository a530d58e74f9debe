"""NaN and infinities in maxima and minima equal the CPU kernels', which compare instead of propagating NaN."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.ops.outcomes import differences
from tests.support.processors import LIKE_THE_CPU_WITH_AVX512

pytestmark = pytest.mark.usefixtures("hpu")

raw = tf.raw_ops
NAN = np.nan
ROW = [NAN, 1, NAN, NAN, -np.inf, -np.inf, 2, NAN]
FLOATS = [tf.float32, tf.float64, tf.float16, tf.bfloat16]


def differences_of_graphs(function: Callable[[], Any]) -> list[str]:
    """Omits eager calls, which start with TensorFlow's kernels. These treat NaN differently from oneDNN."""
    return [difference for difference in differences(function) if not difference.startswith("eager call")]


@pytest.mark.parametrize("padding", ["VALID", "SAME"])
@pytest.mark.parametrize("channels", [1, 8])
@pytest.mark.parametrize(
    "dtype",
    [*FLOATS[:-1], pytest.param(tf.bfloat16, marks=LIKE_THE_CPU_WITH_AVX512)],
    ids=lambda dtype: dtype.name,
)
def test_max_pool(dtype: tf.DType, channels: int, padding: str) -> None:
    x = tf.tile(tf.reshape(tf.constant(ROW, dtype), [1, 1, 8, 1]), [1, 2, 1, channels])
    windows: dict[str, Any] = {"ksize": [1, 1, 2, 1], "strides": [1, 1, 2, 1], "padding": padding}
    found = differences_of_graphs if dtype == tf.bfloat16 else differences
    assert not found(lambda: raw.MaxPool(input=x, **windows))
    assert not differences(lambda: raw.MaxPoolV2(input=x, **windows))


@pytest.mark.parametrize("dtype", [tf.float32, tf.bfloat16], ids=lambda dtype: dtype.name)
@LIKE_THE_CPU_WITH_AVX512
def test_max_pool_of_volumes(dtype: tf.DType) -> None:
    x = tf.reshape(tf.constant(ROW, dtype), [1, 1, 1, 8, 1])
    assert not differences_of_graphs(
        lambda: raw.MaxPool3D(input=x, ksize=[1, 1, 1, 3, 1], strides=[1, 1, 1, 2, 1], padding="SAME")
    )


# With many columns, the CPU's kernels use vector instructions.
@pytest.mark.parametrize("columns", [1, 9])
@pytest.mark.parametrize("op", ["ScatterMax", "ScatterMin"])
def test_scatter(op: str, columns: int) -> None:
    def tiled(column: list[float]) -> tf.Tensor:
        return tf.constant(np.tile(np.array(column, np.float32)[:, None], (1, columns)))

    start, updates = tiled([1, NAN, NAN, 5]), tiled([NAN, 2, NAN, 7])
    rows = tf.constant([0, 1, 2, 3])

    def scatter() -> Any:
        return getattr(raw, f"Tensor{op}")(tensor=start, indices=rows[:, None], updates=updates)

    assert not differences(scatter)
    results = []
    for device in ("/device:CPU:0", "/device:HPU:0"):
        with tf.device(device):
            variable = tf.Variable(start)

            def assign(handle: tf.Tensor = variable.handle) -> None:
                getattr(raw, f"Resource{op}")(resource=handle, indices=rows, updates=updates)

            step = tf.function(assign)
            for _ in range(3):
                step()
            results.append(variable.numpy())
    np.testing.assert_array_equal(results[1], results[0])


@pytest.mark.parametrize("dtype", FLOATS, ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("op", [tf.argmax, tf.argmin])
def test_positions(op: Callable[..., tf.Tensor], dtype: tf.DType) -> None:
    rows = [ROW, ROW[::-1], [NAN] * 8, [np.inf, NAN, -np.inf, NAN, np.inf, 0, -0.0, 1]]
    x = tf.constant(rows, dtype)
    assert not differences(lambda: op(x, 1))
    assert not differences(lambda: op(x, 0))
    assert not differences(lambda: op(tf.tile(x, [512, 1]), 1))  # large enough for the emulator's kernel


@pytest.mark.parametrize("columns", [1, 9])
@pytest.mark.parametrize("dtype", FLOATS, ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("op", ["UnsortedSegmentMax", "UnsortedSegmentMin"])
def test_segments(op: str, dtype: tf.DType, columns: int) -> None:
    orders = np.array(list(itertools.product([1, 2, NAN], repeat=4)))
    data = tf.constant(np.tile(orders.reshape(-1, 1), (1, columns)), dtype)
    ids = tf.repeat(tf.range(len(orders)), 4)
    # The last segment is empty. A negative id is ignored.
    ids = tf.concat([ids[:-1], [-1]], 0)
    assert not differences(lambda: getattr(raw, op)(data=data, segment_ids=ids, num_segments=len(orders) + 1))


INFINITE = np.array([[-3.4e38, np.inf, 6e-4], [-2.4, -1.8, 1.4], [4.3, 0.05, 0.45]], np.float32)


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64], ids=lambda dtype: dtype.name)
def test_decompositions_of_infinite_matrices(dtype: tf.DType) -> None:
    """The CPU returns NaN without an error, so that compiled code's result is replaced by the CPU kernel's."""
    x = tf.cast(INFINITE, dtype)
    right = tf.ones([3, 2], dtype)
    for call in (
        lambda: raw.Lu(input=x),
        lambda: raw.MatrixInverse(input=x),
        lambda: raw.MatrixSolve(matrix=x, rhs=right),
    ):
        assert not [found for found in differences(call) if found.startswith("eager")]


@pytest.mark.parametrize("axis", [-1, 0, 1])
@pytest.mark.parametrize("dtype", [tf.float32, tf.float64, tf.float16], ids=lambda dtype: dtype.name)
def test_measured_ranges(dtype: tf.DType, axis: int) -> None:
    """The range is that of the numbers. NaN is a limit only along inner axes."""
    x = tf.constant([[1.5, NAN, -0.5, 3], [NAN, 0.25, 2, -4], [NAN, NAN, NAN, 0.5]], dtype)
    limits: dict[str, Any] = {"input_min": tf.zeros([], dtype), "input_max": tf.zeros([], dtype), "range_given": False}
    if axis >= 0:
        limits |= {name: tf.zeros([x.shape[axis]], dtype) for name in ("input_min", "input_max")}
    assert not differences(lambda: raw.QuantizeAndDequantizeV2(input=x, num_bits=5, axis=axis, **limits))
    assert not differences(lambda: raw.QuantizeAndDequantizeV3(input=x, num_bits=5, axis=axis, **limits))
    assert not differences(lambda: raw.QuantizeAndDequantizeV4(input=x, num_bits=5, axis=axis, **limits))
