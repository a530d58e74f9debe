"""Programs for test_fallback.py, run with and without failing compilations."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module, statistics
from habana_frameworks.tensorflow.explanation import passes


def curved(y: tf.Tensor) -> tf.Tensor:
    with tf.name_scope("FORCE_BF16_PRECISION"):
        return y * 0.5 + tf.math.erfinv(tf.tanh(y))


@tf.function
def fall_back(x: tf.Tensor, w: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    with tf.GradientTape() as tape:
        tape.watch(x)
        with tf.name_scope("FORCE_BF16_PRECISION"):
            normal = tf.nn.lrn(tf.reshape(x, [2, 2, 2, 3]), bias=2.0)
            gamma = tf.math.lgamma(normal + 1.5)
            lower = tf.linalg.triangular_solve(w, tf.reshape(gamma, [4, 6]))
        y = tf.while_loop(lambda i, _: i < 2, lambda i, y: (i + 1, curved(y)), (0, lower), maximum_iterations=2)[1]
        loss = tf.reduce_sum(tf.square(y))
    return y, tape.gradient(loss, x)


def ops_of_float32(falls_back: bool) -> None:
    """Ops with CPU kernels for float32 but not for bfloat16: Lgamma, Digamma, MatrixTriangularSolve, Erfinv."""
    load_habana_module()
    x = np.linspace(-1.0, 1.0, 24, dtype=np.float32).reshape(4, 6)
    w = np.tril(np.linspace(1.0, 2.0, 16, dtype=np.float32).reshape(4, 4))
    with tf.device("/device:CPU:0"):
        expected = fall_back.python_function(tf.constant(x), tf.constant(w))
    with tf.device("/device:HPU:0"):
        results = fall_back(tf.constant(x), tf.constant(w))
    converted = {r.op for report in passes.recent_reports() for r in report.rewrites if r.pass_name == "bf16"}
    assert {"Lgamma", "MatrixTriangularSolve", "Erfinv"} <= converted, converted
    assert not {"LRN", "LRNGrad"} & converted  # XLA does not support these ops in bfloat16
    for result, wanted in zip(results, expected):
        assert result.dtype == tf.float32
        np.testing.assert_allclose(result, wanted, rtol=0.05, atol=0.05)
    if falls_back:
        assert statistics.get().fallbacks == 1
    else:
        assert statistics.get().fallbacks == 0 and statistics.get().launches > 0


START = [[1.0, -2.0, 0.5], [0.25, 0.5, 1.0], [1.0, 2.0, 4.0]]


def update(variables: list[tf.Variable], gradient: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    rate = tf.constant(0.5, gradient.dtype)
    var, m, v = (variable.handle for variable in variables)
    with tf.control_dependencies([variables[0].assign_add(gradient)]):
        read = variables[0] * 1
    with tf.control_dependencies([read]):
        done = tf.raw_ops.ResourceApplyAdaMax(
            var=var, m=m, v=v, beta1_power=rate, lr=rate, beta1=rate, beta2=rate, epsilon=rate * 0, grad=gradient
        )
    with tf.control_dependencies([done]):
        tf.raw_ops.ResourceApplyProximalGradientDescent(var=var, alpha=rate, l1=rate * 0.25, l2=rate, delta=gradient)
    return read, variables[0] + 1


def train(device: str, dtype: tf.DType) -> list[np.ndarray]:
    with tf.device(device):
        variables = [tf.Variable(tf.constant(value, dtype)) for value in START]
        step = tf.function(lambda gradient: update(variables, gradient))
        results = [step(tf.constant([0.5, -0.25, 1.0], dtype)) for _ in range(3)]
        return [np.asarray(tf.cast(t, tf.float32)) for t in tf.nest.flatten([results, [v.value() for v in variables]])]


def updates_of_float32(falls_back: bool) -> None:
    """Optimizer updates with CPU kernels for float32 but not for bfloat16."""
    load_habana_module()
    for actual, expected in zip(train("/device:HPU:0", tf.bfloat16), train("/device:CPU:0", tf.float32)):
        np.testing.assert_allclose(actual, expected, rtol=0.03, atol=0.03)
    clusters = [cluster for cluster in statistics.clusters() if cluster.launches + cluster.fallbacks]
    if falls_back:
        assert sum(c.fallbacks for c in clusters) == 3 and not any(c.launches for c in clusters)
    else:
        assert sum(c.launches for c in clusters) == 3 and not any(c.fallbacks for c in clusters)


def eager_op_of_float32() -> None:
    """Lgamma has CPU kernels for float32 but not for bfloat16."""
    load_habana_module()
    with tf.device("/device:HPU:0"):
        result = tf.math.lgamma(tf.cast(tf.constant([1.5, 4.0]), tf.bfloat16))
    counts = statistics.get().eager
    assert (counts.host_runs, counts.launches) == (2, 0)  # including the cast
    assert result.dtype == tf.bfloat16
    np.testing.assert_allclose(tf.cast(result, tf.float32), [-0.12078, 1.79176], rtol=1e-2)


def eager_op_of_neither_device() -> None:
    """The CPU has no kernel for a triangular solve in float16."""
    load_habana_module()
    message = ""
    with tf.device("/device:HPU:0"):
        x = tf.eye(2, dtype=tf.float16)
        try:
            tf.linalg.triangular_solve(x, x)
        except tf.errors.OpError as error:
            message = str(error)
    for part in (
        "MatrixTriangularSolve",
        "cannot run on the HPU: ",
        "injected fault",
        "It cannot run on the CPU either",
        "DT_HALF",
        "cast to a supported type",
    ):
        assert part in message, message
    assert message.index("injected fault") < message.index("It cannot")
