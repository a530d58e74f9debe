"""HabanaInstanceNormalization: instance normalisation as one fused op."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from habana_frameworks.tensorflow._internal import keras_packages
from habana_frameworks.tensorflow._internal.native.op_wrappers import habana_ops

__all__ = ["HabanaInstanceNormalization"]

_keras = tf.keras
_WITHOUT_AUTOCAST = keras_packages.without_autocast(_keras.layers.Layer)


@tf.keras.utils.register_keras_serializable("habana_frameworks")
class HabanaInstanceNormalization(tf.keras.layers.Layer):
    """Normalizes each channel of each sample by its mean and variance over all dimensions between batch and channels.

    Replaces TensorFlow Addons' InstanceNormalization, with the same arguments and weights (`gamma`, `beta`: one value
    per channel). Inputs: rank 3 or more, channels last, number of channels known. Call load_habana_module() first; the
    layer also runs on the CPU.
    """

    def __init__(
        self,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        beta_regularizer: Any = None,
        gamma_regularizer: Any = None,
        beta_constraint: Any = None,
        gamma_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        # The Addons class's config contains groups and axis, both -1.
        groups, axis = kwargs.pop("groups", -1), kwargs.pop("axis", -1)
        if (groups, axis) != (-1, -1):
            raise ValueError(f"groups={groups}, axis={axis}: instance normalisation supports only -1 for both")
        super().__init__(**kwargs)
        self.supports_masking = True
        self.epsilon, self.center, self.scale = epsilon, center, scale
        self.beta_initializer = _keras.initializers.get(beta_initializer)
        self.gamma_initializer = _keras.initializers.get(gamma_initializer)
        self.beta_regularizer = _keras.regularizers.get(beta_regularizer)
        self.gamma_regularizer = _keras.regularizers.get(gamma_regularizer)
        self.beta_constraint = _keras.constraints.get(beta_constraint)
        self.gamma_constraint = _keras.constraints.get(gamma_constraint)

    def build(self, input_shape: Any) -> None:
        """Creates the weights. Raises ValueError for inputs of rank below 3 or an unknown number of channels."""
        shape = tf.TensorShape(input_shape)
        if shape.rank is None or shape.rank < 3 or shape[-1] is None:
            raise ValueError(
                f"layer {self.name}: input shape {shape} must have rank 3 or more and a known number of channels (last "
                "dimension)"
            )
        self.gamma = self._weight("gamma", shape[-1]) if self.scale else None
        self.beta = self._weight("beta", shape[-1]) if self.center else None
        super().build(input_shape)

    def _weight(self, name: str, channels: int) -> Any:
        parts = {part: getattr(self, f"{name}_{part}") for part in ("initializer", "regularizer", "constraint")}
        return self.add_weight(name=name, shape=[channels], **_WITHOUT_AUTOCAST, **parts)

    def call(self, inputs: Any, training: Any = None) -> Any:
        """Returns the normalized `inputs`, in their dtype. Ignores `training`."""
        x = tf.cast(inputs, self.dtype)
        channels = [x.shape[-1]]
        gamma = tf.ones(channels, x.dtype) if self.gamma is None else tf.cast(self.gamma, x.dtype)
        beta = tf.zeros(channels, x.dtype) if self.beta is None else tf.cast(self.beta, x.dtype)
        outputs = habana_ops.habana_instance_norm(x, beta=beta, gamma=gamma, epsilon=self.epsilon)[0]
        return tf.cast(outputs, inputs.dtype)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Returns the shape of the inputs."""
        return input_shape

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments of __init__."""
        parts = {}
        for kind in ("initializer", "regularizer", "constraint"):
            serialize = getattr(_keras, f"{kind}s").serialize
            parts.update({f"{name}_{kind}": serialize(getattr(self, f"{name}_{kind}")) for name in ("beta", "gamma")})
        config = {"epsilon": self.epsilon, "center": self.center, "scale": self.scale, "groups": -1, "axis": -1}
        return {**super().get_config(), **config, **parts}
