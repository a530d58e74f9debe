"""Loss scaling on the HPU: steps with gradients that are no numbers are skipped and do not count."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

OPTIMIZERS = {"keras": tf.keras.optimizers.SGD, "legacy": tf.keras.optimizers.legacy.SGD}


@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_a_step_with_infinite_gradients_is_skipped_and_not_counted(hpu: str, kind: str) -> None:
    with tf.device(hpu):
        weight = tf.Variable(2.0)
        optimizer = tf.keras.mixed_precision.LossScaleOptimizer(
            OPTIMIZERS[kind](0.5), initial_scale=1024.0, dynamic_growth_steps=2
        )

        @tf.function
        def step(factor: tf.Tensor) -> tf.Tensor:
            with tf.GradientTape() as tape:
                loss = weight * factor
                scaled = optimizer.get_scaled_loss(loss)
            gradients = optimizer.get_unscaled_gradients(tape.gradient(scaled, [weight]))
            optimizer.apply_gradients(zip(gradients, [weight]))
            return loss

        def state() -> tuple[float, int, float]:
            return float(weight), int(optimizer.iterations), float(optimizer.loss_scale)

        step(tf.constant(1.0))
        assert state() == (1.5, 1, 1024.0)
        for value in (np.inf, np.nan):
            before = state()
            step(tf.constant(value))
            assert state() == (1.5, 1, before[2] / 2)
        step(tf.constant(1.0))
        step(tf.constant(1.0))
        assert state() == (0.5, 3, 512.0)


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
