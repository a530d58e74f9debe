"""Fixtures for tests of passes, which need the loaded plugin but no device."""

from __future__ import annotations

import pytest

from habana_frameworks.tensorflow._internal.native import plugin_library


@pytest.fixture(scope="session", autouse=True)
def loaded(module_locks: None) -> None:
    import tensorflow as tf

    plugin_library.handle()
    # A graph test may initialise TensorFlow's context, which would disable soft placement permanently.
    tf.config.set_soft_device_placement(True)
