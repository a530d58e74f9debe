"""Fails with SynapseAI's compiler: the step inverts a matrix, for which SynapseAI has no node."""

import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module

load_habana_module()
weights = tf.Variable(tf.fill([16, 4], 0.1))


@tf.function
def step(x: tf.Tensor) -> tf.Tensor:
    hidden = tf.nn.relu(tf.matmul(x, weights))
    products = tf.matmul(hidden, hidden, transpose_a=True) + tf.eye(4)
    inverse = tf.linalg.inv(products)  # fails on the card
    return tf.reduce_mean(hidden) + tf.reduce_sum(inverse)


step(tf.ones([8, 16]))
