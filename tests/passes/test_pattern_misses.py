"""Subgraphs that resemble patterns but must not match."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from habana_frameworks.tensorflow.explanation import passes
from habana_frameworks.tensorflow.explanation.passes import HPU
from tests.passes.pattern_cases import composed_softmax, norm
from tests.passes.test_passes import graph_of, on_cpu, placeholder

Build = Callable[[tf.Tensor], Any]


def patterns_in(build: Build, shape: tuple[int, ...] = (4, 6, 16)) -> list[str]:
    """Returns the patterns in the graph of a one-input function, all of whose results are used."""

    def graph() -> None:
        with tf.device(HPU):
            results = tf.nest.flatten(build(placeholder(list(shape))))
        for index, result in enumerate(results):
            on_cpu(result, f"out_{index}")

    rewrites = passes.run(graph_of(graph), "patterns").report.rewrites
    return sorted(rewrite.what.split(":")[0] for rewrite in rewrites)


def gelu(x: tf.Tensor, half: float = 0.5, root: float = np.sqrt(2.0)) -> tf.Tensor:
    return half * x * (1.0 + tf.math.erf(x / root))


def gelu_erfc(x: tf.Tensor, half: float = 0.5, root: float = np.sqrt(2.0), sign: float = -1.0) -> tf.Tensor:
    return half * x * tf.math.erfc(sign / root * x)


def gelu_tanh(x: tf.Tensor, cubic: float = 0.044715, power: float = 3.0) -> tf.Tensor:
    return 0.5 * x * (1.0 + tf.tanh(0.7978845608 * (x + cubic * tf.pow(x, power))))


def layer_norm(
    x: tf.Tensor, axes: list[int] | None = None, epsilon: Any = 1e-3, inner: bool = False, keras_3: bool = False
) -> Any:
    mean = tf.reduce_mean(x, [-1], keepdims=True)
    variance = tf.reduce_mean(tf.math.squared_difference(x, mean), axes or [-1], keepdims=True)
    scale = tf.math.rsqrt(variance + epsilon) * tf.ones([16])
    y = x * scale + (-mean * scale + tf.zeros([16]) if keras_3 else tf.zeros([16]) - mean * scale)
    return (y, scale) if inner else y


def dropout(x: tf.Tensor, noise: tf.Tensor | None = None, rate: Any = 0.5) -> tf.Tensor:
    noise = tf.random.uniform(tf.shape(x)) if noise is None else noise
    return tf.where(noise >= rate, x * 2.0, 0.0)


def conv(x: tf.Tensor, paddings: list[list[int]], padding: str = "VALID") -> tf.Tensor:
    padded = tf.pad(x, paddings)
    return tf.nn.conv2d(padded, tf.ones([3, 3, padded.shape[-1], 2]), 1, padding)


def batch_norm(x: tf.Tensor) -> tf.Tensor:
    weights = 2 * [tf.ones([3])]
    return tf.raw_ops.FusedBatchNormV3(x=x, scale=weights[0], offset=weights[1], mean=[], variance=[]).y


IMAGE = (2, 8, 8, 3)
SPATIAL = [[0, 0], [1, 1], [1, 1], [0, 0]]


@pytest.mark.parametrize(
    ("pattern", "build", "shape"),
    [
        ("gelu_erf", gelu, (4, 6)),
        ("gelu_erf", gelu_erfc, (4, 6)),
        ("gelu_tanh", gelu_tanh, (4, 6)),
        ("layer_norm", layer_norm, (4, 16)),
        ("layer_norm", lambda x: layer_norm(x, keras_3=True), (4, 16)),
        ("composed_softmax", composed_softmax, (4, 6)),
        ("dropout", dropout, (4, 6)),
        ("clamp", lambda x: tf.maximum(tf.minimum(x, 1.0), 0.0), (4, 6)),
        ("padded_conv", lambda x: conv(x, SPATIAL), IMAGE),
        ("batch_norm_relu", lambda x: tf.nn.relu(batch_norm(x)), IMAGE),
        ("bias_relu", lambda x: tf.nn.relu(tf.nn.bias_add(x, tf.ones([6]))), (4, 6)),
    ],
)
def test_the_decomposition_is_found(pattern: str, build: Build, shape: tuple[int, ...]) -> None:
    """Positive control: the tests below then fail only because of the missing part."""
    assert patterns_in(build, shape) == [pattern]


@pytest.mark.parametrize(
    ("build", "shape"),
    [
        pytest.param(lambda x: gelu(x, half=0.6), (4, 6), id="gelu-half"),
        pytest.param(lambda x: gelu(x, root=1.5), (4, 6), id="gelu-root"),
        pytest.param(lambda x: 0.5 * x * (1.0 + tf.math.erf(tf.sin(x) / 1.41421356)), (4, 6), id="gelu-other-input"),
        pytest.param(lambda x: gelu_erfc(x, half=0.6), (4, 6), id="gelu-erfc-half"),
        pytest.param(lambda x: gelu_erfc(x, root=1.5), (4, 6), id="gelu-erfc-root"),
        pytest.param(lambda x: gelu_erfc(x, sign=1.0), (4, 6), id="gelu-erfc-sign"),
        pytest.param(lambda x: gelu_tanh(x, cubic=0.05), (4, 6), id="gelu-cubic"),
        pytest.param(lambda x: gelu_tanh(x, power=2.0), (4, 6), id="gelu-power"),
        pytest.param(lambda x: layer_norm(x, axes=[0]), (16, 16), id="norm-other-axes"),
        pytest.param(lambda x: layer_norm(x, axes=[0], keras_3=True), (16, 16), id="keras-3-norm-other-axes"),
        pytest.param(lambda x: layer_norm(x, epsilon=tf.fill([16], 1e-3)), (4, 16), id="norm-many-epsilons"),
        pytest.param(lambda x: layer_norm(x, inner=True), (4, 16), id="norm-inner-value-used"),
        pytest.param(lambda x: layer_norm(x, inner=True, keras_3=True), (4, 16), id="keras-3-norm-used"),
        pytest.param(lambda x: tf.exp(x) / tf.reduce_sum(tf.exp(x), -1, keepdims=True), (4, 6), id="softmax-no-max"),
        pytest.param(lambda x: composed_softmax(x, axis=0), (4, 6), id="softmax-first-axis"),
        pytest.param(lambda x: dropout(x, noise=tf.sin(x)), (4, 6), id="dropout-not-random"),
        pytest.param(lambda x: dropout(x, rate=tf.linspace(0.1, 0.9, 6)), (4, 6), id="dropout-many-rates"),
        pytest.param(lambda x: tf.maximum(tf.minimum(x, np.ones(6, np.float32)), 0.0), (4, 6), id="clamp-vector"),
        pytest.param(lambda x: tf.maximum(tf.minimum(x, tf.reduce_sum(x)), 0.0), (4, 6), id="clamp-computed"),
        pytest.param(lambda x: conv(x, [[0, 0], [1, 1], [1, 1], [0, 1]]), IMAGE, id="conv-padded-channels"),
        pytest.param(lambda x: conv(x, SPATIAL, "SAME"), IMAGE, id="conv-same"),
        pytest.param(lambda x: [tf.nn.relu(y := batch_norm(x)), y], IMAGE, id="batch-norm-used"),
        pytest.param(lambda x: tf.nn.leaky_relu(batch_norm(x)), IMAGE, id="batch-norm-leaky"),
        pytest.param(lambda x: [tf.nn.relu(y := tf.nn.bias_add(x, tf.ones([6]))), tf.sin(y)], (4, 6), id="bias-used"),
        pytest.param(lambda x: tf.nn.elu(tf.nn.bias_add(x, tf.ones([6]))), (4, 6), id="bias-elu"),
    ],
)
def test_a_near_miss_stays(build: Build, shape: tuple[int, ...]) -> None:
    assert patterns_in(build, shape) == []


@pytest.mark.parametrize(
    "function",
    [
        pytest.param(lambda x: gelu(x, half=0.6), id="gelu-half"),
        pytest.param(lambda x: gelu_erfc(x, sign=1.0), id="gelu-erfc-sign"),
        pytest.param(lambda x: gelu_tanh(x, cubic=0.05), id="gelu-cubic"),
        pytest.param(lambda x: layer_norm(x, axes=[0]), id="norm-other-axes"),
        pytest.param(lambda x: layer_norm(x, axes=[0], keras_3=True), id="keras-3-norm-other-axes"),
        pytest.param(lambda x: tf.exp(x) / tf.reduce_sum(tf.exp(x), 0, keepdims=True), id="softmax-first-axis"),
        pytest.param(lambda x: tf.where(x > 0.3, x * 2.0, 0.0), id="dropout-not-random"),
        pytest.param(lambda x: tf.maximum(tf.minimum(x, 1.0), tf.sin(x)), id="clamp-computed"),
    ],
)
def test_the_gradient_of_a_near_miss_stays(function: Build) -> None:
    assert patterns_in(lambda x: tf.gradients(function(x), x, grad_ys=tf.sin(x)), (16, 16)) == []


def test_a_sum_over_another_axis_is_no_softmax_gradient() -> None:
    def build(x: tf.Tensor) -> tf.Tensor:
        y, dy = tf.nn.softmax(x), tf.sin(x)
        return (dy - tf.reduce_sum(dy * y, 0, keepdims=True)) * y

    assert patterns_in(build) == []


def test_a_result_that_leads_back_into_the_pattern_stays() -> None:
    """`mean` leaves the pattern and returns as `gamma`. A fused op would depend on itself."""

    def build(x: tf.Tensor) -> tf.Tensor:
        mean, variance = tf.nn.moments(x, [-1], keepdims=True)
        return tf.nn.batch_normalization(x, mean, variance, tf.ones([16]), tf.sin(mean), 1e-3)

    assert patterns_in(build) == []
    assert patterns_in(lambda x: norm([-1])(x, tf.ones([16]), tf.ones([16]))) == ["layer_norm"]
