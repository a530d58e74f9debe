"""Fails on a card: the step calls an op that has no kernel for the HPU."""

from __future__ import annotations

import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module

load_habana_module()
weights = tf.Variable(tf.fill([3, 3, 1, 4], 0.1))


@tf.function
def step(images: tf.Tensor) -> tf.Tensor:
    features = tf.nn.relu(tf.nn.conv2d(images, weights, 1, "SAME"))
    pooled, _, _ = tf.nn.fractional_max_pool(features, 1.5, seed=1)  # fails on the card
    return tf.reduce_sum(pooled)


for _ in range(2):
    step(tf.ones([2, 16, 16, 1]))
