"""Fails on a card: the step computes the exponential of an array of nine dimensions."""

from __future__ import annotations

import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module

load_habana_module()
weights = tf.Variable(tf.fill([512], 0.1))


@tf.function
def step(x: tf.Tensor) -> tf.Tensor:
    cube = tf.reshape(tf.tanh(x * weights), [2] * 9)
    mixed = tf.exp(cube)  # fails on the card
    return tf.reduce_sum(tf.reshape(mixed, [512]) * weights)


for _ in range(2):
    step(tf.ones([512]))
