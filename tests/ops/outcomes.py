"""Outcomes of a function (results or error) on the CPU, and in each execution mode on the HPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from tests.support.compare import CPU, HPU, TOLERANCES, Tolerance, as_numpy

# Enough calls for both paths of an eager op: two calls of the CPU kernel, then the compiled op.
EAGER_CALLS = 4
Function = Callable[[], Any]


def outcome(function: Function, device: str) -> Any:
    """Returns the results, or the class of the error."""
    try:
        with tf.device(device):
            return function()
    except (tf.errors.OpError, ValueError, TypeError) as error:
        return type(error)


def outcomes(function: Function) -> Iterator[tuple[str, Any]]:
    """Yields the outcomes on the HPU: eager, in a graph, and with jit_compile=True."""
    for call in range(EAGER_CALLS):
        yield f"eager call {call}", outcome(function, HPU)
    yield "tf.function", outcome(tf.function(function), HPU)
    yield "jit_compile", outcome(tf.function(function, jit_compile=True), HPU)


def differences(function: Function) -> list[str]:
    """Describes HPU outcomes that match neither the CPU's eager outcome nor its graph outcome."""
    expected = [outcome(function, CPU), outcome(tf.function(function), CPU)]
    return [
        f"{mode}: {actual!r} instead of {expected[0]!r}"
        for mode, actual in outcomes(function)
        if not any(_same(actual, one) for one in expected)
    ]


def _same(actual: Any, expected: Any) -> bool:
    if isinstance(actual, type) or isinstance(expected, type):
        return actual is expected
    ours, theirs = tf.nest.flatten(actual), tf.nest.flatten(expected)
    return len(ours) == len(theirs) and all(_close(one, other) for one, other in zip(ours, theirs))


def _close(one: tf.Tensor, other: tf.Tensor) -> bool:
    limits = TOLERANCES.get(one.dtype.name, Tolerance(1e-12, 1e-12))
    numeric = one.dtype.is_floating or one.dtype.is_complex
    return (one.dtype, one.shape) == (other.dtype, other.shape) and bool(
        np.allclose(as_numpy(one), as_numpy(other), limits.rtol, limits.atol, equal_nan=True)
        if numeric
        else np.array_equal(as_numpy(one), as_numpy(other))
    )
