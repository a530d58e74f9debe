"""Loss scaling on the HPU: steps with infinite or NaN gradients are skipped."""

from __future__ import annotations

import contextlib
import os
import pathlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import numpy.typing as npt
import pytest
import tensorflow as tf

from habana_frameworks.tensorflow.explanation import passes
from tests.support.keras_package import IS_KERAS_2

tf1 = tf.compat.v1

OPTIMIZERS = {"keras": tf.keras.optimizers.SGD}
if IS_KERAS_2:
    OPTIMIZERS["legacy"] = tf.keras.optimizers.legacy.SGD


def scaled_steps(device: str, kind: str) -> list[tuple[float, int, float, int]]:
    """Returns weight, iterations, loss scale, and finite steps since the last scale change, after each step."""
    with tf.device(device):
        weight = tf.Variable(2.0)
        optimizer = tf.keras.mixed_precision.LossScaleOptimizer(
            OPTIMIZERS[kind](0.5), initial_scale=1024.0, dynamic_growth_steps=3
        )
        scaled_loss = optimizer.get_scaled_loss if IS_KERAS_2 else optimizer.scale_loss
        # Keras 3's optimizer divides the gradients itself.
        unscaled = optimizer.get_unscaled_gradients if IS_KERAS_2 else list

        @tf.function
        def step(factor: tf.Tensor) -> None:
            with tf.GradientTape() as tape:
                scaled = scaled_loss(weight * factor)
            optimizer.apply_gradients(zip(unscaled(tape.gradient(scaled, [weight])), [weight]))

        states = []
        for factor in (1.0, np.inf, np.nan, 1.0, 1.0, 1.0):
            step(tf.constant(factor))
            scale = optimizer.loss_scale if IS_KERAS_2 else optimizer.dynamic_scale
            counter = optimizer.dynamic_counter if IS_KERAS_2 else optimizer.step_counter
            states.append((float(weight), int(optimizer.iterations), float(scale), int(counter)))
        return states


@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_steps_with_nan_gradients_are_skipped(hpu: str, kind: str) -> None:
    states = scaled_steps(hpu, kind)
    weights, _, scales, counters = zip(*states)
    assert weights == (1.5, 1.5, 1.5, 1.0, 0.5, 0.0)
    assert scales == (1024.0, 512.0, 256.0, 256.0, 256.0, 512.0)
    assert counters == (1, 0, 0, 1, 2, 0)
    # Keras 2 counts skipped steps as iterations.
    assert states == scaled_steps("/device:CPU:0", kind)


def keras_model(optimizer: Any) -> tf.keras.Model:
    model = tf.keras.Sequential([tf.keras.layers.Input([3]), tf.keras.layers.Dense(1)])
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
    if not IS_KERAS_2:
        model.compile(OPTIMIZERS[kind](0.1), "mse", auto_scale_loss=False)
        assert not isinstance(model.optimizer, wrapper)
        model = keras_model(OPTIMIZERS[kind](0.1))
    x = np.ones((4, 3), np.float32)
    assert model.fit(x, x[:, :1], epochs=2, verbose=0).history["loss"][1] < np.inf
    assert int(model.optimizer.iterations) == 2


class SessionStep(NamedTuple):
    """One step of a Session: loss, scale and resulting weights."""

    loss: float
    gradient_of_loss: float
    """Initial gradient of the backward pass: 1, or the loss scale."""
    weights: npt.NDArray[np.float32]


class Clipped(tf1.train.GradientDescentOptimizer):  # type: ignore[misc,name-defined]
    """A program's own optimizer, whose methods change gradients and call the base class's methods.

    The limit is far above the gradients, and far below scaled gradients.
    """

    def __init__(self, rate: float) -> None:
        super().__init__(2.0 * rate)

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        pairs = super().compute_gradients(*args, **kwargs)
        return [(tf.clip_by_norm(gradient, 1000.0), variable) for gradient, variable in pairs]

    def apply_gradients(self, grads_and_vars: Any, *args: Any, **kwargs: Any) -> Any:
        return super().apply_gradients(
            [(gradient / 2.0, variable) for gradient, variable in grads_and_vars], *args, **kwargs
        )


def minimize(optimizer: Any, loss: tf.Tensor) -> Any:
    return optimizer.minimize(loss)


def minimize_clipped(optimizer: Any, loss: tf.Tensor) -> Any:
    """Clips gradients and minimizes. The limit is far above the gradients, and far below scaled gradients."""
    gradients, variables = zip(*optimizer.compute_gradients(loss))
    clipped, _ = tf.clip_by_global_norm(gradients, 1000.0)
    return optimizer.apply_gradients(zip(clipped, variables))


