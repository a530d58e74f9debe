"""All dtypes of the device in copies, eager ops, clusters and variables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.support.clusters import assert_launched
from tests.support.compare import CPU, HPU, as_numpy, assert_same_graph, assert_same_on_hpu

FLOATS = ("float32", "bfloat16")
NUMBERS = (*FLOATS, "int32", "int8")
DTYPES = (*NUMBERS, "bool")


def values(dtype: str, seed: int = 0, shape: tuple[int, ...] = (5, 7)) -> np.ndarray[Any, Any]:
    generator = np.random.default_rng(seed)
    if dtype == "bool":
        return generator.random(shape) < 0.5
    if dtype in FLOATS:
        return generator.standard_normal(shape).astype(tf.dtypes.as_dtype(dtype).as_numpy_dtype)
    return generator.integers(-5, 6, shape).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(5, 7), (), (0,), (3, 0, 2), (1,), (257,)])
def test_copies(dtype: str, shape: tuple[int, ...]) -> None:
    array = values(dtype, shape=shape)
    with tf.device(HPU):
        there = tf.identity(tf.constant(array))
    assert there.dtype == dtype
    with tf.device(CPU):
        back = tf.identity(there)
    for tensor in (there, back):
        np.testing.assert_array_equal(as_numpy(tensor), as_numpy(tf.constant(array)))


def arithmetic(x: tf.Tensor, y: tf.Tensor) -> dict[str, tf.Tensor]:
    results = {
        "sum": x + y,
        "product": x * y,
        "difference": x - y,
        "maximum": tf.maximum(x, y),
        "negative": -x,
        "less": x < y,
        "equal": tf.equal(x, y),
        "where": tf.where(x > y, x, y),
        "reduced": tf.reduce_sum(x, 0),
        "largest": tf.reduce_max(x, 1),
    }
    if x.dtype.is_floating:
        results["matmul"] = tf.matmul(x, y, transpose_b=True)
        results["exp"] = tf.exp(x)
    return results


def logic(x: tf.Tensor, y: tf.Tensor) -> dict[str, tf.Tensor]:
    return {
        "and": x & y,
        "or": x | y,
        "not": ~x,
        "xor": x ^ y,
        "all": tf.reduce_all(x, 0),
        "any": tf.reduce_any(x, 1),
        "where": tf.where(x, y, ~y),
        "number": tf.cast(x, tf.float32),
    }


def moves(x: tf.Tensor, y: tf.Tensor) -> dict[str, tf.Tensor]:
    return {
        "concat": tf.concat([x, y], 0),
        "transpose": tf.transpose(x),
        "reshape": tf.reshape(x, [-1]),
        "slice": x[1:3, ::2],
        "stack": tf.stack([x, y], 1),
        "gather": tf.gather(x, [2, 0, 2]),
        "tile": tf.tile(x, [2, 1]),
        "reverse": tf.reverse(x, [1]),
        "pad": tf.pad(x, [[1, 0], [0, 2]]),
        "zeros": tf.zeros_like(x),
        "ones": tf.ones_like(x),
    }


@pytest.mark.parametrize("graph", [False, True], ids=["eager", "graph"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_ops(dtype: str, graph: bool) -> None:
    pair = values(dtype, 0), values(dtype, 1)
    for function in (logic if dtype == "bool" else arithmetic, moves):
        if graph:
            assert_same_graph(function, *pair, gradients=False)
        else:
            assert_same_on_hpu(function, *pair)


@pytest.mark.parametrize("source", DTYPES)
def test_casts(source: str) -> None:
    def casts(x: tf.Tensor) -> list[tf.Tensor]:
        return [tf.cast(x, target) for target in DTYPES]

    assert_same_on_hpu(casts, values(source))
    assert_same_graph(casts, values(source), gradients=False)


@pytest.mark.parametrize("graph", [False, True], ids=["eager", "graph"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_variables(dtype: str, graph: bool) -> None:
    first, second = values(dtype, 0), values(dtype, 1)

    def run(x: tf.Tensor, y: tf.Tensor) -> list[tf.Tensor]:
        variable = tf.Variable(x)

        def write() -> list[tf.Tensor]:
            before = tf.identity(variable)
            variable.assign(y)
            after = tf.identity(variable)
            if dtype != "bool":
                variable.assign_add(x)
                variable.assign_sub(tf.ones_like(x))
            variable.scatter_update(tf.IndexedSlices(x[:2], tf.constant([3, 1])))
            return [before, after, variable.read_value(), variable[1:3]]

        results = tf.function(write)() if graph else write()
        return [*results, variable.value()]

    assert_same_on_hpu(run, first, second)


@pytest.mark.parametrize("dtype", DTYPES)
def test_arguments_and_results_of_clusters(dtype: str) -> None:
    """A tensor enters a cluster, passes between two clusters, leaves a cluster, and passes through a function."""

    @tf.function
    def inner(x: tf.Tensor) -> tf.Tensor:
        return tf.concat([x, x], 0)

    def run(x: tf.Tensor) -> tuple[tf.Tensor, ...]:
        y = tf.reverse(inner(x), [0])
        with tf.device(CPU):
            z = tf.transpose(y)
        return y, tf.reshape(tf.transpose(z), [-1]), tf.cast(y, tf.float32) * 2.0 - tf.cast(y, tf.float32)

    with tf.device(HPU):
        x = tf.constant(values(dtype))
        y, z, number = tf.function(run)(x)
    expected = np.concatenate([values(dtype)] * 2)[::-1]
    np.testing.assert_array_equal(as_numpy(y), as_numpy(tf.constant(np.ascontiguousarray(expected))))
    np.testing.assert_array_equal(as_numpy(z), as_numpy(y).ravel())
    np.testing.assert_array_equal(as_numpy(number), as_numpy(y).astype(np.float32))
    assert_launched()
