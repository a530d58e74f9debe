"""Patches of Keras, applied when a program first imports it.

TensorFlow resolves tf.keras at its first use: to tf_keras if the program, or a library that it imports, has set
TF_USE_LEGACY_KERAS by then. Loading the HPU module must not use tf.keras earlier.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from habana_frameworks import _import_hook
from habana_frameworks.tensorflow._internal import keras_packages


def call_after_import(function: Callable[[Any], None]) -> None:
    """Calls `function` with each supported Keras package: now if the package is imported, else after its import."""

    def call(package: Any) -> None:
        if keras_packages.is_supported(package):
            function(package)

    for name in keras_packages.NAMES:
        _import_hook.call_after_import(name, call)
