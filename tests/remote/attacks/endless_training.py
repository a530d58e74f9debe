"""Train loop that never ends because of a faulty condition."""

from __future__ import annotations

import sys

import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module

load_habana_module()


@tf.function
def converge(start: tf.Tensor) -> tf.Tensor:
    return tf.while_loop(lambda value: value < 1e30, lambda value: value * 0.5 + 1.0, [start])[0]


with tf.device("HPU:0"):
    ones = tf.reduce_sum(tf.ones([3]))
sys.stdout.write(f"{float(ones)}\n")
sys.stdout.flush()
float(converge(tf.constant(1.0)))
