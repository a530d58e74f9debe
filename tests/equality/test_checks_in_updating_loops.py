"""Loops and branches that update variables: one launch, the CPU's error for an invalid index or value, and no updates
after the failed op."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import tensorflow as tf

from habana_frameworks.tensorflow import statistics
from tests.equality.checks_programs import FIRST, ROWS, TABLE, WIDTH, assert_same, on_device
from tests.support.compare import CPU, HPU

pytestmark = pytest.mark.usefixtures("hpu")

Program = Callable[[tf.Tensor, tf.Variable, tf.Variable], tf.Tensor]


def as_row(number: tf.Tensor) -> tf.Tensor:
    return tf.fill([WIDTH], tf.cast(number, tf.float32))


def element(first: tf.Tensor, table: tf.Variable, count: tf.Variable) -> tf.Tensor:
    rows, total, start = table * 1.5, tf.zeros([WIDTH]), on_device(first)
    for i in tf.range(3):
        total += rows[i + start]
        count.assign_add(total)
    return total


def until_a_value(first: tf.Tensor, table: tf.Variable, count: tf.Variable) -> tf.Tensor:
    """Never ends if the index 9 reads the last element."""
    following, i = tf.constant([1, 2, 9, 1, 2]) + 0 * tf.cast(table[0, 0], tf.int32), on_device(first)
    while i < 20:
        i = following[i]
        count.assign_add(as_row(i))
    return tf.zeros([WIDTH])


def without_end(first: tf.Tensor, table: tf.Variable, count: tf.Variable) -> tf.Tensor:
    following, i = tf.constant([1, 2, 9, 1, 2]) + 0 * tf.cast(table[0, 0], tf.int32), on_device(first)
    while tf.constant(True):
        i = following[i]
        count.assign_add(as_row(i))
    return tf.zeros([WIDTH])


def gather(first: tf.Tensor, table: tf.Variable, count: tf.Variable) -> tf.Tensor:
    rows, total, start = table * 1.5, tf.zeros([WIDTH]), on_device(first)
    for i in tf.range(3):
        total += tf.gather(rows, i + start)
        count.assign(total)
    return total


def read_list(first: tf.Tensor, table: tf.Variable, count: tf.Variable) -> tf.Tensor:
    rows, total, start = tf.TensorArray(tf.float32, ROWS).unstack(table * 1.5), tf.zeros([WIDTH]), on_device(first)
    for i in tf.range(3):
        total += rows.read(i + start)
        count.assign_sub(total)
    return total


def scatter_nd(first: tf.Tensor, table: tf.Variable, count: tf.Variable) -> tf.Tensor:
    total, start = tf.zeros([ROWS]), on_device(first)
    for i in tf.range(3):
        total += tf.scatter_nd([[i + start]], [table[0, 1]], [ROWS])
        count.assign_add(total[:WIDTH])
    return total[:WIDTH]


def reverse_sequence(first: tf.Tensor, table: tf.Variable, count: tf.Variable) -> tf.Tensor:
    total, start = tf.zeros([ROWS, WIDTH]), on_device(first)
    for i in tf.range(2):
        total += tf.reverse_sequence(table, tf.fill([ROWS], i + start), seq_axis=1, batch_axis=0)
        count.assign_add(total[0])
    return total[0]


def labels(first: tf.Tensor, table: tf.Variable, count: tf.Variable) -> tf.Tensor:
    total, start = tf.zeros([ROWS]), on_device(first)
    for i in tf.range(2):
        total += tf.nn.sparse_softmax_cross_entropy_with_logits(tf.fill([ROWS], i + start), table * 0.1)
        count.assign_add(total[:WIDTH])
    return total[:WIDTH]


def segments(first: tf.Tensor, table: tf.Variable, count: tf.Variable) -> tf.Tensor:
    total, start = tf.zeros([3, WIDTH]), on_device(first)
    for i in tf.range(2):
        total += tf.math.unsorted_segment_sum(table * 1.5, tf.range(ROWS) // 2 + (i + start) // 2, 3)
        count.assign_add(total[0])
    return total[0]


def slices(first: tf.Tensor, table: tf.Variable, count: tf.Variable) -> tf.Tensor:
    rows, total, start = table * 1.5, tf.zeros([2, WIDTH]), on_device(first)
    for i in tf.range(2):
        total += tf.slice(rows, [i + start, 0], [2, WIDTH])
        count.assign_add(total[0])
    return total[0]


def divide(first: tf.Tensor, table: tf.Variable, count: tf.Variable) -> tf.Tensor:
    total, start = tf.zeros([], tf.int32), on_device(first)
    for i in tf.range(3):
        total += 100 // (start + i - 4)
        count.assign_add(as_row(total))
    return as_row(total) + table[0]


def power(first: tf.Tensor, table: tf.Variable, count: tf.Variable) -> tf.Tensor:
    total, start = tf.zeros([], tf.int32), on_device(first)
    for i in tf.range(3):
        total += tf.pow(start + 3, start - i)
        count.assign_add(as_row(total))
    return as_row(total) + table[0]


def inverse(first: tf.Tensor, table: tf.Variable, count: tf.Variable) -> tf.Tensor:
    total, start = tf.zeros([WIDTH, WIDTH]), on_device(first)
    for i in tf.range(2):
        total += tf.linalg.inv(tf.eye(WIDTH) * tf.cast(start + i - 4, tf.float32) + 0 * table[:WIDTH])
        count.assign_add(total[0])
    return total[0]


def update_before_and_after(first: tf.Tensor, table: tf.Variable, count: tf.Variable) -> tf.Tensor:
    """The index depends on the first update, which therefore happens."""
    rows, total, start = table * 1.5, tf.zeros([WIDTH]), on_device(first)
    for i in tf.range(3):
        count.assign_add(tf.ones([WIDTH]))
        row = tf.gather(rows, i + start + tf.cast(count[0] * 0, tf.int32))
        total += row
        count.assign(row + count)
    return total


def two_failures(first: tf.Tensor, table: tf.Variable, count: tf.Variable) -> tf.Tensor:
    """The error is that of the first failed op, although the value that it reads is no valid index either."""
    rows, scaled, total, start = tf.constant([1, 2, 3, 0, 9]), table * 1.5, tf.zeros([WIDTH]), on_device(first)
    for i in tf.range(3):
        total += scaled[rows[i + start]]
        count.assign_add(total)
    return total


def nested_loops(first: tf.Tensor, table: tf.Variable, count: tf.Variable) -> tf.Tensor:
    rows, total, start = table * 1.5, tf.zeros([WIDTH]), on_device(first)
    for i in tf.range(2):
        row = rows[i + start]
        after = tf.cast(0 * row[0], tf.int32)  # of two failed ops, the CPU reports either
        for j in tf.range(2):
            count.assign_add(row + tf.gather(rows, i + j + start + after))
            total += count
    return total


def nested_update(first: tf.Tensor, table: tf.Variable, count: tf.Variable) -> tf.Tensor:
    rows, total, start = table * 1.5, tf.zeros([WIDTH]), on_device(first)
    for i in tf.range(2):
        row = rows[i + start]
        for _ in tf.range(2):
            count.assign_add(row)
        total += count
    return total


def nested_until_a_value(first: tf.Tensor, table: tf.Variable, count: tf.Variable) -> tf.Tensor:
    """The inner loop never ends if it does not update the variable."""
    rows, total, start = table * 1.5, tf.zeros([WIDTH]), on_device(first)
    for i in tf.range(2):
        row = rows[i + start]
        limit = count[0] + row[0] * 0 + 3
        while count[0] < limit:
            count.assign_add(tf.ones([WIDTH]) + 0 * row)
        total += count
    return total


def branches_in_loops(first: tf.Tensor, table: tf.Variable, count: tf.Variable) -> tf.Tensor:
    rows, total, start = table * 1.5, tf.zeros([WIDTH]), on_device(first)
    for i in tf.range(3):
        if tf.reduce_sum(total) > 30:
            total += rows[i + start]
            count.assign_add(total)
        else:
            total += tf.gather(rows, start + i) + 1
            count.assign_sub(total)
    return total


def update_in_branches_in_loops(first: tf.Tensor, table: tf.Variable, count: tf.Variable) -> tf.Tensor:
    rows, total, start = table * 1.5, tf.zeros([WIDTH]), on_device(first)
    for i in tf.range(3):
        row = rows[i + start]
        if row[0] > 10:
            count.assign_add(row)
        total += row
    return total


def branch(first: tf.Tensor, table: tf.Variable, count: tf.Variable) -> tf.Tensor:
    rows, start = table * 1.5, on_device(first)

    def one() -> tf.Tensor:
        row = rows[start]
        count.assign_add(row)
        return row

    def other() -> tf.Tensor:
        row = tf.gather(rows, start) + tf.gather(table, start + 1)
        count.assign(row)
        return row

    return tf.cond(start > 1, one, other)


def scatter_add(first: tf.Tensor, table: tf.Variable, count: tf.Variable) -> tf.Tensor:
    total, start = tf.zeros([WIDTH]), on_device(first)
    for i in tf.range(3):
        total += tf.gather(table, i + start)
        table.scatter_add(tf.IndexedSlices(tf.ones([1, WIDTH]) + 0 * total, [i + start]))
        count.assign_add(total)
    return total


def scatter_sub(first: tf.Tensor, table: tf.Variable, _: tf.Variable) -> tf.Tensor:
    start = on_device(first)
    for i in tf.range(3):
        table.scatter_sub(tf.IndexedSlices(tf.ones([1, WIDTH]), [i + start]))
    return table[0]


def slice_assign(first: tf.Tensor, table: tf.Variable, _: tf.Variable) -> tf.Tensor:
    rows, start = table * 1.5, on_device(first)
    for i in tf.range(3):
        table[1].assign(rows[i + start])
    return table[0]


PROGRAMS = (
    element, until_a_value, without_end, gather, read_list, scatter_nd, reverse_sequence, labels, segments, slices,
    divide, power, inverse, update_before_and_after, two_failures, nested_loops, nested_update, nested_until_a_value,
    branches_in_loops, update_in_branches_in_loops, branch, scatter_add, scatter_sub, slice_assign,
)  # fmt: skip


def outcomes(program: Program, device: str) -> list[Any]:
    """Returns the value or the error of a train step for each first index, and the variables after it."""
    with tf.device(device):
        table, count, weights = tf.Variable(TABLE), tf.Variable(tf.zeros([WIDTH])), tf.Variable(tf.zeros([WIDTH]))

        @tf.function
        def step(first: tf.Tensor) -> tf.Tensor:
            value = program(first, table, count)
            weights.assign_add(value)
            return value

        results: list[Any] = []
        for first in FIRST:
            try:
                results.append(step(tf.constant(first)).numpy())
            except tf.errors.OpError as error:
                results.append((type(error), error.message))
            results += [variable.numpy() for variable in (table, count, weights)]
        return results


@pytest.mark.parametrize("program", PROGRAMS)
def test_one_launch_with_the_errors_and_variables_of_the_cpu(program: Program) -> None:
    statistics.reset()
    results = outcomes(program, HPU)
    counts = statistics.get()
    assert (counts.fallbacks, sum(cluster.launches for cluster in counts.clusters)) == (0, len(FIRST))
    failed = sum(assert_same(*pair) for pair in zip(results, outcomes(program, CPU)))
    assert failed >= 2


@pytest.mark.parametrize("device", [CPU, HPU])
def test_a_step_without_a_result_raises(device: str) -> None:
    """TensorFlow removes ops that no result needs, so the loop's check must be part of its control result."""
    with tf.device(device):
        count = tf.Variable(0.0)

        @tf.function
        def step(first: tf.Tensor) -> None:
            start = on_device(first)
            for i in tf.range(3):
                count.assign_add(tf.constant([1.0, 2.0, 3.0, 4.0])[i + start])

        step(tf.constant(0))
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"slice index \d of dimension 0 out of bounds"):
            step(tf.constant(3))
        assert float(count) == 10.0


