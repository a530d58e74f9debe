"""Start conditions of the bfloat16 conversion in running programs, and ops that it does not change."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from habana_frameworks.tensorflow.explanation import passes
from tests.precision import switches_programs as programs
from tests.support.clusters import assert_launched
from tests.support.keras_package import IS_KERAS_2
from tests.support.processes import call_to, run_with_tensorflow

tf1 = tf.compat.v1
X = np.linspace(-1, 1, 24, dtype=np.float32).reshape(4, 6)
W = np.linspace(1, -2, 18, dtype=np.float32).reshape(6, 3)


def converted(report: Any) -> set[str]:
    return {rewrite.op for rewrite in report.rewrites if rewrite.pass_name == "bf16"}


def converted_in_function() -> set[str]:
    """Returns the op types converted in the graph of a new function, which runs."""

    @tf.function
    def product(x: tf.Tensor, w: tf.Tensor) -> tf.Tensor:
        return tf.tanh(tf.matmul(x, w))

    with tf.device("/device:HPU:0"):
        result = product(tf.constant(X), tf.constant(W))
    assert result.dtype == tf.float32
    np.testing.assert_allclose(result, np.tanh(X @ W), rtol=0.02, atol=0.01)
    return converted(passes.recent_reports()[-1])


def converted_in_session(config: tf.compat.v1.ConfigProto | None = None) -> set[str]:
    with tf.Graph().as_default() as graph:
        with tf.device("/device:HPU:0"):
            x = tf.compat.v1.placeholder(tf.float32, [None, 6])
            y = tf.tanh(tf.matmul(x, tf.constant(W)))
        with tf.compat.v1.Session(graph=graph, config=config) as session:
            np.testing.assert_allclose(session.run(y, {x: X}), np.tanh(X @ W), rtol=0.02, atol=0.01)
    return converted(passes.recent_reports()[-1])


def test_the_environment_is_read_for_each_new_graph(hpu: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert converted_in_function() == converted_in_session() == set()
    monkeypatch.setenv("TF_BF16_CONVERSION", "basic")
    assert converted_in_function() == converted_in_session() == {"MatMul"}
    monkeypatch.setenv("TF_BF16_CONVERSION", "full")
    assert converted_in_function() == converted_in_session() == {"MatMul", "Tanh"}
    assert_launched()


def test_the_optimizer_option_starts_the_conversion(hpu: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tf.config.optimizer.set_experimental_options({"auto_mixed_precision": True})
    assert converted_in_function() == {"MatMul", "Tanh"}
    monkeypatch.setenv("TF_BF16_CONVERSION", "0")
    assert converted_in_function() == set()


def test_a_sessions_option_starts_the_conversion(hpu: str) -> None:
    config = tf.compat.v1.ConfigProto()
    config.graph_options.rewrite_options.auto_mixed_precision = 1  # value of ON
    assert converted_in_session(config) == {"MatMul", "Tanh"}


def test_the_wrapper_of_optimizers_starts_the_conversion_and_scales_the_loss(hpu: str) -> None:
    # Of Keras's optimizers, TensorFlow wraps only the legacy ones of Keras 2.
    optimizer, scaling = tf1.train.GradientDescentOptimizer(0.1), tf1.mixed_precision.MixedPrecisionLossScaleOptimizer
    if IS_KERAS_2:
        optimizer, scaling = tf.keras.optimizers.legacy.SGD(0.1), tf.keras.mixed_precision.LossScaleOptimizer
    try:
        wrapped = tf1.train.experimental.enable_mixed_precision_graph_rewrite(optimizer)
        assert isinstance(wrapped, scaling)
        assert converted_in_function() == converted_in_session() == {"MatMul", "Tanh"}
    finally:
        tf1.train.experimental.disable_mixed_precision_graph_rewrite()
    assert converted_in_function() == set()


def test_loops_and_branches_are_converted_inside(hpu: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_BF16_CONVERSION", "full")

    @tf.function
    def looped(x: tf.Tensor, w: tf.Tensor) -> tf.Tensor:
        for _ in tf.range(3):
            x = tf.tanh(tf.matmul(x, w)) if tf.reduce_sum(x) > -100.0 else x
        return x

    w = np.linspace(-1, 1, 36, dtype=np.float32).reshape(6, 6)
    with tf.device("/device:HPU:0"):
        result = looped(tf.constant(X), tf.constant(w))
    expected = X
    for _ in range(3):
        expected = np.tanh(expected @ w)
    np.testing.assert_allclose(result, expected, atol=0.03)
    report = passes.recent_reports()[-1]
    inside = {rewrite.node for rewrite in report.rewrites if rewrite.pass_name == "bf16" and "/" in rewrite.node}
    assert {"MatMul", "Tanh"} <= converted(report) and inside


def test_a_program_with_its_own_mixed_precision_is_left_as_it_is(
    hpu: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TF_BF16_CONVERSION", "full")
    tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
    with tf.device("/device:HPU:0"):
        model = tf.keras.Sequential([tf.keras.layers.Dense(3, "tanh", input_shape=(6,))])
        result = tf.function(model)(tf.constant(X))
    assert result.dtype == tf.bfloat16
    assert converted(passes.recent_reports()[-1]) == set()
    assert "tf.keras.mixed_precision does. Use either TF_BF16_CONVERSION or" in capfd.readouterr().err


@pytest.mark.parametrize("policy", ["mixed_bfloat16", "mixed_float16"])
def test_keras_policies(policy: str) -> None:
    done = run_with_tensorflow(call_to(programs.train_by_policy, policy), {"TF_CPP_MIN_LOG_LEVEL": "1"}, timeout=600)
    advice = 'Use tf.keras.mixed_precision.set_global_policy("mixed_bfloat16") instead of "mixed_float16"'
    assert done.stderr.count(advice) == (1 if policy == "mixed_float16" else 0)
    assert ("Gaudi lacks the type, and no public source" in done.stderr) is (policy == "mixed_float16")
    assert "NotFound" not in done.stderr
