"""Functions of tf.math.special on the HPU: results equal the CPU's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.support.compare import Tolerance, assert_close, assert_same_graph

pytestmark = pytest.mark.usefixtures("hpu")

TOLERANCES = {"float64": Tolerance(1e-13, 2e-13), "float32": Tolerance(3e-6, 4e-6), "float16": Tolerance(2e-3, 1e-3)}
# Includes values around the bounds of the functions' piecewise formulas.
EDGES = (
    *(0.0, np.inf, np.nan, 1e-30, 1e-6, 5e-4, 1.0, 1.5, 1.6, 2.0, 3.25, 4.0, 5.0, 6.25, 8.0, 16.0, 32.0, 64.0),
    *(1.0000001, 2.0000002, 5.0000005, 100.0, 36974.0, 36976.0, 1e5, 3e9, 1e30),
)


def bessel(x: tf.Tensor) -> Any:
    special = tf.math.special
    return {
        "of the first kind": (special.bessel_j0(x), special.bessel_j1(x)),
        "of the second kind": (special.bessel_y0(x), special.bessel_y1(x)),
        "modified": (special.bessel_k0(x), special.bessel_k1(x)),
        "scaled": (special.bessel_k0e(x), special.bessel_k1e(x)),
    }


def integrals(x: tf.Tensor) -> Any:
    special = tf.math.special
    return {
        "Dawson's": special.dawsn(x),
        "exponential": special.expint(x),
        "Fresnel's": (special.fresnel_cos(x), special.fresnel_sin(x)),
        "Spence's": special.spence(x),
    }


def uniform(low: float, high: float, *shape: int, dtype: str = "float32") -> Any:
    return np.random.default_rng(7).uniform(low, high, shape).astype(dtype)


def edges(dtype: str) -> Any:
    return np.array([sign * edge for edge in EDGES for sign in (1, -1)], dtype)


@pytest.mark.parametrize("function", [bessel, integrals])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_special_functions(function: Any, dtype: str) -> None:
    tolerance = TOLERANCES[dtype]
    # More than 512 elements, so that kernels compute some sines.
    x = np.concatenate([uniform(0, high, 400, dtype=dtype) for high in (2, 10, 40)])
    assert_same_graph(function, x, gradients=False, tolerance=tolerance)


@pytest.mark.parametrize("function", [bessel, integrals])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_edges_of_special_functions(function: Any, dtype: str) -> None:
    # The CPU rounds large arguments of Fresnel functions.
    tolerance = Tolerance(1e-5, 2e-5) if dtype == "float32" else Tolerance(1e-13, 4e-12)
    assert_same_graph(function, edges(dtype), gradients=False, tolerance=tolerance)


@pytest.mark.parametrize("function", [bessel, integrals])
@pytest.mark.parametrize("shape", [(), (1,), (3, 0, 2)])
def test_special_functions_of_few_elements(function: Any, shape: tuple[int, ...]) -> None:
    assert_same_graph(function, uniform(0, 10, *shape), gradients=False, tolerance=TOLERANCES["float32"])


@pytest.mark.parametrize("function", [bessel, integrals])
def test_gradients_of_special_functions(function: Any) -> None:
    assert_same_graph(function, uniform(0.1, 1.9, 5, 7), tolerance=Tolerance(1e-5, 1e-5))


def test_bessel_functions_of_16_bits() -> None:
    x = uniform(-5, 40, 150, dtype="float16")
    assert_same_graph(bessel, x, gradients=False, tolerance=TOLERANCES["float16"])


@pytest.mark.parametrize("function", [bessel, integrals])
def test_special_functions_of_bfloat16(function: Any) -> None:
    # The CPU has no bfloat16 kernel.
    x = tf.cast(uniform(-2, 10, 300), tf.bfloat16)
    with tf.device("/device:HPU:0"):
        narrow, wide = tf.function(function)(x), tf.function(function)(tf.cast(x, tf.float32))
    assert_close(narrow, tf.nest.map_structure(lambda y: tf.cast(y, tf.bfloat16), wide))


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64, tf.float16, tf.bfloat16])
def test_error_functions_of_large_numbers(dtype: tf.DType) -> None:
    large = np.array([10, 30, 1e4, np.inf])
    x = np.concatenate([large, -large]).astype(dtype.as_numpy_dtype)
    with tf.device("/device:HPU:0"):
        erf, gelu = tf.function(lambda x: (tf.math.erf(x), tf.nn.gelu(x[:-1])))(tf.constant(x))
        erfc = tf.function(tf.math.erfc)(tf.constant(x))
    np.testing.assert_array_equal(erf, np.sign(x))
    # Newer TensorFlow returns the small numbers.
    np.testing.assert_allclose(tf.cast(gelu, tf.float64), np.maximum(x[:-1], 0).astype(np.float64), atol=1e-20)
    np.testing.assert_array_equal(erfc[4:], np.full(4, 2, x.dtype))
    assert np.all(tf.cast(erfc[:4], tf.float64) < 1e-44)


@pytest.mark.parametrize(("dtype", "denormal", "least"), [("float32", 1e-40, 1.2e-38), ("float64", 1e-310, 2.3e-308)])
def test_angles_of_denormals(dtype: str, denormal: float, least: float) -> None:
    numbers = np.array([0, denormal, 2 * denormal, least, 4 * least, 1, 1e20, np.inf])
    y, x = (part.ravel() for part in np.meshgrid([*numbers, *-numbers], [*numbers, *-numbers]))
    with tf.device("/device:HPU:0"):
        angles = tf.function(tf.math.atan2)(tf.constant(y, dtype), tf.constant(x, dtype)).numpy()
    np.testing.assert_allclose(angles, np.arctan2(y.astype(dtype), x.astype(dtype)), rtol=1e-3, atol=least)
    np.testing.assert_array_equal(np.signbit(angles), np.signbit(y))
