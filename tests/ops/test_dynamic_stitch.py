"""DynamicStitch and ParallelDynamicStitch: rows of several inputs by index."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

pytestmark = pytest.mark.usefixtures("hpu")

# Indices and the shape of a row.
CASES: dict[str, tuple[list[Any], tuple[int, ...]]] = {
    "vectors": ([[2, 0], [1, 3]], (4,)),
    "repeated": ([[0, 1, 1], [1, 0]], (2, 3)),
    "scalars": ([1, 0], ()),
    "matrix": ([[[0, 3], [2, 1]], [4]], (2,)),
    "empty input": ([[], [1, 0]], (3,)),
    "all empty": ([[], []], (2,)),
    "empty rows": ([[0, 1]], (0,)),
}


def data_for(indices: list[Any], row: tuple[int, ...], dtype: type) -> list[np.ndarray]:
    begin = 1
    data: list[np.ndarray] = []
    for index in indices:
        shape = np.shape(np.array(index, np.int32)) + row
        data.append(np.arange(begin, begin + int(np.prod(shape))).astype(dtype).reshape(shape))
        begin += data[-1].size
    return data


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.bool_])
@pytest.mark.parametrize("name", CASES)
def test_rows(name: str, dtype: type) -> None:
    indices, row = CASES[name]
    constants = [np.array(index, np.int32) for index in indices]
    data = data_for(indices, row, dtype)

    @tf.function(jit_compile=True)
    def stitch(data: list[tf.Tensor]) -> tf.Tensor:
        return tf.dynamic_stitch(constants, data)

    with tf.device("/device:CPU:0"):
        expected = tf.dynamic_stitch(constants, data)
    with tf.device("/device:HPU:0"):
        result = stitch([tf.constant(rows) for rows in data])
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("op", [tf.raw_ops.DynamicStitch, tf.raw_ops.ParallelDynamicStitch])
def test_rows_without_an_index_are_zero(op: Any) -> None:
    @tf.function(jit_compile=True)
    def stitch(data: tf.Tensor) -> tf.Tensor:
        return op(indices=[[3, 0]], data=[data])

    with tf.device("/device:HPU:0"):
        np.testing.assert_array_equal(stitch(tf.constant([[1.0, 2.0], [3.0, 4.0]])), [[3, 4], [0, 0], [0, 0], [1, 2]])


def test_negative_indices_are_refused() -> None:
    @tf.function(jit_compile=True)
    def stitch(data: tf.Tensor) -> tf.Tensor:
        return tf.dynamic_stitch([[0, -1]], [data])

    with tf.device("/device:HPU:0"), pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        stitch(tf.ones([2]))


def test_the_program_does_not_grow_with_the_rows() -> None:
    def instructions(rows: int) -> int:
        @tf.function(jit_compile=True)
        def stitch(data: tf.Tensor) -> tf.Tensor:
            return tf.dynamic_stitch([np.arange(rows)[::-1].copy(), [1]], [data, tf.ones([1])])

        with tf.device("/device:HPU:0"):
            text = stitch.experimental_get_compiler_ir(tf.ones([rows]))(stage="hlo", device_name="/device:HPU:0")
        return str(text).count(" = ")

    assert instructions(10) == instructions(500)
