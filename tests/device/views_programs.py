"""Programs for test_views.py."""

from __future__ import annotations

import tensorflow as tf
from tensorflow.python.client import device_lib

from habana_frameworks.tensorflow import habana_device, load_habana_module


def hide_device() -> None:
    load_habana_module()
    tf.config.set_visible_devices([], "HPU")
    assert not tf.config.list_logical_devices("HPU"), tf.config.list_logical_devices()
    assert tf.identity(1.0).device.endswith("CPU:0")


def list_devices() -> None:
    assert not tf.config.list_physical_devices("HPU")
    load_habana_module()
    assert len(tf.config.list_physical_devices("HPU")) == 1
    assert len(tf.config.list_logical_devices("HPU")) == 1
    assert any(device.device_type == "HPU" for device in device_lib.list_local_devices())
    assert tf.config.experimental.get_memory_info("HPU:0") == {"current": 0, "peak": 0}
    with tf.device("CPU:0"):
        tf.constant(1.0) + 1.0
    assert not habana_device.info()["acquired"]
    with tf.device("HPU:0"):
        tf.identity(tf.constant(1.0))
    assert habana_device.info()["acquired"]
