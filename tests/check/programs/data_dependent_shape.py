"""Fails on a card: the number of selected rows depends on values."""

from __future__ import annotations

import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module

load_habana_module()
weights = tf.Variable(tf.fill([16, 4], 0.1))


@tf.function
def step(x: tf.Tensor) -> tf.Tensor:
    scores = tf.matmul(x, weights)
    kept = tf.boolean_mask(scores, scores[:, 0] > 0.5)  # fails on the card
    return tf.reduce_sum(tf.tanh(kept))


for size in (1.0, 2.0):
    step(tf.linspace(0.0, size, 128)[:, tf.newaxis] * tf.ones([1, 16]))
