"""tf.where with one argument, for which the host finds the coordinates, compared with NumPy and the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import habana_frameworks.tensorflow as htf
from habana_frameworks.tensorflow import statistics
from tests.support.compare import CPU, HPU, as_numpy

pytestmark = pytest.mark.usefixtures("hpu")

Shape = tuple[int, ...]
DENSITIES = [0.0, 0.01, 0.5, 1.0]
graph_too = pytest.mark.parametrize("graph", [False, True], ids=["eager", "graph"])


def numbers(shape: Shape, seed: int) -> Any:
    return np.random.default_rng(seed).random(shape, dtype=np.float32)


def check(x: Any, density: float, *, graph: bool) -> None:
    """The device computes both the flags and a function of their coordinates."""

    def find(x: tf.Tensor, density: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        found = tf.where(x < density)
        return found, found * 3 + 1

    with tf.device(HPU):
        called = tf.function(find) if graph else find
        found, computed = called(tf.identity(tf.constant(x)), tf.constant(density))
    assert found.device.endswith(HPU) and found.dtype == tf.int64
    expected = np.argwhere(x < density)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(computed, expected * 3 + 1)


@graph_too
@pytest.mark.parametrize("rank", range(1, 9))
def test_coordinates_of_every_rank(rank: int, graph: bool) -> None:
    generator = np.random.default_rng(rank)
    longest = max(2, int(3000 ** (1 / rank)))
    for seed, density in enumerate(DENSITIES):
        shape = tuple(int(size) for size in generator.integers(1, longest + 1, rank))
        check(numbers(shape, seed), density, graph=graph)


@graph_too
@pytest.mark.parametrize("shape", [(1,), (1, 1, 1), (0,), (0, 3), (4, 0, 2), (63,), (64,), (65, 1), (1, 129)], ids=str)
def test_few_flags(shape: Shape, graph: bool) -> None:
    for seed, density in enumerate(DENSITIES):
        check(numbers(shape, seed), density, graph=graph)


@pytest.mark.parametrize("shape", [(100_001,), (3, 70_001), (70_001, 3), (700, 5, 63), (65, 31, 1, 64)], ids=str)
def test_many_flags(shape: Shape) -> None:
    """More coordinates than one copy holds, and rows that end inside a word of flags."""
    for seed, density in enumerate(DENSITIES):
        check(numbers(shape, seed), density, graph=False)


def test_flags_far_apart() -> None:
    for shape in [(2000, 70), (500, 4, 70), (2000, 7)]:
        flags = np.zeros(shape, bool)
        flags.reshape(-1)[[0, 69, 70, 71, -70, -1]] = True
        with tf.device(HPU):
            np.testing.assert_array_equal(tf.where(tf.constant(flags)), np.argwhere(flags))


def test_flags_of_changing_shapes() -> None:
    @tf.function(input_signature=[tf.TensorSpec(None)])
    def rows(x: tf.Tensor) -> tf.Tensor:
        return tf.gather_nd(x, tf.where(x * 2.0 > 1.0))

    for shape in [(40, 3), (7,), (0, 2), (2, 3, 5), (40, 3)]:
        x = numbers(shape, len(shape))
        with tf.device(HPU):
            np.testing.assert_array_equal(rows(tf.constant(x)), x[x > 0.5])


@graph_too
def test_errors_are_the_cpus(graph: bool) -> None:
    def find(flags: tf.Tensor) -> tf.Tensor:
        return tf.where(flags)

    called = tf.function(find, input_signature=[tf.TensorSpec(None, tf.bool)]) if graph else find
    for device in (HPU, CPU):
        for rank in (0, 9):
            with (
                tf.device(device),
                pytest.raises(tf.errors.InvalidArgumentError, match=f"Unhandled input dimensions: {rank}"),
            ):
                called(tf.ones([1] * rank, tf.bool))


@graph_too
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int32", "int64", "uint8", "complex64"])
def test_other_types(dtype: str, graph: bool) -> None:
    x = tf.cast(tf.constant([[0, 2, 0], [-1, 0, 3]]), dtype)
    for device in (HPU, CPU):
        with tf.device(device):
            found = (tf.function(tf.where) if graph else tf.where)(tf.identity(x))
        np.testing.assert_array_equal(found, np.argwhere(as_numpy(x)))


def test_copies_are_counted() -> None:
    with tf.device(HPU):
        flags = tf.constant([[True, False, True], [False, True, False]])
        statistics.reset()
        tf.where(flags)
        assert (statistics.get().eager.host_runs, statistics.get().eager.host_bytes) == (1, 6 + 3 * 2 * 8)
        graph = htf.explain(lambda x: tf.where(x) + 1, flags).graph("lambda")
    (op,) = (op for op in graph.ops if op.type == "Where")
    assert (op.rule, op.device, op.cpu_runs, op.copied_bytes) == ("dynamic-size", "HPU:0", 1, 6 + 3 * 2 * 8)