def test_a_train_loop_is_one_launch() -> None:
    """Each iteration is a train step on rows that it draws: lookups, gradients and the updates of an optimizer."""
    generator = tf.random.Generator.from_seed(1)
    examples = generator.normal([16, 8])

    def losses(device: str) -> list[float]:
        with tf.device(device):
            model = tf.keras.Sequential([tf.keras.layers.Dense(8, "tanh", kernel_initializer="ones")])
            model.build([None, 8])
            optimizer = tf.keras.optimizers.Adam(0.1)
            optimizer.build(model.trainable_variables)

            @tf.function
            def train_loop(order: tf.Tensor) -> tf.Tensor:
                loss = tf.constant(0.0)
                order = tf.cast(tf.cast(order, tf.float32) * 1.0001, tf.int32)
                for i in tf.range(4):
                    x = tf.gather(examples, order[i])
                    with tf.GradientTape() as tape:
                        loss = tf.reduce_mean((model(x) - x) ** 2)
                    variables = model.trainable_variables
                    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
                return loss

            return [float(train_loop(tf.reshape((tf.range(8) + 3 * i) % 16, [4, 2]))) for i in range(3)]

    statistics.reset()
    found = losses(HPU)
    assert sum(cluster.launches for cluster in statistics.get().clusters) == 3
    assert found == pytest.approx(losses(CPU), rel=1e-4)
