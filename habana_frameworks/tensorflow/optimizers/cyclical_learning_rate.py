"""CyclicalLearningRate: a learning rate that oscillates between two bounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

__all__ = ["CyclicalLearningRate"]

_SCALE_MODES = ("cycle", "iterations")


@tf.keras.utils.register_keras_serializable("habana_frameworks")
class CyclicalLearningRate(tf.keras.optimizers.schedules.LearningRateSchedule):
    """Cyclic schedule: rises to the maximal rate in step_size steps, and falls to the initial rate in as many steps.

    initial_learning_rate, maximal_learning_rate: numbers or scalar tensors.
    step_size: half of a cycle, in steps.
    scale_fn: returns the scale of the amplitude; its argument depends on scale_mode.
    scale_mode: "cycle" passes the cycle number, from 1; "iterations" passes the step number, from 0.

    Replaces the class of the same name in TensorFlow Addons.
    """

    def __init__(
        self,
        initial_learning_rate: Any,
        maximal_learning_rate: Any,
        step_size: Any,
        scale_fn: Callable[[Any], Any],
        scale_mode: str = "cycle",
        name: str = "CyclicalLearningRate",
    ) -> None:
        super().__init__()
        if scale_mode not in _SCALE_MODES:
            raise ValueError(f"scale_mode={scale_mode!r} is not one of {', '.join(_SCALE_MODES)}")
        self.initial_learning_rate = initial_learning_rate
        self.maximal_learning_rate = maximal_learning_rate
        self.step_size = step_size
        self.scale_fn = scale_fn
        self.scale_mode = scale_mode
        self.name = name

    def __call__(self, step: Any) -> Any:
        """Returns the rate at `step`, in the dtype of the initial rate."""
        with tf.name_scope(self.name):
            lowest = tf.convert_to_tensor(self.initial_learning_rate, name="initial_learning_rate")
            highest = tf.cast(self.maximal_learning_rate, lowest.dtype)
            step_size = tf.cast(self.step_size, lowest.dtype)
            step = tf.cast(step, lowest.dtype)
            cycle = tf.floor(1 + step / (2 * step_size))
            from_peak = tf.abs(step / step_size - 2 * cycle + 1)
            scale = self.scale_fn(cycle if self.scale_mode == "cycle" else step)
            return lowest + (highest - lowest) * tf.maximum(tf.zeros([], lowest.dtype), 1 - from_peak) * scale

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments of __init__ except `name`. To save a model, scale_fn must be serializable."""
        names = ("initial_learning_rate", "maximal_learning_rate", "step_size", "scale_fn", "scale_mode")
        return {name: getattr(self, name) for name in names}
