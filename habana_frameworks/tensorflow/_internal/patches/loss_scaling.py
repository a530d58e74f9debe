"""Loss scaling for TF_ENABLE_AUTO_MIXED_PRECISION. The plugin converts the graphs to bfloat16."""

from __future__ import annotations

import functools
from typing import Any

from habana_frameworks.tensorflow import flags


def scale_on_request(tf: Any) -> None:
    """Patches Keras's Model.compile and TensorFlow 1's Optimizer.minimize to add loss scaling to optimizers.

    The patched methods read TF_ENABLE_AUTO_MIXED_PRECISION at each call.
    """
    _wrap_keras(tf)
    _wrap_v1(tf)


def _wrap_keras(tf: Any) -> None:
    loss_scale_optimizer = tf.keras.mixed_precision.LossScaleOptimizer
    get_optimizer = tf.keras.Model._get_optimizer

    def scaled(optimizer: Any) -> Any:
        return optimizer if isinstance(optimizer, loss_scale_optimizer) else loss_scale_optimizer(optimizer)

    @functools.wraps(get_optimizer)
    def wrapped(self: Any, optimizer: Any) -> Any:
        chosen = get_optimizer(self, optimizer)
        return tf.nest.map_structure(scaled, chosen) if flags.tf_enable_auto_mixed_precision() else chosen

    tf.keras.Model._get_optimizer = wrapped


def _wrap_v1(tf: Any) -> None:
    from tensorflow.python.training.experimental import loss_scale_optimizer

    optimizer_class = tf.compat.v1.train.Optimizer
    wrapper_class = loss_scale_optimizer.MixedPrecisionLossScaleOptimizer
    minimize = optimizer_class.minimize

    @functools.wraps(minimize)
    def wrapped(self: Any, *args: Any, **kwargs: Any) -> Any:
        if flags.tf_enable_auto_mixed_precision() and not isinstance(self, wrapper_class):
            return minimize(wrapper_class(self, "dynamic"), *args, **kwargs)
        return minimize(self, *args, **kwargs)

    optimizer_class.minimize = wrapped
