"""Fused ops called by name: on the CPU, eagerly on the HPU and in clusters, with their Python gradients."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from habana_frameworks.tensorflow import habana_ops, statistics
from tests.support.compare import CPU, HPU, Tolerance, assert_close, with_gradients

pytestmark = pytest.mark.usefixtures("hpu")

Function = Callable[..., Any]
PADDINGS = [0, 0, 1, 0, 0, 2, 0, 0]


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    fused: Function
    plain: Function
    shapes: tuple[tuple[int, ...], ...]


def norm(x: tf.Tensor, beta: tf.Tensor, gamma: tf.Tensor, axes: list[int]) -> tf.Tensor:
    mean, variance = tf.nn.moments(x, axes, keepdims=True)
    return tf.nn.batch_normalization(x, mean, variance, beta, gamma, 1e-3)


@tf.function  # eager calls do not support tensor attributes
def layer_norm(x: tf.Tensor, beta: tf.Tensor, gamma: tf.Tensor) -> tf.Tensor:
    axes, epsilon = tf.make_tensor_proto([-1]), tf.make_tensor_proto(1e-3, tf.float32)
    return habana_ops.habana_layer_norm(x=x, beta=beta, gamma=gamma, axes=axes, epsilon=epsilon)[0]


def batch_norm(x: tf.Tensor, scale: tf.Tensor, offset: tf.Tensor, fused: bool) -> tf.Tensor:
    moments = [tf.zeros([3]), tf.ones([3])]
    if fused:
        return habana_ops.habana_fused_batch_norm_v3(x, scale, offset, *moments, epsilon=1e-3).y
    return tf.nn.relu(
        tf.raw_ops.FusedBatchNormV3(
            x=x, scale=scale, offset=offset, mean=moments[0], variance=moments[1], epsilon=1e-3
        ).y
    )


def dropout(x: tf.Tensor, noise: tf.Tensor) -> tf.Tensor:
    noise = tf.stop_gradient(noise)
    return habana_ops.habana_dropout(x, noise, rate=0.3, scale=2.0).y


def bilinear_planes(x: tf.Tensor, scales: tf.Tensor, shift_x: tf.Tensor, shift_y: tf.Tensor) -> tf.Tensor:
    """Samples [batch, planes, height, width, channels] of each plane, as products with dense bilinear weights."""
    height, width = x.shape[1:3]

    def weights(shift: tf.Tensor, size: int) -> tf.Tensor:
        places = scales[..., tf.newaxis] * tf.range(size, dtype=tf.float32) + shift[..., tf.newaxis]
        return tf.nn.relu(1.0 - tf.abs(places[..., tf.newaxis] - tf.range(size, dtype=tf.float32)))

    return tf.einsum("bpyr,bpxc,brcd->bpyxd", weights(shift_y, height), weights(shift_x, width), x)


PLANES = [np.array(rows, np.float32) for rows in ([[1.0, 0.5, 1.5]] * 2, [[0.0, 1.3, -2.2]] * 2, [[0.0, 0.4, 0.7]] * 2)]


def correlation(centre: tf.Tensor, surround: tf.Tensor) -> tf.Tensor:
    return tf.einsum("byxd,bpyxd->byxp", centre, bilinear_planes(surround, *PLANES))


def sparse_segment_sum(x: tf.Tensor) -> tf.Tensor:
    return habana_ops.habana_sparse_segment_sum(x, tf.constant([0, 3, 1, 3]), tf.constant([0, 0, 2, 2]), 4)


POOLING = {"ksize": [1, 3, 2, 1], "strides": [1, 2, 2, 1], "padding": "SAME"}


CASES = [
    Case(
        "masked_softmax",
        lambda x, mask: habana_ops.habana_masked_softmax(x, mask),
        lambda x, mask: tf.nn.softmax(x + mask),
        ((2, 3, 4, 6), (2, 1, 1, 6)),
    ),
    Case(
        "layer_norm_v2",
        lambda x, beta, gamma: habana_ops.habana_layer_norm_v2(x, beta, gamma, axes=[-1], epsilon=1e-3).y,
        lambda x, beta, gamma: norm(x, beta, gamma, [-1]),
        ((4, 6, 16), (16,), (16,)),
    ),
    Case(
        "max_pool",
        lambda x: habana_ops.habana_max_pool(x, **POOLING),
        lambda x: tf.raw_ops.MaxPool(input=x, **POOLING),
        ((2, 7, 6, 3),),
    ),
    Case(
        "resize_nearest_neighbor",
        lambda x: habana_ops.habana_resize_nearest_neighbor(x, [8, 9], half_pixel_centers=True),
        lambda x: tf.raw_ops.ResizeNearestNeighbor(images=x, size=[8, 9], half_pixel_centers=True),
        ((2, 4, 3, 3),),
    ),
    Case(
        "sparse_segment_sum",
        sparse_segment_sum,
        lambda x: tf.stack([x[0] + x[3], tf.zeros([5]), x[1] + x[3], tf.zeros([5])]),
        ((4, 5),),
    ),
    Case(
        "correlation",
        lambda centre, surround: habana_ops.habana_correlation(centre, surround, *PLANES).out,
        correlation,
        ((2, 5, 6, 3), (2, 5, 6, 3)),
    ),
    Case("gelu", lambda x: habana_ops.habana_gelu(x), tf.nn.gelu, ((4, 6),)),
    Case(
        "gelu_tanh",
        lambda x: habana_ops.habana_gelu(x, approximate=True),
        lambda x: tf.nn.gelu(x, approximate=True),
        ((4, 6),),
    ),
    Case("layer_norm", layer_norm, lambda x, beta, gamma: norm(x, beta, gamma, [-1]), ((4, 6, 16), (16,), (16,))),
    Case(
        "instance_norm",
        lambda x, beta, gamma: habana_ops.habana_instance_norm(x, beta, gamma, epsilon=1e-3)[0],
        lambda x, beta, gamma: norm(x, beta, gamma, [1, 2]),
        ((2, 5, 4, 3), (3,), (3,)),
    ),
    Case(
        "dropout",
        dropout,
        lambda x, noise: tf.where(tf.stop_gradient(noise) >= 0.3, x * 2.0, tf.zeros_like(x)),
        ((4, 6), (4, 6)),
    ),
    Case(
        "clamp",
        lambda x: habana_ops.habana_clamp_fwd(x, min=-0.5, max=0.7),
        lambda x: tf.clip_by_value(x, -0.5, 0.7),
        ((4, 6),),
    ),
    Case(
        "conv",
        lambda x, w: habana_ops.habana_conv2d_with_padding(x, w, paddings=PADDINGS, strides=[1, 2, 2, 1]),
        lambda x, w: tf.nn.conv2d(x, w, 2, np.reshape(PADDINGS, [4, 2]).tolist()),
        ((2, 7, 8, 3), (3, 3, 3, 4)),
    ),
    Case(
        "batch_norm",
        lambda x, scale, offset: batch_norm(x, scale, offset, True),
        lambda x, scale, offset: batch_norm(x, scale, offset, False),
        ((2, 5, 4, 3), (3,), (3,)),
    ),
    *(
        Case(
            f"bias_{op.lower()}",
            lambda x, b, op=op: habana_ops.habana_bias_add_activation(x, b, activation=op),
            lambda x, b, activation=activation: activation(tf.nn.bias_add(x, b)),
            ((4, 6), (6,)),
        )
        for op, activation in (
            ("Relu", tf.nn.relu),
            ("Relu6", tf.nn.relu6),
            ("Tanh", tf.tanh),
            ("Sigmoid", tf.sigmoid),
        )
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_values_and_gradients(case: Case) -> None:
    generator = np.random.default_rng(5)
    arrays = [generator.standard_normal(shape, dtype=np.float32) * 1.5 for shape in case.shapes]

    def results(function: Function, device: str, calls: int = 1) -> Any:
        with tf.device(device):
            tensors = [tf.constant(array) for array in arrays]
            for _ in range(calls):
                made = with_gradients(lambda *xs: tf.sin(function(*xs)))(*tensors)
        return made

    expected = results(case.plain, CPU)
    tolerance = Tolerance(2e-5, 2e-5)
    assert_close(results(case.fused, CPU), expected, tolerance, "on the CPU")
    # The first calls use the CPU kernels, later calls are compiled.
    assert_close(results(case.fused, HPU, calls=3), expected, tolerance, "eagerly")
    assert_close(results(tf.function(case.fused), HPU), expected, tolerance, "in a cluster")


def test_stateful_random_ops_draw_the_numbers_of_the_cpu() -> None:
    """The graph passes split the ops, so that the numbers are drawn in the cluster."""

    def program() -> tuple[tf.Tensor, ...]:
        x = tf.ones([64, 50])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y, mask = habana_ops.habana_dropout_stateful(x, rate=0.25, scale=4.0 / 3.0, seed=3, seed2=5)
        numbers = habana_ops.habana_random_uniform_with_maxval([7, 9], 3.0, seed=1, seed2=2)
        return y, mask, tape.gradient(y, x), numbers

    def two_calls(device: str) -> list[list[np.ndarray[Any, Any]]]:
        with tf.device(device):
            function = tf.function(program)
            return [[result.numpy() for result in function()] for _ in range(2)]

    expected, actual = two_calls(CPU), two_calls(HPU)
    for on_cpu, on_hpu in zip(expected, actual):
        for cpu_array, hpu_array in zip(on_cpu, on_hpu):
            np.testing.assert_array_equal(hpu_array, cpu_array)
    (y, mask, gradient, numbers), (other, *_) = actual
    assert 0.7 < mask.mean() < 0.8 and not np.array_equal(y, other)
    np.testing.assert_array_equal(gradient, mask * np.float32(4.0 / 3.0))
    assert 2.0 < numbers.max() < 3.0
    clusters = [cluster for cluster in statistics.get().launched_clusters if "program" in cluster.name]
    assert clusters and {(cluster.launches, cluster.fallbacks) for cluster in clusters} == {(2, 0)}


@pytest.mark.parametrize("data_format", ["NHWC", "NCHW"])
@pytest.mark.parametrize(
    ("strides", "dilations"),
    [((1, 1), (1, 1)), ((2, 3), (1, 1)), ((1, 1), (2, 3))],
    ids=["plain", "strided", "dilated"],
)
def test_shapes_of_padded_convolutions(data_format: str, strides: tuple[int, int], dilations: tuple[int, int]) -> None:
    """Equal to those of TensorFlow's convolution with explicit padding. Without them, sizes after it are unknown."""

    def four(batch: Any, channels: Any, pair: Sequence[Any]) -> list[Any]:
        return [batch, *pair, channels] if data_format == "NHWC" else [batch, channels, *pair]

    paddings = four([0, 0], [0, 0], [[0, 1], [2, 3]])
    steps, spread = four(1, 1, strides), four(1, 1, dilations)
    for sizes in ((11, 13), (None, 13)):
        with tf.Graph().as_default():
            x = tf.compat.v1.placeholder(tf.float32, four(None, 3, sizes))
            w = tf.ones([3, 2, 3, 5])
            ours = habana_ops.habana_conv2d_with_padding(
                x, w, paddings=np.ravel(paddings).tolist(), strides=steps, dilations=spread, data_format=data_format
            )
            theirs = tf.nn.conv2d(x, w, steps, paddings, data_format=data_format, dilations=spread)
            assert ours.shape.as_list() == theirs.shape.as_list()
