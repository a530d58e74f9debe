"""Window ops on images: convolutions, pooling, and patch extraction."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import tensorflow as tf

from benchmarks.op_cases.case import OpCase, Shape, convolution_gradients, gradient, gradients


def _conv2d(
    name: str, image: Shape, kernel: Shape, strides: int = 1, dilations: int = 1, dtype: tf.DType = tf.float32
) -> Iterator[OpCase]:
    """Yields cases of a convolution with "SAME" padding, and of both gradients."""
    options: dict[str, Any] = {"strides": strides, "padding": "SAME", "dilations": dilations}
    out = (image[0], -(-image[1] // strides), -(-image[2] // strides), kernel[3])
    gradient = {"strides": [1, strides, strides, 1], "padding": "SAME", "dilations": [1, dilations, dilations, 1]}
    yield OpCase(name, lambda x, w: tf.nn.conv2d(x, w, **options), (image, kernel), dtype)
    yield OpCase(
        f"{name} input gradient",
        lambda w, dy: tf.raw_ops.Conv2DBackpropInput(input_sizes=image, filter=w, out_backprop=dy, **gradient),
        (kernel, out),
        dtype,
    )
    yield OpCase(
        f"{name} filter gradient",
        lambda x, dy: tf.raw_ops.Conv2DBackpropFilter(input=x, filter_sizes=kernel, out_backprop=dy, **gradient),
        (image, out),
        dtype,
    )


def _depthwise(
    name: str, image: Shape, kernel: Shape, strides: int = 1, dtype: tf.DType = tf.float32
) -> Iterator[OpCase]:
    options: dict[str, Any] = {"strides": [1, strides, strides, 1], "padding": "SAME"}
    out = (image[0], -(-image[1] // strides), -(-image[2] // strides), kernel[2] * kernel[3])
    yield OpCase(name, lambda x, w: tf.nn.depthwise_conv2d(x, w, **options), (image, kernel), dtype)
    yield OpCase(
        f"{name} input gradient",
        lambda w, dy: tf.nn.depthwise_conv2d_backprop_input(image, w, dy, **options),
        (kernel, out),
        dtype,
    )
    yield OpCase(
        f"{name} filter gradient",
        lambda x, dy: tf.nn.depthwise_conv2d_backprop_filter(x, kernel, dy, **options),
        (image, out),
        dtype,
    )


def _max_pool(size: int, strides: int) -> Callable[[tf.Tensor], tf.Tensor]:
    return lambda x: tf.nn.max_pool2d(x, size, strides, "SAME")


def _average_pool(size: int, strides: int) -> Callable[[tf.Tensor], tf.Tensor]:
    return lambda x: tf.nn.avg_pool2d(x, size, strides, "SAME")


def _conv3d(name: str, image: Shape, kernel: Shape, stride: int = 1, dtype: tf.DType = tf.float32) -> Iterator[OpCase]:
    strides = [1, stride, stride, stride, 1]
    out = (image[0], *(-(-size // stride) for size in image[1:4]), kernel[4])
    return convolution_gradients(name, lambda x, w: tf.nn.conv3d(x, w, strides, "SAME"), image, kernel, out, dtype)


def _transposed(name: str, image: Shape, kernel: Shape, strides: int = 2) -> Iterator[OpCase]:
    """Transposed convolutions of two or three dimensions, with their gradients."""
    out = (image[0], *(size * strides for size in image[1:-1]), kernel[-2])
    return convolution_gradients(
        name, lambda x, w: tf.nn.conv_transpose(x, w, out, strides, "SAME"), image, kernel, out
    )


def _separable(image: Shape, kernel: Shape, channels: int) -> Iterator[OpCase]:
    def separable(x: tf.Tensor, depthwise: tf.Tensor, pointwise: tf.Tensor) -> tf.Tensor:
        return tf.nn.separable_conv2d(x, depthwise, pointwise, [1, 1, 1, 1], "SAME")

    shapes = (image, kernel, (1, 1, kernel[2] * kernel[3], channels))
    yield OpCase("separable conv", separable, shapes)
    yield OpCase("separable conv gradients", gradient(separable), (*shapes, (*image[:3], channels)))


def _max_pool3d(x: tf.Tensor) -> tf.Tensor:
    return tf.nn.max_pool3d(x, 2, 2, "SAME")


def _average_pool3d(x: tf.Tensor) -> tf.Tensor:
    return tf.nn.avg_pool3d(x, 2, 2, "SAME")


def _dilation(x: tf.Tensor, w: tf.Tensor) -> tf.Tensor:
    return tf.nn.dilation2d(x, w, [1, 1, 1, 1], "SAME", "NHWC", [1, 1, 1, 1])


def _max_with_argmax(x: tf.Tensor) -> tf.Tensor:
    return tf.nn.max_pool_with_argmax(x, 2, 2, "SAME").output


def _patches(x: tf.Tensor) -> tf.Tensor:
    return tf.image.extract_patches(x, [1, 3, 3, 1], [1, 2, 2, 1], [1, 1, 1, 1], "SAME")


def convolutions() -> list[OpCase]:
    image = (8, 48, 48, 96)
    return [
        *_conv2d("conv 3x3", (8, 24, 24, 64), (3, 3, 64, 64)),
        *_conv2d("conv 3x3", (8, 6, 6, 256), (3, 3, 256, 256)),
        *_conv2d("conv 3x3", (32, 28, 28, 16), (3, 3, 16, 32)),
        *_conv2d("conv 3x3 dilated", (8, 24, 24, 64), (3, 3, 64, 64), dilations=2),
        *_conv2d("conv 3x3 strided", (8, 24, 24, 64), (3, 3, 64, 64), strides=2),
        *_conv2d("conv 7x7 strided", (8, 96, 96, 3), (7, 7, 3, 64), strides=2),
        *_conv2d("conv 1x1", (8, 24, 24, 64), (1, 1, 64, 256)),
        *_conv2d("conv 1x1 strided", (8, 24, 24, 256), (1, 1, 256, 128), strides=2),
        *_conv2d("conv 3x3 grouped", (8, 24, 24, 64), (3, 3, 16, 64)),
        *_depthwise("depthwise", (8, 48, 48, 96), (3, 3, 96, 1)),
        *_conv2d("conv 3x3", (8, 24, 24, 64), (3, 3, 64, 64), dtype=tf.bfloat16),
        *_conv2d("conv 1x1", (8, 24, 24, 64), (1, 1, 64, 256), dtype=tf.bfloat16),
        *_depthwise("depthwise strided", image, (3, 3, 96, 1), strides=2),
        *_depthwise("depthwise", image, (3, 3, 96, 1), dtype=tf.bfloat16),
        *_separable((8, 24, 24, 64), (3, 3, 64, 1), 128),
        *_conv3d("conv 3d", (2, 16, 16, 16, 16), (3, 3, 3, 16, 32)),
        *_conv3d("conv 3d strided", (2, 16, 16, 16, 16), (3, 3, 3, 16, 32), 2),
        *_conv3d("conv 3d", (2, 16, 16, 16, 16), (3, 3, 3, 16, 32), dtype=tf.bfloat16),
        *_transposed("transposed conv 3x3/2", (8, 24, 24, 64), (3, 3, 32, 64)),
        *_transposed("transposed conv 2x2/2", (8, 24, 24, 64), (2, 2, 32, 64)),
        *_transposed("transposed conv 3d", (2, 8, 8, 8, 32), (3, 3, 3, 16, 32)),
        *convolution_gradients(
            "conv 1d", lambda x, w: tf.nn.conv1d(x, w, 1, "SAME"), (8, 512, 64), (5, 64, 64), (8, 512, 64)
        ),
        *convolution_gradients(
            "conv 1d causal, dilated",
            lambda x, w: tf.nn.conv1d(tf.pad(x, [[0, 0], [8, 0], [0, 0]]), w, 1, "VALID", dilations=4),
            (8, 512, 64),
            (3, 64, 64),
            (8, 512, 64),
        ),
    ]


def pools() -> list[OpCase]:
    large, small = (8, 48, 48, 64), (8, 24, 24, 64)
    return [
        *gradients("max pool 3x3/2", _max_pool(3, 2), (8, 48, 48, 64), (8, 24, 24, 64)),
        *gradients("max pool 2x2/2", _max_pool(2, 2), (32, 28, 28, 16), (32, 14, 14, 16)),
        *gradients("average pool 3x3/1", _average_pool(3, 1), (8, 24, 24, 64), (8, 24, 24, 64)),
        *gradients("average pool 2x2/2", _average_pool(2, 2), (8, 48, 48, 64), (8, 24, 24, 64)),
        *gradients("max pool 3x3/2", _max_pool(3, 2), large, small, tf.bfloat16),
        *gradients("average pool 2x2/2", _average_pool(2, 2), large, small, tf.bfloat16),
        *gradients("max pool 3d", _max_pool3d, (4, 16, 32, 32, 16), (4, 8, 16, 16, 16)),
        *gradients("average pool 3d", _average_pool3d, (4, 16, 32, 32, 16), (4, 8, 16, 16, 16)),
        *gradients("max pool 1d", lambda x: tf.nn.max_pool1d(x, 2, 2, "SAME"), (16, 1024, 64), (16, 512, 64)),
        OpCase("max pool with argmax", lambda x: tf.nn.max_pool_with_argmax(x, 2, 2, "SAME"), (large,)),
        OpCase("max pool with argmax gradient", gradient(_max_with_argmax), (large, small)),
        *convolution_gradients("dilation", _dilation, (4, 24, 24, 16), (3, 3, 16), (4, 24, 24, 16)),
        *gradients("patches", _patches, (8, 48, 48, 16), (8, 24, 24, 144)),
        OpCase("space to depth", lambda x: tf.nn.space_to_depth(x, 2), (large,)),
        OpCase("depth to space", lambda x: tf.nn.depth_to_space(x, 2), (large,)),
        OpCase("space to batch", lambda x: tf.space_to_batch(x, [2, 2], [[0, 0], [0, 0]]), (large,)),
        OpCase("batch to space", lambda x: tf.batch_to_space(x, [2, 2], [[0, 0], [0, 0]]), (large,)),
    ]
