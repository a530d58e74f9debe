"""Train steps of an MLP, for `hpu compile-check` and `hpu warmup`. Argument: number of steps."""

from __future__ import annotations

import sys

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(512, "relu", input_shape=(784,)), tf.keras.layers.Dense(10)])
optimizer = tf.keras.optimizers.SGD(0.1)


@tf.function
def step(images: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    with tf.GradientTape() as tape:
        logits = model(images)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


for _ in range(int(sys.argv[1])):
    print(float(step(tf.zeros([128, 784]), tf.zeros([128], tf.int32))))
