"""Programs for test_errors.py, run with injected faults or little device memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from habana_frameworks.tensorflow import habana_device, load_habana_module, statistics
from tests.support.compare import HPU


def raised(call: Callable[[], Any]) -> tf.errors.OpError:
    try:
        call()
    except tf.errors.OpError as error:
        return error
    raise SystemExit("no error was raised")


def asynchronous_error() -> None:
    load_habana_module()

    @tf.function
    def unlucky(x: tf.Tensor) -> tf.Tensor:
        return tf.sin(x) * 2.0 + 1.0

    with tf.device(HPU):
        x = tf.constant([1.0, 2.0])
        error = raised(lambda: unlucky(x).numpy())
        assert isinstance(error, tf.errors.InternalError), type(error)
        assert "habana_cluster_unlucky_0" in str(error), error
        np.testing.assert_allclose(unlucky(x).numpy(), 2 * np.sin([1, 2]) + 1, rtol=1e-5)


@tf.function
def large(x: tf.Tensor) -> tf.Tensor:
    return tf.matmul(x, x) + tf.transpose(x)


# Ops that need more memory than the device has, by name. The argument is a variable of 4 MiB.
LARGE: dict[str, Callable[[tf.Variable], Any]] = {
    "eager": lambda kept: tf.tile(kept, [8, 8]),
    "variable": lambda _: tf.Variable(np.zeros([64 << 20], np.float32)),
    "cluster": lambda _: large(tf.ones([4000, 4000])),
}


def exhausted_memory(call: str, asked: list[str]) -> None:
    load_habana_module()
    with tf.device(HPU):
        kept = tf.Variable(tf.ones([1024, 1024]))
        error = raised(lambda: LARGE[call](kept))
        text = str(error)
        assert isinstance(error, tf.errors.ResourceExhaustedError), type(error)
        del error  # its traceback references the arguments
        assert "HPU_MEMORY_MB" in text and "in use" in text, text
        for bytes_asked in asked:
            assert bytes_asked in text, (bytes_asked, text)
        # The process continues, without lost or leaked memory.
        for _ in range(3):
            assert float(tf.reduce_sum(large(kept[:256, :256]))) == 256 * 256 * 257
        assert kept.numpy().sum() == 1024 * 1024
        memory = habana_device.memory_info()
        assert 4 << 20 <= memory.in_use - memory.workspace < 16 << 20, memory


# Ops whose first call runs on the CPU, by name. Results of 128 TiB or more exceed the user address space of x86-64.
TOO_LARGE_FOR_THE_HOST: dict[str, Callable[[], Any]] = {
    "compiled later": lambda: tf.ones([1 << 23, 1]) + tf.ones([1, 1 << 22]),
    "never compiled": lambda: tf.random.normal([1 << 45]),
    "no device": lambda: tf.ones([1 << 23, 1]) + tf.ones([1, 1 << 23]),
}


def exhausted_host_memory() -> None:
    load_habana_module()
    with tf.device(HPU):
        for name, call in TOO_LARGE_FOR_THE_HOST.items():
            error = raised(call)
            assert isinstance(error, tf.errors.ResourceExhaustedError), type(error)
            print(name, error.message, sep=": ")


def summing() -> tuple[tf.Variable, Any]:
    """Returns a variable, and a step that adds to it."""
    with tf.device(HPU):
        total = tf.Variable(tf.zeros([2]))

    @tf.function
    def step(x: tf.Tensor) -> tf.Tensor:
        total.assign_add(tf.sin(x) * 2.0)
        return total * 2.0

    return total, step


def fallback() -> None:
    load_habana_module()
    total, step = summing()
    with tf.device(HPU):
        x = tf.constant([1.0, 2.0])
        for i in range(1, 4):
            np.testing.assert_allclose(step(x).numpy(), 4 * i * np.sin([1, 2]), rtol=1e-5)
    np.testing.assert_allclose(total.numpy(), 6 * np.sin([1, 2]), rtol=1e-5)
    (cluster,) = [cluster for cluster in statistics.get().clusters if cluster.fallbacks]
    assert (cluster.fallbacks, cluster.launches) == (3, 0), cluster
    assert cluster.fallback_bytes > 0


def fallback_that_assigns() -> None:
    load_habana_module()
    with tf.device(HPU):
        momentum, weights = tf.Variable(tf.zeros([2])), tf.Variable(tf.ones([2]))

    @tf.function
    def step(x: tf.Tensor) -> None:
        momentum.assign(momentum * 0.5 + x)
        weights.assign_sub(momentum)

    with tf.device(HPU):
        for _ in range(3):
            step(tf.ones([2]))
    np.testing.assert_array_equal(momentum.numpy(), [1.75, 1.75])
    np.testing.assert_array_equal(weights.numpy(), [-3.25, -3.25])
    assert statistics.get().fallbacks == 3


def forbidden_fallback() -> None:
    load_habana_module()
    total, step = summing()
    with tf.device(HPU):
        error = raised(lambda: step(tf.constant([1.0, 2.0])))
    assert "habana_cluster_step_0" in str(error) and "TF_CPU_RUNTIME_FALLBACK" in str(error), error
    np.testing.assert_array_equal(total.numpy(), [0, 0])


def failing_fallback() -> None:
    load_habana_module()
    with tf.device(HPU):
        total = tf.Variable(tf.ones([2]))

    @tf.function(input_signature=[tf.TensorSpec([None, None]), tf.TensorSpec([None, None])])
    def step(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        total.assign_add([1.0, 1.0])
        total.assign_add(tf.reduce_sum(tf.matmul(x, y)) * tf.ones([2]))
        return total * 2.0

    with tf.device(HPU):
        for _ in range(2):
            raised(lambda: step(tf.ones([2, 3]), tf.ones([2, 3])))
            np.testing.assert_array_equal(total.numpy(), [1, 1])
        step(tf.ones([2, 3]), tf.ones([3, 2]))
    np.testing.assert_array_equal(total.numpy(), [14, 14])


def invalid_index_in_a_fallback() -> None:
    load_habana_module()
    with tf.device(HPU):
        total = tf.Variable(tf.ones([2]))

    @tf.function
    def step(x: tf.Tensor) -> tf.Tensor:
        row = tf.gather(tf.abs(x), tf.cast(tf.reduce_sum(x), tf.int32))
        total.assign_add(tf.fill([2], 1.0 + row))
        total.scatter_add(tf.IndexedSlices([2.0], [0]))
        return total * 2.0

    with tf.device(HPU):
        for _ in range(2):
            error = raised(lambda: step(tf.constant([1.0, 7.0])))
            assert isinstance(error, tf.errors.InvalidArgumentError) and "= 8 is not in [0, 2)" in str(error), error
            np.testing.assert_array_equal(total.numpy(), [1, 1])
        step(tf.constant([1.0, 0.0]))
    np.testing.assert_array_equal(total.numpy(), [4, 2])
    assert statistics.get().fallbacks > 0


def channels_first(x: tf.Tensor, kernel: tf.Tensor, bias: tf.Tensor) -> list[tf.Tensor]:
    """Runs a step of convolution, bias, batch norm and pooling on NCHW data, with its gradients."""
    with tf.GradientTape() as tape:
        tape.watch([x, kernel, bias])
        y = tf.nn.conv2d(x, kernel, [1, 1, 2, 1], [[0, 0], [0, 0], [1, 2], [0, 1]], data_format="NCHW")
        y = tf.nn.bias_add(y, bias, data_format="NCHW")
        y, mean, variance = tf.compat.v1.nn.fused_batch_norm(y, bias + 1.0, bias, data_format="NCHW")
        y = tf.nn.max_pool2d(tf.nn.relu(y), 2, 1, "VALID", data_format="NCHW")
        y = tf.nn.avg_pool2d(y, [1, 2], [2, 1], "SAME", data_format="NCHW")
        loss = tf.reduce_sum(y * y) + tf.reduce_sum(mean) + tf.reduce_sum(variance)
    return [y, mean, variance, *tape.gradient(loss, [x, kernel, bias])]


def channels_last(x: tf.Tensor, kernel: tf.Tensor, bias: tf.Tensor) -> list[tf.Tensor]:
    """Runs the step of channels_first on NHWC data, for the CPU."""
    with tf.GradientTape() as tape:
        tape.watch([x, kernel, bias])
        y = tf.transpose(x, [0, 2, 3, 1])
        y = tf.nn.conv2d(y, kernel, [1, 2, 1, 1], [[0, 0], [1, 2], [0, 1], [0, 0]])
        y, mean, variance = tf.compat.v1.nn.fused_batch_norm(y + bias, bias + 1.0, bias)
        y = tf.nn.max_pool2d(tf.nn.relu(y), 2, 1, "VALID")
        y = tf.nn.avg_pool2d(y, [1, 2], [2, 1], "SAME")
        loss = tf.reduce_sum(y * y) + tf.reduce_sum(mean) + tf.reduce_sum(variance)
    return [tf.transpose(y, [0, 3, 1, 2]), mean, variance, *tape.gradient(loss, [x, kernel, bias])]


def channels_first_inputs() -> list[Any]:
    generator = np.random.default_rng(0)
    return [generator.standard_normal(shape, dtype=np.float32) for shape in ((2, 3, 9, 8), (3, 3, 3, 5), (5,))]


def assert_channels_first_equals_channels_last() -> None:
    inputs = channels_first_inputs()
    with tf.device("/CPU:0"):
        expected = tf.function(channels_last)(*map(tf.constant, inputs))
    with tf.device(HPU):
        actual = tf.function(channels_first)(*map(tf.constant, inputs))
    for one, other in zip(actual, expected):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-3, atol=1e-3)


def channels_first_in_a_fallback() -> None:
    load_habana_module()
    assert_channels_first_equals_channels_last()
    assert statistics.get().fallbacks > 0
