"""Fails on a card: each of thirty batch sizes compiles a recipe of its own."""

from __future__ import annotations

import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module

load_habana_module()
weights = tf.Variable(tf.fill([16, 4], 0.1))


@tf.function(input_signature=[tf.TensorSpec([None, 16])])
def step(x: tf.Tensor) -> tf.Tensor:
    return tf.reduce_mean(tf.nn.relu(tf.matmul(x, weights)))


for size in range(1, 31):
    step(tf.ones([size, 16]))  # fails on the card
