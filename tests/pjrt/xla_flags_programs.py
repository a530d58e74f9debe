"""Programs for test_xla_flags.py."""

from __future__ import annotations

import math
import os
import subprocess
import sys

from habana_frameworks.tensorflow import load_habana_module


def compute_on_both() -> None:
    """Computes on the HPU, and on the CPU with TensorFlow's own XLA. Prints the XLA_FLAGS that a child process sees."""
    load_habana_module()
    import tensorflow as tf

    @tf.function(jit_compile=True)
    def total(x: tf.Tensor) -> tf.Tensor:
        return tf.reduce_sum(x * 2.0 + 1.0)

    for device in ("HPU", "CPU"):
        with tf.device(f"/device:{device}:0"):
            print(f"the {device} computes {float(total(tf.zeros([3])))}")
    program = "import os; print('a child sees', os.environ['XLA_FLAGS'])"
    child = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert child.stdout.split()[-1] == os.environ["XLA_FLAGS"]
    print(child.stdout)


def reduce_nan() -> None:
    """Checks that compiled minimums and maximums on the HPU return NaN if the input contains NaN."""
    load_habana_module()
    import tensorflow as tf

    functions = {
        "reduce_max": tf.reduce_max,
        "reduce_min": tf.reduce_min,
        "maximum": lambda x: tf.maximum(x[0], x[1]),
        "minimum": lambda x: tf.minimum(x[1], x[0]),
        "relu": lambda x: tf.nn.relu(x)[1],
    }
    with tf.device("/device:HPU:0"):
        for dtype in (tf.float32, tf.float64, tf.bfloat16, tf.float16):
            for name, function in functions.items():
                for count in (3, 67):
                    x = tf.constant([1.0, math.nan, 2.0] + [0.5] * (count - 3), dtype)
                    value = float(tf.function(function, jit_compile=True)(x))
                    assert math.isnan(value), f"{name} of {count} numbers of {dtype.name} returns {value}"
    print("all results are NaN")
