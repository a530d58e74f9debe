"""Program with distinct instructions and ops for `hpu explain --time`."""

from __future__ import annotations

import tensorflow as tf


@tf.function
def timed(x: tf.Tensor) -> tf.Tensor:
    y = tf.while_loop(lambda i, _: i < 5, lambda i, y: (i + 1, tf.tanh(tf.matmul(y, y))), (0, x))[1]
    return tf.reduce_sum(tf.nn.conv2d(tf.reshape(y, [1, 16, 16, 4]), tf.ones([3, 3, 4, 4]), 1, "SAME"))


for _ in range(3):
    timed(tf.ones([32, 32]))
