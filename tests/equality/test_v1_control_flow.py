"""TensorFlow 1's control flow ops (Switch, Merge, Enter, Exit, NextIteration) in Sessions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from habana_frameworks.tensorflow import statistics
from tests.support.compare import CPU, HPU

tf1 = tf.compat.v1

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((6, 5), dtype=np.float32)
W = RANDOM.standard_normal((5, 5), dtype=np.float32) / 3
LEGACY = "TF_HABANA_ALLOW_LEGACY_VARIABLES_ON_CPU"

# Fetches, and per run of the Session the feeds by placeholder name.
Program = tuple[Any, list[dict[str, Any]]]


@pytest.fixture(autouse=True)
def control_flow_v1() -> Iterator[None]:
    tf1.disable_control_flow_v2()
    yield
    tf1.enable_control_flow_v2()


def run_on(device: str, build: Callable[[], Program], use_resource: bool = True) -> list[Any]:
    """Returns the results of each run, and the final variables."""
    with tf.Graph().as_default() as graph, tf.device(device), tf1.variable_scope("", use_resource=use_resource):
        fetches, feeds = build()
        ops = {op.type for op in graph.get_operations()}
        assert "Switch" in ops and not ops & {"While", "StatelessWhile", "If", "StatelessIf"}, ops
        with tf1.Session(graph=graph, config=tf1.ConfigProto(allow_soft_placement=True)) as session:
            session.run(tf1.global_variables_initializer())
            runs = [session.run(fetches, {f"{name}:0": value for name, value in feed.items()}) for feed in feeds]
            return [*runs, session.run(tf1.global_variables())]


def check(build: Callable[[], Program], use_resource: bool = True) -> list[Any]:
    """Returns the HPU's results, after comparison with the CPU. Clusters must run without fallbacks."""
    expected = run_on(CPU, build, use_resource)
    actual = run_on(HPU, build, use_resource)
    for one, other in zip(tf.nest.flatten(actual), tf.nest.flatten(expected)):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)
    assert statistics.get().launched_clusters
    assert statistics.get().fallbacks == 0
    return actual


def placeholder() -> tf.Tensor:
    return tf1.placeholder(tf.float32, X.shape, name="x")


def test_cond_and_its_gradient() -> None:
    def build() -> Program:
        x = placeholder()
        y = tf1.cond(tf.reduce_sum(x) > 0, lambda: tf.tanh(x) * 2 + x, lambda: tf.exp(x) @ tf.constant(W))
        return (y * 2, tf1.gradients(y, x)), [{"x": np.abs(X)}, {"x": -np.abs(X)}]

    check(build)


def test_while_loop_and_its_gradient() -> None:
    def build() -> Program:
        x, turns = placeholder(), tf1.placeholder(tf.int32, [], name="turns")
        _, y = tf1.while_loop(lambda i, _: i < turns, lambda i, y: (i + 1, tf.tanh(y @ tf.constant(W)) + x), (0, x))
        return (y, tf1.gradients(y, x)), [{"x": X, "turns": 0}, {"x": X, "turns": 4}]

    check(build)


def test_loop_that_ends_by_its_values() -> None:
    def build() -> Program:
        x = placeholder()
        turns, y = tf1.while_loop(
            lambda _, y: tf.reduce_max(tf.abs(y)) < 50.0, lambda i, y: (i + 1, y * 1.5 + 0.1), (0, x)
        )
        return (turns, y), [{"x": X}, {"x": X * 100}]

    first, second, _ = check(build)
    assert first[0] > 3 and second[0] == 0


