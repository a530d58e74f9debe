"""Layer normalization as one fused op, without a choice of Keras: layer_norm.py imports tf.keras."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import tensorflow as tf
from habana_frameworks.tensorflow._internal.native.op_wrappers import habana_ops

_FUSED_TYPES = (tf.float32, tf.bfloat16, tf.float16)


def layer_norm(x: tf.Tensor, beta: tf.Tensor, gamma: tf.Tensor, axes: Sequence[int], epsilon: float) -> tf.Tensor:
    """Computes (x - mean) / sqrt(variance + epsilon) * gamma + beta, with mean and variance over `axes`.

    x: float32, bfloat16 or float16, any shape. beta, gamma: dtype of x, shape broadcastable to x.
    """
    normalize = _normalization(tuple(axes), epsilon)
    return normalize(x, beta, gamma) if tf.executing_eagerly() else normalize.python_function(x, beta, gamma)


@functools.lru_cache(maxsize=256)
def _normalization(axes: tuple[int, ...], epsilon: float) -> Any:
    # Eager ops cannot have tensor attributes, so the op must be in a graph.
    @tf.function(reduce_retracing=True)
    def habana_layer_norm(x: tf.Tensor, beta: tf.Tensor, gamma: tf.Tensor) -> tf.Tensor:
        attributes = {
            "axes": tf.make_tensor_proto(axes, tf.int32),
            "epsilon": tf.make_tensor_proto(epsilon, tf.float32),
        }
        return habana_ops.habana_layer_norm(x=x, beta=beta, gamma=gamma, **attributes)[0]

    return habana_layer_norm


def can_fuse(layer: Any, inputs: Any) -> bool:
    """Whether call() computes the result of a Keras LayerNormalization. Other inputs and layers need TensorFlow's ops.

    Excludes ragged inputs, integers, float64, and Keras 3's deprecated rms_scaling.
    """
    if not tf.is_tensor(inputs) or isinstance(inputs, tf.RaggedTensor) or getattr(layer, "rms_scaling", False):
        return False
    return inputs.dtype in _FUSED_TYPES and tf.as_dtype(layer.compute_dtype) in _FUSED_TYPES


def call(layer: Any, inputs: tf.Tensor) -> tf.Tensor:
    """Returns the inputs that a Keras LayerNormalization has normalized, in the layer's compute dtype."""
    # Computes in float32 unless inputs and weights have the same narrower dtype, like Keras.
    x = inputs if inputs.dtype == tf.as_dtype(layer.dtype) else tf.cast(inputs, tf.float32)
    axes = sorted(axis % x.shape.rank for axis in layer.axis)
    shape = [x.shape[axis] for axis in axes]
    gamma = tf.ones(shape, x.dtype) if layer.gamma is None else tf.cast(layer.gamma, x.dtype)
    beta = tf.zeros(shape, x.dtype) if layer.beta is None else tf.cast(layer.beta, x.dtype)
    outputs = layer_norm(x, _spread(beta, x, axes), _spread(gamma, x, axes), axes, layer.epsilon)
    outputs = tf.cast(tf.cast(outputs, inputs.dtype), layer.compute_dtype)
    outputs.set_shape(inputs.shape)
    return outputs


def _spread(weights: tf.Tensor, x: tf.Tensor, axes: Sequence[int]) -> tf.Tensor:
    """Reshapes the weights so that they broadcast to x, as Keras does."""
    if axes == [x.shape.rank - 1]:
        return weights
    return tf.reshape(weights, [x.shape[i] if i in axes else 1 for i in range(x.shape.rank)])
