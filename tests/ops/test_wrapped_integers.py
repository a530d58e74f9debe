"""Integer arithmetic that wraps around: no rewrite may assume that a square is positive or that x + 1 > x."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import tensorflow as tf

from tests.ops.outcomes import differences

pytestmark = pytest.mark.usefixtures("hpu")

SIGNED = ("int8", "int16", "int32", "int64")


def number(value: int, x: tf.Tensor) -> tf.Tensor:
    return tf.constant(value, x.dtype)


PROGRAMS: dict[str, Callable[[tf.Tensor], tf.Tensor]] = {
    "product": lambda x: x * x,
    "cube": lambda x: x * x * x,
    "maximum of a product": lambda x: tf.maximum(x * x, number(0, x)),
    "minimum of a product": lambda x: tf.minimum(x * x, number(0, x)),
    "comparison of a product": lambda x: x * x < number(0, x),
    "inverse comparison of a product": lambda x: x * x >= number(0, x),
    "comparison of a sum": lambda x: x + number(100, x) > x,
    "comparison of sums": lambda x: x + number(100, x) < x * x + number(100, x),
    "comparison of multiples": lambda x: x * number(4, x) < x * number(2, x),
    "quotient of a multiple": lambda x: (x * number(4, x)) // number(4, x),
    "truncated quotient of a multiple": lambda x: tf.truncatediv(x * number(12, x), number(4, x)),
    "remainder of a multiple": lambda x: (x * number(100, x)) % number(100, x),
    "truncated remainder of a multiple": lambda x: tf.truncatemod(x * number(100, x), number(100, x)),
    "remainder by a power of 2": lambda x: (x * x) % number(8, x),
    "quotient by a power of 2": lambda x: (x * x) // number(8, x),
    "shifts": lambda x: tf.bitwise.right_shift(tf.bitwise.left_shift(x, number(3, x)), number(3, x)),
    "wider product": lambda x: tf.cast(x * x, tf.int64),
    "narrower product": lambda x: tf.cast(x * x, tf.int8),
    "unsigned product": lambda x: tf.cast(x * x, tf.uint8),
    "sum": lambda x: tf.reduce_sum(x * x, keepdims=True),
    "mean": lambda x: tf.reduce_mean(x, 0, keepdims=True),
    "means of rows": lambda x: tf.reduce_mean(tf.stack([x, x // number(2, x), x]), 1),
    "mean of no elements": lambda x: tf.reduce_mean(x[:0], 0, keepdims=True) + x,
    "means of columns": lambda x: tf.reduce_mean(tf.stack([x, x, x // number(3, x)]), 0),
    "product of all": lambda x: tf.reduce_prod(x | number(1, x), keepdims=True),
}
OF_SIGNED: dict[str, Callable[[tf.Tensor], tf.Tensor]] = {
    "abs of a product": lambda x: tf.abs(x * x),
    "abs of a square": lambda x: tf.abs(tf.square(x)),
    "abs of a power": lambda x: tf.abs(x**2),
    "abs of a cube": lambda x: tf.abs(x * x * x),
    "abs of a product of abs": lambda x: tf.abs(tf.abs(x) * tf.abs(x)),
    "abs of a squared difference": lambda x: tf.abs(tf.math.squared_difference(x, number(3, x))),
    "abs of a sum of products": lambda x: tf.abs(x * x + x * x),
    "abs of abs": lambda x: tf.abs(tf.abs(x - number(100, x))),
    "abs of a negative": lambda x: tf.abs(-x - number(100, x)),
    "wider abs": lambda x: tf.cast(tf.abs(x * x), tf.int64),
    "abs of a wider product": lambda x: tf.abs(tf.cast(x * x, tf.int64)),
    "unsigned abs": lambda x: tf.cast(tf.abs(x * x), tf.uint8),
    "sum of abs": lambda x: tf.reduce_sum(tf.abs(x * x), keepdims=True),
    "abs of a shifted product": lambda x: tf.abs(tf.bitwise.left_shift(x * x, number(1, x))),
    "sign of a product": lambda x: tf.sign(x * x),
    "relu of a product": lambda x: tf.nn.relu(x * x),
    "relu6 of a product": lambda x: tf.nn.relu6(x * x),
    "clipped product": lambda x: tf.clip_by_value(x * x, number(0, x), number(50, x)),
    "negative comparison": lambda x: -x < number(0, x),
    "comparison of abs": lambda x: tf.abs(x * x) < number(0, x),
    "maximum of abs": lambda x: tf.maximum(tf.abs(x), number(0, x)) * tf.abs(x),
    "negative product": lambda x: -(x * x),
    "quotient by a negative power of 2": lambda x: (x * x) // number(-8, x),
    "power with an exponent above 63": lambda x: tf.pow(x, number(65, x)),
    "powers with exponents above 63": lambda x: tf.pow(x, tf.abs(x % number(37, x)) + number(70, x)),
    "powers with the largest exponents": lambda x: tf.pow(x, number(x.dtype.max, x) - tf.abs(x % number(7, x))),
}


def values(dtype: str) -> tf.Tensor:
    """Odd numbers, so that no product is the least number, whose absolute value C++ does not define."""
    limit = int(np.iinfo(dtype).max)
    root = int(limit**0.5)
    numbers = {1, 3, 5, 7, 11, root | 1, 2 * root + 1, 3 * (root // 2) | 1, 5 * root | 1, limit // 3 | 1, limit}
    signed = sorted(numbers | {-one for one in numbers}) if dtype in SIGNED else sorted(numbers)
    return tf.constant([one for one in signed if -limit <= one <= limit], dtype)


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "uint32"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_products_and_sums(name: str, dtype: str) -> None:
    x = values(dtype)
    assert not differences(lambda: PROGRAMS[name](x))


@pytest.mark.parametrize("dtype", SIGNED)
@pytest.mark.parametrize("name", OF_SIGNED)
def test_signs(name: str, dtype: str) -> None:
    x = values(dtype)
    assert not differences(lambda: OF_SIGNED[name](x))


@pytest.mark.parametrize("name", OF_SIGNED)
def test_all_numbers_of_a_byte(name: str) -> None:
    x = tf.range(-128, 128, dtype=tf.int32)
    assert not differences(lambda: OF_SIGNED[name](tf.cast(x, tf.int8)))
