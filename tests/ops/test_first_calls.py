"""Eager ops that compile at the first call, because CPU kernels reject their attributes or ignore them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.ops.outcomes import EAGER_CALLS, differences
from tests.support.compare import CPU, HPU, assert_close
from tests.support.processors import LIKE_THE_CPU_WITH_AVX512

pytestmark = pytest.mark.usefixtures("hpu")
raw = tf.raw_ops


def numbers(*shape: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(0).integers(-3, 4, shape).astype(np.float32)


# Strides larger than the window, and dilations.
ATTRIBUTES = [
    ([1, 3, 3, 2, 1], [1, 1, 1, 1, 1]),
    pytest.param([1, 2, 2, 1, 1], [1, 1, 1, 2, 1], marks=LIKE_THE_CPU_WITH_AVX512),
    pytest.param([1, 1, 1, 1, 1], [1, 2, 2, 2, 1], marks=LIKE_THE_CPU_WITH_AVX512),
]


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("dtype", [tf.float32, tf.bfloat16], ids=lambda dtype: dtype.name)
@pytest.mark.parametrize(("strides", "dilations"), ATTRIBUTES)
def test_convolution_in_three_dimensions(
    strides: list[int], dilations: list[int], dtype: tf.DType, padding: str
) -> None:
    images = tf.Variable(tf.cast(numbers(2, 3, 3, 7, 3), dtype))
    filters = tf.Variable(tf.cast(numbers(1, 1, 2, 3, 2), dtype))

    def convolve() -> tf.Tensor:
        return raw.Conv3D(
            input=images.value(), filter=filters.value(), strides=strides, padding=padding, dilations=dilations
        )

    assert not differences(convolve)


@pytest.mark.parametrize("of", ["Filter", "Input"])
@LIKE_THE_CPU_WITH_AVX512
def test_gradient_of_a_dilated_depthwise_convolution(of: str) -> None:
    """Each call returns the compiled op's value, because the CPU's kernels ignore the dilations."""
    images, filters, gradient = numbers(2, 8, 6, 4), numbers(2, 2, 4, 1), numbers(2, 8, 6, 4)
    attributes = {"strides": [1, 1, 1, 1], "padding": "SAME", "dilations": [1, 2, 2, 1]}

    def function(images: tf.Tensor, filters: tf.Tensor, gradient: tf.Tensor) -> tf.Tensor:
        if of == "Filter":
            return raw.DepthwiseConv2dNativeBackpropFilter(
                input=images, filter_sizes=[2, 2, 4, 1], out_backprop=gradient, **attributes
            )
        return raw.DepthwiseConv2dNativeBackpropInput(
            input_sizes=[2, 8, 6, 4], filter=filters, out_backprop=gradient, **attributes
        )

    with tf.device(CPU), tf.GradientTape() as tape:  # one convolution per channel
        x, w = tf.constant(images), tf.constant(filters)
        tape.watch([x, w])
        channels = zip(tf.split(x, 4, 3), tf.split(w, 4, 2))
        y = tf.concat([tf.nn.conv2d(*one, strides=1, padding="SAME", dilations=2) for one in channels], 3)
        expected = tape.gradient(y, w if of == "Filter" else x, gradient)
    with tf.device(HPU):
        operands = [tf.constant(one) for one in (images, filters, gradient)]
        for call in range(EAGER_CALLS):
            assert_close(function(*operands), expected, context=f"call {call}")
        assert_close(tf.function(function)(*operands), expected)


def test_candidates_that_are_not_aggregated() -> None:
    """Each call returns as many candidates as shape inference predicts."""
    numbers = tf.Variable([[1.0, 3.0, 2.0]])
    with tf.device(HPU):
        found = [raw.ApproxTopK(input=numbers.value(), k=1, aggregate_to_topk=False) for _ in range(EAGER_CALLS)]
        compiled = tf.function(lambda: raw.ApproxTopK(input=numbers.value(), k=1, aggregate_to_topk=False))()
    assert {tuple(one.values.shape) for one in found} == {tuple(compiled.values.shape)}
    assert all(float(tf.reduce_max(one.values)) == 3 for one in found)
