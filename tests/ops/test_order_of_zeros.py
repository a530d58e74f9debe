"""Order and equality of 0 and -0, which are equal, in sorts, positions, ranks and sets of values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.ops.outcomes import outcome, outcomes
from tests.support.compare import CPU, HPU, as_numpy

pytestmark = pytest.mark.usefixtures("hpu")

TIES = [-0.0, 0.0, -1.0, 0.0, -0.0, 2.0, -0.0, 0.0, -1.0, 2.0]


def rows(dtype: str) -> tf.Tensor:
    return tf.constant([TIES, TIES[::-1]], dtype)


def sorted_pairs(x: tf.Tensor) -> Any:
    """Sorts by x, and pairs with equal x by number."""
    numbers = tf.constant([[3, 1, 4, 1, 5, 9, 2, 6, 5, 3]] * 2)
    by_number = tf.argsort(numbers, stable=True)
    first = tf.gather(x, by_number, batch_dims=1)
    order = tf.gather(by_number, tf.argsort(first, stable=True), batch_dims=1)
    return tf.gather(x, order, batch_dims=1), tf.gather(numbers, order, batch_dims=1)


SORTS: dict[str, Callable[[tf.Tensor], Any]] = {
    "top_k": lambda x: tf.math.top_k(x, 6),
    "top 1": lambda x: tf.math.top_k(x - 2, 1),
    "top of all": lambda x: tf.math.top_k(x, 10),
    "top_k of a vector": lambda x: tf.math.top_k(x[0], 4),
    "sort": lambda x: tf.sort(x),
    "descending sort": lambda x: tf.sort(x, direction="DESCENDING"),
    "sort of the first axis": lambda x: tf.sort(x, 0),
    "argsort": lambda x: tf.argsort(x, stable=True),
    "descending argsort": lambda x: tf.argsort(x, direction="DESCENDING", stable=True),
    "argsort of the first axis": lambda x: tf.argsort(x, 0, stable=True),
    "sorted pairs": sorted_pairs,
}
EQUALITY: dict[str, Callable[[tf.Tensor], Any]] = {
    "argmax": lambda x: (tf.argmax(x - 2, 1), tf.argmax(tf.minimum(x, 0), 1)),
    "argmin": lambda x: (tf.argmin(x + 1, 1), tf.argmin(tf.maximum(x, 0), 1)),
    "unique": lambda x: tf.unique(x[0]),
    "in_top_k": lambda x: [tf.math.in_top_k([3, 3], tf.cast(x - 2 * tf.abs(x), tf.float32), k) for k in (1, 2, 6)],
    "searchsorted": lambda x: tf.searchsorted(tf.sort(x), x),
    "searchsorted right": lambda x: tf.searchsorted(tf.sort(x), x, side="right"),
    "buckets": lambda x: tf.raw_ops.Bucketize(input=x, boundaries=[-1.0, 0.0, 1.0]),
    "comparisons": lambda x: (x < -x, x <= -x, x == -x, x > -x, x >= -x),
    "counts of nonzero": lambda x: (tf.math.count_nonzero(x), tf.where(x != 0), tf.cast(x, tf.bool)),
}


def bits(x: Any) -> list[np.ndarray[Any, Any]]:
    """The arrays, and the signs of their zeros."""
    arrays = [as_numpy(tensor) for tensor in tf.nest.flatten(x)]
    return [*arrays, *(np.signbit(array) for array in arrays if array.dtype.kind == "f")]


def differing(function: Callable[[], Any]) -> Iterator[str]:
    expected = outcome(function, CPU)
    for mode, actual in outcomes(function):
        if isinstance(expected, type) or isinstance(actual, type):
            if expected is not actual:
                yield f"{mode}: {actual} instead of {expected}"
            continue
        one, other = bits(actual), bits(expected)
        if not all(np.array_equal(a, b) for a, b in zip(one, other)):
            yield f"{mode}: {one} instead of {other}"


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
@pytest.mark.parametrize("name", SORTS)
def test_sorts(name: str, dtype: str) -> None:
    x = rows(dtype)
    assert not list(differing(lambda: SORTS[name](x)))


@pytest.mark.parametrize("name", EQUALITY)
def test_equality(name: str) -> None:
    x = rows("float32")
    assert not list(differing(lambda: EQUALITY[name](x)))


@pytest.mark.parametrize("name", SORTS | EQUALITY)
def test_float64(name: str) -> None:
    x = rows("float64")
    assert not list(differing(lambda: (SORTS | EQUALITY)[name](x)))


@pytest.mark.parametrize("width", [7, 100, 3000])
@pytest.mark.parametrize("k", [1, 2, 7])
def test_top_k_of_ties_in_long_rows(k: int, width: int) -> None:
    """The CPU's kernel selects, sorts partially or sorts, depending on k."""
    generator = np.random.default_rng(width)
    x = tf.constant(generator.choice(np.array([-0.0, 0.0, -1.0], np.float32), (3, width)))
    assert not list(differing(lambda: tf.math.top_k(x, k)))


@pytest.mark.parametrize("jit_compile", [None, True], ids=["cluster", "jit_compile"])
def test_not_a_number_is_at_the_end(jit_compile: bool | None) -> None:
    """As XLA sorts. The comparison of the CPU's kernel is no order if a row contains NaN."""
    x = tf.constant([1, np.nan, 3, np.nan, -np.inf, np.inf, -0.0, 0.0])

    @tf.function(jit_compile=jit_compile)
    def orders(x: tf.Tensor) -> tuple[tf.Tensor, ...]:
        ascending, descending = (tf.argsort(x, 0, direction, stable=True) for direction in ("ASCENDING", "DESCENDING"))
        return ascending, descending, tf.math.top_k(x, 3).indices

    with tf.device(HPU):
        ascending, descending, top = orders(x)
    assert ascending.numpy().tolist() == [4, 6, 7, 0, 2, 5, 1, 3]
    assert descending.numpy().tolist() == [1, 3, 5, 2, 0, 6, 7, 4]
    assert top.numpy().tolist() == [1, 3, 5]
