"""Keras packages: names, major version and TensorFlow backend. The only module that asks which Keras a program has."""

from __future__ import annotations

import inspect
from typing import Any

from habana_frameworks.tensorflow import lib_utils

# tf_keras is Keras 2 under the name that it has beside Keras 3.
NAMES = ("keras", "tf_keras")


def is_keras_2(package: Any) -> bool:
    """Whether a Keras package is Keras 2."""
    return str(package.__version__).startswith("2.")


def is_supported(package: Any) -> bool:
    """Whether the package computes with TensorFlow and is Keras 2 or the Keras of the TensorFlow release."""
    if is_keras_2(package):
        return True
    major = str(package.__version__).partition(".")[0]
    return major == lib_utils.release().keras and package.config.backend() == "tensorflow"


def without_autocast(layer_class: Any) -> dict[str, bool]:
    """Returns the options of add_weight() for a weight that keeps its dtype in mixed precision."""
    keras_3 = "autocast" in inspect.signature(layer_class.add_weight).parameters
    return {"autocast" if keras_3 else "experimental_autocast": False}
