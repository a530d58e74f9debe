"""HabanaLayerNormalization: tf.keras.layers.LayerNormalization as one fused op."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import tensorflow as tf
from habana_frameworks.tensorflow._internal.native.op_wrappers import habana_ops

__all__ = ["HabanaLayerNormalization", "layer_norm"]

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


@tf.keras.utils.register_keras_serializable("habana_frameworks")
class HabanaLayerNormalization(tf.keras.layers.LayerNormalization):
    """Drop-in replacement for tf.keras.layers.LayerNormalization: same arguments, weights and results.

    Call load_habana_module() first; the layer also runs on the CPU. Ragged inputs and float64 layers use TensorFlow's
    ops.
    """

    def call(self, inputs: Any) -> Any:
        """Returns the normalized `inputs`, in the layer's compute dtype."""
        if isinstance(inputs, tf.RaggedTensor):
            return super().call(inputs)
        inputs = tf.cast(inputs, self.compute_dtype)
        if inputs.dtype not in _FUSED_TYPES:
            return super().call(inputs)
        # Computes in the dtype of the weights (float32 with mixed precision), like Keras.
        x = tf.cast(inputs, self.dtype) if tf.as_dtype(self.dtype) in _FUSED_TYPES else inputs
        shape = [x.shape[axis] for axis in self.axis]
        gamma = tf.ones(shape, x.dtype) if self.gamma is None else tf.cast(self.gamma, x.dtype)
        beta = tf.zeros(shape, x.dtype) if self.beta is None else tf.cast(self.beta, x.dtype)
        outputs = layer_norm(x, self._spread(beta, x), self._spread(gamma, x), self.axis, self.epsilon)
        outputs = tf.cast(outputs, inputs.dtype)
        outputs.set_shape(inputs.shape)
        return outputs

    def _spread(self, weights: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
        """Reshapes the weights so that they broadcast to x, as Keras does."""
        if list(self.axis) == [x.shape.rank - 1]:
            return weights
        return tf.reshape(weights, [x.shape[i] if i in self.axis else 1 for i in range(x.shape.rank)])