def session_steps(
    make_optimizer: Callable[[], Any], factors: list[float], train_op: Callable[[Any, tf.Tensor], Any] = minimize
) -> list[SessionStep]:
    """Trains a linear model, one step for each factor on the predictions."""
    x = np.random.default_rng(2).standard_normal((16, 8), dtype=np.float32)
    seen: list[tf.Tensor] = []

    @tf.custom_gradient
    def watched(loss: tf.Tensor) -> Any:
        def gradient(upstream: tf.Tensor) -> tf.Tensor:
            seen.append(upstream)
            return upstream

        return tf.identity(loss), gradient

    with tf.Graph().as_default() as graph, tf.device("/device:HPU:0"):
        factor = tf1.placeholder(tf.float32, [])
        weights = tf1.get_variable("w", initializer=np.full((8, 1), 0.5, np.float32), use_resource=True)
        predictions = tf.matmul(tf.constant(x), weights) * factor
        loss = watched(tf.reduce_mean((predictions - x.sum(1, keepdims=True)) ** 2))
        train = train_op(make_optimizer(), loss)
        with tf1.Session(graph=graph) as session:
            session.run(tf1.global_variables_initializer())
            steps = []
            for value in factors:
                loss_now, upstream, _ = session.run([loss, seen[0], train], {factor: value})
                steps.append(SessionStep(float(loss_now), float(upstream), session.run(weights)))
    return steps


@contextlib.contextmanager
def plain_precision() -> Iterator[None]:
    tf1.train.experimental.disable_mixed_precision_graph_rewrite()
    with mock.patch.dict(os.environ, TF_ENABLE_AUTO_MIXED_PRECISION="0"):
        yield


def converted_products() -> int:
    reports = passes.recent_reports()
    return sum(r.op == "MatMul" and r.pass_name == "bf16" for report in reports for r in report.rewrites)


def descent() -> Any:
    return tf1.train.GradientDescentOptimizer(0.1)


def own_class() -> Any:
    return Clipped(0.1)


@pytest.fixture(params=["variable", "variable, own class", "wrapper"])
def make_scaled(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], Any]]:
    """The ways to enable automatic mixed precision for a TensorFlow 1 optimizer."""
    if request.param.startswith("variable"):
        monkeypatch.setenv("TF_ENABLE_AUTO_MIXED_PRECISION", "1")
        yield own_class if request.param.endswith("own class") else descent
        return
    yield lambda: tf1.train.experimental.enable_mixed_precision_graph_rewrite(descent())
    tf1.train.experimental.disable_mixed_precision_graph_rewrite()


@pytest.mark.parametrize("train_op", [minimize, minimize_clipped])
def test_automatic_mixed_precision_scales_the_loss_of_a_session(
    hpu: str, make_scaled: Callable[[], Any], train_op: Callable[[Any, tf.Tensor], Any]
) -> None:
    converted = converted_products()
    factors = [1.0] * 4 + [np.inf] + [1.0] * 20
    steps = session_steps(make_scaled, factors, train_op)
    assert converted_products() > converted
    # The loss scale is 2^15 until the overflow, whose step changes nothing, and half of that afterwards.
    assert [step.gradient_of_loss for step in steps] == [2.0**15] * 5 + [2.0**14] * 20
    np.testing.assert_array_equal(steps[4].weights, steps[3].weights)
    assert np.isfinite(steps[-1].weights).all() and np.any(steps[5].weights != steps[4].weights)
    del steps[4]
    # Gradients are unscaled, so training equals float32 training.
    with plain_precision():
        plain = session_steps(descent, [1.0] * 24)
    assert {step.gradient_of_loss for step in plain} == {1.0}
    assert plain[-1].loss < 0.05 * plain[0].loss
    np.testing.assert_allclose([s.weights for s in steps], [s.weights for s in plain], atol=0.02)
    np.testing.assert_allclose([s.loss for s in steps], [s.loss for s in plain], rtol=0.02, atol=0.02 * plain[0].loss)


