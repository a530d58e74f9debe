"""Resets the process-wide precision settings before and after each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import tensorflow as tf


@pytest.fixture(autouse=True)
def plain() -> Iterator[None]:
    before = tf.config.optimizer.get_experimental_options()
    yield
    tf.keras.mixed_precision.set_global_policy("float32")
    tf.config.optimizer.set_experimental_options({"auto_mixed_precision": False, **before})
