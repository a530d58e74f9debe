"""Train steps of the programs in tests/libraries/programs, and helpers to build them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf


@dataclasses.dataclass(frozen=True)
class Training:
    """A model in training. All steps have the same shapes."""

    step: Callable[[], Any]
    """Trains one step and returns the loss, or another scalar that all of the step's results affect."""
    weights: Callable[[], Sequence[Any]]
    """Returns the variables that the steps update. They exist after the first step."""
    tolerance: float = 1e-4
    """Accepted difference of losses and weights relative to their largest value, after all steps."""


def random(*shape: int, seed: int = 0) -> np.ndarray:
    """Returns standard normal numbers."""
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def labels(count: int, classes: int, seed: int = 0) -> np.ndarray:
    """Returns class numbers."""
    return np.random.default_rng(seed).integers(classes, size=count).astype(np.int32)


def compiled(model: Any, x: Any, y: Any, tolerance: float = 1e-4) -> Training:
    """Returns the training of a compiled Keras model on one batch."""
    return Training(
        lambda: model.train_on_batch(x, y, return_dict=True)["loss"], lambda: model.trainable_weights, tolerance
    )


def fitted(model: Any, loss: Callable[[], Any], optimizer: Any, tolerance: float = 1e-4) -> Training:
    """Returns a training with a loop of its own. `loss` computes the loss of `model`."""

    @tf.function
    def train_step() -> Any:
        with tf.GradientTape() as tape:
            value = loss()
        variables = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(value, variables), variables))
        return value

    return Training(train_step, lambda: model.trainable_variables, tolerance)
