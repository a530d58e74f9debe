"""Empty results: ops raise the CPU's errors, and no others, although wrong values are used by no element."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.ops.empty_programs import ARITHMETIC, INDEXING, VALUES, Empty
from tests.support.compare import CPU, HPU

pytestmark = pytest.mark.usefixtures("hpu")

CASES = ARITHMETIC | INDEXING | VALUES
Program = Callable[..., Any]
CALLS = 4


def computed(x: tf.Tensor) -> tf.Tensor:
    """Equals x, but no pass folds it, so that a cluster computes it."""
    return x + tf.cast(tf.zeros([]), x.dtype) * x


def update(count: tf.Variable, results: Any) -> None:
    with tf.control_dependencies(tf.nest.flatten(results)):
        count.assign_add(1.0)


def given(program: Program, count: tf.Variable) -> Program:
    return program


def computed_arguments(program: Program, count: tf.Variable) -> Program:
    return lambda *arguments: program(*[computed(argument) for argument in arguments])


def with_update(program: Program, count: tf.Variable) -> Program:
    def run(*arguments: tf.Tensor) -> Any:
        results = program(*[computed(argument) for argument in arguments])
        update(count, results)
        return results

    return run


def in_a_loop(program: Program, count: tf.Variable) -> Program:
    def run(*arguments: tf.Tensor) -> Any:
        for i in tf.range(2):
            tf.debugging.assert_less(i, 99)  # so that the loop is lowered
            update(count, program(*[computed(argument) for argument in arguments]))
        return count.read_value()

    return run


def in_a_branch(program: Program, count: tf.Variable) -> Program:
    def run(*arguments: tf.Tensor) -> Any:
        if count > 0.0:
            tf.debugging.assert_less(count, 99.0)
            update(count, program(*[computed(argument) for argument in arguments]))
        else:
            count.assign_sub(1.0)
        return count.read_value()

    return run


QUICK = (given, with_update)
MODES = (*QUICK, computed_arguments, in_a_loop, in_a_branch)


def outcome(run: Callable[[], Any]) -> Any:
    """Returns the results as arrays, or the class of the error."""
    try:
        return tf.nest.map_structure(lambda tensor: tensor.numpy(), run())
    except (tf.errors.OpError, ValueError) as error:
        return type(error)


def outcomes(case: Empty, device: str, quick: bool) -> Iterator[tuple[str, Any]]:
    """Yields the mode and the outcome of eager calls and of functions with unknown and known shapes."""
    with tf.device(device):
        variable = () if case.variable is None else (tf.Variable(case.variable),)
        arguments = [tf.constant(argument) for argument in case.arguments]

        def program(*tensors: tf.Tensor) -> Any:
            return case.program(*variable, *tensors)

        for call in range(CALLS):
            yield f"eager call {call}", outcome(functools.partial(program, *arguments))
        unknown = [tf.TensorSpec([None] * argument.ndim, argument.dtype) for argument in case.arguments]
        for mode in QUICK if quick else MODES:
            for name, signature in [("unknown", unknown)] if quick else [("unknown", unknown), ("known", None)]:
                count = tf.Variable(1.0)
                step = tf.function(mode(program, count), input_signature=signature)
                yield f"{mode.__name__}, {name} shapes", outcome(functools.partial(step, *arguments))
                yield f"variable of {mode.__name__}, {name} shapes", count.numpy()


def same(one: Any, other: Any) -> bool:
    if isinstance(one, type) or isinstance(other, type):
        return one is other
    pairs = zip(tf.nest.flatten(one), tf.nest.flatten(other))
    return all(a.dtype == b.dtype and np.array_equal(a, b) for a, b in pairs)


def assert_same_outcomes(name: str, quick: bool) -> None:
    expected, actual = (dict(outcomes(CASES[name], device, quick)) for device in (CPU, HPU))
    wrong = {mode: value for mode, value in actual.items() if not same(value, expected[mode])}
    assert not wrong, {mode: f"{value} instead of {expected[mode]}" for mode, value in wrong.items()}


@pytest.mark.parametrize("name", ARITHMETIC)
def test_divisions_and_powers(name: str) -> None:
    assert_same_outcomes(name, quick=True)


@pytest.mark.parametrize("name", INDEXING | VALUES)
def test_outcomes(name: str) -> None:
    assert_same_outcomes(name, quick=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_outcomes_in_all_modes(name: str) -> None:
    assert_same_outcomes(name, quick=False)


def test_a_mean_of_no_elements() -> None:
    """The gradient of a mean divides by the number of elements. Mask R-CNN's losses are such means."""
    results = []
    for device in (CPU, HPU):
        with tf.device(device):
            w = tf.Variable([1.0, 2.0])

            @tf.function(input_signature=[tf.TensorSpec([None])] * 2)
            def step(x: tf.Tensor, y: tf.Tensor, w: tf.Variable = w) -> tf.Tensor:
                with tf.GradientTape() as tape:
                    chosen = tf.boolean_mask(x * tf.reduce_sum(w) - y, y > 0.0)
                    loss = tf.cond(tf.size(chosen) > 0, lambda: tf.abs(chosen), lambda: tf.zeros([1]))
                    loss = tf.reduce_mean(loss)
                w.assign_sub(0.1 * tape.gradient(loss, w))
                return loss

            batches = ([1.0, 0.0, 1.0], [0.0, 0.0])
            results.append([*(step(tf.ones([len(y)]), tf.constant(y)).numpy() for y in batches), *w.numpy()])
    np.testing.assert_allclose(results[1], results[0], rtol=1e-6)
