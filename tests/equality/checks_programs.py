"""Helpers of the tests of indices and values that loops and branches compute."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import tensorflow as tf

from tests.support.error_text import own_lines

ROWS, WIDTH = 5, 4
TABLE = np.arange(ROWS * WIDTH, dtype=np.float32).reshape(ROWS, WIDTH)

# First indices; some programs fail for some of them.
FIRST = (0, 1, 4, 7, -3, 2, 3, 0)


def on_device(first: tf.Tensor) -> tf.Tensor:
    """Returns the same number, computed by the cluster."""
    return tf.cast(tf.round(tf.cast(first, tf.float32) * 1.0001), tf.int32)


def text_of_error(message: str) -> str:
    """Returns TensorFlow's own text, without nodes and traces.

    Numbers are replaced, because the CPU runs iterations in parallel and reports any of those that fail.
    """
    lines = [re.sub(r"-?\d+", "#", line.split(" (")[0]) for line in own_lines(message)]
    own = re.compile(
        r" of dimension | is not in |in a list|does not index|label value|by zero|not invertible"
        r"|out of range|between # and|duplicated|Expected |negative integer powers|seq_lens"
    )
    return next(line for line in lines if own.search(line))


def assert_same(result: Any, expected: Any) -> bool:
    """Compares a value or an error with the CPU's. Returns whether it is an error."""
    if not isinstance(expected, tuple):
        np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-4)
        return False
    assert isinstance(result, tuple), result
    assert result[0] is expected[0]
    assert text_of_error(result[1]).split(" Label")[0] == text_of_error(expected[1]).split(" Label")[0]
    return True
