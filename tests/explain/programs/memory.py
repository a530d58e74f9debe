"""Program with a one-megabyte tensor inside a cluster, for `hpu explain --memory`."""

from __future__ import annotations

import tensorflow as tf


@tf.function
def grown(x: tf.Tensor) -> tf.Tensor:
    small = tf.tanh(tf.matmul(x, tf.ones([8, 8])))
    wide = tf.matmul(small, small, transpose_b=True)
    return tf.reduce_sum(tf.matmul(wide, x))


grown(tf.ones([512, 8]))
