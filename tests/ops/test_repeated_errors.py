"""Errors of the CPU also occur on the HPU: in each call of an eager op, compiled or not, and in a graph."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.ops.raising_programs import SHAPES, VALUES, Arrays, Raising
from tests.support.compare import CPU, HPU, assert_close

pytestmark = pytest.mark.usefixtures("hpu")
# More calls than an eager op needs to be compiled.
CALLS = 4


def constants(arrays: Arrays) -> list[tf.Tensor]:
    return [tf.constant(array) for array in arrays]


def read(result: Any) -> Any:
    return tf.nest.map_structure(lambda tensor: tensor.numpy(), result)


def error_of(case: Raising, device: str) -> tuple[type[Exception], str]:
    """Returns the error's class, and its text without names of nodes and devices."""
    with tf.device(device), pytest.raises(tf.errors.OpError) as raised:
        read(case.program(*constants(case.bad)))
    return type(raised.value), re.sub(r"\{\{[^}]*\}\} ?| \[Op:.*|\n\t \[\[.*", "", raised.value.message)


@pytest.mark.parametrize("name", VALUES)
def test_values_of_a_compiled_op(name: str) -> None:
    case = VALUES[name]
    with tf.device(CPU):
        expected = case.program(*constants(case.good))
    with tf.device(HPU):
        for _ in range(CALLS):
            assert_close(case.program(*constants(case.good)), expected)
    error = error_of(case, CPU)
    assert case.text in error[1]
    for _ in range(2):
        assert error_of(case, HPU) == error
    with tf.device(HPU):
        assert_close(case.program(*constants(case.good)), expected)


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_of_an_eager_op(name: str) -> None:
    error = error_of(SHAPES[name], CPU)
    for _ in range(CALLS):
        assert error_of(SHAPES[name], HPU) == error


@pytest.mark.parametrize("host", [False, True], ids=["computed", "given"])
@pytest.mark.parametrize("name", VALUES)
def test_values_in_a_graph(name: str, host: bool) -> None:
    case = VALUES[name]
    given = constants(case.good)

    def run(*arguments: tf.Tensor) -> Any:
        # Adds terms that no pass folds, so that a cluster computes the arguments.
        return case.program(*[a if host else a + tf.cast(tf.zeros([]), a.dtype) * a for a in arguments])

    with tf.device(CPU):
        expected = tf.function(run)(*given)
        with pytest.raises(tf.errors.OpError) as on_cpu:
            tf.function(run)(*constants(case.bad))
    with tf.device(HPU):
        function = tf.function(run)
        assert_close(function(*given), expected)
        for _ in range(2):
            with pytest.raises(type(on_cpu.value), match=re.escape(case.text)):
                read(function(*constants(case.bad)))
        assert_close(function(*given), expected)


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "graph"])
@pytest.mark.parametrize("conjugate", [False, True])
@pytest.mark.parametrize("constant", [False, True])
def test_transposes_by_negative_axes(constant: bool, conjugate: bool, compiled: bool) -> None:
    """The CPU kernels end the process."""
    x = tf.ones([4, 3], tf.complex64)

    def transposed(axes: Any) -> tf.Tensor:
        return tf.transpose(x, [-1, 0] if constant else axes, conjugate=conjugate)

    with tf.device(HPU):
        for _ in range(CALLS):
            with pytest.raises(tf.errors.InvalidArgumentError):
                read((tf.function(transposed) if compiled else transposed)(tf.constant([-1, 0])))


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "graph"])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_gradients_of_crops_with_boxes_that_are_not_finite(bad: float, compiled: bool) -> None:
    """The CPU kernels read outside the image, and may end the process."""
    crops, boxes = tf.ones([1, 2, 2, 1]), tf.constant([[0, 0, bad, 1]], tf.float32)
    gradients = [
        lambda boxes: tf.raw_ops.CropAndResizeGradImage(
            grads=crops, boxes=boxes, box_ind=[0], image_size=[1, 3, 3, 1], T=tf.float32
        ),
        lambda boxes: tf.raw_ops.CropAndResizeGradBoxes(
            grads=crops, image=tf.ones([1, 3, 3, 1]), boxes=boxes, box_ind=[0]
        ),
    ]
    for gradient in gradients:
        with tf.device(HPU), pytest.raises(tf.errors.InvalidArgumentError, match="element that is not finite"):
            read((tf.function(gradient) if compiled else gradient)(boxes))


def test_bands_of_matrices_of_unknown_size() -> None:
    @tf.function(input_signature=[tf.TensorSpec([None, None]), tf.TensorSpec([], tf.int64)])
    def band(matrix: tf.Tensor, upper: tf.Tensor) -> tf.Tensor:
        return tf.linalg.band_part(matrix, tf.constant(-1, tf.int64), upper)

    with tf.device(HPU):
        assert_close(band(tf.ones([2, 3]), tf.constant(1, tf.int64)), tf.constant([[1.0, 1, 0], [1, 1, 1]]))
        assert_close(band(tf.ones([2, 3]), tf.constant(3, tf.int64)), tf.ones([2, 3]))
        with pytest.raises(tf.errors.InvalidArgumentError, match="must be negative or not greater"):
            read(band(tf.ones([2, 3]), tf.constant(4, tf.int64)))


def test_values_in_a_loop_that_is_lowered() -> None:
    @tf.function
    def divide(divisors: tf.Tensor) -> tf.Tensor:
        total = tf.constant(0, tf.int64)
        for divisor in divisors:
            tf.debugging.assert_less(divisor, tf.constant(99, tf.int64))
            total += 100 // divisor
        return total

    with tf.device(HPU):
        assert divide(tf.constant([1, 2], tf.int64)).numpy() == 150
        with pytest.raises(tf.errors.InvalidArgumentError, match="Integer division by zero"):
            divide(tf.constant([1, 0], tf.int64)).numpy()


def test_a_step_without_doubtful_values_has_no_checks() -> None:
    from habana_frameworks.tensorflow.explanation import passes

    @tf.function
    def step(x: tf.Tensor) -> tf.Tensor:
        return x // 3 + x % 7 + x**2

    with tf.device(HPU):
        step(tf.constant([1, 2], tf.int64))
    rewrites = passes.recent_reports()[-1].rewrites
    assert not [rewrite for rewrite in rewrites if rewrite.pass_name == "checks"]


def test_the_least_number_by_minus_one() -> None:
    """The CPU's kernels avoid the processor's exception for overflow."""
    for dtype in (np.int32, np.int64):
        x, y = np.array([np.iinfo(dtype).min, 7], dtype), np.array([-1, 2], dtype)
        for name in ("FloorDiv", "FloorMod", "TruncateDiv", "TruncateMod", "Div", "Mod"):
            operation = getattr(tf.raw_ops, name)
            with tf.device(CPU):
                expected = operation(x=tf.constant(x), y=tf.constant(y))
            with tf.device(HPU):
                for _ in range(CALLS):
                    assert_close(operation(x=tf.constant(x), y=tf.constant(y)), expected, context=name)
                graph = tf.function(lambda a, b, operation=operation: operation(x=a + 0 * b, y=b))
                assert_close(graph(tf.constant(x), tf.constant(y)), expected, context=name)


def test_negative_values_of_a_matrix_to_count() -> None:
    """TensorFlow's CPU kernel would write out of bounds."""
    for _ in range(CALLS):
        with tf.device(HPU), pytest.raises(tf.errors.InvalidArgumentError, match="must be non-negative"):
            tf.raw_ops.DenseBincount(
                input=tf.constant([[1, 1], [0, -1]], tf.int64), size=4, weights=tf.constant([], tf.int32)
            )
