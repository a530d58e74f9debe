"""Ops with lowerings of our own in place of TensorFlow's by way of MLIR: their numbers are the CPU's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.support.compare import assert_same_graph

pytestmark = pytest.mark.usefixtures("hpu")

EQUATIONS = {
    "ab,cb->ac": ((2, 3), (4, 3)),
    "abc,cde->abde": ((2, 3, 4), (4, 5, 6)),
    "acbe,aecd->abcd": ((2, 4, 3, 6), (2, 6, 4, 5)),
    "...ab,...bc->...ac": ((2, 1, 3, 4), (5, 4, 2)),
    "a,a": ((5,), (5,)),
    "ab,ab->": ((2, 3), (2, 3)),
    "aab->ba": ((3, 3, 2),),
    "ab->b": ((2, 3),),
}


def values(*shape: int, dtype: Any = np.float32, seed: int = 5) -> Any:
    return (np.random.default_rng(seed).standard_normal(shape) * 3).astype(dtype)


def activations(x: tf.Tensor) -> Any:
    positive = tf.abs(x)
    return {
        "activations": (tf.nn.relu(x), tf.tanh(x), tf.sigmoid(x)),
        "powers": (
            tf.exp(x),
            tf.math.expm1(x),
            tf.math.log1p(positive),
            tf.sqrt(positive + 1),
            tf.math.rsqrt(positive + 1),
        ),
        "steps": (positive, tf.floor(x), tf.sign(x), tf.math.is_finite(x)),
    }


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_unary_ops(dtype: str) -> None:
    assert_same_graph(activations, values(4, 7, dtype=tf.as_dtype(dtype).as_numpy_dtype))


def test_edges_of_unary_ops() -> None:
    edges = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-30, -200.0, 200.0], np.float32)
    assert_same_graph(activations, edges, gradients=False)


def test_whole_numbers() -> None:
    assert_same_graph(lambda x: (tf.nn.relu(x), tf.abs(x), tf.sign(x)), values(4, 7, dtype=np.int32), gradients=False)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_sums_of_bias_gradients(dtype: str) -> None:
    def sums(matrix: tf.Tensor, images: tf.Tensor) -> Any:
        by_format = [tf.raw_ops.BiasAddGrad(out_backprop=images, data_format=name) for name in ("NHWC", "NCHW")]
        return tf.raw_ops.BiasAddGrad(out_backprop=matrix), by_format

    number = tf.as_dtype(dtype).as_numpy_dtype
    # Whole numbers, whose sums are exact up to 256 in bfloat16 too.
    matrix, images = (np.round(values(*shape)).astype(number) for shape in ((6, 5), (2, 3, 4, 5)))
    assert_same_graph(sums, matrix, images, gradients=False)


def test_einsum() -> None:
    operands = {
        equation: [values(*shape, seed=i) for i, shape in enumerate(EQUATIONS[equation])] for equation in EQUATIONS
    }

    def all_of_them(scale: tf.Tensor) -> Any:
        return {equation: tf.einsum(equation, *(scale * one for one in operands[equation])) for equation in EQUATIONS}

    assert_same_graph(all_of_them, np.array(1.0, np.float32))
