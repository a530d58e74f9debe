"""Fails on a card: the step computes in float64."""

from __future__ import annotations

import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module

load_habana_module()
weights = tf.Variable(tf.fill([16, 4], 0.1))


@tf.function
def step(x: tf.Tensor) -> tf.Tensor:
    logits = tf.nn.relu(tf.matmul(x, weights))
    wide = tf.cast(logits, tf.float64)
    squares = wide * wide  # fails on the card
    return tf.reduce_mean(logits) + tf.cast(tf.reduce_sum(squares), tf.float32)


for _ in range(2):
    step(tf.ones([8, 16]))
