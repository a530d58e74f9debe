"""Clusters of bfloat16 ops that fall back to the CPU, which has no bfloat16 kernels for some of them."""

from __future__ import annotations

from tests.support.processes import run_python

# TensorFlow's CPU has Lgamma, Digamma, MatrixTriangularSolve and Erfinv in float32 and not in bfloat16.
COMPARE = """
import numpy as np
import tensorflow as tf
from habana_frameworks.tensorflow import _passes, load_habana_module, statistics

load_habana_module()


@tf.function
def fall_back(x, w):
    with tf.GradientTape() as tape:
        tape.watch(x)
        with tf.name_scope("FORCE_BF16_PRECISION"):
            normal = tf.nn.lrn(tf.reshape(x, [2, 2, 2, 3]), bias=2.0)
            gamma = tf.math.lgamma(normal + 1.5)
            lower = tf.linalg.triangular_solve(w, tf.reshape(gamma, [4, 6]))
        y = tf.while_loop(lambda i, _: i < 2, lambda i, y: (i + 1, curved(y)), (0, lower), maximum_iterations=2)[1]
        loss = tf.reduce_sum(tf.square(y))
    return y, tape.gradient(loss, x)


def curved(y):
    with tf.name_scope("FORCE_BF16_PRECISION"):
        return y * 0.5 + tf.math.erfinv(tf.tanh(y))


x = np.linspace(-1.0, 1.0, 24, dtype=np.float32).reshape(4, 6)
w = np.tril(np.linspace(1.0, 2.0, 16, dtype=np.float32).reshape(4, 4))
with tf.device("/device:CPU:0"):
    expected = fall_back.python_function(tf.constant(x), tf.constant(w))
with tf.device("/device:HPU:0"):
    results = fall_back(tf.constant(x), tf.constant(w))
converted = {r["op"] for report in _passes.recent_reports() for r in report["rewrites"] if r["pass"] == "bf16"}
assert {"Lgamma", "MatrixTriangularSolve", "Erfinv"} <= converted, converted
assert not {"LRN", "LRNGrad"} & converted  # XLA cannot build them in bfloat16
for result, wanted in zip(results, expected):
    assert result.dtype == tf.float32
    np.testing.assert_allclose(result, wanted, rtol=0.05, atol=0.05)
"""
FELL_BACK = "assert statistics.get().fallbacks == 1\n"
LAUNCHED = "assert statistics.get().fallbacks == 0 and statistics.get().launches > 0\n"


def test_ops_that_the_cpu_has_in_float32_only() -> None:
    environment = {"TF_BF16_CONVERSION": "full"}
    run_python(COMPARE + LAUNCHED, environment)
    run_python(COMPARE + FELL_BACK, {**environment, "HPU_EMULATOR_FAULTS": "compile@1+"})
