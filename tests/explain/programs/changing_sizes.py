"""A train step whose batch has another size at each step."""

from __future__ import annotations

import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module

load_habana_module()
weights = tf.Variable(tf.fill([16, 4], 0.1))


@tf.function(input_signature=[tf.TensorSpec([None, 16])])
def step(x: tf.Tensor) -> tf.Tensor:
    weights.assign_add(tf.matmul(x, tf.nn.tanh(x @ weights), transpose_a=True))
    return tf.reduce_mean(tf.nn.relu(tf.matmul(x, weights)))


for size in (9, 10, 12, 17, 18, 20, 21, 22):
    step(tf.ones([size, 16]))
