"""Model parts that patterns must match, in the form of user code."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from tests.support.keras_package import IS_KERAS_2

Layer = Callable[[tf.Tensor], tf.Tensor]
IMAGE = (2, 8, 8, 3)


@dataclasses.dataclass(frozen=True)
class Case:
    """A model part, and the patterns that a train step of it must contain."""

    name: str
    make: Callable[[tf.DType], Layer]
    patterns: tuple[str, ...]
    shape: tuple[int, ...] = (4, 6, 16)
    any_batch: tuple[str, ...] | None = None
    """Patterns with unknown batch size; None: the same patterns."""
    in_bfloat16: tuple[str, ...] | None = None
    """Patterns in bfloat16, where Keras may use other ops; None: the same patterns."""


class Weighted:
    """A function with two variables that have the size of the last dimension."""

    def __init__(self, function: Callable[..., tf.Tensor], size: int, dtype: tf.DType) -> None:
        self._function = function
        beta, gamma = tf.linspace(-1.0, 1.0, size), tf.linspace(0.5, 2.0, size)
        self.trainable_variables = [tf.Variable(tf.cast(beta, dtype)), tf.Variable(tf.cast(gamma, dtype))]

    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        return self._function(x, *self.trainable_variables)


def norm(axes: list[int]) -> Callable[..., tf.Tensor]:
    def run(x: tf.Tensor, beta: tf.Tensor, gamma: tf.Tensor) -> tf.Tensor:
        mean, variance = tf.nn.moments(x, axes, keepdims=True)
        return tf.nn.batch_normalization(x, mean, variance, beta, gamma, 1e-3)

    return run


def flat_norm(x: tf.Tensor, beta: tf.Tensor, gamma: tf.Tensor) -> tf.Tensor:
    """Layer normalisation of three dimensions, as Keras 2 builds it with its default epsilon."""
    shape = tf.shape(x)
    rows, columns = tf.reduce_prod(shape[:2]), tf.reduce_prod(shape[2:])
    flat = tf.reshape(x, [1, rows, columns, 1])
    weights = {"scale": tf.ones([rows]), "offset": tf.zeros([rows])}
    normal, _, _ = tf.compat.v1.nn.fused_batch_norm(flat, epsilon=1e-3, data_format="NCHW", **weights)
    y = tf.reshape(normal, shape)
    y.set_shape(x.shape)
    return y * gamma + beta


def keras_3_norm(x: tf.Tensor, beta: tf.Tensor, gamma: tf.Tensor) -> tf.Tensor:
    """Layer normalisation as Keras 3 builds it."""
    mean, variance = tf.nn.moments(x, [-1], keepdims=True)
    shape = [1] * (x.shape.rank - 1) + [-1]
    scale = tf.math.rsqrt(variance + 1e-3) * tf.reshape(gamma, shape)
    return x * scale + (-mean * scale + tf.reshape(beta, shape))


def keras_3_batch_norm(x: tf.Tensor, beta: tf.Tensor, gamma: tf.Tensor) -> tf.Tensor:
    """Batch normalisation as Keras 3 builds it: in float32, without FusedBatchNormV3. The result uses the moments."""
    wide = tf.cast(x, tf.float32)
    mean, variance = tf.nn.moments(wide, [0, 1, 2])
    weights = tf.cast(beta, tf.float32), tf.cast(gamma, tf.float32)
    y = tf.nn.batch_normalization(wide, mean, variance, *weights, 1e-3)
    return tf.cast(y + tf.stop_gradient(mean + variance), x.dtype)


def fused_batch_norm(activation: Layer) -> Callable[..., tf.Tensor]:
    """Batch normalisation as Keras 2 builds it."""

    def run(x: tf.Tensor, beta: tf.Tensor, gamma: tf.Tensor) -> tf.Tensor:
        weights = {"scale": tf.cast(gamma, tf.float32), "offset": tf.cast(beta, tf.float32)}
        return activation(tf.compat.v1.nn.fused_batch_norm(x, **weights)[0])

    return run


def gelu_by_erf(x: tf.Tensor) -> tf.Tensor:
    """tf.nn.gelu of TensorFlow 2.15."""
    return 0.5 * x * (1.0 + tf.math.erf(x / tf.cast(1.4142135623730951, x.dtype)))


def gelu_by_erfc(x: tf.Tensor) -> tf.Tensor:
    """tf.nn.gelu of TensorFlow 2.21."""
    return 0.5 * x * tf.math.erfc(-x * tf.cast(0.7071067811865476, x.dtype))


def keras(make: Callable[..., tf.keras.layers.Layer], shape: tuple[int | None, ...]) -> Callable[[tf.DType], Layer]:
    """Returns a factory of a built Keras layer in training mode."""

    def built(dtype: tf.DType) -> Layer:
        layer = make(dtype=dtype.name)
        layer.build([None, *shape])
        return layer

    return built


def of(function: Layer) -> Callable[[tf.DType], Layer]:
    return lambda dtype: function


def composed_softmax(x: tf.Tensor, stop: bool = False, axis: int = -1) -> tf.Tensor:
    largest = tf.reduce_max(x, axis, keepdims=True)
    exp = tf.exp(x - (tf.stop_gradient(largest) if stop else largest))
    return exp / tf.reduce_sum(exp, axis, keepdims=True)


def dropout(dtype: tf.DType) -> Layer:
    layer = tf.keras.layers.Dropout(0.1, seed=3, dtype=dtype.name)
    return lambda x: layer(x, training=True)


def padded_conv(dtype: tf.DType) -> Layer:
    pad = tf.keras.layers.ZeroPadding2D((1, 2), dtype=dtype.name)
    conv = keras(lambda dtype: tf.keras.layers.Conv2D(4, 3, strides=2, use_bias=False, dtype=dtype), (10, 12, 3))(dtype)
    part = Weighted(lambda x, *_: conv(pad(x)), 3, dtype)
    part.trainable_variables = conv.trainable_variables  # type: ignore[attr-defined]
    return part


def explicit_conv(x: tf.Tensor) -> tf.Tensor:
    weights = tf.reshape(tf.cast(tf.linspace(-1.0, 1.0, 54), x.dtype), [3, 3, 3, 2])
    return tf.nn.conv2d(x, weights * tf.reduce_mean(x), strides=2, padding=[[0, 0], [1, 0], [0, 2], [0, 0]])


def batch_norm(activation: Layer) -> Callable[[tf.DType], Layer]:
    def made(dtype: tf.DType) -> Layer:
        layer: Any = keras(tf.keras.layers.BatchNormalization, IMAGE[1:])(dtype)
        part = Weighted(lambda x, *_: activation(layer(x, training=True)), 3, dtype)
        part.trainable_variables = layer.trainable_variables  # type: ignore[attr-defined]
        return part

    return made


def dense(activation: str) -> Callable[[tf.DType], Layer]:
    return keras(lambda dtype: tf.keras.layers.Dense(8, activation=activation, dtype=dtype), (16,))


# Keras 3 builds batch normalisation of ordinary ops, in float32, so that a Cast precedes the activation in bfloat16.
BATCH_NORM = () if IS_KERAS_2 else ("batch_norm", "batch_norm_grad")
RELU = ("batch_norm_relu",) if IS_KERAS_2 else BATCH_NORM
RELU6 = ("batch_norm_relu6",) if IS_KERAS_2 else BATCH_NORM

CASES = [
    Case("gelu_erf", of(tf.nn.gelu), ("gelu_erf", "gelu_erf_grad")),
    Case("gelu_by_erf", of(gelu_by_erf), ("gelu_erf", "gelu_erf_grad")),
    Case("gelu_by_erfc", of(gelu_by_erfc), ("gelu_erf", "gelu_erf_grad")),
    Case("gelu_tanh", of(lambda x: tf.nn.gelu(x, approximate=True)), ("gelu_tanh", "gelu_tanh_grad")),
    Case(
        "layer_norm",
        keras(lambda dtype: tf.keras.layers.LayerNormalization(epsilon=1e-6, dtype=dtype), (6, 16)),
        ("layer_norm", "layer_norm_grad"),
    ),
    Case(
        "default_layer_norm",
        keras(tf.keras.layers.LayerNormalization, (6, 16)),
        ("flat_layer_norm", "flat_layer_norm_grad") if IS_KERAS_2 else ("layer_norm", "layer_norm_grad"),
        in_bfloat16=("layer_norm", "layer_norm_grad"),
    ),
    Case(
        "flat_layer_norm",
        lambda dtype: Weighted(flat_norm, 16, dtype),
        ("flat_layer_norm", "flat_layer_norm_grad"),
    ),
    Case(
        "keras_3_layer_norm",
        lambda dtype: Weighted(keras_3_norm, 16, dtype),
        ("layer_norm", "layer_norm_grad"),
    ),
    Case(
        "layer_norm_of_two_axes",
        keras(lambda dtype: tf.keras.layers.LayerNormalization(axis=[1, 2], epsilon=1e-6, dtype=dtype), (6, 16)),
        ("layer_norm", "layer_norm_grad"),
    ),
    Case(
        "layer_norm_beside_residual",
        lambda dtype: Weighted(lambda x, *weights: x * 2.0 + norm([-1])(x, *weights), 16, dtype),
        ("layer_norm", "layer_norm_grad"),
    ),
    Case(
        "instance_norm",
        lambda dtype: Weighted(norm([1, 2]), 3, dtype),
        ("instance_norm", "instance_norm_grad"),
        IMAGE,
    ),
    Case("softmax", of(tf.nn.softmax), ("softmax_grad",)),
    Case(
        "scaled_softmax",
        of(lambda x: tf.nn.softmax(x * 0.25)),
        ("scaled_softmax_grad",),
        in_bfloat16=("softmax_grad",),
    ),
    Case("composed_softmax", of(composed_softmax), ("composed_softmax", "composed_softmax_grad")),
    Case(
        "stopped_softmax",
        of(lambda x: composed_softmax(x, stop=True)),
        ("composed_softmax", "composed_softmax_stopped_grad"),
    ),
    Case("log_softmax", of(tf.nn.log_softmax), ("log_softmax_grad",)),
    Case(
        "composed_log_softmax",
        of(lambda x: x - tf.reduce_logsumexp(x, -1, keepdims=True)),
        ("composed_log_softmax", "composed_log_softmax_grad"),
    ),
    Case("dropout", dropout, ("dropout", "dropout_grad")),
    Case("clamp", of(lambda x: tf.clip_by_value(x, -0.5, 0.7)), ("clamp", "clamp_grad")),
    Case("max", of(lambda x: tf.reduce_max(x, -1)), ("max_grad",)),
    Case("min", of(lambda x: tf.reduce_min(x, [1], keepdims=True)), ("min_grad",)),
    Case(
        "padded_conv",
        padded_conv,
        ("padded_conv", "padded_conv_filter_grad", "padded_conv_input_grad"),
        IMAGE,
    ),
    Case(
        "explicit_conv",
        of(explicit_conv),
        ("explicit_conv", "explicit_conv_filter_grad", "explicit_conv_input_grad"),
        IMAGE,
    ),
    Case(
        "keras_3_batch_norm",
        lambda dtype: Weighted(keras_3_batch_norm, 3, dtype),
        ("batch_norm", "batch_norm_grad"),
        IMAGE,
    ),
    Case(
        "fused_batch_norm_relu",
        lambda dtype: Weighted(fused_batch_norm(tf.nn.relu), 3, dtype),
        ("batch_norm_relu",),
        IMAGE,
    ),
    Case("batch_norm_relu", batch_norm(tf.nn.relu), (*BATCH_NORM, "batch_norm_relu"), IMAGE, in_bfloat16=RELU),
    Case("batch_norm_relu6", batch_norm(tf.nn.relu6), (*BATCH_NORM, "batch_norm_relu6"), IMAGE, in_bfloat16=RELU6),
    Case("bias_relu", dense("relu"), ("bias_relu",), (4, 16)),
    Case("bias_relu6", dense("relu6"), ("bias_relu6",), (4, 16)),
    Case("bias_tanh", dense("tanh"), ("bias_tanh",), (4, 16)),
    Case("bias_sigmoid", dense("sigmoid"), ("bias_sigmoid",), (4, 16)),
]
