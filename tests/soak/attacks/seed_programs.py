"""Writes HLO of train steps, from TensorFlow and the plugin, to a directory, as input for mutations.

seed_programs.py DIRECTORY
"""

from __future__ import annotations

import pathlib
import sys
from typing import Any

import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module

load_habana_module()

IMAGES, LABELS = tf.ones([8, 8, 8, 1]), tf.zeros([8], tf.int32)


def train_step(*layers: Any) -> Any:
    """Returns a compiled train step of a model of these layers."""
    model = tf.keras.Sequential([tf.keras.Input(IMAGES.shape[1:]), *layers])
    variables = model.trainable_variables
    velocities = [tf.Variable(tf.zeros_like(variable)) for variable in variables]

    @tf.function(jit_compile=True)
    def step(images: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            logits = model(images, training=True)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
        for variable, velocity, gradient in zip(variables, velocities, tape.gradient(loss, variables)):
            velocity.assign(0.9 * velocity + gradient)
            variable.assign_sub(0.01 * velocity)
        return loss

    return step


@tf.function(jit_compile=True)
def control_flow(images: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    total = tf.while_loop(lambda value, _: value < 100.0, lambda value, n: (value * 2.0 + 1.0, n + 1), [1.0, 0])
    picked = tf.cond(tf.reduce_sum(images) > 3.0, lambda: images * total[0], lambda: images - 1.0)
    ordered = tf.sort(tf.reshape(picked, [-1]))
    return tf.gather(ordered, labels) + tf.math.cumsum(tf.image.resize(picked, [4, 4]))[0, 0, 0, 0]


@tf.function(jit_compile=True)
def linear_algebra(images: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    square = images[0, :, :, 0] + 9.0 * tf.eye(8)
    spectrum = tf.abs(tf.signal.fft(tf.complex(square, square)))
    return tf.linalg.inv(square) + spectrum + tf.linalg.cholesky(square) + tf.cast(labels[0], tf.float32)


def main(directory: pathlib.Path) -> None:
    layers = tf.keras.layers
    functions = {
        "mlp": train_step(layers.Flatten(), layers.Dense(16, "relu"), layers.Dense(10)),
        "cnn": train_step(
            layers.Conv2D(4, 3), layers.BatchNormalization(), layers.MaxPooling2D(), layers.Flatten(), layers.Dense(10)
        ),
        "control_flow": control_flow,
        "linear_algebra": linear_algebra,
    }
    with tf.device("HPU:0"):
        for name, function in functions.items():
            show = function.experimental_get_compiler_ir(IMAGES, LABELS)
            (directory / f"{name}.hlo").write_bytes(show(stage="hlo_serialized"))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
