"""Programs for test_jit_compile.py."""

from __future__ import annotations

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
