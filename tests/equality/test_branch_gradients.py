"""Train steps with branches are one launch, for known and unknown sizes."""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
import pytest
import tensorflow as tf

from habana_frameworks.tensorflow import statistics
from tests.equality import branch_gradient_programs as programs
from tests.support.compare import CPU, HPU
from tests.support.processes import run

pytestmark = pytest.mark.usefixtures("hpu")


@pytest.mark.parametrize("rows", [3, None], ids=["known", "unknown"])
@pytest.mark.parametrize("program", programs.PROGRAMS)
def test_one_launch_with_the_losses_of_the_cpu(program: programs.Program, rows: int | None) -> None:
    statistics.reset()
    losses = programs.train(program, rows, HPU)
    counts = statistics.get()
    assert (counts.fallbacks, sum(cluster.launches for cluster in counts.clusters)) == (0, len(losses))
    np.testing.assert_allclose(losses, programs.train(program, rows, CPU), rtol=2e-5)


@pytest.mark.parametrize("program", [programs.cond, programs.in_a_loop])
def test_jit_compile(program: programs.Program) -> None:
    losses = programs.train(program, 3, HPU, jit_compile=True)
    np.testing.assert_allclose(losses, programs.train(program, 3, CPU), rtol=2e-5)


@pytest.mark.cpu_fallback
def test_a_cluster_on_the_cpu_has_the_cpus_losses() -> None:
    done = run([sys.executable, "-m", programs.__name__], {"HPU_COMPILE_MODE": "never"})
    assert done.stdout.split() == [program.__name__ for program in programs.PROGRAMS]


def test_branches_of_different_ranks() -> None:
    """The branches alone leave the cluster."""

    def losses(device: str) -> list[float]:
        with tf.device(device):
            weights = tf.Variable(tf.ones([4, 4]))

            @tf.function
            def step(x: tf.Tensor) -> tf.Tensor:
                with tf.GradientTape() as tape:
                    y = tf.cond(tf.reduce_sum(x) > 0, lambda: tf.tanh(x @ weights), lambda: tf.reduce_sum(x @ weights))
                    loss = tf.reduce_sum(y)
                weights.assign_sub(0.1 * tape.gradient(loss, weights))
                return loss

            return [step(tf.fill([3, 4], value)).numpy() for value in (0.1, -0.2, 0.3)]

    np.testing.assert_allclose(losses(HPU), losses(CPU), rtol=1e-5)


def test_strings_and_random_numbers_in_branches() -> None:
    """A placeholder may be of any dtype."""
    calls: list[Callable[[], tf.Tensor]] = []
    for device in (HPU, CPU):
        with tf.device(device):
            weights = tf.Variable(tf.ones([4]))

        @tf.function
        def step(weights: tf.Variable = weights) -> tf.Tensor:
            with tf.GradientTape() as tape:
                loss = tf.cond(
                    weights[0] > 0.5,
                    lambda: tf.reduce_sum(weights * tf.strings.to_number(tf.strings.join(["1", "2"]))),
                    lambda: tf.reduce_sum(weights**2),
                )
            weights.assign_sub(0.01 * tape.gradient(loss, weights))
            return loss

        calls.append(step)
    on_hpu, on_cpu = ([call().numpy() for _ in range(8)] for call in calls)
    np.testing.assert_allclose(on_hpu, on_cpu, rtol=1e-5)


def test_second_gradients_of_a_call() -> None:
    """The tapes are outside the function, and the sizes are unknown."""

    def gradients(device: str) -> list[float]:
        with tf.device(device):

            @tf.function(input_signature=[tf.TensorSpec([None, None]), tf.TensorSpec([], tf.int32)])
            def branches(x: tf.Tensor, number: tf.Tensor) -> tf.Tensor:
                softmax, doubled = tf.nn.softmax(x), tf.concat([x, x * x], 0)[: tf.shape(x)[0]]
                return tf.switch_case(number, [lambda: softmax * tf.reduce_sum(x, 0), lambda: doubled * x])

            found = []
            for number in range(2):
                x = tf.constant([[0.5, -0.2, 0.3], [0.1, 0.7, -0.4]])
                with tf.GradientTape() as second:
                    second.watch(x)
                    with tf.GradientTape() as first:
                        first.watch(x)
                        loss = tf.reduce_sum(branches(x, tf.constant(number)) ** 2)
                    gradient = first.gradient(loss, x)
                found.append(float(tf.reduce_sum(second.gradient(gradient, x))))
            return found

    np.testing.assert_allclose(gradients(HPU), gradients(CPU), rtol=1e-5)


def test_the_gradient_of_a_loop_with_a_lookup_in_a_session() -> None:
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        turns, x = tf.compat.v1.placeholder(tf.int32, []), tf.compat.v1.placeholder(tf.float32, [None, 3])
        table = np.ones([3, 3], np.float32)
        _, state = tf.compat.v1.while_loop(
            lambda i, _: i < turns, lambda i, state: (i + 1, tf.sin(state) * tf.gather(table, i)), [0, x]
        )
        gradient = session.run(tf.gradients(state, x)[0], {turns: 2, x: np.ones([2, 3])})
    np.testing.assert_allclose(gradient, np.full([2, 3], np.cos(np.sin(1)) * np.cos(1)), rtol=1e-5)
