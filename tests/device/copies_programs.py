"""Program for test_copies.py."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module


def failed_launch() -> None:
    load_habana_module()

    @tf.function
    def whole(x: tf.Tensor) -> tf.Tensor:
        return tf.cast(x, tf.int32)

    with tf.device("/device:CPU:0"):
        ones = tf.ones([100_000])
    with tf.device("/device:HPU:0"):
        try:
            whole(ones)
            raise AssertionError("no error")
        except tf.errors.OpError as error:
            assert "whole" in error.message, error.message
        np.testing.assert_array_equal(whole(ones), np.ones(100_000, np.int32))
    print("done")
