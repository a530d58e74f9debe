"""Prints text and values between computations on the HPU. A card prints on the CPU."""

import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module

load_habana_module()


@tf.function
def step(x: tf.Tensor) -> tf.Tensor:
    y = x * 2.0 - tf.reduce_mean(x)
    tf.print("loss", tf.reduce_sum(y))
    tf.print(y)
    return tf.sqrt(y * y + 1.0)


step(tf.ones([4]))
