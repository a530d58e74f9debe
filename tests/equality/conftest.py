"""Fixture for tests of equal results on HPU and CPU: a loaded HPU and counters at zero."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import tensorflow as tf

from habana_frameworks.tensorflow import statistics


@pytest.fixture(autouse=True)
def fresh(hpu: str) -> Iterator[None]:
    """Resets counters, and Keras's names, seeds and policies, as in a new process."""
    tf.keras.backend.clear_session()
    tf.random.set_seed(0)
    statistics.reset()
    yield
    tf.keras.mixed_precision.set_global_policy("float32")
    tf.config.run_functions_eagerly(False)
