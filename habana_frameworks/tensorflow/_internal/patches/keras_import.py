"""Patches of Keras 2, applied when a program first imports it.

TensorFlow resolves tf.keras at its first use: to tf_keras if the program, or a library that it imports, has set
TF_USE_LEGACY_KERAS by then. Loading the HPU module must not use tf.keras earlier.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from habana_frameworks import _import_hook

# tf_keras is Keras 2 under the name that it has beside Keras 3.
_PACKAGES = ("keras", "tf_keras")


def call_after_import(function: Callable[[Any], None]) -> None:
    """Calls `function` with each of Keras 2's packages: now if the package is imported, else after its import."""

    def call(package: Any) -> None:
        if package.__version__.startswith("2."):
            function(package)

    for name in _PACKAGES:
        _import_hook.call_after_import(name, call)
