"""Clusters of bfloat16 ops that fall back to the CPU, which has no bfloat16 kernels for some of them."""

from __future__ import annotations

from tests.support.processes import run_with_tensorflow

# TensorFlow's CPU has Lgamma, Digamma, MatrixTriangularSolve and Erfinv in float32 and not in bfloat16.
COMPARE = """
import numpy as np
import tensorflow as tf
from habana_frameworks.tensorflow import load_habana_module, statistics
from habana_frameworks.tensorflow.explanation import passes

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
converted = {r.op for report in passes.recent_reports() for r in report.rewrites if r.pass_name == "bf16"}
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
    run_with_tensorflow(COMPARE + LAUNCHED, environment)
    run_with_tensorflow(COMPARE + FELL_BACK, {**environment, "HPU_FAULTS": "compile@1+"})


# TensorFlow's CPU has these updates in float32 and not in bfloat16.
UPDATES = """
import numpy as np
import tensorflow as tf
from habana_frameworks.tensorflow import load_habana_module, statistics

load_habana_module()
START = [[1.0, -2.0, 0.5], [0.25, 0.5, 1.0], [1.0, 2.0, 4.0]]


def update(variables, gradient):
    rate = tf.constant(0.5, gradient.dtype)
    var, m, v = (variable.handle for variable in variables)
    with tf.control_dependencies([variables[0].assign_add(gradient)]):
        read = variables[0] * 1
    with tf.control_dependencies([read]):
        done = tf.raw_ops.ResourceApplyAdaMax(
            var=var, m=m, v=v, beta1_power=rate, lr=rate, beta1=rate, beta2=rate, epsilon=rate * 0, grad=gradient)
    with tf.control_dependencies([done]):
        tf.raw_ops.ResourceApplyProximalGradientDescent(var=var, alpha=rate, l1=rate * 0.25, l2=rate, delta=gradient)
    return read, variables[0] + 1


def train(device, dtype):
    with tf.device(device):
        variables = [tf.Variable(tf.constant(value, dtype)) for value in START]
        step = tf.function(lambda gradient: update(variables, gradient))
        results = [step(tf.constant([0.5, -0.25, 1.0], dtype)) for _ in range(3)]
        return [np.asarray(tf.cast(t, tf.float32)) for t in tf.nest.flatten([results, [v.value() for v in variables]])]


for actual, expected in zip(train("/device:HPU:0", tf.bfloat16), train("/device:CPU:0", tf.float32)):
    np.testing.assert_allclose(actual, expected, rtol=0.03, atol=0.03)
clusters = [cluster for cluster in statistics.clusters() if cluster.launches + cluster.fallbacks]
"""


def test_updates_that_the_cpu_has_in_float32_only() -> None:
    run_with_tensorflow(
        UPDATES + "assert sum(c.launches for c in clusters) == 3 and not any(c.fallbacks for c in clusters)\n"
    )
    fell_back = "assert sum(c.fallbacks for c in clusters) == 3 and not any(c.launches for c in clusters)\n"
    run_with_tensorflow(UPDATES + fell_back, {"HPU_FAULTS": "compile@1+"})


def test_neither_the_hpu_nor_the_cpu_can_run_an_eager_op() -> None:
    program = """
    import tensorflow as tf
    from habana_frameworks.tensorflow import load_habana_module

    load_habana_module()
    with tf.device("/device:HPU:0"):
        x = tf.cast(tf.constant([1.5, 2.5]), tf.bfloat16)
        try:
            tf.math.lgamma(x)
        except tf.errors.OpError as error:
            message = str(error)
    for part in ("Lgamma", "cannot run on the HPU: ", "injected fault", "It cannot run on the CPU either",
                 "DT_BFLOAT16", "cast to a supported type"):
        assert part in message, message
    assert message.index("injected fault") < message.index("It cannot")
    """
    run_with_tensorflow(program, {"HPU_FAULTS": "compile@1+"})
