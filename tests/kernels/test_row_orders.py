"""Ops that reorder rows on the host: random shuffles and partitions, compared with the CPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from habana_frameworks.tensorflow import statistics
from tests.support.clusters import report_of
from tests.support.compare import CPU, HPU, as_numpy, assert_close

pytestmark = pytest.mark.usefixtures("hpu")

DTYPES = ["float32", "bfloat16", "int32", "int64", "bool", "complex64"]
SHAPES = [(7,), (2, 3, 4), (1, 4), (0, 3), (5, 0), ()]
# Covers all execution paths of an eager op.
TIMES = 4


def numbers(shape: tuple[int, ...], dtype: str) -> tf.Tensor:
    count = int(np.prod(shape))
    return tf.cast(tf.reshape(tf.range(count), shape), dtype)


def repeated(device: str, function: Callable[..., Any], *arguments: Any, graph: bool) -> list[Any]:
    tf.random.set_seed(5)
    with tf.device(device):
        called = tf.function(function) if graph else function
        on_device = [tf.identity(argument) for argument in arguments]
        return [called(*on_device) for _ in range(TIMES)]


def assert_same(function: Callable[..., Any], *arguments: Any, graph: bool) -> list[Any]:
    actual = repeated(HPU, function, *arguments, graph=graph)
    assert_close(actual, repeated(CPU, function, *arguments, graph=graph))
    return actual


@pytest.mark.parametrize("graph", [False, True], ids=["eager", "graph"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_shuffles_are_the_cpus(dtype: str, graph: bool) -> None:
    for shape in SHAPES:
        assert_same(lambda x: tf.random.shuffle(x, seed=3), numbers(shape, dtype), graph=graph)


def test_shuffles_in_clusters_are_the_cpus() -> None:
    generator = np.random.default_rng(0)
    for seed in range(3):
        x = tf.constant(generator.standard_normal((int(generator.integers(2, 300)), 5)), tf.float32)

        def shuffle(x: tf.Tensor, seed: int = seed) -> tf.Tensor:
            return tf.random.shuffle(x * 2.0, seed=seed) + 1.0

        assert_same(shuffle, x, graph=True)


@pytest.mark.parametrize("shape", [[None, 3], [None, None], None], ids=str)
def test_shuffles_of_unknown_sizes(shape: list[int | None] | None) -> None:
    drawn = {}
    for device in (HPU, CPU):
        tf.random.set_seed(5)

        @tf.function(input_signature=[tf.TensorSpec(shape)])
        def shuffle(x: tf.Tensor) -> tf.Tensor:
            return tf.random.shuffle(tf.concat([x, x], 0) * 2.0, seed=3)

        with tf.device(device):
            drawn[device] = [shuffle(numbers((size, 3), "float32")) for size in (4, 1, 6, 0, 4)]
    assert_close(drawn[HPU], drawn[CPU])


def test_a_shuffle_is_part_of_a_cluster() -> None:
    @tf.function
    def shuffled_sines(x: tf.Tensor) -> tf.Tensor:
        return tf.random.shuffle(tf.sin(x)) + 1.0

    statistics.reset()
    with tf.device(HPU):
        x = tf.random.normal([32, 4])
        shuffled = shuffled_sines(x)
    assert len(report_of("shuffled_sines").clusters) == 1
    assert statistics.get().cluster("shuffled_sines").launches == 1
    np.testing.assert_allclose(np.sort(shuffled, 0), np.sort(np.sin(x) + 1.0, 0), 1e-5)


@pytest.mark.parametrize("graph", [False, True], ids=["eager", "graph"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_partitions_are_the_cpus(dtype: str, graph: bool) -> None:
    generator = np.random.default_rng(0)
    for shape in SHAPES:
        for dimensions in range(len(shape) + 1):
            partitions = tf.constant(generator.integers(0, 4, shape[:dimensions]), tf.int32)
            assert_same(lambda x, i: tf.dynamic_partition(x, i, 5), numbers(shape, dtype), partitions, graph=graph)


def test_partitions_of_other_counts_need_no_other_recipe() -> None:
    @tf.function
    def part(x: tf.Tensor, i: tf.Tensor) -> list[tf.Tensor]:
        return list(tf.dynamic_partition(x, i, 3))

    generator = np.random.default_rng(0)
    x = tf.constant(generator.standard_normal((64, 16)), tf.float32)
    recipes = None
    for step in range(12):
        i = generator.integers(0, 3, 64).astype(np.int32)
        with tf.device(HPU):
            parts = part(tf.identity(x), tf.constant(i))
        for p in range(3):
            np.testing.assert_array_equal(parts[p], as_numpy(x)[i == p])
        if step == TIMES:
            recipes = statistics.get().eager.recipes
    assert recipes == statistics.get().eager.recipes


@pytest.mark.parametrize("graph", [False, True], ids=["eager", "graph"])
def test_gradients_of_partitions(graph: bool) -> None:
    def gradients(x: tf.Tensor, i: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            parts = tf.dynamic_partition(x, i, 3)
            loss = tf.add_n([tf.reduce_sum(part * part * (1.0 + p)) for p, part in enumerate(parts)])
        return tape.gradient(loss, x)

    x = tf.constant(np.random.default_rng(0).standard_normal((9, 4)), tf.float32)
    assert_same(gradients, x, tf.constant([0, 2, 2, 0, 0, 2, 0, 2, 0]), graph=graph)


@pytest.mark.parametrize("graph", [False, True], ids=["eager", "graph"])
@pytest.mark.parametrize(
    ("partitions", "message"),
    [
        ([0, 3, 1], r"partitions\[1\] = 3 is not in \[0, 3\)"),
        ([0, -1, 1], r"partitions\[1\] = -1 is not in \[0, 3\)"),
        ([0, 1], r"data.shape must start with partitions.shape, got data.shape = \[3,2\], partitions.shape = \[2\]"),
    ],
)
def test_errors_of_partitions(partitions: list[int], message: str, graph: bool) -> None:
    def part(x: tf.Tensor, i: tf.Tensor) -> Any:
        return tf.raw_ops.DynamicPartition(data=x, partitions=i, num_partitions=3)

    signature = [tf.TensorSpec(None), tf.TensorSpec(None, tf.int32)]
    for device in (HPU, CPU):
        called = tf.function(part, input_signature=signature) if graph else part
        with tf.device(device):
            for _ in range(TIMES):
                with pytest.raises(tf.errors.InvalidArgumentError, match=message):
                    called(tf.ones([3, 2]), tf.constant(partitions))


def test_parts_may_become_variables() -> None:
    """Parts share memory: an in-place update of one part must not change another part."""
    x = numbers((64, 32), "float32")
    with tf.device(HPU):
        for _ in range(TIMES):
            parts = tf.dynamic_partition(x, tf.constant([0, 1] * 32), 2)
            variable = tf.Variable(parts[0])
            variable.assign_add(tf.ones_like(parts[0]))
            np.testing.assert_array_equal(parts[0], as_numpy(x)[::2])
            np.testing.assert_array_equal(parts[1], as_numpy(x)[1::2])
            np.testing.assert_array_equal(variable, as_numpy(x)[::2] + 1)
