"""Programs for test_view_of_memory.py: clusters that run on the CPU (HPU_COMPILE_MODE=never)."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module, statistics

SIZE = 1000


def run() -> None:
    load_habana_module()
    with tf.device("/device:HPU:0"):
        first, second = tf.Variable(tf.range(SIZE, dtype=tf.float32)), tf.Variable(tf.zeros([SIZE]))

        @tf.function
        def step(x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
            before = first.read_value()
            swapped = second.assign(before)
            with tf.control_dependencies([swapped]):
                after = first.assign_sub(x)
            return before, tf.identity(x), after

        values, x = np.arange(SIZE, dtype=np.float32), tf.ones([SIZE])
        kept = []
        for _ in range(4):
            before, same, after = step(x)
            kept.append((before, values))
            np.testing.assert_array_equal(before, values)
            np.testing.assert_array_equal(second, values)
            values = values - 1
            np.testing.assert_array_equal(after, values)
            np.testing.assert_array_equal(first, values)
            np.testing.assert_array_equal(same, np.ones(SIZE))
        # Results of earlier steps stay, although later steps overwrite the variables.
        for result, expected in kept:
            np.testing.assert_array_equal(result, expected)
        read = first.value()
        first.assign_add(tf.ones([SIZE]))
        np.testing.assert_array_equal(read, values)
    (cluster,) = (c for c in statistics.clusters() if "step" in c.name)
    assert cluster.launches == 0 and cluster.fallbacks == 4, cluster
    print(cluster.fallback_bytes // cluster.fallbacks)


def fail() -> None:
    """A step that raises in its first run leaves its variables as they were."""
    load_habana_module()
    with tf.device("/device:HPU:0"):
        variable = tf.Variable(tf.zeros([SIZE]))

        @tf.function
        def step(x: tf.Tensor) -> tf.Tensor:
            variable.assign_add(x)
            return tf.linalg.inv(tf.reshape(x[:4], [2, 2]))

        with pytest.raises(tf.errors.InvalidArgumentError):
            step(-tf.ones([SIZE]))
        step(tf.concat([tf.constant([2.0, 0.0, 0.0, 2.0]), tf.ones([SIZE - 4])], 0))
        assert float(variable[-1]) == 1.0, variable[-1]
