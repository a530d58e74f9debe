"""tf.math.betainc on the HPU: results equal the CPU's, or are closer to float64's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.support.compare import Tolerance, assert_same_graph

pytestmark = pytest.mark.usefixtures("hpu")

TOLERANCES = {"float32": Tolerance(2e-5, 5e-5), "float64": Tolerance(1e-11, 1e-12)}


def drawn(largest: float, *shape: int, dtype: str = "float32") -> list[Any]:
    generator = np.random.default_rng(3)
    return [(generator.uniform(0, bound, shape) + 1e-6).astype(dtype) for bound in (largest, largest, 0.999998)]


def on_hpu(*arguments: Any) -> Any:
    with tf.device("/device:HPU:0"):
        return tf.function(tf.math.betainc)(*(tf.constant(argument) for argument in arguments)).numpy()


def exact(*arguments: Any) -> Any:
    with tf.device("/device:CPU:0"):
        return tf.math.betainc(*(tf.constant(argument.astype(np.float64)) for argument in arguments)).numpy()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_numbers(dtype: str) -> None:
    parts = zip(*(drawn(largest, 600, dtype=dtype) for largest in (0.1, 1, 10, 100)))
    arguments = [np.concatenate(part) for part in parts]
    assert_same_graph(tf.math.betainc, *arguments, gradients=False, tolerance=TOLERANCES[dtype])
    if dtype == "float32":
        # Includes small results, and large arguments, for which the CPU is less accurate.
        np.testing.assert_allclose(on_hpu(*arguments), exact(*arguments), rtol=1e-4, atol=3e-7)
        large = drawn(5000, 2400)
        np.testing.assert_allclose(on_hpu(*large), exact(*large), rtol=1e-5, atol=1e-3)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_edges(dtype: str) -> None:
    numbers = np.array([0, -0.0, 1, 0.5, 1e-30, np.nan, np.inf, -np.inf, -1, 2, 1e-7, 0.999, 30], dtype)
    grid = [array.ravel() for array in np.meshgrid(numbers, numbers, numbers)]
    assert_same_graph(tf.math.betainc, *grid, gradients=False, tolerance=TOLERANCES[dtype])


@pytest.mark.parametrize("shape", [(), (1,), (3, 0, 2)])
def test_few_elements(shape: tuple[int, ...]) -> None:
    assert_same_graph(tf.math.betainc, *drawn(3, *shape), gradients=False, tolerance=TOLERANCES["float32"])


@pytest.mark.parametrize("scalars", [(0,), (1, 2), (0, 2)])
def test_scalars_among_arrays(scalars: tuple[int, ...]) -> None:
    arguments = drawn(3, 4, 5)
    for number in scalars:
        arguments[number] = arguments[number][0, 0]
    assert_same_graph(
        lambda *given: tf.raw_ops.Betainc(a=given[0], b=given[1], x=given[2]),
        *(np.array(argument) for argument in arguments),
        gradients=False,
        tolerance=TOLERANCES["float32"],
    )


def test_gradient() -> None:
    a, b, x = drawn(3, 6, 7)
    assert_same_graph(lambda x: tf.math.betainc(a, b, x), x, tolerance=Tolerance(2e-5, 2e-5))


def test_shapes_that_do_not_fit() -> None:
    @tf.function(input_signature=[tf.TensorSpec(None), tf.TensorSpec(None)])
    def run(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
        return tf.raw_ops.Betainc(a=a, b=b, x=b)

    with tf.device("/device:HPU:0"), pytest.raises(tf.errors.InvalidArgumentError):
        run(tf.ones([3]), tf.ones([4]))
