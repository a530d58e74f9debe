"""tf.function(jit_compile=True) forms one cluster on the HPU. TensorFlow's auto-clustering ignores the HPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from habana_frameworks.tensorflow import statistics
from tests.equality import jit_compile_programs as programs
from tests.support.clusters import assert_one_cluster
from tests.support.compare import CPU, HPU, assert_close
from tests.support.processes import call_to, run_with_tensorflow

X = np.random.default_rng(0).standard_normal((5, 6), dtype=np.float32)


def both(make: Any, *arguments: Any) -> Any:
    """Returns a jit-compiled function's HPU results, after comparison with the CPU without jit_compile.

    `make` returns the function, and may create its variables.
    """
    results = {}
    for device, jit in ((CPU, None), (HPU, True)):
        with tf.device(device):
            function = tf.function(make(), jit_compile=jit)
            results[device] = [function(*[tf.constant(a) for a in arguments]) for _ in range(2)]
    assert_close(results[HPU], results[CPU])
    assert statistics.get().fallbacks == 0
    return results[HPU]


def launched_ops() -> list[int]:
    return [cluster.launches for cluster in statistics.get().launched_clusters]


def fill_in_a_loop(x: tf.Tensor) -> tf.Tensor:
    """The compiler requires the size of Fill as a constant, and so finds an error that the passes do not see."""
    return tf.while_loop(lambda i, _: i < 4, lambda i, y: (i + 1, y + tf.reduce_sum(tf.fill([i], 1.0))), [1, x])[1]


def test_arguments_and_results_of_many_types() -> None:
    def make() -> Any:
        def run(x: tf.Tensor, n: tf.Tensor, flag: tf.Tensor) -> Any:
            y = tf.nn.softmax(x)
            return {
                "float": y,
                "int32": tf.argmax(y, 1, tf.int32) + n,
                "int64": tf.argmax(y, 1),
                "bool": (y > 0.2) & flag,
                "bfloat16": tf.cast(y, tf.bfloat16),
                "constant": tf.constant([1, 2]),
                "argument": x,
            }

        return run

    both(make, X, np.int32(3), np.array(True))
    assert launched_ops() == [2]


def test_variables() -> None:
    def make() -> Any:
        weights, count, unused = tf.Variable(tf.ones([6, 6])), tf.Variable(0), tf.Variable(tf.zeros([3]))

        def run(x: tf.Tensor) -> Any:
            weights.assign_add(tf.matmul(x, x, transpose_a=True))
            count.assign_add(1)
            return tf.matmul(x, weights), weights.read_value(), count.read_value(), unused + 1.0

        return run

    both(make, X)


def test_gradients() -> None:
    def make() -> Any:
        weights = tf.Variable(tf.ones([6, 3]))

        def run(x: tf.Tensor) -> Any:
            with tf.GradientTape() as tape:
                tape.watch(x)
                loss = tf.reduce_sum(tf.tanh(x @ weights) ** 2)
            return loss, *tape.gradient(loss, [x, weights])

        return run

    both(make, X)


def test_gradient_taken_outside() -> None:
    results = {}
    for device, jit in ((CPU, None), (HPU, True)):
        with tf.device(device):
            weights = tf.Variable(tf.ones([6, 3]))
            function = tf.function(lambda x, w=weights: tf.tanh(x @ w) ** 2, jit_compile=jit)
            x = tf.constant(X)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = function(x)
            results[device] = [y, *tape.gradient(y, [x, weights])]
    assert_close(results[HPU], results[CPU])
    assert statistics.get().launched_clusters


def test_nested_functions() -> None:
    def make() -> Any:
        inner = tf.function(lambda x: tf.sin(x) * 2.0, jit_compile=True)
        middle = tf.function(lambda x: inner(x) + inner(x * 2.0))

        def run(x: tf.Tensor) -> Any:
            return middle(x) * inner(x)

        return run

    both(make, X)


def test_inside_a_function_that_is_not_compiled() -> None:
    results = {}
    for device, jit in ((CPU, None), (HPU, True)):
        inner = tf.function(lambda x: tf.cumsum(tf.sin(x), 0), jit_compile=jit)

        @tf.function
        def outer(x: tf.Tensor, inner: Any = inner) -> tf.Tensor:
            return inner(x * 2.0) + inner(x) + 1.0

        with tf.device(device):
            results[device] = outer(tf.constant(X))
    assert_close(results[HPU], results[CPU])


def test_results_are_on_the_device_wherever_their_ops_are_pinned() -> None:
    variable = tf.Variable([1.0, 2.0])
    with tf.device(CPU):
        on_cpu = tf.constant([3.0, 4.0])

    def run(x: tf.Tensor) -> Any:
        with tf.device(CPU):
            called = tf.function(lambda y: y * 2.0)(x)
            chosen = tf.cond(tf.reduce_sum(x) > 0.0, lambda: x + 1.0, lambda: x)
            return tf.sin(x), tf.shape(x), tf.constant([5.0]), tf.identity(variable), on_cpu, called, chosen, x

    with tf.device(HPU):
        results = tf.function(run, jit_compile=True)(tf.constant(X))
        assert [result.backing_device[-5:] for result in results] == ["HPU:0"] * len(results)
        nested = tf.function(run, jit_compile=True)
        results = tf.function(lambda x: nested(x))(tf.constant(X))
    expected = ["CPU:0" if result.dtype == tf.int32 else "HPU:0" for result in results]
    assert [result.backing_device[-5:] for result in results] == expected, "functions return int32 in host memory"


def test_control_flow() -> None:
    def make() -> Any:
        def run(x: tf.Tensor, n: tf.Tensor) -> Any:
            for i in tf.range(n):
                if i % 2 == 0:
                    x = tf.sin(x) + 1.0
                else:
                    x = x * x
                    x = x - 0.1
            return x

        return run

    both(make, X, np.int32(5))


def test_shapes_that_change() -> None:
    @tf.function(jit_compile=True, reduce_retracing=True)
    def run(x: tf.Tensor) -> tf.Tensor:
        return tf.reduce_sum(x * 2.0, 0)

    with tf.device(HPU):
        for rows in (1, 5, 3, 5):
            np.testing.assert_allclose(run(tf.constant(X[:rows])), 2 * X[:rows].sum(0), rtol=1e-5, atol=1e-6)


def test_keras_fit() -> None:
    x, y = np.random.default_rng(1).standard_normal((32, 6), dtype=np.float32), np.arange(32) % 3
    losses, weights = {}, None
    for device, jit in ((CPU, None), (HPU, True)):
        with tf.device(device):
            model = tf.keras.Sequential([tf.keras.layers.Dense(8, "relu", input_shape=(6,)), tf.keras.layers.Dense(3)])
            loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
            model.compile("adam", loss, jit_compile=jit)
            weights = weights or model.get_weights()
            model.set_weights(weights)
            losses[device] = model.fit(x, y, batch_size=8, epochs=2, shuffle=False, verbose=0).history["loss"]
    np.testing.assert_allclose(losses[HPU], losses[CPU], rtol=1e-5)
    assert statistics.get().fallbacks == 0


class TestExperimentalCompile:
    """tf.xla.experimental.compile becomes the call of a function with jit_compile=True."""

    def both(self, make: Any) -> None:
        results = {}
        for device in (CPU, HPU):
            with tf.device(device):
                run = tf.function(make())
                results[device] = [run(tf.constant(X)) for _ in range(2)]
        assert_close(results[HPU], results[CPU])

    def test_variables(self) -> None:
        def make() -> Any:
            weights, count = tf.Variable(tf.ones([6, 3])), tf.Variable(0)

            def compute(x: tf.Tensor) -> Any:
                weights.assign_add(tf.ones([6, 3]))
                count.assign_add(1)
                return tf.tanh(x @ weights), count.read_value()

            def run(x: tf.Tensor) -> Any:
                outputs = tf.xla.experimental.compile(compute, [x * 2.0])
                return outputs[0] + weights[:5], outputs[1], count.read_value()

            return run

        self.both(make)
        assert statistics.get().fallbacks == 0 and launched_ops()

    def test_a_variable_is_read(self) -> None:
        def make() -> Any:
            weights = tf.Variable(tf.ones([6]))
            return lambda x: tf.xla.experimental.compile(lambda y: y * weights, [x])[0]

        self.both(make)
        assert launched_ops() == [2]

    def test_a_loop_beside_an_integer(self) -> None:
        def make() -> Any:
            def compute(x: tf.Tensor, limit: tf.Tensor) -> Any:
                return tf.while_loop(lambda i, y: i < limit, lambda i, y: (i + 1, tf.sin(y) * 2.0), [0, x])

            return lambda x: tf.xla.experimental.compile(compute, [x, tf.shape(x)[0]])

        self.both(make)

    def test_a_size_that_is_an_argument(self) -> None:
        """The CPU raises an error, because XlaLaunch does not know the argument at compile time."""
        run = tf.function(lambda x: tf.xla.experimental.compile(tf.reshape, [x, tf.constant([3, 10])])[0])
        with tf.device(HPU):
            assert run(tf.constant(X)).shape == [3, 10]

    def test_on_the_cpu(self) -> None:
        with tf.device(CPU):
            weights = tf.Variable(tf.ones([6]))
            run = tf.function(lambda x: tf.xla.experimental.compile(lambda y: y * weights, [x])[0])
            np.testing.assert_allclose(run(tf.constant(X)), X)


class TestInAStep:
    """A function with jit_compile=True that is called in another function shares the cluster of the ops beside it."""

    def test_values_gradients_and_variables(self) -> None:
        results = {}
        for device, jit in ((CPU, None), (HPU, True)):
            with tf.device(device):
                kernel, scale, count = tf.Variable(0.1 * tf.ones([6, 6])), tf.Variable(2.0), tf.Variable(0)

                @tf.function(jit_compile=jit)
                def layer(x: tf.Tensor, rows: tf.Tensor, kernel: Any = kernel, count: Any = count) -> Any:
                    count.assign_add(1)
                    return tf.reshape(tf.tanh(x @ kernel), [rows, -1]), count + rows

                @tf.function
                def step(x: tf.Tensor, layer: Any = layer, kernel: Any = kernel, scale: Any = scale) -> Any:
                    with tf.GradientTape() as tape:
                        y, number = layer(tf.sin(x) * scale, tf.shape(x)[0])
                        loss = tf.reduce_sum(layer(y, 5)[0] ** 2) * tf.cast(number, tf.float32)
                    gradients = tape.gradient(loss, [kernel, scale])
                    kernel.assign_sub(0.01 * gradients[0])
                    return loss, gradients, number

                results[device] = [step(tf.constant(X)) for _ in range(2)]
        assert_close(results[HPU], results[CPU])
        assert_one_cluster("step", launches=2)

    def test_indices_are_not_checked(self) -> None:
        rows = tf.function(lambda x, i: tf.gather(x, i), jit_compile=True)
        with tf.device(HPU):
            step = tf.function(lambda x, i: tf.sin(rows(x * 2.0, i)) + 1.0)
            assert step(tf.constant(X), tf.constant([1, 9])).shape == [2, 6]

    def test_a_failed_step_keeps_the_variables_that_depend_on_the_failed_op(self) -> None:
        for device, jit in ((CPU, None), (HPU, True)):
            with tf.device(device):
                total = tf.Variable(tf.zeros([6]))
                add = tf.function(lambda x, total=total: total.assign_add(x), jit_compile=jit)

                @tf.function
                def step(x: tf.Tensor, add: Any = add) -> tf.Tensor:
                    row = tf.gather(x, tf.cast(tf.reduce_max(x), tf.int32))  # the cluster computes the index
                    return add(tf.sin(row)) * 2.0

                step(tf.ones([2, 6]))
                with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices.* = 7 is not in \[0, 2\)"):
                    step(tf.fill([2, 6], 7.0))
                np.testing.assert_allclose(total, np.sin(np.ones(6)), rtol=1e-6)

    def test_random_numbers_are_those_of_xla(self) -> None:
        def uniform(device: str) -> Any:
            with tf.device(device):
                draw = tf.function(lambda x: x + tf.random.stateless_uniform([3], [1, 2]), jit_compile=True)
                return tf.function(lambda x: draw(x * 2.0) * 3.0)(tf.zeros([3]))

        assert_close(uniform(HPU), uniform(CPU))
        assert len(launched_ops()) == 1

    def test_a_size_that_depends_on_values(self) -> None:
        results = {}
        for device in (CPU, HPU):
            with tf.device(device):
                positive = tf.function(lambda x: tf.boolean_mask(x, x > 0.0), jit_compile=device == HPU)
                results[device] = tf.function(lambda x, f=positive: f(x * 2.0) + 1.0)(tf.constant(X))
        assert_close(results[HPU], results[CPU])

    def test_an_op_that_cannot_compile_is_named(self) -> None:
        text = tf.function(lambda x: tf.strings.length(tf.strings.as_string(x)), jit_compile=True)
        step = tf.function(lambda x: tf.cast(text(x * 2.0), tf.float32) + 1.0)
        with tf.device(HPU), pytest.raises(tf.errors.InvalidArgumentError, match="AsString"):
            step(tf.constant(X))

    def test_it_is_compiled_if_the_op_beside_it_is_not(self) -> None:
        layer = tf.function(lambda x: tf.tanh(x) * 2.0, jit_compile=True)
        results = {}
        for device in (HPU, CPU):
            with tf.device(device):
                step = tf.function(lambda x: fill_in_a_loop(layer(x * 2.0)) + 1.0)
                results[device] = [step(tf.constant(X)) for _ in range(2)]
        assert_close(results[HPU], results[CPU])
        assert statistics.get().fallbacks == 0

    def test_it_raises_if_only_it_does_not_compile(self) -> None:
        layer = tf.function(fill_in_a_loop, jit_compile=True)
        step = tf.function(lambda x: tf.sin(layer(x * 2.0)) + 1.0)
        for _ in range(2):
            with tf.device(HPU), pytest.raises(tf.errors.InvalidArgumentError, match=r"jit_compile=True.*constant"):
                step(tf.constant(X))
        assert statistics.get().fallbacks == 0


def test_an_op_that_cannot_compile_is_named() -> None:
    @tf.function(jit_compile=True)
    def run(x: tf.Tensor) -> tf.Tensor:
        return tf.strings.length(tf.strings.as_string(x))

    with tf.device(HPU):
        with pytest.raises((tf.errors.InvalidArgumentError, tf.errors.UnimplementedError), match="AsString"):
            run(tf.constant(X))
        assert float(tf.reduce_sum(tf.ones([3]))) == 3.0


def test_it_never_falls_back() -> None:
    run_with_tensorflow(call_to(programs.failing_compile), {"HPU_FAULTS": "compile@1+"})


@pytest.mark.cpu_fallback("the compiled function must fail where other clusters fall back")
def test_it_never_falls_back_in_a_step() -> None:
    run_with_tensorflow(call_to(programs.failing_step), {"HPU_FAULTS": "compile@1+"})


def test_it_is_compiled_at_once_in_each_mode() -> None:
    run_with_tensorflow(call_to(programs.lazy_step), {"HPU_COMPILE_MODE": "never"})


@pytest.mark.parametrize("flags", ["--tf_xla_auto_jit=2", "--tf_xla_auto_jit=2 --tf_xla_cpu_global_jit"])
def test_auto_clustering_leaves_the_hpu_alone(flags: str) -> None:
    done = run_with_tensorflow(call_to(programs.auto_clustering), {"TF_XLA_FLAGS": flags})
    assert done.stdout.split() == ["habana_cluster_step_0", "3", "0"]
