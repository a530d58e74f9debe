"""HabanaLayerNormalization: tf.keras.layers.LayerNormalization as one fused op."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from habana_frameworks.tensorflow.ops import fused_layer_norm
from habana_frameworks.tensorflow.ops.fused_layer_norm import layer_norm

__all__ = ["HabanaLayerNormalization", "layer_norm"]


@tf.keras.utils.register_keras_serializable("habana_frameworks")
class HabanaLayerNormalization(tf.keras.layers.LayerNormalization):  # type: ignore[misc]
    """Drop-in replacement for tf.keras.layers.LayerNormalization: same arguments, weights and results.

    Call load_habana_module() first; the layer also runs on the CPU. Ragged inputs, integers and float64 use
    TensorFlow's ops.
    """

    def call(self, inputs: Any) -> Any:
        """Returns the normalized `inputs`, in the layer's compute dtype."""
        return fused_layer_norm.call(self, inputs) if fused_layer_norm.can_fuse(self, inputs) else super().call(inputs)
