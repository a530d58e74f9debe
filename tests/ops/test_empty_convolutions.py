"""Convolutions, pooling and gradients of empty operands: zeros of the correct shape."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.ops.outcomes import outcome
from tests.support.compare import HPU

pytestmark = pytest.mark.usefixtures("hpu")

raw = tf.raw_ops
Shape = tuple[int, ...]
# Op names of convolution and gradients, and number of window dimensions.
KINDS = {
    "Conv2D": ("Conv2DBackpropInput", "Conv2DBackpropFilter", 2),
    "DepthwiseConv2dNative": ("DepthwiseConv2dNativeBackpropInput", "DepthwiseConv2dNativeBackpropFilter", 2),
    "Conv3D": ("Conv3DBackpropInputV2", "Conv3DBackpropFilterV2", 3),
}
# Batch size, image side, input channels, and output channels per input.
EMPTY = {"batch": (0, 4, 2, 3), "windows": (1, 1, 2, 3), "inputs": (1, 4, 0, 3)}
EMPTY["outputs"] = (1, 4, 2, 0)


# An argument of the graph, so that TensorFlow cannot fold the ops on the CPU.
FACTOR: list[tf.Tensor] = []


def differences(function: Callable[[], Any], shape: Shape) -> list[str]:
    """Describes outcomes that are neither zeros of the correct shape nor rejections of a size.

    The CPU is no reference: it leaves memory uninitialised, and its eager kernels return other shapes or reject valid
    arguments of graphs. In a tf.function, TensorFlow's graph optimizer folds the op with that kernel before a device
    runs it.
    """

    def run(number: tf.Tensor) -> Any:
        FACTOR.append(number)
        try:
            return function()
        finally:
            FACTOR.pop()

    calls = {"eager": run, "jit_compile": tf.function(run, jit_compile=True)}
    found = {mode: outcome(functools.partial(call, tf.ones([])), HPU) for mode, call in calls.items()}
    refusals = (tf.errors.InvalidArgumentError, ValueError)
    return [
        f"{mode}: {one!r}"
        for mode, one in found.items()
        if not any(one is error for error in refusals) and not _zeros(one, shape)
    ]


def _zeros(actual: Any, shape: Shape) -> bool:
    return not isinstance(actual, type) and tuple(actual.shape) == shape and not np.any(actual.numpy())


def ones(shape: Shape) -> tf.Tensor:
    return tf.ones(shape) * FACTOR[-1]


def shapes(kind: str, batch: int, side: int, inputs: int, outputs: int) -> tuple[Shape, Shape, Shape]:
    """Returns the shapes of images, filter and result. One side is short, so that no window fits."""
    windowed = KINDS[kind][2]
    channels = inputs * outputs if kind == "DepthwiseConv2dNative" else outputs
    images = (batch, side, *[4] * (windowed - 1), inputs)
    return images, (*[2] * windowed, inputs, outputs), (batch, side - 1, *[3] * (windowed - 1), channels)


@pytest.mark.parametrize("empty", EMPTY)
@pytest.mark.parametrize("kind", KINDS)
def test_convolutions(kind: str, empty: str) -> None:
    of_input, of_filter, windowed = KINDS[kind]
    images, filters, results = shapes(kind, *EMPTY[empty])
    common = {"strides": [1] * (windowed + 2), "padding": "VALID"}
    calls: list[Callable[[], Any]] = [
        lambda: getattr(raw, kind)(input=ones(images), filter=ones(filters), **common),
        lambda: getattr(raw, of_input)(
            input_sizes=list(images), filter=ones(filters), out_backprop=ones(results), **common
        ),
        lambda: getattr(raw, of_filter)(
            input=ones(images), filter_sizes=list(filters), out_backprop=ones(results), **common
        ),
    ]
    found = [differences(call, shape) for call, shape in zip(calls, (results, images, filters))]
    assert not any(found), found


# Channels of images and filter. The filter's channels do not divide the images', or one of them is 0.
@pytest.mark.parametrize("channels", [(0, 4), (4, 0), (0, 0)])
@pytest.mark.parametrize("kind", KINDS)
def test_empty_gradients(kind: str, channels: tuple[int, int]) -> None:
    of_input, of_filter, windowed = KINDS[kind]
    images, filters = (1, *[3] * windowed, channels[0]), (*[2] * windowed, channels[1], 2)
    results = (1, *[3] * windowed, 2)
    common = {"strides": [1] * (windowed + 2), "padding": "SAME"}
    gradients: list[Callable[[], Any]] = [
        lambda: getattr(raw, of_input)(
            input_sizes=list(images), filter=ones(filters), out_backprop=ones(results), **common
        ),
        lambda: getattr(raw, of_filter)(
            input=ones(images), filter_sizes=list(filters), out_backprop=ones(results), **common
        ),
    ]
    assert not any(differences(call, shape) for call, shape in zip(gradients, (images, filters)))


@pytest.mark.parametrize("kind", KINDS)
def test_convolutions_without_channels_are_errors(kind: str) -> None:
    """As on the CPU, whose oneDNN kernels refuse them."""
    windowed = KINDS[kind][2]
    images = tf.ones([1, *[3] * windowed, 0])

    @tf.function(input_signature=[tf.TensorSpec([1, *[3] * windowed, None]), tf.TensorSpec([*[2] * windowed, None, 2])])
    def graph(images: tf.Tensor, filters: tf.Tensor) -> Any:
        return getattr(raw, kind)(input=images, filter=filters, strides=[1] * (windowed + 2), padding="SAME")

    with tf.device(HPU):
        for call in (graph, graph.python_function):
            for channels in (0, 4):
                with pytest.raises(tf.errors.InvalidArgumentError):
                    call(images, tf.ones([*[2] * windowed, channels, 2])).numpy()


@pytest.mark.parametrize("images", [(0, 4, 4, 2), (1, 4, 4, 0), (1, 1, 4, 2)])
def test_pooling(images: Shape) -> None:
    batch, rows, _, channels = images
    results = (batch, rows - 1, 3, channels)
    windows: dict[str, Any] = {"ksize": [1, 2, 2, 1], "strides": [1] * 4, "padding": "VALID"}
    calls: list[Callable[[], Any]] = [
        lambda: raw.AvgPoolGrad(orig_input_shape=list(images), grad=ones(results), **windows),
        lambda: raw.MaxPoolGrad(orig_input=ones(images), orig_output=ones(results), grad=ones(results), **windows),
        lambda: raw.MaxPoolGradGrad(orig_input=ones(images), orig_output=ones(results), grad=ones(images), **windows),
    ]
    found = [differences(call, shape) for call, shape in zip(calls, (images, images, results))]
    assert not any(found), found
