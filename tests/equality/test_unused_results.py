"""Loops and branches with unused results compute only the used results, with the CPU's errors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import tensorflow as tf

from tests.support.clusters import report_of
from tests.support.compare import CPU, HPU, assert_same_graph

tf1 = tf.compat.v1

X = np.array([1.0, 2.0], np.float32)
SHORT = np.array([1.0, 2.0, 3.0], np.float32)
ANY = tf.TensorSpec([None], tf.float32)


def branch(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
    """Uses the first of two results; the shapes of the second result do not match."""
    return tf.cond(tf.reduce_sum(x) > 0, lambda: (x * 2, x + y), lambda: (x, y))[0]


def case(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
    """Like branch(), with switch_case."""
    index = tf.cast(tf.reduce_sum(x), tf.int32) % 2
    return tf.switch_case(index, [lambda: (x, y), lambda: (x * 2, x + y)])[0]


def nested(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
    """The inner branch's second result becomes an unused result of the outer branch."""

    def inner() -> tuple[tf.Tensor, tf.Tensor]:
        return tf.cond(tf.reduce_sum(x) > 1, lambda: (x * 2, x + y), lambda: (x, y))  # type: ignore[no-any-return]

    return tf.cond(tf.reduce_sum(x) > 0, inner, lambda: (x, y))[0]


def loop(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
    """Loop whose third value affects no result."""
    return tf.while_loop(
        lambda i, _a, _b: i < 3,
        lambda i, a, b: (i + 1, a * 2, a + b),
        (0, x, y),
        shape_invariants=(tf.TensorShape([]), tf.TensorShape([None]), tf.TensorShape([None])),
    )[1]


def argument(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
    """The invalid sum is outside the branch, and feeds an unused result."""
    z = x + y
    return tf.cond(tf.reduce_sum(x) > 0, lambda: (x * 2, z), lambda: (x, z))[0]


@pytest.mark.parametrize("program", [branch, case, nested, loop, argument])
def test_errors_of_unused_results_are_not_raised(program: Callable[[tf.Tensor, tf.Tensor], tf.Tensor]) -> None:
    values = []
    for device in (CPU, HPU):
        with tf.device(device):
            values.append(tf.function(program, input_signature=[ANY, ANY])(tf.constant(X), tf.constant(SHORT)))
    np.testing.assert_array_equal(*values)


@pytest.mark.parametrize("program", [branch, nested, loop, argument])
def test_a_session_runs_only_fetched_ops(program: Callable[[tf.Tensor, tf.Tensor], tf.Tensor]) -> None:
    with tf.Graph().as_default(), tf.device(HPU):
        x, y = (tf1.placeholder(tf.float32, [None]) for _ in range(2))
        used = program(x, y)
        with tf1.Session() as session:
            np.testing.assert_array_equal(session.run(used, {x: X, y: SHORT}), 8 * X if program is loop else 2 * X)


def test_errors_of_used_results_are_raised() -> None:
    @tf.function(input_signature=[ANY, ANY])
    def both(x: tf.Tensor, y: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        return tf.cond(tf.reduce_sum(x) > 0, lambda: (x * 2, x + y), lambda: (x, y))  # type: ignore[no-any-return]

    with tf.device(HPU), pytest.raises(tf.errors.InvalidArgumentError, match="Incompatible shapes"):
        both(tf.constant(X), tf.constant(SHORT))


def test_side_effects_of_unused_results_stay() -> None:
    found = []
    for device in (CPU, HPU):
        with tf.device(device):
            first, second = (tf.Variable([1.0, 2.0]) for _ in range(2))

            @tf.function
            def step(x: tf.Tensor, first: tf.Variable = first, second: tf.Variable = second) -> tf.Tensor:
                def write() -> tuple[tf.Tensor, tf.Tensor]:
                    read = first.assign_add(x).read_value()
                    return x * 2, second.assign(read * 3).read_value()

                return tf.cond(tf.reduce_sum(x) > 0, write, lambda: (x, x))[0]

            found.append([step(tf.constant(X)), first.read_value(), second.read_value()])
    for ours, theirs in zip(*found):
        np.testing.assert_array_equal(ours, theirs)


def test_the_report_lists_unused_results() -> None:
    def half_of_it(x: tf.Tensor) -> tf.Tensor:
        return tf.while_loop(lambda i, _a, _b: i < 3, lambda i, a, b: (i + 1, tf.tanh(a), b * 2), (0, x, x))[1]

    assert_same_graph(half_of_it, X)
    rewrites = [rewrite.what for rewrite in report_of("half_of_it").rewrites if rewrite.pass_name == "results"]
    assert rewrites[0] == "unused results removed: 2"  # the second result is a counter that TensorFlow adds
