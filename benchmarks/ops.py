"""Time of single ops on the emulated HPU against TensorFlow on the CPU, in one process: one line per op and shape."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import statistics
import sys
from collections.abc import Callable, Iterator
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf

from benchmarks.measure import Times, in_turns

DEVICES = {"hpu": "/device:HPU:0", "cpu": "/device:CPU:0"}
Shape = tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class OpCase:
    """An op as a function of tensors, and their shapes; the last one holds indices below `indices_below`, if set."""

    name: str
    function: Callable[..., Any]
    shapes: tuple[Shape, ...]
    dtype: tf.DType = tf.float32
    indices_below: int = 0

    @property
    def label(self) -> str:
        suffix = "" if self.dtype == tf.float32 else f" {self.dtype.name}"
        return f"{self.name} {' '.join('x'.join(map(str, shape)) for shape in self.shapes)}{suffix}"

    def inputs(self, device: str) -> list[tf.Tensor]:
        generator = np.random.default_rng(0)
        floats = self.shapes[:-1] if self.indices_below else self.shapes
        with tf.device(device):
            tensors = [
                tf.cast(tf.constant(generator.standard_normal(shape, dtype=np.float32)), self.dtype) for shape in floats
            ]
            if self.indices_below:
                tensors.append(tf.constant(generator.integers(0, self.indices_below, self.shapes[-1], np.int32)))
        return tensors


def _conv(name: str, image: Shape, kernel: Shape, strides: int = 1, dilations: int = 1) -> Iterator[OpCase]:
    """A convolution with "SAME" padding, and its two gradients."""
    options: dict[str, Any] = {"strides": strides, "padding": "SAME", "dilations": dilations}
    out = (image[0], -(-image[1] // strides), -(-image[2] // strides), kernel[3])
    gradient = {"strides": [1, strides, strides, 1], "padding": "SAME", "dilations": [1, dilations, dilations, 1]}
    yield OpCase(name, lambda x, w: tf.nn.conv2d(x, w, **options), (image, kernel))
    yield OpCase(
        f"{name} input gradient",
        lambda w, dy: tf.raw_ops.Conv2DBackpropInput(input_sizes=image, filter=w, out_backprop=dy, **gradient),
        (kernel, out),
    )
    yield OpCase(
        f"{name} filter gradient",
        lambda x, dy: tf.raw_ops.Conv2DBackpropFilter(input=x, filter_sizes=kernel, out_backprop=dy, **gradient),
        (image, out),
    )


def _gradients(name: str, function: Callable[[tf.Tensor], tf.Tensor], shape: Shape, out: Shape) -> Iterator[OpCase]:
    """A function of one tensor, and its gradient from a gradient of its result."""

    def gradient(x: tf.Tensor, dy: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        return tape.gradient(y, x, output_gradients=dy)

    yield OpCase(name, function, (shape,))
    yield OpCase(f"{name} gradient", gradient, (shape, out))


def _depthwise(image: Shape, kernel: Shape) -> Iterator[OpCase]:
    options: dict[str, Any] = {"strides": [1, 1, 1, 1], "padding": "SAME"}
    yield OpCase("depthwise", lambda x, w: tf.nn.depthwise_conv2d(x, w, **options), (image, kernel))
    yield OpCase(
        "depthwise input gradient",
        lambda w, dy: tf.nn.depthwise_conv2d_backprop_input(image, w, dy, **options),
        (kernel, image),
    )
    yield OpCase(
        "depthwise filter gradient",
        lambda x, dy: tf.nn.depthwise_conv2d_backprop_filter(x, kernel, dy, **options),
        (image, image),
    )


def _batch_norm(x: tf.Tensor, scale: tf.Tensor, offset: tf.Tensor) -> Any:
    return tf.raw_ops.FusedBatchNormV3(x=x, scale=scale, offset=offset, mean=[], variance=[], is_training=True)[:3]


def _batch_norm_gradient(x: tf.Tensor, scale: tf.Tensor, offset: tf.Tensor, dy: tf.Tensor) -> Any:
    with tf.GradientTape() as tape:
        tape.watch([x, scale, offset])
        y = _batch_norm(x, scale, offset)[0]
    return tape.gradient(y, [x, scale, offset], output_gradients=dy)


def _layer_norm(x: tf.Tensor) -> tf.Tensor:
    mean, variance = tf.nn.moments(x, -1, keepdims=True)
    return (x - mean) * tf.math.rsqrt(variance + 1e-6)


def _max_pool(size: int, strides: int) -> Callable[[tf.Tensor], tf.Tensor]:
    return lambda x: tf.nn.max_pool2d(x, size, strides, "SAME")


def _average_pool(size: int, strides: int) -> Callable[[tf.Tensor], tf.Tensor]:
    return lambda x: tf.nn.avg_pool2d(x, size, strides, "SAME")


def _resize(method: str, image: Shape, out: Shape) -> Iterator[OpCase]:
    return _gradients(f"resize {method}", lambda x: tf.image.resize(x, out[1:3], method), image, out)


def _positive(x: tf.Tensor) -> tf.Tensor:
    """Symmetric, positive definite matrices."""
    return tf.matmul(x, x, transpose_b=True) + x.shape[-1] * tf.eye(x.shape[-1])


def _lower(x: tf.Tensor) -> tf.Tensor:
    """Lower triangular matrices that are far from singular."""
    return tf.linalg.band_part(x, -1, 0) + x.shape[-1] * tf.eye(x.shape[-1])


def _linear_algebra() -> Iterator[OpCase]:
    many, few, large = (256, 8, 8), (16, 64, 64), (1, 384, 384)
    for shape in (many, few, large):
        yield OpCase("Cholesky", lambda x: tf.linalg.cholesky(_positive(x)), (shape,))
        yield OpCase("inverse", tf.linalg.inv, (shape,))
    for shape in (many, few):
        yield OpCase("solve", tf.linalg.solve, (shape, shape))
        yield OpCase("triangular solve", lambda x, y: tf.linalg.triangular_solve(_lower(x), y), (shape, shape))
        yield OpCase("Cholesky solve", lambda x, y: tf.linalg.cholesky_solve(_lower(x), y), (shape, shape))
        yield OpCase("determinant", tf.linalg.det, (shape,))
        yield OpCase("sign and log of determinant", tf.linalg.slogdet, (shape,))
        yield OpCase("log of determinant", lambda x: tf.linalg.logdet(_positive(x)), (shape,))
        yield OpCase("QR", tf.linalg.qr, (shape,))
        yield OpCase("singular values", lambda x: tf.linalg.svd(x, compute_uv=False), (shape,))
        yield OpCase("singular value decomposition", tf.linalg.svd, (shape,))
        yield OpCase("eigenvalues", lambda x: tf.linalg.eigh(_positive(x)), (shape,))
    yield OpCase("QR", tf.linalg.qr, ((16, 128, 32),))
    yield OpCase("least squares", tf.linalg.lstsq, ((16, 128, 32), (16, 128, 4)))
    yield OpCase("matrix exponential", tf.linalg.expm, (many,))
    yield from list(_gradients("Cholesky", lambda x: tf.linalg.cholesky(_positive(x)), few, few))[1:]
    yield from list(_gradients("inverse", tf.linalg.inv, few, few))[1:]
    yield from list(_gradients("log of determinant", lambda x: tf.linalg.logdet(_positive(x)), few, few[:1]))[1:]
    yield from list(_gradients("QR", lambda x: tf.linalg.qr(x)[1], few, few))[1:]
    yield from list(_gradients("eigenvalues", lambda x: tf.linalg.eigh(_positive(x))[0], few, few[:2]))[1:]
    yield OpCase("band part", lambda x: tf.linalg.band_part(x, 3, 3), ((16, 256, 256),))
    yield OpCase("diagonal", tf.linalg.diag_part, ((16, 256, 256),))
    yield OpCase("set diagonal", tf.linalg.set_diag, ((16, 256, 256), (16, 256)))


def _with_phase(x: tf.Tensor) -> tf.Tensor:
    return tf.complex(x, 1 - x)


def _fourier() -> Iterator[OpCase]:
    rows, image, sound, frames = (256, 1024), (16, 96, 96), (8, 16000), (8, 122, 257)
    yield from _gradients("Fourier transform", lambda x: tf.abs(tf.signal.rfft(x)), rows, (256, 513))
    yield from _gradients("from spectra", lambda x: tf.signal.irfft(_with_phase(x)), (256, 513), rows)
    yield from _gradients("complex Fourier transform", lambda x: tf.abs(tf.signal.fft(_with_phase(x))), rows, rows)
    yield from _gradients("Fourier transform 2d", lambda x: tf.abs(tf.signal.fft2d(_with_phase(x))), image, image)
    yield from _gradients("real Fourier transform 2d", lambda x: tf.abs(tf.signal.rfft2d(x)), image, (16, 96, 49))
    yield from _gradients("spectrogram", lambda x: tf.abs(tf.signal.stft(x, 512, 128)), sound, frames)
    yield OpCase("from a spectrogram", lambda x: tf.signal.inverse_stft(_with_phase(x), 512, 128), (frames,))
    yield OpCase("cosine transform", tf.signal.dct, (rows,))
    yield OpCase("complex Fourier transform", lambda x: tf.abs(tf.signal.fft(_with_phase(x))), ((2048, 16),))


def _gather_gradient(table: tf.Tensor, dy: tf.Tensor, indices: tf.Tensor) -> tf.Tensor:
    with tf.GradientTape() as tape:
        tape.watch(table)
        rows = tf.gather(table, indices)
    return tf.convert_to_tensor(tape.gradient(rows, table, output_gradients=dy))


def _cross_entropy_gradient(logits: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    with tf.GradientTape() as tape:
        tape.watch(logits)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
    return tape.gradient(loss, logits)


def _indexed() -> list[OpCase]:
    """Ops whose last tensor holds indices."""
    table, rows, batch = (8192, 128), (2048, 128), (2048, 512)
    return [
        OpCase("gather rows", tf.gather, (table, (32, 64)), indices_below=8192),
        OpCase("gather rows gradient", _gather_gradient, (table, (32, 64, 128), (32, 64)), indices_below=8192),
        OpCase("gather columns", lambda x, indices: tf.gather(x, indices, axis=1), (batch, (256,)), indices_below=512),
        OpCase(
            "scatter",
            lambda x, updates, indices: tf.tensor_scatter_nd_add(x, indices, updates),
            (table, rows, (2048, 1)),
            indices_below=8192,
        ),
        OpCase(
            "segment sums",
            lambda x, indices: tf.math.unsorted_segment_sum(x, indices, 512),
            ((8192, 64), (8192,)),
            indices_below=512,
        ),
        OpCase("one hot", lambda indices: tf.one_hot(indices, 512), ((2048,),), indices_below=512),
        OpCase("cross entropy gradient", _cross_entropy_gradient, (batch, (2048,)), indices_below=512),
    ]


def _whole(x: tf.Tensor) -> tf.Tensor:
    """Whole numbers, few of which are equal."""
    return tf.cast(1e6 * x, tf.int32)


def _crop(images: tf.Tensor, boxes: tf.Tensor, indices: tf.Tensor) -> tf.Tensor:
    """Crops of boxes that lie in the images, or begin a little outside."""
    corner, extent = 0.2 * tf.abs(boxes[:, :2]) - 0.01, 0.1 + 0.1 * tf.abs(boxes[:, 2:])
    return tf.image.crop_and_resize(images, tf.concat([corner, corner + extent], 1), indices, [14, 14])


def _crop_gradients(images: tf.Tensor, boxes: tf.Tensor, dy: tf.Tensor, indices: tf.Tensor) -> Any:
    with tf.GradientTape() as tape:
        tape.watch([images, boxes])
        crops = _crop(images, boxes, indices)
    return tape.gradient(crops, [images, boxes], output_gradients=dy)


def _not_overlapping(boxes: tf.Tensor, scores: tf.Tensor) -> Any:
    corners = tf.concat([boxes[..., :2], boxes[..., :2] + tf.abs(boxes[..., 2:])], -1)
    return tf.image.non_max_suppression_padded(corners, scores, 100, pad_to_max_output_size=True)


def _sorts() -> list[OpCase]:
    rows, matrix, images = (256, 512), (2048, 512), (4, 50, 50, 64)
    return [
        OpCase("sort", lambda x: tf.sort(x, -1), (rows,)),
        OpCase("sort descending", lambda x: tf.sort(x, -1, "DESCENDING"), (rows,)),
        OpCase("sort columns", lambda x: tf.sort(x, 0), (rows,)),
        OpCase("sort", lambda x: tf.sort(x, -1), (rows,), tf.bfloat16),
        OpCase("sort whole numbers", lambda x: tf.sort(_whole(x), -1), (rows,)),
        OpCase("sort", lambda x: tf.sort(x, -1), ((64, 8192),)),
        OpCase("sort", lambda x: tf.sort(x, -1), ((1 << 20,),)),
        OpCase("sort", lambda x: tf.sort(x, -1), ((8192, 10),)),
        OpCase("argsort", lambda x: tf.argsort(x, -1, stable=True), (rows,)),
        OpCase("argsort descending", lambda x: tf.argsort(x, -1, "DESCENDING", stable=True), (rows,)),
        OpCase("argsort", lambda x: tf.argsort(x, -1, stable=True), ((1 << 20,),)),
        OpCase("top 5", lambda x: tf.math.top_k(x, 5), (matrix,)),
        OpCase("top 5", lambda x: tf.math.top_k(x, 5), (matrix,), tf.bfloat16),
        OpCase("top 1", lambda x: tf.math.top_k(x, 1), (matrix,)),
        OpCase("top 100", lambda x: tf.math.top_k(x, 100), (matrix,)),
        OpCase("top 512", lambda x: tf.math.top_k(x, 512), (matrix,)),
        OpCase("top 100", lambda x: tf.math.top_k(x, 100), ((1 << 20,),)),
        OpCase("in top 5", lambda x, targets: tf.math.in_top_k(targets, x, 5), (matrix, (2048,)), indices_below=512),
        OpCase("search sorted", lambda x: tf.searchsorted(tf.linspace(-3.0, 3.0, 1000), x), ((131072,),)),
        OpCase(
            "search sorted rows", lambda x, y: tf.searchsorted(tf.cumsum(tf.abs(x), -1), 50 * tf.abs(y)), (rows, rows)
        ),
        OpCase(
            "sums by unique index",
            lambda x, indices: tf.math.unsorted_segment_sum(x, tf.unique(indices)[1], 8192),
            ((8192, 64), (8192,)),
            indices_below=512,
        ),
        OpCase("crop and resize", _crop, (images, (64, 4), (64,)), indices_below=4),
        OpCase(
            "crop and resize gradients", _crop_gradients, (images, (64, 4), (64, 14, 14, 64), (64,)), indices_below=4
        ),
        OpCase(
            "crop and resize gradients",
            _crop_gradients,
            ((4, 64, 64, 256), (100, 4), (100, 14, 14, 256), (100,)),
            indices_below=4,
        ),
        OpCase("boxes that do not overlap", _not_overlapping, ((2, 1000, 4), (2, 1000))),
    ]


def _elementary(shape: Shape) -> list[OpCase]:
    """Functions of each element."""
    functions: dict[str, Callable[[tf.Tensor], tf.Tensor]] = {
        "sine": tf.sin,
        "cosine": tf.cos,
        "tangent": tf.tan,
        "arcsine": tf.asin,
        "arccosine": tf.acos,
        "arctangent": tf.atan,
        "hyperbolic sine": tf.sinh,
        "inverse hyperbolic sine": tf.asinh,
        "inverse hyperbolic cosine": lambda x: tf.acosh(1 + tf.abs(x)),
        "inverse hyperbolic tangent": tf.atanh,
        "power of 2.5": lambda x: tf.pow(tf.abs(x), 2.5),
        "error function": tf.math.erf,
        "inverse error function": tf.math.erfinv,
        "exponential": tf.exp,
        "exponential less one": tf.math.expm1,
        "logarithm": lambda x: tf.math.log(tf.abs(x)),
        "logarithm of one and": lambda x: tf.math.log1p(tf.abs(x)),
        "logarithm of gamma": tf.math.lgamma,
        "digamma": tf.math.digamma,
        "reciprocal root": lambda x: tf.math.rsqrt(tf.abs(x)),
        "floor modulo": lambda x: tf.math.floormod(x, 0.7),
        "rounding": tf.round,
        "sigmoid": tf.sigmoid,
        "softplus": tf.nn.softplus,
        "elu": tf.nn.elu,
        "selu": tf.nn.selu,
        "swish": tf.nn.silu,
    }
    return [
        *(OpCase(name, function, (shape,)) for name, function in functions.items()),
        OpCase("sine", tf.sin, (shape,), tf.bfloat16),
        OpCase("angle", tf.atan2, (shape, shape)),
        OpCase("power", lambda x, y: tf.pow(tf.abs(x), y), (shape, shape)),
        OpCase("x log y", lambda x, y: tf.math.xlogy(x, tf.abs(y)), (shape, shape)),
    ]


def cases() -> list[OpCase]:
    matrix = (2048, 512)
    return [
        *_conv("conv 3x3", (8, 24, 24, 64), (3, 3, 64, 64)),
        *_conv("conv 3x3", (8, 6, 6, 256), (3, 3, 256, 256)),
        *_conv("conv 3x3", (32, 28, 28, 16), (3, 3, 16, 32)),
        *_conv("conv 3x3 dilated", (8, 24, 24, 64), (3, 3, 64, 64), dilations=2),
        *_conv("conv 3x3 strided", (8, 24, 24, 64), (3, 3, 64, 64), strides=2),
        *_conv("conv 7x7 strided", (8, 96, 96, 3), (7, 7, 3, 64), strides=2),
        *_conv("conv 1x1", (8, 24, 24, 64), (1, 1, 64, 256)),
        *_conv("conv 1x1 strided", (8, 24, 24, 256), (1, 1, 256, 128), strides=2),
        *_conv("conv 3x3 grouped", (8, 24, 24, 64), (3, 3, 16, 64)),
        *_depthwise((8, 48, 48, 96), (3, 3, 96, 1)),
        OpCase(
            "conv 3d",
            lambda x, w: tf.nn.conv3d(x, w, [1, 1, 1, 1, 1], "SAME"),
            ((2, 16, 16, 16, 16), (3, 3, 3, 16, 32)),
        ),
        *_gradients("max pool 3x3/2", _max_pool(3, 2), (8, 48, 48, 64), (8, 24, 24, 64)),
        *_gradients("max pool 2x2/2", _max_pool(2, 2), (32, 28, 28, 16), (32, 14, 14, 16)),
        *_gradients("average pool 3x3/1", _average_pool(3, 1), (8, 24, 24, 64), (8, 24, 24, 64)),
        *_gradients("average pool 2x2/2", _average_pool(2, 2), (8, 48, 48, 64), (8, 24, 24, 64)),
        *_resize("bilinear", (8, 24, 24, 64), (8, 48, 48, 64)),
        *_resize("bilinear", (8, 96, 96, 3), (8, 224, 224, 3)),
        *_resize("bilinear", (8, 96, 96, 3), (8, 40, 40, 3)),
        *_resize("bicubic", (8, 24, 24, 64), (8, 48, 48, 64)),
        *_resize("nearest", (8, 24, 24, 64), (8, 48, 48, 64)),
        OpCase("batch norm", _batch_norm, ((8, 24, 24, 256), (256,), (256,))),
        OpCase("batch norm and gradient", _batch_norm_gradient, ((8, 24, 24, 256), (256,), (256,), (8, 24, 24, 256))),
        *_gradients("layer norm", _layer_norm, matrix, matrix),
        *_gradients("softmax", tf.nn.softmax, matrix, matrix),
        OpCase("softmax", tf.nn.softmax, (matrix,), tf.bfloat16),
        *_gradients("softmax of columns", lambda x: tf.nn.softmax(x, 0), matrix, matrix),
        *_gradients("softmax of columns", lambda x: tf.nn.softmax(x, 1), (16, 64, 512), (16, 64, 512)),
        *_gradients("log softmax", tf.nn.log_softmax, matrix, matrix),
        *_gradients("gelu", tf.nn.gelu, matrix, matrix),
        OpCase("column sums", lambda x: tf.reduce_sum(x, 0), ((4608, 256),)),
        OpCase("column maxima", lambda x: tf.reduce_max(x, 0), ((4608, 256),)),
        OpCase("column sums of squares", lambda x: tf.reduce_sum(x * x, 0), ((4608, 256),)),
        OpCase("row sums", lambda x: tf.reduce_sum(x, 1), ((4608, 256),)),
        OpCase("row maxima", lambda x: tf.reduce_max(x, 1), ((4608, 256),)),
        OpCase("row minima", lambda x: tf.reduce_min(x, 1), ((4608, 256),)),
        OpCase("column minima", lambda x: tf.reduce_min(x, 0), ((4608, 256),)),
        OpCase("argmax of rows", lambda x: tf.argmax(x, 1), (matrix,)),
        OpCase("argmax of short rows", lambda x: tf.argmax(x, 1), ((4096, 10),)),
        OpCase("argmax of columns", lambda x: tf.argmax(x, 0), (matrix,)),
        OpCase("argmin of rows", lambda x: tf.argmin(x, 1), (matrix,)),
        OpCase("sum", tf.reduce_sum, ((4608, 256),)),
        OpCase("bias gradient", lambda x: tf.raw_ops.BiasAddGrad(out_backprop=x), ((8, 24, 24, 256),)),
        OpCase("add and relu", lambda x, y: tf.nn.relu(x + y), (matrix, matrix)),
        OpCase("matmul", tf.matmul, ((512, 512), (512, 512))),
        OpCase("matmul", tf.matmul, ((128, 784), (784, 512))),
        OpCase("matmul", tf.matmul, ((16, 128), (128, 256))),
        OpCase("matmul transposed", lambda x, y: tf.matmul(x, y, transpose_a=True), ((128, 784), (128, 512))),
        OpCase("matmul transposed", lambda x, y: tf.matmul(x, y, transpose_b=True), ((128, 512), (784, 512))),
        OpCase("matmul", tf.matmul, ((512, 512), (512, 512)), tf.bfloat16),
        OpCase("batched matmul", tf.matmul, ((256, 8, 8), (256, 8, 8))),
        OpCase("batched matmul", tf.matmul, ((64, 64, 32), (64, 32, 64))),
        OpCase("batched matmul", tf.matmul, ((16, 128, 128), (16, 128, 64))),
        OpCase(
            "attention scores",
            lambda q, k: tf.einsum("bqhd,bkhd->bhqk", q, k),
            ((16, 64, 4, 32), (16, 64, 4, 32)),
        ),
        OpCase("transpose", lambda x: tf.transpose(x, [0, 2, 1, 3]), ((16, 64, 8, 64),)),
        OpCase("transpose", tf.transpose, (matrix,)),
        OpCase("transpose", tf.transpose, (matrix,), tf.bfloat16),
        OpCase("transpose to NCHW", lambda x: tf.transpose(x, [0, 3, 1, 2]), ((8, 24, 24, 64),)),
        OpCase("transpose to NHWC", lambda x: tf.transpose(x, [0, 2, 3, 1]), ((8, 64, 24, 24),)),
        OpCase("concat", lambda x, y: tf.concat([x, y], -1), (matrix, matrix)),
        OpCase("cumulative sum", lambda x: tf.cumsum(x, 1), ((512, 512),)),
        OpCase("cumulative product", lambda x: tf.math.cumprod(x, 1), ((512, 512),)),
        OpCase("cumulative logarithm of sums", lambda x: tf.math.cumulative_logsumexp(x, 1), ((512, 512),)),
        OpCase("cumulative logarithm of sums of columns", lambda x: tf.math.cumulative_logsumexp(x, 0), ((512, 512),)),
        OpCase("cumulative sum of columns", lambda x: tf.cumsum(x, 0), (matrix,)),
        OpCase("pad", lambda x: tf.pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]]), ((8, 24, 24, 64),)),
        OpCase("pad", lambda x: tf.pad(x, [[0, 0], [4, 4]]), (matrix,)),
        OpCase(
            "pad by reflection", lambda x: tf.pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]], "REFLECT"), ((8, 24, 24, 64),)
        ),
        OpCase("tile", lambda x: tf.tile(x, [1, 4]), ((512, 512),)),
        OpCase("reverse", lambda x: tf.reverse(x, [-1]), (matrix,)),
        OpCase("roll", lambda x: tf.roll(x, 3, axis=1), (matrix,)),
        OpCase("split", lambda x: tf.split(x, 4, -1), (matrix,)),
        OpCase("stack", lambda x, y: tf.stack([x, y], -1), (matrix, matrix)),
        OpCase("space to depth", lambda x: tf.nn.space_to_depth(x, 2), ((8, 48, 48, 16),)),
        *_gradients("strided slice", lambda x: x[:, ::2, ::2], (8, 48, 48, 64), (8, 24, 24, 64)),
        OpCase("where", lambda x, y: tf.where(x > 0, x, y), (matrix, matrix)),
        *_elementary(matrix),
        OpCase("all finite", lambda x: tf.reduce_all(tf.math.is_finite(x)), ((4608, 256),)),
        *_sorts(),
        OpCase("l2 normalise", lambda x: tf.math.l2_normalize(x, -1), (matrix,)),
        OpCase("clip by global norm", lambda x, y: tf.clip_by_global_norm([x, y], 1.0)[0], (matrix, (512,))),
        OpCase("local response normalisation", tf.nn.lrn, ((8, 24, 24, 64),)),
        OpCase("local response normalisation", lambda x: tf.nn.lrn(x, beta=0.75), ((8, 24, 24, 64),)),
        OpCase(
            "local response normalisation gradient",
            lambda x, y, dy: tf.raw_ops.LRNGrad(input_grads=dy, input_image=x, output_image=y),
            ((8, 24, 24, 64),) * 3,
        ),
        OpCase("standardise images", tf.image.per_image_standardization, ((8, 96, 96, 3),)),
        OpCase("adjust contrast", lambda x: tf.image.adjust_contrast(x, 2.0), ((8, 96, 96, 3),)),
        *_linear_algebra(),
        *_fourier(),
        *_indexed(),
        OpCase(
            "conv 3x3",
            lambda x, w: tf.nn.conv2d(x, w, 1, "SAME"),
            ((8, 24, 24, 64), (3, 3, 64, 64)),
            tf.bfloat16,
        ),
    ]


def repeated(case: OpCase, device: str) -> Callable[[int], None]:
    """Runs on one set of inputs; reading one number of the last result waits for all."""
    inputs = case.inputs(device)
    function = tf.function(lambda *tensors: tf.nest.flatten(case.function(*tensors)))

    def run(times: int) -> None:
        with tf.device(device):
            for _ in range(times):
                results = function(*inputs)
            tf.reshape(results[0], [-1])[0].numpy()

    return run


def measure(case: OpCase, rounds: int, seconds_per_turn: float) -> Times:
    return in_turns({name: repeated(case, device) for name, device in DEVICES.items()}, rounds, seconds_per_turn)


def as_json(case: OpCase, times: Times) -> dict[str, Any]:
    return {
        "op": case.name,
        "shapes": case.shapes,
        "dtype": case.dtype.name,
        "seconds": {name: dataclasses.asdict(times.summary(name)) for name in DEVICES},
        "ratio": dataclasses.asdict(times.ratio("hpu", "cpu")),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ops", default="", help="only those whose line holds this text")
    parser.add_argument("--rounds", type=int, default=9, help="turns of each device (default: 9)")
    parser.add_argument("--seconds", type=float, default=0.05, help="length of a turn (default: 0.05)")
    parser.add_argument("--json", action="store_true", help="print one JSON object for programs")
    arguments = parser.parse_args()
    from habana_frameworks.tensorflow import load_habana_module

    load_habana_module()
    results = []
    for case in cases():
        if arguments.ops not in case.label:
            continue
        try:
            times = measure(case, arguments.rounds, arguments.seconds)
        except tf.errors.OpError as error:  # on the CPU, dilated gradients without oneDNN, for one
            print(f"{case.label}: refused: {error.message.splitlines()[0]}", file=sys.stderr)
            continue
        results.append(as_json(case, times))
        if not arguments.json:
            ratio, seconds = results[-1]["ratio"], results[-1]["seconds"]
            print(
                f"{ratio['median']:6.2f} ({ratio['low']:.2f} to {ratio['high']:.2f})"
                f"  {1e6 * seconds['hpu']['median']:8.0f} {1e6 * seconds['cpu']['median']:8.0f} µs  {case.label}",
                flush=True,
            )
    if not results:
        parser.error(f"no op's line holds {arguments.ops!r}")
    ratios = [result["ratio"]["median"] for result in results]
    if arguments.json:
        print(json.dumps({"cpus": os.cpu_count(), "results": results}, indent=2))
    else:
        print(f"median {statistics.median(ratios):.2f}, largest {max(ratios):.2f}, of {len(ratios)} ops")
    return 0


if __name__ == "__main__":
    sys.exit(main())
