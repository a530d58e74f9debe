"""Constant memory over many eager ops, changing shapes and new functions. For train steps: tests/soak."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import tensorflow as tf

from habana_frameworks.tensorflow import statistics
from tests.support.compare import HPU
from tests.support.memory import MOST_GROWTH, in_use, resident_bytes

SMALLEST_BLOCK = 256  # minimum size of a tensor's memory block, in bytes


def assert_no_growth(work: Callable[[int], None], times: int, warm_up: int) -> None:
    """Checks that neither device nor host memory grows over `times` calls of work(call number).

    Finds a leak of one tensor per call. Tolerates blocks slightly larger than requested.
    """
    with tf.device(HPU):
        for i in range(warm_up):
            work(i)
        device, resident = in_use(), resident_bytes()
        for i in range(times):
            work(i)
        assert in_use() - device < times * SMALLEST_BLOCK
        assert resident_bytes() - resident < MOST_GROWTH


@pytest.mark.parametrize("size", [64, 1 << 16])
def test_eager_ops(size: int) -> None:
    with tf.device(HPU):
        variable = tf.Variable(tf.zeros([size]))

    def work(i: int) -> None:
        # The same Python number in each call, because TensorFlow caches a tensor for each Python number.
        x = tf.sin(tf.fill([size], 3.0)) * 2.0
        variable.assign_add(x)
        if i % 50 == 0:
            x.numpy()

    assert_no_growth(work, times=2000, warm_up=300)


def test_train_steps_of_a_small_model() -> None:
    with tf.device(HPU):
        model = tf.keras.Sequential([tf.keras.layers.Dense(32, "relu", input_shape=(16,)), tf.keras.layers.Dense(4)])
        optimizer = tf.keras.optimizers.Adam(1e-3)
        optimizer.build(model.trainable_variables)
        x, y = tf.ones([8, 16]), tf.zeros([8, 4])

    @tf.function
    def step() -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x) - y) ** 2)
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        return loss

    def work(i: int) -> None:
        loss = step()
        if i % 50 == 0:
            loss.numpy()

    assert_no_growth(work, times=2000, warm_up=300)
    assert statistics.get().cluster("step").recipes == 1


def test_repeated_shapes() -> None:
    """A repeated shape compiles nothing and keeps no memory."""
    with tf.device(HPU):
        weights = tf.Variable(tf.ones([6, 3]))

    @tf.function(input_signature=[tf.TensorSpec([None, 6])])
    def step(x: tf.Tensor) -> tf.Tensor:
        y = tf.tanh(x @ weights)
        weights.assign_sub(0.01 * tf.matmul(x, y, transpose_a=True))
        return tf.reduce_sum(y)

    shapes = [np.ones((rows, 6), np.float32) for rows in range(1, 9)]

    def work(i: int) -> None:
        float(step(tf.constant(shapes[i % len(shapes)])))

    assert_no_growth(work, times=1000, warm_up=100)
    cluster = statistics.get().cluster("step")
    assert (cluster.recipes, cluster.launches) == (len(shapes), 1100)


def test_results_are_freed_when_they_are_dropped() -> None:
    with tf.device(HPU):
        x = tf.ones([1 << 20])
        double = tf.function(lambda x: x * 2.0 + 1.0)
        double(x)
        before = in_use()
        held = [double(x) for _ in range(5)]
        assert 5 * (4 << 20) <= in_use() - before < 6 * (4 << 20)  # blocks may be larger than their contents
        del held
        assert in_use() == before
