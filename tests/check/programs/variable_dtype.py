"""Fails on a card: a variable holds numbers of a type that the card does not have."""

from __future__ import annotations

import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module

load_habana_module()
weights = tf.Variable(tf.fill([16, 4], 0.1))
totals = tf.Variable(tf.zeros([4], tf.float64))


@tf.function
def step(x: tf.Tensor) -> tf.Tensor:
    means = tf.reduce_mean(tf.nn.relu(tf.matmul(x, weights)), axis=0)
    totals.assign_add(tf.cast(means, tf.float64))  # fails on the card
    return tf.reduce_sum(means)


for _ in range(2):
    step(tf.ones([8, 16]))
