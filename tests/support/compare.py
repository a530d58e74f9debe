"""Comparison of the HPU with the CPU in one process, with common tolerances."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from tests.support import results
from tests.support.clusters import assert_launched

CPU = "/device:CPU:0"
HPU = "/device:HPU:0"


class Tolerance(NamedTuple):
    """Arguments of numpy.testing.assert_allclose."""

    rtol: float
    atol: float


# Accepted differences between sums in different orders. Results of other dtypes must be equal.
TOLERANCES = {
    "float64": Tolerance(1e-12, 1e-12),
    "float32": Tolerance(1e-5, 1e-5),
    "bfloat16": Tolerance(2e-2, 2e-2),
    "float16": Tolerance(2e-3, 2e-3),
    "complex64": Tolerance(1e-5, 1e-5),
}


def as_numpy(value: Any) -> np.ndarray[Any, Any]:
    """Converts a tensor, variable or number to an array that NumPy can compare (bfloat16 as float32)."""
    array = np.asarray(tf.convert_to_tensor(value).numpy())
    return array.astype(np.float32) if array.dtype == tf.bfloat16.as_numpy_dtype else array


def distance(one: Sequence[np.ndarray[Any, Any]], other: Sequence[np.ndarray[Any, Any]]) -> float:
    """Returns the Euclidean norm of the difference of two models' weights."""
    return float(np.sqrt(sum(np.square(a.astype(np.float64) - b).sum() for a, b in zip(one, other))))


def assert_close(actual: Any, expected: Any, tolerance: Tolerance | None = None, context: str = "") -> None:
    """Compares nested structures of tensors with the tolerance of each dtype."""
    results.note(actual)
    tf.nest.assert_same_structure(actual, expected, expand_composites=True)
    pairs = zip(tf.nest.flatten(actual, expand_composites=True), tf.nest.flatten(expected, expand_composites=True))
    for index, (one, other) in enumerate(pairs):
        one, other = tf.convert_to_tensor(one), tf.convert_to_tensor(other)
        assert one.dtype == other.dtype, f"{context} result {index}: {one.dtype} instead of {other.dtype}"
        limits = tolerance or TOLERANCES.get(one.dtype.name, Tolerance(0, 0))
        np.testing.assert_allclose(
            as_numpy(one), as_numpy(other), rtol=limits.rtol, atol=limits.atol, err_msg=f"{context} result {index}"
        )


def assert_same_on_hpu(function: Callable[..., Any], *arguments: Any, tolerance: Tolerance | None = None) -> Any:
    """Compares `function` on the CPU and on the HPU, and returns the HPU's results.

    Arrays among the arguments become tensors on the current device.
    """
    results = []
    for device in (CPU, HPU):
        with tf.device(device):
            results.append(function(*[tf.constant(a) if isinstance(a, np.ndarray) else a for a in arguments]))
    expected, actual = results
    assert_close(actual, expected, tolerance, context=getattr(function, "__name__", ""))
    return actual


def with_gradients(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function that computes `function` and the gradients of its float results with respect to float
    arguments.
    """

    def run(*arguments: Any) -> Any:
        floats = [argument for argument in arguments if tf.is_tensor(argument) and argument.dtype.is_floating]
        with tf.GradientTape() as tape:
            tape.watch(floats)
            results = function(*arguments)
        targets = [result for result in tf.nest.flatten(results) if result.dtype.is_floating]
        return results, tape.gradient(targets, floats, unconnected_gradients="zero")

    run.__name__ = getattr(function, "__name__", "run")
    return run


def assert_same_graph(
    function: Callable[..., Any],
    *arguments: Any,
    gradients: bool = True,
    clusters: bool = True,
    tolerance: Tolerance | None = None,
    signature: list[tf.TensorSpec] | None = None,
) -> Any:
    """Like assert_same_on_hpu, for `function` as a tf.function with its gradients.

    clusters: the HPU's run must launch clusters without CPU fallbacks.
    signature: signature of the arguments, to hide part of their shapes.
    """
    graph = tf.function(with_gradients(function) if gradients else function, input_signature=signature)
    result = assert_same_on_hpu(graph, *arguments, tolerance=tolerance)
    if clusters:
        assert_launched()
    return result