def test_cond_in_nested_loops_and_its_gradient() -> None:
    def build() -> Program:
        x = placeholder()

        def inner(i: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
            def body(j: tf.Tensor, z: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
                z = tf1.cond(tf.equal((i + j) % 2, 0), lambda: tf.sin(z @ tf.constant(W)), lambda: z * 0.5 + x)
                return j + 1, z

            return tf1.while_loop(lambda j, _: j < i + 1, body, (0, y))[1]

        _, y = tf1.while_loop(lambda i, _: i < 3, lambda i, y: (i + 1, tf.tanh(inner(i, y)) + x), (0, x))
        return (y, tf1.gradients(tf.reduce_sum(y * y), x)), [{"x": X}, {"x": -X}]

    check(build)


def test_tensor_arrays_and_their_gradient() -> None:
    def build() -> Program:
        x = placeholder()
        rows = tf.TensorArray(tf.float32, size=X.shape[0]).unstack(x)
        sums = tf.TensorArray(tf.float32, size=X.shape[0])

        def body(i: tf.Tensor, total: tf.Tensor, sums: tf.TensorArray) -> tuple[Any, ...]:
            total = tf.tanh(total + rows.read(i))
            return i + 1, total, sums.write(i, total * 2)

        _, total, sums = tf1.while_loop(lambda i, *_: i < X.shape[0], body, (0, tf.zeros(X.shape[1]), sums))
        stacked = sums.stack()
        return (total, stacked, tf1.gradients(stacked, x)), [{"x": X}]

    check(build)


@pytest.mark.timeout(60)
def test_a_loop_that_reads_a_string_variable_in_each_turn() -> None:
    """Grappler removes the read, and leaves the loop waiting for the variable's handle on another device."""

    def build() -> Program:
        words = tf1.placeholder(tf.string, [2], name="words")
        variable = tf1.get_variable("strings", initializer=tf.constant(["a", "b", "c"]))

        def body(i: tf.Tensor, text: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            read = tf.raw_ops.ReadVariableOp(resource=variable.handle, dtype=tf.string)
            with tf.control_dependencies([read.op]):
                return tf.identity(i + 1), tf.identity(text)

        turns, text = tf1.while_loop(lambda i, _: i < 3, body, (tf.identity(tf.constant(0)), words))
        return (turns, tf.strings.length(text)), [{"words": ["x", "yz"]}] * 3

    for one, other in zip(tf.nest.flatten(run_on(HPU, build)), tf.nest.flatten(run_on(CPU, build))):
        np.testing.assert_array_equal(one, other)


def test_dynamic_rnn_trains() -> None:
    def build() -> Program:
        x = tf1.placeholder(tf.float32, [3, 4, 5], name="x")
        lengths = tf1.placeholder(tf.int32, [3], name="lengths")
        cell = tf1.nn.rnn_cell.BasicLSTMCell(6)
        initializer = tf1.random_uniform_initializer(-0.3, 0.3, seed=1)
        with tf1.variable_scope("rnn", initializer=initializer):
            outputs, _ = tf1.nn.dynamic_rnn(cell, x, lengths, dtype=tf.float32)
        loss = tf.reduce_mean(tf.square(outputs - 0.5))
        train = tf1.train.GradientDescentOptimizer(0.5).minimize(loss)
        inputs = np.random.default_rng(1).standard_normal((3, 4, 5), dtype=np.float32)
        with tf.control_dependencies([train]):
            return tf.identity(loss), [{"x": inputs, "lengths": [4, 2, 3]}] * 4

    losses = check(build)[:-1]
    assert losses == sorted(losses, reverse=True)


def regression(rate: float, steps: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Runs `steps` train steps in a loop of one graph, with gradients and variable updates inside the loop."""
    x = placeholder()
    weights = tf1.get_variable("weights", initializer=tf.constant(W))
    bias = tf1.get_variable("bias", [5], initializer=tf1.zeros_initializer())
    target = tf.sin(x)

    def body(i: tf.Tensor, _: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        read = [tf.identity(variable.read_value()) for variable in (weights, bias)]
        loss = tf.reduce_mean(tf.square(tf.tanh(x @ read[0] + read[1]) - target))
        gradients = tf1.gradients(loss, read)
        clip = tf1.cond(loss > 0.1, lambda: tf.constant(rate), lambda: tf.constant(rate / 2))
        updates = [tf1.assign_sub(one, clip * by) for one, by in zip((weights, bias), gradients)]
        with tf.control_dependencies(updates):
            return i + 1, tf.identity(loss)

    return tf1.while_loop(lambda i, _: i < steps, body, (0, tf.constant(0.0)), parallel_iterations=1)


@pytest.mark.parametrize("use_resource", [True, False], ids=["resource", "reference"])
def test_training_loop_in_the_graph(use_resource: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LEGACY, "true")

    def build() -> Program:
        steps = tf1.placeholder(tf.int32, [], name="steps")
        return regression(0.5, steps), [{"x": X, "steps": 1}, {"x": X, "steps": 5}, {"x": X, "steps": 5}]

    losses = [run[1] for run in check(build, use_resource)[:-1]]
    assert losses == sorted(losses, reverse=True) and losses[0] > losses[2] > 0


@pytest.mark.parametrize("use_resource", [True, False], ids=["resource", "reference"])
def test_branches_that_train(use_resource: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Branches that train alternately, like discriminator and generator."""
    monkeypatch.setenv(LEGACY, "true")

    def build() -> Program:
        x, turn = placeholder(), tf1.placeholder(tf.bool, [], name="turn")
        weights = [tf1.get_variable(name, initializer=tf.constant(W)) for name in ("one", "other")]
        outputs = tf.tanh(tf.tanh(x @ weights[0]) @ weights[1])
        loss = tf.reduce_mean(tf.square(outputs - 0.3))
        gradients = tf1.gradients(loss, weights)

        def update(index: int) -> Callable[[], tf.Tensor]:
            def branch() -> tf.Tensor:
                with tf.control_dependencies([tf1.assign_sub(weights[index], 0.5 * gradients[index])]):
                    return tf.identity(loss)

            return branch

        return tf1.cond(turn, update(0), update(1)), [{"x": X, "turn": index % 2 == 0} for index in range(4)]

    check(build, use_resource)


def test_reference_variables_in_a_loop_need_the_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(LEGACY, raising=False)

    def build() -> Program:
        return regression(0.5, tf.constant(2)), [{"x": X}]

    with pytest.raises(tf.errors.InvalidArgumentError, match=r"variable weights.*enable_resource_variables\(\)"):
        run_on(HPU, build, use_resource=False)


def test_a_gradient_that_waits_for_an_update_by_the_loops_result() -> None:
    """The gradient adds a counter to the loop, whose initial value waits for the update, and thus for the loop.

    TensorFlow runs at most 10 iterations before the counter starts.
    """

    def build() -> Program:
        x, turns = placeholder(), tf1.placeholder(tf.int32, [], name="turns")
        mean = tf1.get_variable("mean", X.shape, initializer=tf1.zeros_initializer(), trainable=False)
        weights = tf1.get_variable("weights", initializer=W)
        _, y = tf1.while_loop(lambda i, _: i < turns, lambda i, y: (i + 1, tf.tanh(y @ weights) + x), (0, x))
        with tf.control_dependencies([mean.assign(y)]):
            step = tf1.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(y))
        return (y, step), [{"x": X, "turns": 3}, {"x": X, "turns": 8}]

    expected, actual = run_on(CPU, build), run_on(HPU, build)
    for (one, _), (other, _) in zip(actual[:-1], expected[:-1]):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)
    for one, other in zip(actual[-1], expected[-1]):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)
