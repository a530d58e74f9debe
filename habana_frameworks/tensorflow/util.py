"""What programs ask before they choose a device. Only device_name() and is_hpu_available() import TensorFlow."""

from __future__ import annotations

import importlib.metadata
import sys

_HPU, _CPU = "/device:HPU:0", "/device:CPU:0"


def is_hpu_available() -> bool:
    """Whether TensorFlow has the HPU: load_habana_module() was called, and the program did not hide it since."""
    import tensorflow as tf

    return bool(tf.config.get_visible_devices("HPU"))


def device_name() -> str:
    """For tf.device(): the HPU where TensorFlow has it, else the CPU."""
    return _HPU if is_hpu_available() else _CPU


def other_keras() -> str | None:
    """The version of a Keras in use that is not tf.keras of TensorFlow 2.15: one that was imported, or is installed.

    None if there is none. Imports nothing.
    """
    module = sys.modules.get("keras")
    version = getattr(module, "__version__", None)
    if version is None:
        try:
            version = importlib.metadata.version("keras")
        except importlib.metadata.PackageNotFoundError:
            return None
    return None if str(version).startswith("2.") else str(version)
