"""Programs for test_compile_modes.py, each of which prints the counters of its clusters as JSON."""

from __future__ import annotations

import gc
import json
import os
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.ops import collective_ops

from habana_frameworks.tensorflow import load_habana_module, statistics
from habana_frameworks.tensorflow._internal.native import plugin_library

HPU, CPU = "/device:HPU:0", "/device:CPU:0"
# Losses, and all variables including the optimizer's.
Trained = tuple[list[float], list[np.ndarray]]


def counts(name: str = "step") -> dict[str, Any]:
    found = [cluster for cluster in statistics.clusters() if name in cluster.name]
    return {
        "launches": sum(c.launches for c in found),
        "recipes": sum(c.recipes for c in found),
        "reasons": {key: n for c in found for key, n in c.fallback_reasons.items()},
    }


def wait_for_recipes(n: int = 1, name: str = "step") -> None:
    end = time.monotonic() + 60
    while counts(name)["recipes"] < n:
        assert time.monotonic() < end, counts(name)
        time.sleep(0.005)


def report(**values: Any) -> None:
    print(json.dumps({**counts(), **values}), flush=True)


def train(device: str, steps: int, after_step: Callable[[int], None] = lambda i: None) -> Trained:
    """Trains with Adam. Calls after_step(step) after each step."""
    with tf.device(device):
        tf.keras.utils.set_random_seed(5)
        model = tf.keras.Sequential([tf.keras.layers.Dense(16, "tanh", input_shape=(8,)), tf.keras.layers.Dense(3)])
        optimizer = tf.keras.optimizers.Adam(0.01)
        optimizer.build(model.trainable_variables)
        images = tf.random.stateless_normal([32, 8], [1, 2])

        @tf.function
        def step(x: tf.Tensor) -> tf.Tensor:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((model(x) - 1.0) ** 2)
            weights = model.trainable_variables
            optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
            return loss

        losses = []
        for i in range(steps):
            losses.append(float(step(images)))
            after_step(i)
    return losses, [v.numpy() for v in model.variables + optimizer.variables]


def compare(ours: Trained, theirs: Trained) -> None:
    np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-4)
    for one, other in zip(ours[1], theirs[1]):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-5)


def steps() -> None:
    load_habana_module()
    ours, theirs = train(HPU, 6), train(CPU, 6)
    compare(ours, theirs)
    report()


def switch_after_step_20() -> None:
    load_habana_module()
    # The CPU runs the steps before the switch, and the HPU the later steps.
    ours = train(HPU, 50, lambda i: wait_for_recipes() if i == 20 else None)
    compare(ours, train(CPU, 50))
    report()


def busy_queue() -> None:
    load_habana_module()

    @tf.function
    def slow(x: tf.Tensor) -> tf.Tensor:
        for i in range(60):
            x = tf.nn.softmax(x * (i + 1.0)) @ x
        return x

    slow(tf.ones([4, 4]))
    ours = train(HPU, 2)
    compare(ours, train(CPU, 2))
    report()


class Small:
    """A step that adds to a variable on the HPU."""

    def __init__(self) -> None:
        with tf.device(HPU):
            self.total = total = tf.Variable(tf.zeros([2]))

        @tf.function
        def step(x: tf.Tensor) -> tf.Tensor:
            total.assign_add(tf.sin(x) * 2.0)
            return total * 2.0

        self._step = step
        self._x = tf.constant([1.0, 2.0])

    def try_step(self) -> np.ndarray:
        with tf.device(HPU):
            return self._step(self._x).numpy()


def failing_compile() -> None:
    load_habana_module()
    small = Small()
    small.try_step()
    end = time.monotonic() + 60
    while "fallback" not in counts()["reasons"] and time.monotonic() < end:
        small.try_step()
    before = small.total.numpy()
    np.testing.assert_allclose(small.try_step(), 2 * (before + 2 * np.sin([1, 2])), rtol=1e-5)
    report()


