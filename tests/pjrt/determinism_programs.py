"""Program for test_determinism.py."""

from __future__ import annotations

from habana_frameworks.tensorflow import load_habana_module


def compute_on_hpu() -> None:
    """Prints the result of a function on the HPU."""
    load_habana_module()
    import tensorflow as tf

    @tf.function
    def total(x: tf.Tensor) -> tf.Tensor:
        return tf.reduce_sum(x * 2.0 + 1.0)

    with tf.device("/device:HPU:0"):
        print(f"the HPU computes {float(total(tf.zeros([3])))}")
