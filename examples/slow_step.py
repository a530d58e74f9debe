"""A train step that is slower than it need be: `hpu report examples/slow_step.py` names the causes and their lines."""

from __future__ import annotations

import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module

load_habana_module()
BATCH, SIZE = 64, 128
weights = tf.Variable(tf.random.stateless_normal([SIZE, SIZE], [1, 2]))


@tf.function
def train_step(images: tf.Tensor) -> tf.Tensor:
    hidden = tf.tanh(tf.matmul(images, weights))
    with tf.device("/CPU:0"):
        scaled = hidden / tf.norm(hidden, axis=1, keepdims=True)
    loss = tf.reduce_mean(tf.square(scaled - images))
    tf.print("loss", loss, output_stream="file:///dev/null")
    weights.assign_sub(0.01 * tf.matmul(images, scaled, transpose_a=True))
    return loss


def augment(image: tf.Tensor) -> tf.Tensor:
    for _ in range(20):
        image = tf.roll(image, shift=1, axis=0) + 0.01 * tf.random.normal([SIZE])
    return image


if __name__ == "__main__":
    images = tf.data.Dataset.from_tensors(tf.ones([SIZE])).repeat(60 * BATCH)
    loss = tf.constant(0.0)
    for batch in images.map(augment).batch(BATCH):
        loss = train_step(batch)
    print(f"last loss: {float(loss):.3f}")
