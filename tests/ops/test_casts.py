"""Casts of values out of range: infinities, NaN and large numbers, between all numeric dtypes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.support.compare import CPU, HPU

pytestmark = pytest.mark.usefixtures("hpu")
FLOATS = (tf.float64, tf.float32, tf.float16, tf.bfloat16)
WHOLE = (tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8, tf.uint16, tf.uint32, tf.uint64)
CALLS = 4
SPECIAL = (np.inf, -np.inf, np.nan, -np.nan, 1e5, -1e5, 1e300, 3e4, 0.5, -1.5, -0.0)
Cast = Callable[[tf.Tensor, tf.DType], tf.Tensor]


def numbers(dtype: tf.DType) -> tf.Tensor:
    if dtype.is_floating:
        return tf.cast(tf.constant(SPECIAL, tf.float64), dtype)
    return tf.constant([dtype.min, dtype.max, 0, 1, 77, dtype.max // 2 + 1], dtype)


def whole_numbers_that_fit(dtype: tf.DType, target: tf.DType) -> tf.Tensor:
    """Returns values that fit the target, because C++ does not define other casts."""
    low = 0 if target.is_unsigned else -100
    return tf.cast([low, 0.0, 1.5, 100.0, 7.99], dtype)


def results(cast: Cast, x: tf.Tensor, dtype: tf.DType, device: str, graph: bool) -> list[np.ndarray[Any, Any]]:
    with tf.device(device):
        own = tf.identity(x)
        function = tf.function(lambda y: cast(y, dtype)) if graph else lambda y: cast(y, dtype)
        return [function(own).numpy() for _ in range(CALLS)]


def assert_same(cast: Cast, x: tf.Tensor, dtype: tf.DType, graph: bool) -> None:
    expected = results(cast, x, dtype, CPU, graph)[0]
    for result in results(cast, x, dtype, HPU, graph):
        if dtype.is_floating:  # NumPy does not recognise bfloat16 NaN
            result, expected = result.astype(np.float64), expected.astype(np.float64)
        np.testing.assert_array_equal(result, expected, err_msg=f"{x.dtype.name} to {dtype.name}")


@pytest.mark.parametrize("graph", [False, True], ids=["eager", "graph"])
@pytest.mark.parametrize("source", [*FLOATS, *WHOLE], ids=lambda dtype: dtype.name)
def test_to_floats(source: tf.DType, graph: bool) -> None:
    for target in FLOATS:
        assert_same(tf.cast, numbers(source), target, graph)


@pytest.mark.parametrize("graph", [False, True], ids=["eager", "graph"])
@pytest.mark.parametrize("source", [*FLOATS, *WHOLE], ids=lambda dtype: dtype.name)
def test_to_whole_numbers(source: tf.DType, graph: bool) -> None:
    for target in WHOLE:
        x = whole_numbers_that_fit(source, target) if source.is_floating else numbers(source)
        assert_same(tf.cast, x, target, graph)


@pytest.mark.parametrize("graph", [False, True], ids=["eager", "graph"])
@pytest.mark.parametrize("source", [*FLOATS, *WHOLE[:-1]], ids=lambda dtype: dtype.name)
def test_saturating(source: tf.DType, graph: bool) -> None:
    x = numbers(source)
    for target in FLOATS:
        assert_same(tf.saturate_cast, x, target, graph)
    # From uint64, TensorFlow's limits fail in NumPy. C++ does not define casts to integers of NaN, or of limits that
    # the source dtype rounds up.
    for target in WHOLE if source.is_integer else (tf.int8, tf.uint8):
        assert_same(tf.saturate_cast, x if source.is_integer else tf.boolean_mask(x, x == x), target, graph)


@pytest.mark.parametrize("graph", [False, True], ids=["eager", "graph"])
@pytest.mark.parametrize("dtype", [tf.float32, tf.bfloat16, tf.int32, tf.int64], ids=lambda dtype: dtype.name)
def test_limits_in_the_wrong_order(dtype: tf.DType, graph: bool) -> None:
    limits = [(2, 1), (1, 2)] + ([(np.nan, 2), (1, np.nan)] if dtype.is_floating else [])
    for low, high in limits:
        for shape in ([], [4]):

            def clip(x: tf.Tensor, dtype: tf.DType, low: float = low, high: float = high, shape: Any = shape) -> Any:
                return tf.clip_by_value(x, tf.cast(tf.fill(shape, low), dtype), tf.cast(tf.fill(shape, high), dtype))

            x = tf.cast([0, 1, 2, 3], dtype)
            assert_same(clip, x, dtype, graph)
