"""Loops that index with their counter: compiled whole if all indices are in range, else with the CPU's errors."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest
import tensorflow as tf

import habana_frameworks.tensorflow as htf
from tests.support.compare import CPU, HPU, assert_same_on_hpu

pytestmark = pytest.mark.usefixtures("hpu")

X = np.linspace(-1.0, 1.0, 28, dtype=np.float32).reshape(7, 4)
COMPARISONS: list[Callable[[object, object], tf.Tensor]] = [tf.less, tf.less_equal, tf.greater, tf.greater_equal]


def rows(
    first: int, end: int, step: int, compare: Callable[[object, object], tf.Tensor], shift: int = 0
) -> Callable[[tf.Tensor], tf.Tensor]:
    """Returns a loop over i, starting at `first`, while compare(i, end).

    The loop folds row i + shift of its argument.
    """

    def loop(x: tf.Tensor) -> tf.Tensor:
        def body(i: tf.Tensor, y: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            return i + step, 0.5 * y + tf.gather(x, i + shift)

        return tf.while_loop(lambda i, y: compare(i, end), body, (first, x[0]))[1]

    return loop


def rows_of_a_range(x: tf.Tensor) -> tf.Tensor:
    y = x[0]
    for i in tf.range(1, 7, 2):
        y = 0.5 * y + tf.gather(x, i)
    return y


def is_whole(function: Callable[[tf.Tensor], tf.Tensor], x: np.ndarray = X) -> bool:
    """Whether the function's loop is in a cluster. Runs the function."""
    with tf.device(HPU):
        argument = tf.constant(x)
        graph = htf.explain(tf.function(function), argument)
    (loop,) = (op for report in graph.graphs for op in report.ops if "While" in op.type)
    return loop.cluster is not None


@pytest.mark.parametrize(
    "loop",
    [
        rows(0, 7, 1, tf.less),
        rows(1, 7, 1, tf.less, shift=-1),
        rows(0, 6, 2, tf.less_equal),
        rows(6, 0, -1, tf.greater_equal),
        rows(6, -1, -3, tf.greater),
        lambda x: rows(0, tf.shape(x)[0], 1, tf.less)(x),
        lambda x: rows(tf.shape(x)[0] - 1, 0, -1, tf.greater_equal)(x),
        lambda x: rows(7, 0, 1, tf.less)(x),
        rows_of_a_range,
    ],
    ids=["up", "shifted", "by two", "down", "by three down", "to a size", "from a size", "no turn", "tf.range"],
)
def test_indices_that_are_counted_keep_a_loop_whole(loop: Callable[[tf.Tensor], tf.Tensor]) -> None:
    assert_same_on_hpu(tf.function(loop), X)
    assert is_whole(loop)


def test_loops_of_defuns() -> None:
    """Loops of Defuns such as tf.nn.ctc_loss, which calls the wrapped function by name."""
    from tensorflow.python.framework import function
    from tensorflow.python.ops import functional_ops

    def loop(x: tf.Tensor) -> tf.Tensor:
        def condition(i: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
            return i < 7

        def body(i: tf.Tensor, y: tf.Tensor) -> list[tf.Tensor]:
            return [i + 1, 0.5 * y + tf.gather(x, i)]

        types = (tf.int32, tf.float32)
        return functional_ops.While(
            [tf.constant(0), x[0]], function.Defun(*types)(condition), function.Defun(*types)(body)
        )[1]

    assert_same_on_hpu(tf.function(loop), X)
    assert is_whole(loop)


@pytest.mark.parametrize(
    "loop",
    [
        rows(0, 7, 1, tf.less_equal),
        rows(0, 7, 1, tf.less, shift=1),
        rows(-1, 7, 1, tf.less),
        rows(7, 0, -1, tf.greater_equal),
        rows(6, -1, -1, tf.greater_equal),
        lambda x: rows(0, tf.shape(x)[0] + 1, 1, tf.less)(x),
    ],
    ids=["up", "shifted", "from -1", "from the end", "to -1", "beyond a size"],
)
def test_indices_out_of_range_raise(loop: Callable[[tf.Tensor], tf.Tensor]) -> None:
    for device in (CPU, HPU):
        with tf.device(device), pytest.raises(tf.errors.InvalidArgumentError, match=r"not in \[0, 7\)"):
            tf.function(loop)(tf.constant(X)).numpy()


def test_values_changed_in_an_iteration_are_not_invariant() -> None:
    """A shrinking table, a data-dependent counter and a moving end: correct results in every execution mode."""

    def shrinking(x: tf.Tensor) -> tf.Tensor:
        def body(i: tf.Tensor, table: tf.Tensor, y: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
            return i + 1, table[:-1], y + tf.gather(table, i)

        shapes = (tf.TensorShape([]), tf.TensorShape([None, 4]), tf.TensorShape([4]))
        return tf.while_loop(lambda i, *_: i < 7, body, (0, x, x[0]), shape_invariants=shapes)[2]

    def jumping(x: tf.Tensor) -> tf.Tensor:
        def body(i: tf.Tensor, y: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            return i + tf.cast(tf.reduce_max(x) * 9, tf.int32), y + tf.gather(x, i - 2)

        return tf.while_loop(lambda i, y: i < 7, body, (0, x[0]))[1]

    def receding(x: tf.Tensor) -> tf.Tensor:
        def body(i: tf.Tensor, end: tf.Tensor, y: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
            return i + 1, tf.minimum(end + 1, 9), y + tf.gather(x, i)

        return tf.while_loop(lambda i, end, _: i < end, body, (0, 3, x[0]))[2]

    for loop in (shrinking, jumping, receding):
        for device in (CPU, HPU):
            with tf.device(device), pytest.raises(tf.errors.InvalidArgumentError, match=r"not in \[0, \d\)"):
                tf.function(loop)(tf.constant(X)).numpy()


@pytest.mark.parametrize("seed", range(24))
def test_random_loops(seed: int) -> None:
    """The result or error equals the CPU's for any loop bounds."""
    dice = random.Random(seed)
    compare = dice.choice(COMPARISONS)
    step = dice.choice([1, 1, 2, 3]) * (1 if compare in (tf.less, tf.less_equal) else -1)
    loop = rows(dice.randint(-1, 7), dice.randint(-1, 8), step, compare, dice.choice([-1, 0, 0, 0, 1]))
    try:
        with tf.device(CPU):
            expected = tf.function(loop)(tf.constant(X)).numpy()
    except tf.errors.InvalidArgumentError:
        with tf.device(HPU), pytest.raises(tf.errors.InvalidArgumentError, match=r"not in \[0, 7\)"):
            tf.function(loop)(tf.constant(X)).numpy()
        return
    with tf.device(HPU):
        np.testing.assert_allclose(tf.function(loop)(tf.constant(X)).numpy(), expected, rtol=1e-6)
