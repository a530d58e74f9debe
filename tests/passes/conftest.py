"""The passes need the plugin loaded, but no device."""

from __future__ import annotations

import pytest

from habana_frameworks.tensorflow._internal.native import plugin_library


@pytest.fixture(scope="session", autouse=True)
def loaded(module_locks: None) -> None:
    import tensorflow as tf

    plugin_library.handle()
    # A graph test may be the first to start TensorFlow's context, which then forbids soft placement for good.
    tf.config.set_soft_device_placement(True)
