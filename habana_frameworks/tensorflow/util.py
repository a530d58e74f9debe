"""Choice of the device, and check of Keras's version. Only is_hpu_available() and device_name() import TensorFlow."""

from __future__ import annotations

import importlib.metadata
import sys

from habana_frameworks.tensorflow import lib_utils

_HPU, _CPU = "/device:HPU:0", "/device:CPU:0"


def is_hpu_available() -> bool:
    """Whether TensorFlow has a visible HPU. Call load_habana_module() first; the program may have hidden the HPU."""
    import tensorflow as tf

    return bool(tf.config.get_visible_devices("HPU"))


def device_name() -> str:
    """Device name for tf.device(): the HPU if available, else the CPU."""
    return _HPU if is_hpu_available() else _CPU


def other_keras() -> str | None:
    """Returns the version of the imported or installed Keras if it is not that of tf.keras, else None. Imports nothing.

    tf.keras of TensorFlow 2.15 is Keras 2.
    """
    module = sys.modules.get("keras")
    version = getattr(module, "__version__", None)
    if version is None:
        try:
            version = importlib.metadata.version("keras")
        except importlib.metadata.PackageNotFoundError:
            return None
    return None if str(version).startswith(f"{lib_utils.release().keras}.") else str(version)
