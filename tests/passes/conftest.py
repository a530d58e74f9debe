"""The passes need the plugin loaded, but no device."""

from __future__ import annotations

import pytest

from habana_frameworks.tensorflow import library_loader


@pytest.fixture(scope="session", autouse=True)
def loaded(module_locks: None) -> None:
    import tensorflow as tf

    library_loader.plugin()
    # A graph test may be the first to start TensorFlow's context, which then forbids soft placement for good.
    tf.config.set_soft_device_placement(True)
