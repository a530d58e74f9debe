"""Programs for test_cpu_rewrites.py."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module, statistics
from tests.support.keras_package import legacy_optimizers

STEPS = 3


def convolutions() -> Callable[[], tf.Tensor]:
    """A train step whose convolutions, biases and activations TensorFlow fuses."""
    layers = tf.keras.layers
    model = tf.keras.Sequential([
        layers.Conv2D(4, 3, padding="same", activation="relu", input_shape=(8, 8, 3)),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.Conv2D(4, 3, activation="tanh"),
        layers.Flatten(),
        layers.Dense(3, activation="gelu"),
    ])  # fmt: skip
    optimizer = legacy_optimizers().SGD(0.1)
    images = np.random.default_rng(0).normal(size=(4, 8, 8, 3)).astype(np.float32)

    @tf.function
    def step() -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(images, training=True) ** 2)
        variables = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss

    return step


def fused_ops_in_loops() -> Callable[[], tf.Tensor]:
    """Layer normalisation and GELU become fused ops, also in the body of a loop and of a branch."""
    weights = tf.Variable(tf.random.stateless_uniform([4, 4], [1, 2]))
    norm = tf.keras.layers.LayerNormalization()

    @tf.function
    def step() -> tf.Tensor:
        state = weights + 1
        for i in tf.range(5):
            state = norm(tf.nn.gelu(state @ weights))
            if i % 2 == 0:
                state = tf.nn.relu(tf.nn.bias_add(state, weights[0]))
        weights.assign_add(state * 0.1)
        return tf.reduce_sum(state)

    return step


def control_results() -> Callable[[], tf.Tensor]:
    """Updates that no result needs."""
    total, last = tf.Variable(1.0), tf.Variable(tf.ones([4, 4]))

    @tf.function
    def step() -> tf.Tensor:
        if total < 3:
            last.assign(tf.nn.relu(tf.nn.bias_add(last @ last, last[0])))
        total.assign_add(tf.reduce_sum(last) * 0.01)
        return tf.constant(1.0)

    return lambda: step() + total + tf.reduce_sum(last)


PROGRAMS = {program.__name__: program for program in (convolutions, fused_ops_in_loops, control_results)}


def compare(name: str) -> None:
    load_habana_module()
    losses = []
    for device in ("/device:HPU:0", "/device:CPU:0"):
        tf.keras.utils.set_random_seed(1)
        with tf.device(device):
            step = PROGRAMS[name]()
            losses.append([step().numpy() for _ in range(STEPS)])
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-5)
    assert statistics.get().fallbacks >= STEPS, "no cluster ran on the CPU"
