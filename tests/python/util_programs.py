"""Program for test_util.py."""

from __future__ import annotations

import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module, util


def device_name_without_hpu() -> None:
    assert util.device_name() == "/device:CPU:0"
    load_habana_module()
    tf.config.set_visible_devices([], "HPU")
    assert util.device_name() == "/device:CPU:0"