@pytest.mark.skipif(not hasattr(tf, "estimator"), reason="TensorFlow has no Estimator")
def test_automatic_mixed_precision_scales_the_loss_of_an_estimator_once(
    hpu: str, monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    """A model function with compute_gradients() and apply_gradients(), without and with a loss scale of its own."""
    monkeypatch.setenv("TF_ENABLE_AUTO_MIXED_PRECISION", "1")

    def train(name: str, make_optimizer: Callable[[], Any]) -> dict[str, Any]:
        def model_fn(features: Any, labels: Any, mode: str) -> Any:
            weights = tf1.get_variable("w", [3, 1], initializer=tf1.zeros_initializer(), use_resource=True)
            loss = tf.reduce_mean((features @ weights - labels) ** 2)
            step = minimize_clipped(make_optimizer(), loss)
            step = tf.group(step, tf1.assign_add(tf1.train.get_global_step(), 1))
            return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=step)

        def input_fn() -> Any:
            x = np.random.default_rng(3).standard_normal((8, 3), dtype=np.float32)
            return tf.data.Dataset.from_tensors((x, x.sum(1, keepdims=True))).repeat()

        estimator = tf.estimator.Estimator(model_fn, str(tmp_path / name))
        estimator.train(input_fn, steps=20)
        return {name: estimator.get_variable_value(name) for name in estimator.get_variable_names()}

    values = train("plain", descent)
    assert np.linalg.norm(values["w"] - 1.0) < 0.5
    scales = [name for name in values if "loss_scale" in name]
    assert [values[name] for name in scales] == [2.0**15]
    wrapper = tf1.mixed_precision.MixedPrecisionLossScaleOptimizer
    values = train("own", lambda: wrapper(descent(), tf1.mixed_precision.DynamicLossScale(2.0**8)))
    assert np.linalg.norm(values["w"] - 1.0) < 0.5
    assert [values[name] for name in values if "loss_scale" in name] == [2.0**8]


def test_a_skipped_step_is_not_a_global_step(hpu: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_ENABLE_AUTO_MIXED_PRECISION", "1")
    with tf.Graph().as_default() as graph, tf.device(hpu):
        factor = tf1.placeholder(tf.float32, [])
        weight = tf1.get_variable("w", initializer=2.0, use_resource=True)
        with tf.device("/device:CPU:0"):
            global_step = tf1.train.get_or_create_global_step()
        train = descent().minimize(weight * factor, global_step=global_step)
        with tf1.Session(graph=graph) as session:
            session.run(tf1.global_variables_initializer())
            steps = []
            for value in (1.0, np.inf, np.nan, 1.0):
                session.run(train, {factor: value})
                steps.append((int(session.run(global_step)), float(session.run(weight))))
    assert [step for step, _ in steps] == [1, 1, 1, 2]
    np.testing.assert_allclose([weight for _, weight in steps], [1.9, 1.9, 1.9, 1.8], rtol=1e-6)


def test_the_graph_rewrite_alone_scales_nothing(hpu: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """TF_ENABLE_AUTO_MIXED_PRECISION_GRAPH_REWRITE converts graphs, and leaves the loss and the optimizers alone."""
    monkeypatch.setenv("TF_ENABLE_AUTO_MIXED_PRECISION_GRAPH_REWRITE", "1")
    converted = converted_products()
    # An overflow is not skipped.
    steps = session_steps(descent, [1.0, np.inf])
    assert converted_products() > converted
    assert {step.gradient_of_loss for step in steps} == {1.0}
    assert np.isfinite(steps[0].weights).all() and not np.isfinite(steps[1].weights).any()
    wrapper = tf.keras.mixed_precision.LossScaleOptimizer
    for kind in OPTIMIZERS.values():
        assert not isinstance(keras_model(kind(0.1)).optimizer, wrapper)


def test_a_loss_scaled_by_hand(hpu: str) -> None:
    """float16 products of a float32 variable: without the factor, the gradients are below float16's smallest value."""
    x = np.random.default_rng(4).uniform(0.5, 1.5, (16, 4)).astype(np.float32)
    weight = tf.Variable(np.ones((4, 1), np.float32))

    @tf.function
    def gradient(scale: tf.Tensor, dtype: tf.DType) -> Any:
        with tf.GradientTape() as tape:
            products = tf.cast(tf.matmul(tf.cast(x, dtype), tf.cast(weight, dtype)), tf.float32)
            loss = tf.reduce_mean(products) * 1e-7 * scale
        return tape.gradient(loss, weight) / scale

    with tf.device(hpu):
        expected = gradient(tf.constant(1.0), tf.float32)
        assert not np.any(gradient(tf.constant(1.0), tf.float16))
        scaled = gradient(tf.constant(128.0 * 128.0), tf.float16)
    assert scaled.dtype == tf.float32 and np.all(expected > 0)
    np.testing.assert_allclose(scaled, expected, rtol=1e-2)
