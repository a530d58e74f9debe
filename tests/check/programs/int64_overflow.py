"""Fails on a card: the step multiplies identifiers by a constant that needs 64 bits."""

from __future__ import annotations

import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module

load_habana_module()
table = tf.Variable(tf.fill([64, 4], 0.1))


@tf.function
def step(ids: tf.Tensor) -> tf.Tensor:
    mixed = ids * 11400714819323198  # fails on the card
    rows = tf.gather(table, tf.cast(mixed % 64, tf.int32))
    return tf.reduce_sum(tf.tanh(rows))


for _ in range(2):
    step(tf.range(8, dtype=tf.int64))
