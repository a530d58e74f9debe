"""The Keras package behind tf.keras, and what tests of Keras 2 and Keras 3 spell differently."""

from __future__ import annotations

import sys
from typing import Any

import pytest
import tensorflow as tf

from habana_frameworks.tensorflow._internal import keras_packages

PACKAGE: Any = sys.modules[tf.keras.layers.Layer.__module__.partition(".")[0]]
IS_KERAS_2 = keras_packages.is_keras_2(PACKAGE)
keras_2_only = pytest.mark.skipif(not IS_KERAS_2, reason="Keras 3 lacks what the test uses")
keras_3_only = pytest.mark.skipif(IS_KERAS_2, reason="Keras 2 lacks what the test uses")
# Part of the name of fit's graph.
TRAIN_FUNCTION = "train_function" if IS_KERAS_2 else "multi_step_on_iterator"
# The same of train_on_batch's.
BATCH_FUNCTION = "train_function" if IS_KERAS_2 else "one_step_on_data"


def variable_of(weight: Any) -> Any:
    """Returns the tf.Variable of a weight of a layer or of an optimizer."""
    return weight if IS_KERAS_2 else weight.value


def legacy_optimizers() -> Any:
    """Returns the module of the optimizers that Keras 2 calls legacy, or of Keras 3's."""
    return tf.keras.optimizers.legacy if IS_KERAS_2 else tf.keras.optimizers
