"""Program for test_generic_target.py. Prints digests of results as JSON."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module


def _numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def _digest(value: tf.Tensor) -> str:
    return hashlib.sha256(value.numpy().tobytes()).hexdigest()


def computed(
    x: tf.Tensor,
    w: tf.Tensor,
    images: tf.Tensor,
    filters: tf.Tensor,
    pixels: tf.Tensor,
    depths: tf.Tensor,
    gradients: tf.Tensor,
) -> dict[str, tf.Tensor]:
    positive = tf.abs(x) + 0.1
    small = tf.cast(x, tf.bfloat16)
    ones = tf.ones([images.shape[-1]])
    strides = [1, 1, 1, 1]
    of_any = (
        tf.exp,
        tf.sin,
        tf.cos,
        tf.tan,
        tf.tanh,
        tf.math.erf,
        tf.sigmoid,
        tf.math.expm1,
        tf.nn.gelu,
        tf.nn.softmax,
        tf.math.cumsum,
    )
    return {
        **{op.__name__: op(x) for op in of_any},
        **{op.__name__: op(positive) for op in (tf.math.log, tf.math.log1p, tf.math.rsqrt, tf.math.lgamma)},
        "pow": tf.pow(positive, 1.7),
        "atan2": tf.atan2(x, positive),
        "softmax of columns": tf.nn.softmax(x, 0),
        "sums of rows": tf.reduce_sum(x, 1),
        "sums of columns": tf.reduce_sum(x, 0),
        "product": tf.matmul(x, w),
        "product of bfloat16": tf.cast(tf.matmul(small, tf.cast(w, tf.bfloat16)), tf.float32),
        "products": tf.matmul(tf.reshape(x, [4, 64, -1]), tf.reshape(x, [4, 64, -1]), transpose_b=True),
        "convolution": tf.nn.conv2d(images, filters, 1, "SAME"),
        "convolution of pixels": tf.nn.conv2d(images, pixels, 1, "SAME"),
        "depthwise convolution": tf.nn.depthwise_conv2d(images, depths, [1, 2, 2, 1], "SAME"),
        "filter gradient": tf.raw_ops.Conv2DBackpropFilter(
            input=images, filter_sizes=filters.shape, out_backprop=gradients, strides=strides, padding="SAME"
        ),
        "input gradient": tf.raw_ops.Conv2DBackpropInput(
            input_sizes=images.shape, filter=filters, out_backprop=gradients, strides=strides, padding="SAME"
        ),
        "batch normalisation": tf.raw_ops.FusedBatchNormV3(x=images, scale=ones, offset=ones, mean=[], variance=[])[0],
        "pooling": tf.nn.avg_pool2d(images, 3, 2, "SAME"),
        "resizing": tf.image.resize(images, [20, 20]),
    }


def digests() -> None:
    load_habana_module()
    arguments = [
        _numbers(256, 160),
        _numbers(160, 128),
        _numbers(2, 12, 12, 24),
        _numbers(3, 3, 24, 32),
        _numbers(1, 1, 24, 32),
        _numbers(3, 3, 24, 1),
        _numbers(2, 12, 12, 32),
    ]
    with tf.device("/device:HPU:0"):
        results = tf.function(computed)(*map(tf.constant, arguments))
    found = {name: _digest(value) for name, value in results.items()}
    with tf.device("/device:CPU:0"):
        found["on the CPU"] = _digest(tf.matmul(*map(tf.constant, arguments[:2])))
    print(json.dumps(found))
