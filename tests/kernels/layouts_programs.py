"""Program for test_layouts.py."""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module


def train_step(order: Sequence[int]) -> None:
    """Trains on images transposed to the given order of dimensions."""
    load_habana_module()
    keras = tf.keras
    with tf.device("/device:HPU:0"):
        images = keras.Input([16, 16, 8], batch_size=4)
        x = keras.layers.Conv2D(16, 3, padding="same", use_bias=False)(images)
        x = keras.layers.ReLU()(keras.layers.BatchNormalization()(x))
        x = keras.layers.MaxPooling2D(3, 2, "same")(x)
        y = keras.layers.DepthwiseConv2D(3, padding="same")(x)
        x = x + keras.layers.Conv2D(16, 1)(keras.layers.ReLU(6.0)(y))
        x = keras.layers.AveragePooling2D(2)(keras.layers.Conv2D(32, 3, 2, "same")(x))
        model = keras.Model(images, keras.layers.Dense(10)(keras.layers.GlobalAveragePooling2D()(x)))
        optimizer = keras.optimizers.Adam()
        optimizer.build(model.trainable_variables)
        batch = tf.random.stateless_normal([4, 16, 16, 8], [1, 2])

        @tf.function
        def step(images: tf.Tensor, order: list[int]) -> tf.Tensor:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(model(tf.transpose(images, order), training=True) ** 2)
            weights = model.trainable_variables
            optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
            return loss

        step(batch, list(order))
