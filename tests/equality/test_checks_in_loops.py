"""Indices and values that a loop or a branch computes: one launch, and the CPU's error if one is not valid."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import tensorflow as tf

from habana_frameworks.tensorflow import statistics
from tests.equality.checks_programs import FIRST, ROWS, TABLE, WIDTH, assert_same, on_device
from tests.support.compare import CPU, HPU

pytestmark = pytest.mark.usefixtures("hpu")

Program = Callable[[tf.Tensor, tf.Variable], tf.Tensor]


def element(first: tf.Tensor, table: tf.Variable) -> tf.Tensor:
    rows, total, start = table * 1.5, tf.zeros([WIDTH]), on_device(first)
    for i in tf.range(3):
        total += rows[i + start]
    return total


def inner_element(first: tf.Tensor, table: tf.Variable) -> tf.Tensor:
    columns, total, start = tf.transpose(table * 1.5)[tf.newaxis], tf.zeros([]), on_device(first)
    for i in tf.range(3):
        total += columns[0, ..., 1, i + start] * columns[0, 2, 1 - 1]
    return tf.fill([WIDTH], total)


def gather(first: tf.Tensor, table: tf.Variable) -> tf.Tensor:
    rows, total, start = table * 1.5, tf.zeros([2, WIDTH]), on_device(first)
    for i in tf.range(3):
        total += tf.gather(rows, tf.stack([i + start, i]))
    return total[0]


def gather_columns(first: tf.Tensor, table: tf.Variable) -> tf.Tensor:
    columns, total, start = tf.transpose(table * 1.5), tf.zeros([WIDTH]), on_device(first)
    for i in tf.range(3):
        total += tf.gather(columns, i + start, axis=1)
    return total


def gather_nd(first: tf.Tensor, table: tf.Variable) -> tf.Tensor:
    rows, total, start = table * 1.5, tf.zeros([1]), on_device(first)
    for i in tf.range(3):
        total += tf.gather_nd(rows, [[i + start, 1]])
    return tf.tile(total, [WIDTH])


def lookup(first: tf.Tensor, table: tf.Variable) -> tf.Tensor:
    total, start = tf.zeros([WIDTH]), on_device(first)
    for i in tf.range(3):
        total = tf.tanh(total) + tf.nn.embedding_lookup(table, i + start)
    return total


def lookup_of_elements(first: tf.Tensor, table: tf.Variable) -> tf.Tensor:
    ids, total = on_device(first) + tf.range(3), tf.zeros([WIDTH])
    for i in tf.range(3):
        total = tf.tanh(total) + tf.gather(table, ids[i])
    return total


def map_ids(first: tf.Tensor, table: tf.Variable) -> tf.Tensor:
    rows = table * 1.5
    return tf.reduce_sum(
        tf.map_fn(lambda i: rows[i], on_device(first) + tf.constant([0, 2, 1]), fn_output_signature=tf.float32), axis=0
    )


def read_list(first: tf.Tensor, table: tf.Variable) -> tf.Tensor:
    rows, total, start = tf.TensorArray(tf.float32, ROWS).unstack(table * 1.5), tf.zeros([WIDTH]), on_device(first)
    for i in tf.range(3):
        total += rows.read(i + start)
    return total


def write_list(first: tf.Tensor, table: tf.Variable) -> tf.Tensor:
    rows, start = tf.TensorArray(tf.float32, ROWS, element_shape=[WIDTH]), on_device(first)
    for i in tf.range(3):
        rows = rows.write(i + start, table[0] + tf.cast(i, tf.float32))
    return tf.reduce_sum(rows.stack(), axis=0)


def labels(first: tf.Tensor, table: tf.Variable) -> tf.Tensor:
    total, start = tf.zeros([ROWS]), on_device(first)
    for i in tf.range(2):
        total += tf.nn.sparse_softmax_cross_entropy_with_logits(tf.fill([ROWS], i + start), table * 0.1)
    return total[:WIDTH]


def scatter(first: tf.Tensor, table: tf.Variable) -> tf.Tensor:
    total, start = tf.zeros([ROWS]), on_device(first)
    for i in tf.range(3):
        total += tf.scatter_nd([[i + start]], [table[0, 1]], [ROWS])
    return total[:WIDTH]


def update_tensor(first: tf.Tensor, table: tf.Variable) -> tf.Tensor:
    rows, start = table * 1.5, on_device(first)
    for i in tf.range(3):
        rows = tf.tensor_scatter_nd_add(rows, [[i + start]], [tf.ones([WIDTH])])
    return tf.reduce_max(rows, axis=0)


def nested(first: tf.Tensor, table: tf.Variable) -> tf.Tensor:
    rows, total, start = table * 1.5, tf.zeros([WIDTH]), on_device(first)
    for i in tf.range(2):
        for j in tf.range(2):
            total += tf.gather(rows, i + j + start)
    return total


def until_a_value(first: tf.Tensor, table: tf.Variable) -> tf.Tensor:
    """Never ends if the last row is read again and again."""
    rows, total, i = table * 1.5, tf.zeros([WIDTH]), on_device(first)
    while tf.reduce_sum(total) < 150:
        total += tf.gather(rows, i) + 1
        i += 1
    return total


def gradient(first: tf.Tensor, table: tf.Variable) -> tf.Tensor:
    start = on_device(first)
    with tf.GradientTape() as tape:
        total = tf.zeros([WIDTH])
        for i in tf.range(3):
            total = tf.tanh(total * 0.1) + tf.gather(table, i + start)
        loss = tf.reduce_sum(total)
    return tf.reduce_sum(tf.convert_to_tensor(tape.gradient(loss, table)), axis=0)


def branch(first: tf.Tensor, table: tf.Variable) -> tf.Tensor:
    rows, start = table * 1.5, on_device(first)
    return tf.cond(start > 1, lambda: rows[start], lambda: tf.gather(rows, start) + tf.gather(table, start + 1))


def case(first: tf.Tensor, table: tf.Variable) -> tf.Tensor:
    rows, start = table * 1.5, on_device(first)
    branches = [lambda: tf.gather(rows, start), lambda: rows[:WIDTH, start], lambda: tf.zeros([WIDTH])]
    return tf.switch_case(tf.where(tf.abs(start) > 2, 0, 1), branches)


def branches_in_loops(first: tf.Tensor, table: tf.Variable) -> tf.Tensor:
    rows, total, start = table * 1.5, tf.zeros([WIDTH]), on_device(first)
    for i in tf.range(3):
        if tf.reduce_sum(total) > 30:
            for j in tf.range(2):
                total += rows[i] + tf.gather(table, i + start + j)
        else:
            total += tf.gather(rows, start + i) + 1
    return total


def divide(first: tf.Tensor, table: tf.Variable) -> tf.Tensor:
    total, start = tf.zeros([], tf.int32), on_device(first)
    for i in tf.range(3):
        total += 100 // (start + i - 4)
    return tf.fill([WIDTH], tf.cast(total, tf.float32)) + table[0]


def divide_in_branches_in_loops(first: tf.Tensor, table: tf.Variable) -> tf.Tensor:
    total, start = tf.zeros([], tf.int32), on_device(first)
    for i in tf.range(3):
        if i > 0:
            total += 100 % (start + i - 4)
    return tf.fill([WIDTH], tf.cast(total, tf.float32)) + table[0]


def solve(first: tf.Tensor, table: tf.Variable) -> tf.Tensor:
    total, start = tf.zeros([WIDTH, WIDTH]), on_device(first)
    for i in tf.range(2):
        total += tf.linalg.inv(tf.eye(WIDTH) * tf.cast(start + i - 4, tf.float32) + 0 * table[:WIDTH])
    return total[0]


def segments(first: tf.Tensor, table: tf.Variable) -> tf.Tensor:
    total, start = tf.zeros([3, WIDTH]), on_device(first)
    for i in tf.range(2):
        total += tf.math.unsorted_segment_sum(table * 1.5, tf.range(ROWS) // 2 + (i + start) // 2, 3)
    return total[0]


def permutation(first: tf.Tensor, table: tf.Variable) -> tf.Tensor:
    total, start = tf.zeros([WIDTH], tf.int32), on_device(first)
    for i in tf.range(2):
        total += tf.math.invert_permutation(tf.stack([0, 1, 2, (start - i) // 2 + 3]))
    return tf.cast(total, tf.float32) + table[0]


def slices(first: tf.Tensor, table: tf.Variable) -> tf.Tensor:
    rows, total, start = table * 1.5, tf.zeros([2, WIDTH]), on_device(first)
    for i in tf.range(2):
        total += tf.slice(rows, [i + start, 0], [2, WIDTH])
    return total[0]


def slices_in_branches(first: tf.Tensor, table: tf.Variable) -> tf.Tensor:
    rows, start = table * 1.5, on_device(first)
    return tf.cond(start > 1, lambda: tf.slice(rows, [start, 0], [2, WIDTH])[1], lambda: rows[0])


def condition(first: tf.Tensor, table: tf.Variable) -> tf.Tensor:
    following, i = tf.constant([1, 1, 1, 1, 0]), on_device(first)
    while tf.gather(following, i) > 0:
        i += 1
    return tf.fill([WIDTH], tf.cast(i, tf.float32)) + table[0]


def called(first: tf.Tensor, table: tf.Variable) -> tf.Tensor:
    rows, total, start = table * 1.5, tf.zeros([WIDTH]), on_device(first)

    @tf.function
    def row(i: tf.Tensor) -> tf.Tensor:
        return rows[i] + tf.gather(table, i % ROWS)

    for i in tf.range(3):
        total += row(i + start)
    return total


PROGRAMS = (
    element, inner_element, gather, gather_columns, gather_nd, lookup, lookup_of_elements, map_ids, read_list,
    write_list, labels, scatter, update_tensor, nested, until_a_value, gradient,
    branch, case, branches_in_loops, divide, divide_in_branches_in_loops, solve, segments, permutation, slices,
    slices_in_branches, condition, called,
)  # fmt: skip


def outcomes(program: Program, device: str) -> list[Any]:
    """Returns the value or the error of a train step for each first index, and the weights after it."""
    with tf.device(device):
        table, weights = tf.Variable(TABLE), tf.Variable(tf.zeros([WIDTH]))

        @tf.function
        def step(first: tf.Tensor) -> tf.Tensor:
            value = program(first, table)
            weights.assign_add(value)
            return value

        results: list[Any] = []
        for first in FIRST:
            try:
                results.append(step(tf.constant(first)).numpy())
            except tf.errors.OpError as error:
                results.append((type(error), error.message))
            results.append(weights.numpy())
        return results


@pytest.mark.parametrize("program", PROGRAMS)
def test_one_launch_with_the_errors_of_the_cpu(program: Program) -> None:
    statistics.reset()
    results = outcomes(program, HPU)
    counts = statistics.get()
    assert (counts.fallbacks, sum(cluster.launches for cluster in counts.clusters)) == (0, len(FIRST))
    failed = sum(assert_same(*pair) for pair in zip(results, outcomes(program, CPU)))
    assert failed >= 2


def test_the_error_is_that_of_the_first_index_out_of_range() -> None:
    error = next(result for result in outcomes(gather, HPU) if isinstance(result, tuple))
    assert "indices[0] = 5 is not in [0, 5) (while/GatherV2)" in error[1]  # of 4, 5 and 6


@pytest.mark.parametrize("device", [CPU, HPU])
def test_a_loop_without_iterations_looks_nothing_up(device: str) -> None:
    @tf.function
    def step(turns: tf.Tensor, first: tf.Tensor) -> tf.Tensor:
        nothing, total, start = tf.zeros([0, WIDTH]), tf.zeros([WIDTH]), on_device(first)
        for i in tf.range(turns):
            total += tf.gather(nothing, i + start) + nothing[start]
        return tf.cond(turns > 0, lambda: total + nothing[start], lambda: total)

    with tf.device(device):
        assert step(tf.constant(0), tf.constant(1)).numpy().tolist() == [0.0] * WIDTH
        with pytest.raises(tf.errors.InvalidArgumentError):
            step(tf.constant(1), tf.constant(1))
