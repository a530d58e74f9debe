"""Estimators on the HPU: training, evaluation, prediction, hooks, checkpoints, Keras models as Estimators."""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from habana_frameworks.tensorflow import HabanaEstimator, statistics
from tests.support.compare import CPU, HPU

if not hasattr(tf, "estimator"):
    pytest.skip("TensorFlow has no Estimator", allow_module_level=True)

tf1 = tf.compat.v1
Estimator = tf.estimator.Estimator
X = np.random.default_rng(0).standard_normal((32, 5), dtype=np.float32)
Y = (X.sum(1) > 0).astype(np.int32)


def input_fn(params: dict[str, Any], mode: str) -> tf.data.Dataset:
    dataset = tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).batch(params["batch"], drop_remainder=True)
    return dataset.repeat() if mode == tf.estimator.ModeKeys.TRAIN else dataset


def model_fn(features: Any, labels: Any, mode: str, params: dict[str, Any]) -> tf.estimator.EstimatorSpec:
    """Model of one layer on the device params["device"]."""
    with tf.device(params["device"]), tf1.variable_scope("model", use_resource=True):
        weights = tf1.get_variable("weights", [5, 2], initializer=tf1.glorot_uniform_initializer(seed=1))
        logits = tf.matmul(features["x"], weights)
        classes = tf.argmax(logits, 1, output_type=tf.int32)
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(mode, {"class": classes, "logits": logits})
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        loss = tf.reduce_mean(losses, name="loss")
        metrics = {"accuracy": tf1.metrics.accuracy(labels, classes)}
        train = tf1.train.AdamOptimizer(0.05).minimize(loss, tf1.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train, eval_metric_ops=metrics)


class Losses(tf1.train.SessionRunHook):  # type: ignore[misc,name-defined]
    """Session hook that records losses."""

    def __init__(self) -> None:
        self.seen: list[float] = []

    def before_run(self, run_context: Any) -> Any:
        (loss,) = (op for op in run_context.session.graph.get_operations() if op.name.endswith("model/loss"))
        return tf1.train.SessionRunArgs(loss.outputs[0])

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.seen.append(float(run_values.results))


def estimator(make: Callable[..., Any], device: str, directory: pathlib.Path, soft: bool = True) -> Any:
    config = tf.estimator.RunConfig(
        tf_random_seed=3,
        save_checkpoints_steps=4,
        keep_checkpoint_max=2,
        log_step_count_steps=None,
        session_config=tf1.ConfigProto(allow_soft_placement=soft),
    )
    params = {"device": device, "batch": 8}
    return make(model_fn=model_fn, model_dir=str(directory), config=config, params=params)


@pytest.mark.parametrize("make", [Estimator, HabanaEstimator], ids=["estimator", "habana"])
def test_training_evaluation_and_prediction(hpu: str, make: Callable[..., Any], tmp_path: pathlib.Path) -> None:
    results = {}
    for device in (CPU, HPU):
        statistics.reset()
        model = estimator(Estimator if device == CPU else make, device, tmp_path / device[-5:-2])
        losses = Losses()
        model.train(input_fn, steps=6, hooks=[losses])
        evaluation = model.evaluate(input_fn)
        predictions = [entry["logits"] for entry in model.predict(input_fn)]
        results[device] = losses.seen, evaluation, predictions, model.get_variable_value("model/weights")
        assert evaluation["global_step"] == 6
        assert pathlib.Path(model.latest_checkpoint()).name == "model.ckpt-6"
        assert len(list((tmp_path / device[-5:-2]).glob("*.index"))) == 2, "keep_checkpoint_max=2"
    assert statistics.get().launched_clusters and statistics.get().fallbacks == 0
    np.testing.assert_allclose(results[HPU][0], results[CPU][0], rtol=1e-4)
    for name, value in results[CPU][1].items():
        np.testing.assert_allclose(results[HPU][1][name], value, rtol=1e-4, err_msg=name)
    np.testing.assert_allclose(results[HPU][2], results[CPU][2], rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(results[HPU][3], results[CPU][3], rtol=1e-3, atol=1e-4)


def test_train_and_evaluate_resumes_from_a_checkpoint(hpu: str, tmp_path: pathlib.Path) -> None:
    """Training in two parts with evaluation in between ends with the same weights as uninterrupted training."""

    def run(directory: pathlib.Path, steps: list[int]) -> Any:
        losses = Losses()
        for total in steps:
            model = estimator(Estimator, HPU, directory)
            train = tf.estimator.TrainSpec(input_fn, max_steps=total, hooks=[losses])
            evaluate = tf.estimator.EvalSpec(input_fn, steps=2, start_delay_secs=0, throttle_secs=0)
            metrics, _ = tf.estimator.train_and_evaluate(model, train, evaluate)
        return losses.seen, metrics, model.get_variable_value("model/weights")

    at_once, in_parts = run(tmp_path / "once", [8]), run(tmp_path / "parts", [4, 8])
    np.testing.assert_array_equal(in_parts[2], at_once[2])
    assert in_parts[0] == at_once[0] and len(at_once[0]) == 8
    assert in_parts[1] == at_once[1]


def test_prefetched_batches_stay_on_the_hpu(hpu: str, tmp_path: pathlib.Path) -> None:
    def prefetched(params: dict[str, Any], mode: str) -> tf.data.Dataset:
        return input_fn(params, mode).apply(tf.data.experimental.prefetch_to_device(HPU))

    model = estimator(HabanaEstimator, HPU, tmp_path)
    with tf.Graph().as_default() as graph:
        model._get_features_and_labels_from_input_fn(prefetched, tf.estimator.ModeKeys.TRAIN)
        devices = {op.type: op.device for op in graph.get_operations() if op.type.startswith("Iterator")}
    assert set(devices.values()) == {HPU} and "IteratorGetNext" in devices
    losses = Losses()
    model.train(prefetched, steps=3, hooks=[losses])
    assert len(losses.seen) == 3 and model.evaluate(prefetched)["global_step"] == 3


def test_input_fn_that_gives_tensors(hpu: str, tmp_path: pathlib.Path) -> None:
    def tensors() -> Any:
        return {"x": tf.constant(X[:8])}, tf.constant(Y[:8])

    model = estimator(HabanaEstimator, HPU, tmp_path)
    model.train(tensors, steps=2)
    assert model.evaluate(tensors, steps=1)["global_step"] == 2


def test_a_keras_model_as_an_estimator(hpu: str, tmp_path: pathlib.Path) -> None:
    def dataset() -> tf.data.Dataset:
        return tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).batch(8).repeat(4)

    def evaluations(device: str, directory: str) -> list[dict[str, float]]:
        """Evaluates before and after 16 steps."""
        with tf.device(device):
            inputs = tf.keras.Input([5], name="x")
            initializer = tf.keras.initializers.GlorotUniform(seed=1)
            keras = tf.keras.Model(inputs, tf.keras.layers.Dense(2, kernel_initializer=initializer)(inputs))
            keras.compile("sgd", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
            model = tf.keras.estimator.model_to_estimator(keras, model_dir=str(tmp_path / directory))
            before = model.evaluate(dataset)
            model.train(dataset)
            return [before, model.evaluate(dataset)]

    expected = evaluations(CPU, "cpu")
    statistics.reset()
    before, after = evaluations(HPU, "hpu")
    assert statistics.get().launched_clusters and statistics.get().fallbacks == 0
    assert before == pytest.approx(expected[0], rel=1e-5) and after == pytest.approx(expected[1], rel=1e-4)
    assert after["global_step"] == 16 and after["loss"] < before["loss"]