def forbidden_fallback() -> None:
    load_habana_module()
    small = Small()
    small.try_step()
    error, end = None, time.monotonic() + 60
    while error is None and time.monotonic() < end:
        try:
            small.try_step()
        except tf.errors.OpError as raised:
            error = raised
    report(error=str(error))


def jit_compile() -> None:
    load_habana_module()

    @tf.function(jit_compile=True)
    def step(x: tf.Tensor) -> tf.Tensor:
        return tf.sin(x) * 2.0

    with tf.device(HPU):
        step(tf.ones([3]))
    report()


@tf.function(input_signature=[tf.TensorSpec([], tf.float32), tf.TensorSpec([None, 3], tf.float32)])
def step(scale: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
    return tf.reduce_sum(tf.sin(x) * scale, 0)


def run_sizes(sizes: Iterable[int]) -> None:
    for n in sizes:
        with tf.device(HPU):
            result = step(tf.constant(2.0), tf.ones([n, 3]))
        np.testing.assert_allclose(result.numpy(), [2 * n * np.sin(1.0)] * 3, rtol=1e-4)


def many_shapes() -> None:
    load_habana_module()
    run_sizes(range(1, 12))
    if os.environ["HPU_COMPILE_MODE"] == "async":
        wait_for_recipes(11)
    before = counts()
    run_sizes(range(12, 30))
    print(json.dumps({"before": before, "after": counts()}))


def many_runs_of_one_shape() -> None:
    load_habana_module()
    run_sizes(range(1, 13))
    run_sizes([1] * (50 * 11))
    run_sizes([12])
    report()


def two_shapes() -> None:
    load_habana_module()
    run_sizes([4])
    wait_for_recipes()
    run_sizes([4, 5, 5, 5, 4])
    report()


def rare_shapes() -> None:
    load_habana_module()
    run_sizes(range(1, 20))
    report()


def other_rare_shapes() -> None:
    load_habana_module()
    run_sizes([1, 2, *range(30, 48)])
    report()


def shapes_until_compiled() -> None:
    load_habana_module()
    run_sizes([4])
    end = time.monotonic() + 120
    while counts()["recipes"] < 2:
        assert time.monotonic() < end, counts()
        run_sizes([5])
    before = counts()
    run_sizes([4, 5, 6])
    report(before=before)


def traces_for_each_shape() -> None:
    """Functions without a signature: TensorFlow traces them for each shape. The second is equal to the first."""
    load_habana_module()

    def make() -> Callable[[tf.Tensor], tf.Tensor]:
        @tf.function
        def step(x: tf.Tensor) -> tf.Tensor:
            return tf.reduce_sum(tf.sin(x) * 2.0, 0)

        return step  # type: ignore[no-any-return]

    for function, sizes in ((make(), range(1, 6)), (make(), (1,))):
        for n in sizes:
            with tf.device(HPU):
                result = function(tf.ones([n, 3]))
            np.testing.assert_allclose(result.numpy(), [2 * n * np.sin(1.0)] * 3, rtol=1e-4)
    report()


def models_of_two_sizes() -> None:
    load_habana_module()

    @tf.function
    def step(weights: tf.Variable, x: tf.Tensor) -> tf.Tensor:
        weights.assign_sub(tf.reduce_mean(x) * tf.sin(weights))
        return tf.reduce_sum(weights)

    for n in (4, 8):
        with tf.device(HPU):
            step(tf.Variable(tf.ones([n])), tf.ones([n]))
    report()


def shapes_after_a_collective() -> None:
    load_habana_module()
    with tf.device(HPU):
        collective_ops.all_reduce(tf.ones([2]), group_size=1, group_key=1, instance_key=1)
    run_sizes(range(1, 20))
    report()


def deterministic_shapes() -> None:
    tf.config.experimental.enable_op_determinism()
    tf.random.set_seed(1)
    rare_shapes()


def shapes_in_strict_mode() -> None:
    load_habana_module()
    run_sizes(range(1, 20))
    report()


def op_of_xla_alone() -> None:
    load_habana_module()

    @tf.function
    def step(x: tf.Tensor) -> tf.Tensor:
        return tf.raw_ops.SegmentSumV2(data=x * 1.5, segment_ids=[0, 0, 1], num_segments=2)

    with tf.device(HPU):
        result = step(tf.constant([3.0, 1.0, 2.0]))
    np.testing.assert_array_equal(result.numpy(), [6.0, 3.0])
    report()


def eager_ops_until_compiled() -> None:
    load_habana_module()
    with tf.device(HPU):
        small, large = tf.ones([2, 2]), tf.ones([256, 256])
        for _ in range(4):  # more than HPU_EAGER_COMPILE_AFTER
            np.testing.assert_array_equal(small + small, 2.0)
        before = statistics.get().eager
        end = time.monotonic() + 120
        while statistics.get().eager.launches == 0:
            assert time.monotonic() < end, statistics.get().eager
            result = tf.matmul(large, large)
    np.testing.assert_array_equal(result, 256.0)
    print(json.dumps({"before": [before.recipes, before.host_runs], "recipes": statistics.get().eager.recipes}))


def parts_or_cpu() -> None:
    """A loop whose tensor grows cannot be compiled."""
    load_habana_module()
    with tf.device(HPU):
        counter = tf.Variable(0.0)

    @tf.function(input_signature=[tf.TensorSpec([8, 8])])
    def step(x: tf.Tensor) -> tf.Tensor:
        counter.assign_add(tf.reduce_sum(tf.nn.relu(x)) * 0.0 + 1.0)
        _, grown = tf.while_loop(
            lambda i, grown: i < 5,
            lambda i, grown: (i + 1, tf.concat([grown, grown[-1:] * 2.0], 0)),
            [0, tf.matmul(x, x)],
            shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, 8])],
        )
        return grown

    with tf.device(HPU):
        x = tf.ones([8, 8])
        for i in range(20):
            np.testing.assert_array_equal(step(x)[-1], [8.0 * 2**5] * 8)
            assert float(counter) == i + 1
    report()


