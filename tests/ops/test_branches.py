"""Branch cuts, poles, zeros, NaN and out-of-range arguments of functions: same branch as the CPU."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.support.compare import CPU, HPU

pytestmark = pytest.mark.usefixtures("hpu")

PARTS = (0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 1e-3, 1e3, -0.9999, 3.7)
INVERSES = (tf.acos, tf.acosh, tf.asin, tf.asinh, tf.atan, tf.atanh)
BITS = (np.int8, np.int32, np.int64, np.uint8, np.uint16, np.uint64)


def both(function: Any, *arguments: Any) -> tuple[Any, Any]:
    """Returns the results of the CPU kernel and of a compiled function on the HPU."""
    with tf.device(CPU):
        expected = function(*map(tf.constant, arguments)).numpy()
    with tf.device(HPU):
        compiled = tf.function(function, jit_compile=True)
        return expected, compiled(*map(tf.constant, arguments)).numpy()


def complex_numbers(dtype: Any) -> Any:
    near = [complex(a, b) for a, b in itertools.product(PARTS, PARTS)]
    dice = np.random.default_rng(1)
    return np.array([*near, *(3 * dice.standard_normal(200) + 3j * dice.standard_normal(200))], dtype)


@pytest.mark.parametrize("function", INVERSES, ids=lambda function: function.__name__)
@pytest.mark.parametrize(("dtype", "bound"), [(np.complex64, 1e-6), (np.complex128, 1e-14)])
def test_inverse_functions_of_complex_numbers(function: Any, dtype: Any, bound: float) -> None:
    expected, actual = both(function, complex_numbers(dtype))
    np.testing.assert_allclose(actual, expected, rtol=bound, atol=bound)


@pytest.mark.parametrize("function", [tf.math.log1p, tf.math.rsqrt], ids=lambda function: function.__name__)
def test_functions_of_complex_numbers_keep_their_digits(function: Any) -> None:
    numbers = complex_numbers(np.complex128)
    # On the cut, the CPU's rsqrt loses the sign of zeros, and its log1p loses the angle at the pole.
    numbers = numbers[(numbers.imag != 0) | (numbers.real > -0.9999)]
    numbers = numbers[(numbers.imag != 0) | (numbers.real > 0)]
    expected, actual = both(function, numbers)
    np.testing.assert_allclose(actual, expected, rtol=1e-13)


@pytest.mark.parametrize("function", [tf.math.zeta, tf.math.polygamma], ids=["zeta", "polygamma"])
@pytest.mark.parametrize(("dtype", "bound"), [(np.float32, 1e-5), (np.float64, 1e-10)])
def test_zeta(function: Any, dtype: Any, bound: float) -> None:
    orders = (0, 1, 1.5, 2, 3, 4, 6, 10, 30, -1, np.nan)
    places = (-3, -2.5, -1, -0.0, 0, 0.3, 0.9, 1, 2.5, 10, 1000, 1e10, np.inf, -np.inf, np.nan)
    x, q = (np.array(list(column), dtype) for column in zip(*itertools.product(orders, places)))
    expected, actual = both(function, x, q)
    np.testing.assert_allclose(actual, expected, rtol=bound, atol=1e-30)


def test_gradient_of_digamma_in_float64() -> None:
    def gradient(x: Any) -> Any:
        return tf.gradients(tf.math.digamma(x), x)[0]

    x = np.linspace(0.1, 9.0, 40)
    with tf.device(CPU):
        expected = tf.function(gradient)(tf.constant(x)).numpy()
    with tf.device(HPU):
        np.testing.assert_allclose(tf.function(gradient)(tf.constant(x)).numpy(), expected, rtol=1e-11)


@pytest.mark.parametrize("dtype", BITS)
@pytest.mark.parametrize("shift", [tf.bitwise.left_shift, tf.bitwise.right_shift], ids=["left", "right"])
def test_shifts_by_too_few_and_too_many_bits(shift: Any, dtype: Any) -> None:
    limits = np.iinfo(dtype)
    numbers = np.array([[limits.min], [limits.max], [77], [1]], dtype)
    bits = np.array([-1 if limits.min else 0, 0, 3, 7, 8, 31, 64, 100], dtype)
    expected, actual = both(shift, numbers, bits)
    np.testing.assert_array_equal(actual, expected)
    np.testing.assert_array_equal(*both(shift, numbers, np.array(5, dtype)))


@pytest.mark.parametrize("op", ["EluGrad", "SeluGrad"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_gradients_of_activations_at_zero_and_nan(op: str, dtype: Any) -> None:
    results = np.array([-1, -0.5, 0, -0.0, 1, np.nan, np.inf], dtype)
    gradients = np.full_like(results, 2)
    expected, actual = both(lambda g, y: getattr(tf.raw_ops, op)(gradients=g, outputs=y), gradients, results)
    np.testing.assert_allclose(actual, expected, rtol=2e-3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64])
@pytest.mark.parametrize("boundaries", [[], [2.0], [-1.0, 2.0, 3.0], [0.1, 0.1, 7.5]])
def test_buckets(dtype: Any, boundaries: list[float]) -> None:
    numbers = [-9, -1, 2, 3, 8, *([0.1, np.nan, np.inf, -np.inf] if np.issubdtype(dtype, np.floating) else [0])]
    expected, actual = both(lambda x: tf.raw_ops.Bucketize(input=x, boundaries=boundaries), np.array([numbers], dtype))
    np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.complex64])
def test_conjugate_transposes(dtype: Any) -> None:
    matrices = (np.arange(24).reshape(2, 3, 4) * (1 + 2j)).astype(dtype)
    expected, actual = both(lambda x: tf.raw_ops.ConjugateTranspose(x=x, perm=[2, 0, 1]), matrices)
    np.testing.assert_array_equal(actual, expected)
    assert actual.dtype == dtype
