"""Average pools with padding SAME divide by numbers that are computed from indices, not counted at the compile."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.support.compare import CPU, HPU, assert_close

POOLS = [([3, 3], [1, 1]), ([3, 3], [2, 2]), ([2, 5], [3, 1]), ([7, 6], [1, 1]), ([9, 20], [2, 3]), ([1, 4], [1, 9])]
TOLERANCES = {tf.float32: 1e-5, tf.float64: 1e-12, tf.bfloat16: 3e-2, tf.half: 3e-3}


def pooled(x: tf.Tensor, window: list[int], strides: list[int]) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns the averages, and the gradient of the sum of their squares."""
    with tf.GradientTape() as tape:
        tape.watch(x)
        averages = tf.nn.avg_pool(x, window, strides, "SAME")
        loss = tf.reduce_sum(averages * averages)
    return averages, tape.gradient(loss, x)


def reference(x: Any, window: list[int], strides: list[int]) -> tuple[Any, Any]:
    """As `pooled`, by NumPy: for windows larger than the image, gradients of TensorFlow's CPU kernel are wrong."""
    sizes = x.shape[1:-1]
    windows = [-(-size // stride) for size, stride in zip(sizes, strides)]
    before = [
        max((number - 1) * stride + width - size, 0) // 2
        for number, stride, width, size in zip(windows, strides, window, sizes)
    ]
    averages, gradient = np.zeros([x.shape[0], *windows, x.shape[-1]]), np.zeros_like(x)
    spatial = tuple(range(1, x.ndim - 1))
    for place in np.ndindex(*windows):
        starts = [index * stride - low for index, stride, low in zip(place, strides, before)]
        inside = tuple(
            slice(max(start, 0), min(start + width, size)) for start, width, size in zip(starts, window, sizes)
        )
        covered, window_itself = (slice(None), *inside), (slice(None), *(slice(index, index + 1) for index in place))
        part = x[covered]
        average = part.mean(spatial, keepdims=True)
        averages[window_itself] = average
        gradient[covered] += 2 * average * x.shape[0] * x.shape[-1] / part.size
    return averages, gradient


def compare(shape: list[int], window: list[int], strides: list[int], dtype: Any) -> None:
    values = np.random.RandomState(1).normal(size=shape)
    with tf.device(HPU):
        x = tf.constant(values, dtype)
        actual = [tf.cast(result, tf.float64).numpy() for result in tf.function(pooled)(x, window, strides)]
    rounded = tf.cast(x, tf.float64).numpy()
    for result, expected in zip(actual, reference(rounded, window, strides)):
        np.testing.assert_allclose(result, expected, rtol=TOLERANCES[dtype], atol=TOLERANCES[dtype])


@pytest.mark.parametrize(("window", "strides"), POOLS)
@pytest.mark.parametrize("dtype", TOLERANCES, ids=lambda dtype: dtype.name)
def test_images(hpu: str, window: list[int], strides: list[int], dtype: Any) -> None:
    compare([2, 7, 6, 3], window, strides, dtype)


@pytest.mark.parametrize(("window", "strides"), [([2, 3, 3], [1, 2, 1]), ([5, 1, 9], [2, 1, 2])])
def test_volumes(hpu: str, window: list[int], strides: list[int]) -> None:
    compare([2, 4, 5, 6, 2], window, strides, tf.float32)


def test_a_window_of_the_whole_image(hpu: str) -> None:
    """XLA's lowering would compile for a minute."""
    compare([1, 100, 100, 1], [100, 100], [50, 50], tf.float32)


def test_values_that_are_not_finite(hpu: str) -> None:
    x = np.ones([1, 4, 4, 1], np.float32)
    x[0, 0, 0], x[0, 3, 3], x[0, 0, 3] = np.inf, np.nan, -np.inf
    function = tf.function(lambda x: tf.nn.avg_pool(x, 3, 1, "SAME"))
    with tf.device(CPU):
        expected = function(tf.constant(x))
    with tf.device(HPU):
        assert_close(function(tf.constant(x)), expected)


def test_no_ones_are_counted(hpu: str) -> None:
    with tf.device(HPU):
        function = tf.function(lambda x: tf.nn.avg_pool(x, 3, 2, "SAME"), jit_compile=True)
        text = function.experimental_get_compiler_ir(tf.ones([1, 9, 9, 1]))(stage="hlo")
    assert text.count(" reduce-window(") == 1
