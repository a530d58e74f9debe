"""Random ops with seeds in functions with jit_compile=True, wherever the functions are called and the ops are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from habana_frameworks.tensorflow import statistics
from tests.support.compare import CPU, HPU, assert_close

pytestmark = pytest.mark.usefixtures("hpu")

ROWS = 6


# Loops run one iteration after the other. In parallel, their random ops would draw in any order, on the CPU as well.


def draw(x: Any) -> Any:
    return x + tf.random.normal([ROWS, 2], seed=3)


def draw_integers(x: Any) -> Any:
    return x + tf.cast(tf.random.uniform([ROWS, 2], 0, 9, tf.int32, seed=4), tf.float32)


def draw_by_kernel(x: Any) -> Any:
    """The random pass does not rewrite this op, so that its CPU kernel draws."""
    return x * tf.random.truncated_normal([ROWS, 2], seed=5)


def draw_in_shape(x: Any) -> Any:
    return tf.nn.dropout(x + 1.0, 0.5, seed=6) + tf.random.uniform(tf.shape(x), seed=7)


def shuffle(x: Any) -> Any:
    return tf.random.shuffle(x + tf.range(float(ROWS))[:, None], seed=8)


def draw_in_a_loop(x: Any) -> Any:
    for step in tf.range(4):
        tf.autograph.experimental.set_loop_options(parallel_iterations=1)
        x = x * 0.5 + draw(x) * tf.cast(step, tf.float32)
    return x


def draw_in_a_loop_with_an_array(x: Any) -> Any:
    rows = tf.TensorArray(tf.float32, 3)
    for step in tf.range(3):
        tf.autograph.experimental.set_loop_options(parallel_iterations=1)
        rows = rows.write(step, tf.reduce_sum(draw(x), 0))
    return rows.stack()


def draw_beside_a_loop(x: Any) -> Any:
    for _ in tf.range(3):
        tf.autograph.experimental.set_loop_options(parallel_iterations=1)
        x = tf.sin(x)
    return draw(x)


def draw_in_nested_loops(x: Any) -> Any:
    for _ in tf.range(2):
        tf.autograph.experimental.set_loop_options(parallel_iterations=1)
        for _ in tf.range(2):
            tf.autograph.experimental.set_loop_options(parallel_iterations=1)
            x = draw(x)
    return x


def draw_in_a_branch(x: Any) -> Any:
    if tf.reduce_sum(x) < 1000.0:
        return draw(x)
    return draw_integers(x)


def draw_in_a_case(x: Any) -> Any:
    index = tf.cast(tf.reduce_sum(x) > 1000.0, tf.int32) + 1
    return tf.switch_case(index, [lambda: x, lambda: draw(x), lambda: draw_by_kernel(x)])


def draw_in_a_call(x: Any) -> Any:
    inner = tf.function(draw)
    return inner(x) * 2.0 + inner(x)


FUNCTIONS = (
    draw,
    draw_integers,
    draw_by_kernel,
    draw_in_shape,
    shuffle,
    draw_in_a_loop,
    draw_in_a_loop_with_an_array,
    draw_beside_a_loop,
    draw_in_nested_loops,
    draw_in_a_branch,
    draw_in_a_case,
    draw_in_a_call,
)


def directly(function: Any, jit: bool | None) -> Any:
    return function


def in_a_step(function: Any, jit: bool | None) -> Any:
    return tf.function(lambda x: tf.sin(function(x * 2.0)) + 1.0)


def in_a_compiled_step(function: Any, jit: bool | None) -> Any:
    return tf.function(lambda x: tf.sin(function(x * 2.0)) + 1.0, jit_compile=jit)


def in_a_loop(function: Any, jit: bool | None) -> Any:
    def run(x: Any) -> Any:
        for _ in tf.range(2):
            tf.autograph.experimental.set_loop_options(parallel_iterations=1)
            x = function(x) * 0.5
        return x

    return tf.function(run)


def draws(device: str, function: Any, caller: Any, jit: bool | None) -> list[Any]:
    """Returns the results of three calls."""
    with tf.device(device):
        tf.random.set_seed(11)
        call = caller(tf.function(function, jit_compile=jit), jit)
        return [call(tf.ones([ROWS, 2])) for _ in range(3)]


def assert_draws_as_the_cpu(function: Any, caller: Any) -> None:
    """The numbers are those of the CPU without jit_compile, because XLA ignores seeds."""
    actual = draws(HPU, function, caller, jit=True)
    assert_close(actual, draws(CPU, function, caller, jit=None))
    assert statistics.get().fallbacks == 0
    assert not np.allclose(actual[0], actual[1]), "each call draws new numbers"


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
@pytest.mark.parametrize("caller", [directly, in_a_step], ids=lambda caller: caller.__name__)
def test_draws_as_the_cpu(function: Callable[..., Any], caller: Callable[..., Any]) -> None:
    assert_draws_as_the_cpu(function, caller)


@pytest.mark.parametrize("function", [draw, draw_in_a_loop], ids=lambda function: function.__name__)
@pytest.mark.parametrize("caller", [in_a_compiled_step, in_a_loop], ids=lambda caller: caller.__name__)
def test_draws_as_the_cpu_in_other_callers(function: Callable[..., Any], caller: Callable[..., Any]) -> None:
    assert_draws_as_the_cpu(function, caller)


def test_a_lambda_draws() -> None:
    noise = lambda x: x + tf.random.normal([ROWS, 2], seed=9)  # noqa: E731
    assert_draws_as_the_cpu(noise, directly)
    assert_draws_as_the_cpu(noise, in_a_step)


def test_a_gradient_uses_the_same_numbers() -> None:
    def gradients(device: str, jit: bool | None) -> Any:
        with tf.device(device):
            tf.random.set_seed(11)
            drop = tf.function(lambda x: tf.nn.dropout(x, 0.5, seed=2), jit_compile=jit)

            @tf.function
            def step(x: Any) -> Any:
                with tf.GradientTape() as tape:
                    tape.watch(x)
                    y = drop(x)
                return y, tape.gradient(y, x)

            return step(tf.ones([64]))

    actual = gradients(HPU, True)
    assert_close(actual, gradients(CPU, None))
    np.testing.assert_array_equal(actual[0], actual[1])


def test_stateless_ops_beside_them_have_the_numbers_of_xla() -> None:
    def run(x: Any) -> Any:
        return draw(x), tf.raw_ops.StatelessRandomUniform(shape=[3], seed=[1, 2])

    def uniform(device: str) -> Any:
        with tf.device(device):
            return tf.function(run, jit_compile=True)(tf.ones([ROWS, 2]))[1]

    assert_close(uniform(HPU), uniform(CPU))


def test_other_failures_are_errors() -> None:
    @tf.function(jit_compile=True)
    def run(x: Any) -> Any:
        for _ in tf.range(2):
            tf.autograph.experimental.set_loop_options(parallel_iterations=1)
            x = draw(x)
        return tf.strings.as_string(x)

    with tf.device(HPU), pytest.raises(tf.errors.InvalidArgumentError, match="AsString"):
        run(tf.ones([ROWS, 2]))
