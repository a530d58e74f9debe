"""Fails on the first Gaudi: two products of the step need more memory than the card's 32 GiB."""

from __future__ import annotations

import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module

load_habana_module()


@tf.function
def step(x: tf.Tensor) -> tf.Tensor:
    products = tf.matmul(x, x, transpose_b=True)
    return tf.matmul(products, products)


step(tf.ones([70000, 2]))  # fails on the card
