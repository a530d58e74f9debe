"""Programs of test_nvtx.py."""

from __future__ import annotations

import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module


def step_twice() -> None:
    load_habana_module()

    @tf.function
    def nvtx_step(x: tf.Tensor) -> tf.Tensor:
        return tf.reduce_sum(tf.matmul(x, x))

    with tf.device("/device:CPU:0"):
        x = tf.ones([64, 64])
    with tf.device("/device:HPU:0"):
        for _ in range(2):
            assert nvtx_step(x).numpy() == 64**3


def product_alone() -> None:
    """An eager product, large enough to be launched."""
    load_habana_module()
    with tf.device("/device:HPU:0"):
        x = tf.ones([256, 256])
        for _ in range(3):  # the first call may run on the CPU
            y = tf.matmul(x, x, transpose_a=True)
    assert float(y[0, 0]) == 256.0
