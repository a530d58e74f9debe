"""Programs for test_jit_compile.py."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module, statistics


def failing_compile() -> None:
    load_habana_module()

    @tf.function(jit_compile=True)
    def run(x: tf.Tensor) -> tf.Tensor:
        return tf.sin(x) * 2.0

    with tf.device("/HPU:0"):
        try:
            run(tf.ones([3]))
        except tf.errors.OpError as error:
            assert "jit_compile" in str(error) and "run" in str(error), error
        else:
            raise SystemExit("no error")
    assert statistics.get().fallbacks == 0


def step_with_a_compiled_layer() -> Any:
    layer = tf.function(lambda x: tf.tanh(x) * 2.0, jit_compile=True)

    @tf.function
    def step(x: tf.Tensor) -> tf.Tensor:
        return layer(tf.sin(x) * 3.0) + 1.0

    return step


def failing_step() -> None:
    load_habana_module()
    step = step_with_a_compiled_layer()
    with tf.device("/HPU:0"):
        try:
            step(tf.ones([3]))
        except tf.errors.OpError as error:
            assert "jit_compile" in str(error) and "step" in str(error), error
        else:
            raise SystemExit("no error")


def lazy_step() -> None:
    """The layer is a cluster by itself, which is compiled; other ops run on the CPU."""
    load_habana_module()
    with tf.device("/HPU:0"):
        y = step_with_a_compiled_layer()(tf.ones([3]))
    np.testing.assert_allclose(y, np.tanh(np.sin(np.ones(3)) * 3.0) * 2.0 + 1.0, rtol=1e-6)
    launches = [cluster.launches for cluster in statistics.get().clusters]
    assert sorted(launches) == [0, 0, 1], launches


def auto_clustering() -> None:
    """Prints the cluster of a step, and its number of launches and of CPU fallbacks."""
    load_habana_module()
    with tf.device("/HPU:0"):
        total = tf.Variable(tf.zeros([4]))

    @tf.function
    def step(x: tf.Tensor) -> tf.Tensor:
        for _ in range(3):
            x = tf.sin(x) * 2.0 + tf.reduce_sum(x)
        total.assign_add(x)
        return x

    with tf.device("/HPU:0"):
        for _ in range(3):
            step(tf.ones([4]))
    assert np.isfinite(total.numpy()).all()
    (cluster,) = statistics.get().launched_clusters
    print(cluster.name, cluster.launches, cluster.fallbacks)
