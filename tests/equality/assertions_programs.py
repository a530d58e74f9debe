"""Train steps with assertions, for test_assertions.py."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module
from tests.support.compare import CPU, HPU

Program = Callable[[tf.Tensor, tf.Variable], tf.Tensor]
WEIGHTS = np.linspace(-1, 1, 12, dtype=np.float32).reshape(4, 3)
# With the largest factor, all programs fail.
FACTORS = (1.0, 2.0, 300.0, 1.5)
# Rows and factors: the number of rows changes, as at the end of an epoch.
CALLS = tuple((rows, factor) for rows in (2, 3) for factor in FACTORS)


def inputs(rows: int, factor: float) -> tf.Tensor:
    return tf.constant(factor * np.cos(np.arange(4 * rows, dtype=np.float32)).reshape(rows, 4))


def checked_values(x: tf.Tensor, weights: tf.Variable) -> tf.Tensor:
    hidden = tf.nn.relu(x @ weights)
    with tf.control_dependencies([tf.debugging.assert_less(hidden, 50.0, message="too large")]):
        hidden = tf.identity(hidden)
    return tf.reduce_mean(tf.square(hidden), axis=0)


def checked_scalar(x: tf.Tensor, weights: tf.Variable) -> tf.Tensor:
    norm = tf.norm(x @ weights)
    with tf.control_dependencies([tf.debugging.assert_less(norm, 50.0)]):
        return tf.reduce_sum(weights, axis=0) / norm


def checked_shape(x: tf.Tensor, weights: tf.Variable) -> tf.Tensor:
    """The number of positive rows is known only inside the cluster."""
    rows = tf.boolean_mask(x @ weights, tf.reduce_max(tf.abs(x), axis=1) < 50.0)
    with tf.control_dependencies([tf.debugging.assert_equal(tf.shape(rows)[0], tf.shape(x)[0])]):
        return tf.reduce_mean(rows, axis=0)


def checked_labels(x: tf.Tensor, weights: tf.Variable) -> tf.Tensor:
    """The cross entropy of labels asserts that logits have the labels' shape."""
    logits = tf.reshape(x @ weights, tf.concat([tf.shape(x)[:1], [3]], 0))
    labels = tf.zeros(tf.shape(x)[:1], tf.int32)
    with tf.control_dependencies([tf.debugging.assert_less(tf.abs(logits), 50.0)]):
        loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    return tf.reduce_mean(loss) * tf.ones([3])


def two_in_a_row(x: tf.Tensor, weights: tf.Variable) -> tf.Tensor:
    hidden = tf.abs(x @ weights)
    with tf.control_dependencies([tf.debugging.assert_less(hidden, 50.0, message="first")]):
        total = tf.reduce_sum(hidden)
    with tf.control_dependencies([tf.debugging.assert_less(total, 100.0, message="second")]):
        return total * tf.reduce_sum(weights, axis=0)


def grouped(x: tf.Tensor, weights: tf.Variable) -> tf.Tensor:
    hidden = x @ weights
    group = tf.group(
        tf.debugging.assert_less(hidden, 50.0), tf.debugging.assert_greater(tf.reduce_sum(tf.abs(hidden)), 0.0)
    )
    with tf.control_dependencies([group]):
        return tf.reduce_mean(tf.tanh(hidden), axis=0)


def before_a_loop(x: tf.Tensor, weights: tf.Variable) -> tf.Tensor:
    """The loop's number of turns depends on a shape alone."""
    hidden = x @ weights
    with tf.control_dependencies([tf.debugging.assert_less(hidden, 50.0)]):
        hidden = tf.identity(hidden)
    total = tf.zeros([3])
    for i in tf.range(tf.shape(x)[0]):
        total = tf.tanh(total) + hidden[i]
    return total


def before_a_division(x: tf.Tensor, weights: tf.Variable) -> tf.Tensor:
    """The divisor is 0 if the assertion fails."""
    number = tf.cast(tf.reduce_max(x @ weights) < 50.0, tf.int32)
    with tf.control_dependencies([tf.debugging.assert_positive(number)]):
        return tf.cast(7 // number, tf.float32) * tf.ones([3])


def before_a_scatter(x: tf.Tensor, weights: tf.Variable) -> tf.Tensor:
    hidden = x @ weights
    with tf.control_dependencies([tf.debugging.assert_less(hidden, 50.0)]):
        hidden = tf.tanh(hidden)
        weights.scatter_add(tf.IndexedSlices(0.01 * hidden[:1], tf.constant([2])))
    return tf.reduce_mean(hidden, axis=0)


def plain_assert(x: tf.Tensor, weights: tf.Variable) -> tf.Tensor:
    hidden = x @ weights
    with tf.control_dependencies([tf.Assert(tf.reduce_all(hidden < 50.0), [hidden, "is", tf.shape(x)], summarize=2)]):
        return tf.reduce_mean(hidden, axis=0)


PROGRAMS = (
    checked_values, checked_scalar, checked_shape, checked_labels, two_in_a_row, grouped, before_a_loop,
    before_a_division, before_a_scatter, plain_assert,
)  # fmt: skip


def text_of_error(message: str) -> str:
    """Returns the assertion's own text without numbers: sums of other orders print other digits."""
    line = next(line for line in message.splitlines() if "assertion failed" in line)
    return re.sub(r"[-+]?\d[\d.e+-]*", "#", line.strip())


def outcomes(program: Program, device: str) -> list[Any]:
    """Returns the value or the error of a train step for each call, and the weights after it."""
    with tf.device(device):
        weights, total = tf.Variable(WEIGHTS), tf.Variable(tf.zeros([3]))

        @tf.function(input_signature=[tf.TensorSpec([None, 4])])
        def step(x: tf.Tensor) -> tf.Tensor:
            with tf.GradientTape() as tape:
                value = program(x, weights)
                loss = tf.reduce_sum(value)
            gradient = tape.gradient(loss, weights)
            with tf.control_dependencies([value]):
                total.assign_add(value)
                if gradient is not None:
                    weights.assign_sub(1e-3 * tf.clip_by_value(gradient, -1.0, 1.0))
            return value

        results: list[Any] = []
        for rows, factor in CALLS:
            try:
                results.append(step(inputs(rows, factor)).numpy())
            except tf.errors.OpError as error:
                results.append((type(error), error.message))
            results += [weights.numpy(), total.numpy()]
        return results


def compare(program: Program) -> None:
    """Asserts that values, errors and variables are the CPU's."""
    failed = 0
    for result, expected in zip(outcomes(program, HPU), outcomes(program, CPU)):
        if not isinstance(expected, tuple):
            np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5, err_msg=program.__name__)
            continue
        failed += 1
        assert isinstance(result, tuple), (program.__name__, result)
        assert result[0] is expected[0]
        assert text_of_error(result[1]) == text_of_error(expected[1])
    assert failed == 2, (program.__name__, failed)


def all_programs() -> None:
    load_habana_module()
    for program in PROGRAMS:
        compare(program)
