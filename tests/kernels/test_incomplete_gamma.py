"""Incomplete gamma functions and their derivatives on the HPU: results equal the CPU's, also for special values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.support.compare import Tolerance, assert_same_graph

pytestmark = pytest.mark.usefixtures("hpu")


def derivative(a: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
    return tf.raw_ops.IgammaGradA(a=a, x=x)


def derivative_of_samples(a: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
    return tf.raw_ops.RandomGammaGrad(alpha=a, sample=x)


Function = Callable[[tf.Tensor, tf.Tensor], tf.Tensor]
VALUES: Sequence[Function] = (tf.math.igamma, tf.math.igammac)
FUNCTIONS: Sequence[Function] = (*VALUES, derivative, derivative_of_samples)
SPECIAL = (0, -0.0, 1, 0.5, 2, 1e-30, 1e30, -1, -2.5, np.inf, -np.inf, np.nan)
TOLERANCES = {
    "float64": Tolerance(1e-9, 1e-12),
    "float32": Tolerance(1e-4, 3e-6),
    "float16": Tolerance(2e-3, 2e-3),
    "bfloat16": Tolerance(2e-2, 2e-2),
}
CASES = [
    (function, dtype)
    for function in FUNCTIONS
    for dtype in TOLERANCES
    if function in VALUES or dtype in ("float32", "float64")  # types of the CPU's kernels
]


def grid(numbers: Sequence[float], factors: Sequence[float], dtype: str) -> list[Any]:
    """Returns pairs of the numbers, of which the second is multiplied by each factor."""
    with np.errstate(all="ignore"):
        pairs = np.meshgrid(numbers, np.outer(numbers, factors))
        return [part.ravel().astype(tf.as_dtype(dtype).as_numpy_dtype) for part in pairs]


@pytest.mark.parametrize(("function", "dtype"), CASES)
def test_numbers(function: Function, dtype: str) -> None:
    numbers = (1e-3, 0.03, 0.1, 0.5, 0.9, 1, 1.1, 1.5, 2, 3, 5, 10, 30, 100, 150)
    pairs = grid(numbers, (0.7, 0.97, 1, 1.03, 1.3), dtype)
    assert_same_graph(function, *pairs, gradients=False, tolerance=TOLERANCES[dtype])


@pytest.mark.parametrize(("function", "dtype"), CASES)
def test_special_values(function: Function, dtype: str) -> None:
    pairs = grid(SPECIAL, (1,), dtype)
    assert_same_graph(function, *pairs, gradients=False, tolerance=TOLERANCES[dtype])


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_large_orders_have_finite_results(function: Function, dtype: str) -> None:
    orders = np.array([1e4, 1e6, 1e10, 1e15, 1e20, 1e30], dtype)
    for factor in (0.5, 1, 1.0001, 2):
        pair = [orders, orders * np.array(factor, dtype)]
        with tf.device("/device:CPU:0"):
            expected = function(*map(tf.constant, pair))
        with tf.device("/device:HPU:0"):
            results = tf.function(function)(*map(tf.constant, pair))
        assert (np.isfinite(results) >= np.isfinite(expected)).all()


def test_orders_for_which_the_cpu_is_inaccurate() -> None:
    orders = np.array([3e3, 1e4, 1e5], np.float32)
    with tf.device("/device:CPU:0"):
        exact = tf.math.igamma(orders.astype(np.float64), orders.astype(np.float64) * 0.999)
    with tf.device("/device:HPU:0"):
        results = tf.function(tf.math.igamma)(tf.constant(orders), tf.constant(orders * np.float32(0.999)))
    np.testing.assert_allclose(results, exact, rtol=2e-3)


@pytest.mark.parametrize("shapes", [((), ()), ((3, 1), (4,)), ((), (5,)), ((0, 2), (1, 2))])
def test_shapes(shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    generator = np.random.default_rng(3)
    pair = [np.array(generator.uniform(0.1, 5, shape), np.float32) for shape in shapes]
    for function in FUNCTIONS:
        assert_same_graph(function, *pair, gradients=function is tf.math.igamma, tolerance=TOLERANCES["float32"])


def test_an_unknown_number_of_rows() -> None:
    generator = np.random.default_rng(4)
    signature = [tf.TensorSpec([None, 3]), tf.TensorSpec([3])]
    pair = [generator.uniform(0.1, 5, shape).astype(np.float32) for shape in ((7, 3), (3,))]
    assert_same_graph(tf.math.igamma, *pair, signature=signature, tolerance=TOLERANCES["float32"])
