"""Loss scaling on the HPU: steps with gradients that are no numbers are skipped."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

OPTIMIZERS = {"keras": tf.keras.optimizers.SGD, "legacy": tf.keras.optimizers.legacy.SGD}


def scaled_steps(device: str, kind: str) -> list[tuple[float, int, float, int]]:
    """After each of some steps: weight, iterations, loss scale, finite steps since the scale changed."""
    with tf.device(device):
        weight = tf.Variable(2.0)
        optimizer = tf.keras.mixed_precision.LossScaleOptimizer(
            OPTIMIZERS[kind](0.5), initial_scale=1024.0, dynamic_growth_steps=3
        )

        @tf.function
        def step(factor: tf.Tensor) -> None:
            with tf.GradientTape() as tape:
                scaled = optimizer.get_scaled_loss(weight * factor)
            gradients = optimizer.get_unscaled_gradients(tape.gradient(scaled, [weight]))
            optimizer.apply_gradients(zip(gradients, [weight]))

        states = []
        for factor in (1.0, np.inf, np.nan, 1.0, 1.0, 1.0):
            step(tf.constant(factor))
            numbers = weight, optimizer.iterations, optimizer.loss_scale, optimizer.dynamic_counter
            states.append((float(numbers[0]), int(numbers[1]), float(numbers[2]), int(numbers[3])))
        return states


@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_steps_with_gradients_that_are_no_numbers_are_skipped(hpu: str, kind: str) -> None:
    states = scaled_steps(hpu, kind)
    weights, _, scales, counters = zip(*states)
    assert weights == (1.5, 1.5, 1.5, 1.0, 0.5, 0.0)
    assert scales == (1024.0, 512.0, 256.0, 256.0, 256.0, 512.0)
    assert counters == (1, 0, 0, 1, 2, 0)
    # Keras counts an iteration for each call, skipped or not.
    assert states == scaled_steps("/device:CPU:0", kind)


def keras_model(optimizer: Any) -> tf.keras.Model:
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
    model.compile(optimizer, "mse")
    return model


@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_automatic_mixed_precision_scales_the_loss_of_keras_models_once(
    hpu: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrapper = tf.keras.mixed_precision.LossScaleOptimizer
    assert not isinstance(keras_model(OPTIMIZERS[kind](0.1)).optimizer, wrapper)
    monkeypatch.setenv("TF_ENABLE_AUTO_MIXED_PRECISION", "1")
    model = keras_model(OPTIMIZERS[kind](0.1))
    assert isinstance(model.optimizer, wrapper) and not isinstance(model.optimizer.inner_optimizer, wrapper)
    own = wrapper(OPTIMIZERS[kind](0.1))
    assert keras_model(own).optimizer is own
    x = np.ones((4, 3), np.float32)
    assert model.fit(x, x[:, :1], epochs=2, verbose=0).history["loss"][1] < np.inf
    assert int(model.optimizer.iterations) == 2


def session_loss(optimizer: Any, steps: int) -> list[float]:
    with tf.Graph().as_default() as graph, tf.device("/device:HPU:0"):
        weight = tf.compat.v1.get_variable("w", initializer=np.full((3, 1), 0.5, np.float32), use_resource=True)
        loss = tf.reduce_mean((tf.matmul(tf.ones([4, 3]), weight) - 2.0) ** 2)
        train = optimizer.minimize(loss)
        with tf.compat.v1.Session(graph=graph) as session:
            session.run(tf.compat.v1.global_variables_initializer())
            return [session.run([loss, train])[0] for _ in range(steps)]


def test_automatic_mixed_precision_scales_the_loss_of_a_session(hpu: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def names() -> set[str]:
        with tf.Graph().as_default() as graph:
            weight = tf.compat.v1.get_variable("w", initializer=1.0, use_resource=True)
            tf.compat.v1.train.GradientDescentOptimizer(0.1).minimize(weight * 2.0)
            return {variable.op.name for variable in graph.get_collection("variables")}

    assert not any("loss_scale" in name for name in names())
    monkeypatch.setenv("TF_ENABLE_AUTO_MIXED_PRECISION", "1")
    losses = session_loss(tf.compat.v1.train.GradientDescentOptimizer(0.05), 3)
    assert losses[2] < losses[1] < losses[0]
