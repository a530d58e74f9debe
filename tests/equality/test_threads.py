"""Threads that share variables: no deadlock, lost update or torn read."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np
import pytest
import tensorflow as tf

from tests.equality import threads_programs as programs
from tests.support.clusters import assert_launched
from tests.support.compare import HPU
from tests.support.processes import call_to, run_with_tensorflow

THREADS = 4
ROUNDS = 40


def in_threads(*functions: Callable[[], None], seconds: float = 60) -> None:
    """Runs each function in its own thread. Raises the first error; fails if a thread exceeds the time limit."""
    errors: list[BaseException] = []
    start = threading.Barrier(len(functions))

    def run(function: Callable[[], None]) -> None:
        try:
            start.wait(seconds)
            function()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(function,), daemon=True) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds)
    stuck = [thread for thread in threads if thread.is_alive()]
    if errors:
        raise errors[0]
    assert not stuck, f"{len(stuck)} of {len(threads)} threads have not ended within {seconds} s"


@pytest.fixture
def variables() -> list[tf.Variable]:
    with tf.device(HPU):
        return [tf.Variable(tf.zeros([16])) for _ in range(4)]


def test_updates_that_commute(variables: list[tf.Variable]) -> None:
    @tf.function
    def add(x: tf.Tensor) -> tf.Tensor:
        for i, variable in enumerate(variables):
            variable.assign_add(x * float(i + 1))
        return tf.reduce_sum(x)

    def work(number: int) -> None:
        with tf.device(HPU):
            x = tf.fill([16], float(number + 1))
            for _ in range(ROUNDS):
                assert float(add(x)) == 16.0 * (number + 1)

    in_threads(*[lambda number=number: work(number) for number in range(THREADS)])  # type: ignore[misc]
    total = ROUNDS * sum(range(1, THREADS + 1))
    for i, variable in enumerate(variables):
        np.testing.assert_array_equal(variable.numpy(), np.full(16, float(total * (i + 1))))
    assert_launched()


def test_overlapping_variables_in_opposite_orders(variables: list[tf.Variable]) -> None:
    def add(order: list[int]) -> Callable[[], None]:
        @tf.function
        def step() -> None:
            total = tf.zeros([16])
            for i in order:
                total += variables[i] * 0.0 + 1.0
                variables[i].assign_add(total * 0.0 + 1.0)

        def work() -> None:
            with tf.device(HPU):
                for _ in range(ROUNDS):
                    step()

        return work

    orders = [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3], [1, 3, 0]]
    in_threads(*[add(order) for order in orders])
    for i, variable in enumerate(variables):
        uses = sum(i in order for order in orders)
        np.testing.assert_array_equal(variable.numpy(), np.full(16, float(uses * ROUNDS)))
    assert_launched()


def test_eager_reads_meanwhile(variables: list[tf.Variable]) -> None:
    """An eager read returns a value between two steps, never a partial update."""
    variable = variables[0]
    done = threading.Event()

    @tf.function
    def step() -> None:
        variable.assign_add(tf.ones([16]) * 2.0 - 1.0)

    def write() -> None:
        with tf.device(HPU):
            for _ in range(4 * ROUNDS):
                step()
        done.set()

    def read() -> None:
        last = -1.0
        while not done.is_set():
            values = variable.numpy()
            assert len(set(values)) == 1, values
            assert values[0] >= last
            last = values[0]

    def copy() -> None:
        with tf.device(HPU):
            while not done.is_set():
                values = tf.identity(variable).numpy()
                assert len(set(values)) == 1, values

    in_threads(write, read, copy)
    assert variable.numpy()[0] == 4.0 * ROUNDS


def test_eager_writes_and_clusters(variables: list[tf.Variable]) -> None:
    variable = variables[0]

    @tf.function
    def step() -> tf.Tensor:
        return variable.assign_add(tf.ones([16]) * 3.0)

    def clusters() -> None:
        with tf.device(HPU):
            for _ in range(ROUNDS):
                step()

    def eager() -> None:
        with tf.device(HPU):
            for _ in range(ROUNDS):
                variable.assign_add(tf.ones([16]))

    in_threads(clusters, clusters, eager, eager)
    np.testing.assert_array_equal(variable.numpy(), np.full(16, 2.0 * (3 + 1) * ROUNDS))


def test_a_variable_that_shares_a_buffer(variables: list[tf.Variable]) -> None:
    """After b.assign(a), both variables may share a buffer. A step that writes a must not change b."""
    a, b = variables[:2]

    @tf.function
    def step() -> None:
        a.assign_add(tf.ones([16]) * 1.0 + 0.0)

    with tf.device(HPU):
        step()
        b.assign(a)
        kept = a.read_value()
        step()
    np.testing.assert_array_equal(a.numpy(), np.full(16, 2.0))
    np.testing.assert_array_equal(b.numpy(), np.full(16, 1.0))
    np.testing.assert_array_equal(kept.numpy(), np.full(16, 1.0))


def test_tracing_and_compiling_in_threads() -> None:
    """Threads compile equal and different signatures concurrently."""

    @tf.function(reduce_retracing=True)
    def square(x: tf.Tensor) -> tf.Tensor:
        return tf.matmul(x, x, transpose_b=True) + 1.0

    def work(number: int) -> None:
        with tf.device(HPU):
            for rows in (number + 1, 3, 4):
                x = np.full((rows, 5), 2.0, np.float32)
                np.testing.assert_allclose(square(tf.constant(x)).numpy(), x @ x.T + 1)

    in_threads(*[lambda number=number: work(number) for number in range(THREADS)])  # type: ignore[misc]
    assert_launched()


def test_a_process_ends_while_threads_work() -> None:
    done = run_with_tensorflow(call_to(programs.end_while_threads_work), timeout=100)
    assert done.stdout == "end\n"
