"""Clusters that take one variable as several arguments run on the HPU, and keep all writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from habana_frameworks.tensorflow import statistics
from tests.support.clusters import report_of
from tests.support.compare import CPU, HPU, assert_close, assert_same_on_hpu

pytestmark = pytest.mark.usefixtures("hpu")


@pytest.fixture(autouse=True)
def own_counters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_CPU_RUNTIME_FALLBACK", "forbid")
    statistics.reset()


def variable(value: float = 1.0) -> tf.Variable:
    return tf.Variable([value, 2.0])


def test_calls_after_an_update_get_each_variable_once() -> None:
    def train() -> tuple[Any, Any, Any]:
        a, b = tf.Variable([[1.0, 2.0]]), tf.Variable([[3.0], [4.0]])

        @tf.function
        def repeated_loss() -> tf.Tensor:  # stateful, so that grappler inlines its calls
            x = tf.tanh(0.1 * a @ b)
            for _ in range(4):
                x += tf.reduce_sum(a + 0.0) + tf.reduce_sum(b + 0.0)
            return tf.reduce_sum(x) + 0.0 * tf.random.normal([])

        @tf.function
        def repeated_step() -> tf.Tensor:
            a.assign(tf.debugging.check_numerics(a * 0.9, "a"))  # outside the clusters
            b.assign(tf.debugging.check_numerics(b * 0.8, "b"))
            with tf.GradientTape() as tape:
                value = repeated_loss()
            a.assign_sub(0.1 * tape.gradient(value, a))
            return value

        return [repeated_step() for _ in range(3)], a.read_value(), b.read_value()

    assert_same_on_hpu(train)
    rewrites = [rewrite for rewrite in report_of("repeated_step").rewrites if rewrite.pass_name == "handles"]
    assert rewrites and {rewrite.op for rewrite in rewrites} == {"Identity"}
    assert statistics.get().fallbacks == 0


def write_both(a: tf.Variable, b: tf.Variable) -> tuple[tf.Tensor, tf.Tensor]:
    """TensorFlow orders the ops of each argument. The control dependencies order the ops of different arguments."""
    a.assign_add([1.0, 1.0])
    with tf.control_dependencies([a.read_value()]):
        b.assign(b * 3.0)
    with tf.control_dependencies([b.read_value()]):
        a.assign_sub([0.0, 4.0])
    last = a.read_value()
    with tf.control_dependencies([last]):
        return last * 2.0, b.read_value()


def read_both(a: tf.Variable, b: tf.Variable) -> tuple[tf.Tensor, tf.Tensor]:
    return a * 2.0 + b, b - a


@pytest.mark.parametrize("jit_compile", [None, True], ids=["clusters", "jit_compile"])
@pytest.mark.parametrize("function", [write_both, read_both])
def test_a_function_of_two_variables_called_with_one(
    function: Callable[[tf.Variable, tf.Variable], Any], jit_compile: bool | None
) -> None:
    """The function has an argument for each variable, so only the launch finds that both are the same."""

    def call(jit_compile: bool | None) -> tuple[Any, ...]:
        v, w = variable(), variable(5.0)
        concrete = tf.function(function, jit_compile=jit_compile).get_concrete_function(v, w)

        def call_flat(first: tf.Variable, second: tf.Variable) -> Any:
            return concrete._call_flat([first.handle, second.handle], concrete.captured_inputs)

        results = [call_flat(v, w), call_flat(v, v), call_flat(w, w), call_flat(v, w), call_flat(v, v)]
        return results, v.read_value(), w.read_value()

    with tf.device(CPU):
        expected = call(None)  # stock XLA refuses such calls
    with tf.device(HPU):
        assert_close(call(jit_compile), expected)
    assert statistics.get().fallbacks == 0


def test_a_captured_variable_that_is_also_an_argument() -> None:
    def train() -> tuple[Any, Any]:
        v = variable()

        @tf.function
        def lookahead(slow: tf.Variable) -> tf.Tensor:
            slow.assign_add(0.5 * (v - slow) + 1.0)
            return tf.reduce_sum(slow * v)

        return [lookahead(v) for _ in range(3)], v.read_value()

    assert_same_on_hpu(train)
    assert statistics.get().fallbacks == 0


@pytest.mark.parametrize("flag", [False, True])
def test_a_branch_that_gets_one_variable_twice_keeps_all_writes(flag: bool) -> None:
    def train(chosen: tf.Tensor) -> tuple[Any, Any]:
        v = variable()

        @tf.function
        def branches(slow: tf.Variable, chosen: tf.Tensor) -> tf.Tensor:
            def both() -> tf.Tensor:
                slow.assign_add([1.0, 1.0])
                v.assign(v * 3.0)
                slow.assign_add([1.0, 1.0])
                return tf.reduce_sum(slow)

            return tf.cond(chosen, both, lambda: tf.reduce_sum(v + slow))

        return [branches(v, chosen) for _ in range(2)], v.read_value()

    assert_same_on_hpu(train, np.array(flag))
    assert statistics.get().fallbacks == 0


@pytest.mark.parametrize("jit_compile", [None, True], ids=["clusters", "jit_compile"])
def test_a_called_function_that_gets_one_variable_twice_keeps_all_writes(jit_compile: bool | None) -> None:
    """A compiled function stays a call in the cluster."""

    def train(jit_compile: bool | None) -> tuple[Any, Any]:
        v = variable()

        @tf.function(jit_compile=jit_compile)
        def called(slow: tf.Variable) -> tf.Tensor:
            return write_both(slow, v)[0]

        @tf.function
        def step(slow: tf.Variable) -> tf.Tensor:
            return called(slow) + 1.0

        concrete = step.get_concrete_function(variable(7.0))

        def call() -> Any:
            return concrete._call_flat([v.handle], concrete.captured_inputs)

        return [call() for _ in range(3)], v.read_value()

    with tf.device(CPU):
        expected = train(None)
    with tf.device(HPU):
        assert_close(train(jit_compile), expected)
    assert statistics.get().fallbacks == 0


def test_a_loop_that_gets_one_variable_twice_keeps_all_writes() -> None:
    def train(turns: tf.Tensor) -> tuple[Any, Any]:
        v, other = variable(), variable(3.0)

        @tf.function
        def loop(slow: tf.Variable, turns: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            total = tf.zeros([2])
            for i in tf.range(turns):
                slow.assign_add(0.25 * other + tf.cast(i, tf.float32))
                v.assign(v * 0.5)
                other.assign_add(slow)
                if i > 1:
                    slow.assign_add(v + 1.0)
                total += slow
            v.assign_sub([1.0, 0.0])
            return total, slow + other

        return [loop(v, turns) for _ in range(2)], v.read_value()

    assert_same_on_hpu(train, np.array(5))
    assert statistics.get().fallbacks == 0
