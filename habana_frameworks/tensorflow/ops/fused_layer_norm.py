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
    """Whether call() computes the layer's result. Ragged inputs and float64 layers need TensorFlow's ops."""
    return not isinstance(inputs, tf.RaggedTensor) and tf.as_dtype(layer.compute_dtype) in _FUSED_TYPES


def call(layer: Any, inputs: Any) -> tf.Tensor:
    """Returns the inputs that a Keras LayerNormalization has normalized, in the layer's compute dtype."""
    inputs = tf.cast(inputs, layer.compute_dtype)
    # Computes in the dtype of the weights (float32 with mixed precision), like Keras.
    x = tf.cast(inputs, layer.dtype) if tf.as_dtype(layer.dtype) in _FUSED_TYPES else inputs
    shape = [x.shape[axis] for axis in layer.axis]
    gamma = tf.ones(shape, x.dtype) if layer.gamma is None else tf.cast(layer.gamma, x.dtype)
    beta = tf.zeros(shape, x.dtype) if layer.beta is None else tf.cast(layer.beta, x.dtype)
    outputs = layer_norm(x, _spread(layer, beta, x), _spread(layer, gamma, x), layer.axis, layer.epsilon)
    outputs = tf.cast(outputs, inputs.dtype)
    outputs.set_shape(inputs.shape)
    return outputs


def _spread(layer: Any, weights: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
    """Reshapes the weights so that they broadcast to x, as Keras does."""
    if list(layer.axis) == [x.shape.rank - 1]:
        return weights
    return tf.reshape(weights, [x.shape[i] if i in layer.axis else 1 for i in range(x.shape.rank)])