def eager_ops() -> None:
    load_habana_module()
    with tf.device(HPU):
        for _ in range(5):
            tf.sin(tf.ones([3]))
    print(json.dumps({"recipes": statistics.get().eager.recipes, "runs": statistics.get().eager.host_runs}))


def make_slow() -> Any:
    """Returns a function whose compilation takes a second or more."""

    @tf.function
    def slow(x: tf.Tensor) -> tf.Tensor:
        for i in range(150):
            x = tf.nn.softmax(tf.tanh(x * (i + 1.0)) @ x)
        return x

    return slow


def start(slow: Any, size: int = 8) -> tf.Tensor:
    with tf.device(HPU):
        return slow(tf.ones([size, size]))


def freed_kernels() -> None:
    load_habana_module()
    small = Small()
    for _ in range(4):
        slow = make_slow()
        start(slow)
        del slow
        gc.collect()
    tf.keras.backend.clear_session()
    gc.collect()
    small.try_step()
    wait_for_recipes()
    small.try_step()
    report(slow=counts("slow"))


def end_while_compiling(ending: str) -> None:
    load_habana_module()
    for _ in range(3):
        start(make_slow())
    print(json.dumps(counts("slow")), flush=True)
    if ending == "raise":
        raise SystemExit(0)
    if ending == "_exit":
        os._exit(0)


def fork_while_compiling() -> None:
    load_habana_module()
    slow = make_slow()
    start(slow)
    child = os.fork()
    if child == 0:
        # Loses the device. The child does not wait for the parent's compilations.
        try:
            start(slow, 4)
        except tf.errors.AbortedError:
            del slow
            plugin_library.finish_compiling()
            os._exit(7)
        os._exit(1)
    end = time.monotonic() + 60
    status = 0
    while not status and time.monotonic() < end:
        _, status = os.waitpid(child, os.WNOHANG)
        time.sleep(0.01)
    wait_for_recipes(name="slow")
    start(slow)
    print(json.dumps({**counts("slow"), "child": os.waitstatus_to_exitcode(status)}))
