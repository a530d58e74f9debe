"""Larq: a binarized convolutional network, whose gradients pass quantizers."""

import larq
import tensorflow as tf

from tests.libraries.training import Training, compiled, labels, random


def binarized() -> Training:
    options = {"kernel_quantizer": "ste_sign", "kernel_constraint": "weight_clip", "use_bias": False}
    model = tf.keras.Sequential(
        [
            larq.layers.QuantConv2D(8, 3, **options),
            tf.keras.layers.BatchNormalization(scale=False),
            tf.keras.layers.Flatten(),
            larq.layers.QuantDense(3, input_quantizer="ste_sign", **options),
        ]
    )
    model.compile(tf.keras.optimizers.Adam(0.01), tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return compiled(model, random(16, 8, 8, 3), labels(16, 3))


PROGRAMS = {"binarized CNN": binarized}
