"""Multiplies two matrices, for `hpu compile-check`."""

from __future__ import annotations

import tensorflow as tf


@tf.function
def product(x: tf.Tensor) -> tf.Tensor:
    return tf.matmul(x, x) + 1.0


with tf.device("/device:HPU:0"):
    print(product(tf.ones([256, 256])).shape)
