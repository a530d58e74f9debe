"""Arguments that shape functions accept but CPU kernels reject, and unusual arguments that CPU kernels accept."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.compiler.tf2xla.ops import gen_xla_ops

from tests.ops.outcomes import EAGER_CALLS, differences, outcome
from tests.support.compare import CPU, HPU

pytestmark = pytest.mark.usefixtures("hpu")
raw = tf.raw_ops
Program = Callable[[tf.Tensor], Any]


def others(program: Program, operand: Any) -> list[Any]:
    """Returns HPU outcomes that differ from the CPU's error class: eager, in a tf.function, with jit_compile=True."""
    constant = tf.constant(operand)
    expected = outcome(functools.partial(program, constant), CPU)
    calls: list[Program] = [program] * EAGER_CALLS
    for compiled in (False, True):
        signature = [tf.TensorSpec(constant.shape, constant.dtype)]
        calls.append(tf.function(program, input_signature=signature, jit_compile=compiled))
    found = [outcome(functools.partial(call, constant), HPU) for call in calls]
    return [one for one in found if one is not expected]


def batch_norm(statistics: tf.Tensor) -> Any:
    numbers = tf.ones([2])
    return raw.FusedBatchNormV2(
        x=tf.ones([1, 2, 1, 2], tf.float16), scale=numbers, offset=numbers, mean=statistics, variance=tf.zeros([0])
    )


REFUSED: dict[str, tuple[Program, Any]] = {
    "num_bits": (lambda x: raw.FakeQuantWithMinMaxArgs(inputs=x, num_bits=1), np.ones(2, np.float32)),
    "range": (lambda x: raw.FakeQuantWithMinMaxArgs(inputs=x, min=0.5, max=0.1), np.ones(2, np.float32)),
    "range of a gradient": (
        lambda x: raw.FakeQuantWithMinMaxArgsGradient(gradients=x, inputs=x, min=0.5, max=0.1),
        np.ones(2, np.float32),
    ),
    "shapes of a gradient": (
        lambda x: raw.FakeQuantWithMinMaxArgsGradient(gradients=tf.ones([1]), inputs=x),
        np.float32(1),
    ),
    "statistics": (batch_norm, np.ones([1, 0], np.float32)),
    "nothing to gather from": (
        lambda x: raw.GatherNd(params=x, indices=tf.zeros([2, 0], tf.int64)),
        np.ones([2, 2, 0, 3], np.float32),
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    program, operand = REFUSED[name]
    assert outcome(lambda: program(tf.constant(operand)), CPU) is tf.errors.InvalidArgumentError
    assert not others(program, operand)


@pytest.mark.parametrize("op", ["Gather", "GatherV2"])
def test_indices_of_slices_without_elements(op: str) -> None:
    """The CPU's kernels check indices only for slices with elements."""
    indices = tf.Variable([1, 0, 0])
    axis = {"axis": 0} if op == "GatherV2" else {}

    def gather(*shape: int) -> Callable[[], Any]:
        return lambda: getattr(raw, op)(params=tf.ones(shape), indices=indices.value(), **axis)

    assert not differences(gather(1, 3, 0))
    assert outcome(tf.function(gather(1, 3, 2)), HPU) is tf.errors.InvalidArgumentError


def boxes_forward(index: tf.Tensor) -> Any:
    return raw.CropAndResize(image=tf.ones([2, 4, 4, 1]), boxes=tf.ones([3, 4]), box_ind=index, crop_size=[2, 2])


def boxes_gradient(index: tf.Tensor) -> Any:
    return raw.CropAndResizeGradBoxes(
        grads=tf.ones([3, 2, 2, 1]), image=tf.ones([2, 4, 4, 1]), boxes=tf.ones([3, 4]), box_ind=index
    )


def image_gradient(index: tf.Tensor) -> Any:
    return raw.CropAndResizeGradImage(
        grads=tf.ones([3, 2, 2, 1]), boxes=tf.ones([3, 4]), box_ind=index, image_size=[2, 4, 4, 1], T=tf.float32
    )


@pytest.mark.parametrize("program", [boxes_forward, boxes_gradient, image_gradient])
@pytest.mark.parametrize("index", [-1, 2])
def test_boxes_in_no_image(program: Program, index: int) -> None:
    indices = tf.Variable([0, index, 1])
    for run in (lambda: program(indices.value()), tf.function(lambda: program(indices.value()))):
        for _ in range(EAGER_CALLS):
            assert outcome(run, HPU) is tf.errors.OutOfRangeError


def test_gradient_of_the_normalization_of_an_empty_batch() -> None:
    """The gradients of scale and offset are 0."""
    scale = tf.Variable(tf.ones([2]))

    def gradient() -> Any:
        with tf.GradientTape() as tape:
            numbers = scale.value()
            tape.watch(numbers)
            y = tf.compat.v1.nn.fused_batch_norm(tf.zeros([0, 3, 1, 2]), numbers, tf.ones([2]))[0]
        return tape.gradient(y, numbers)

    assert not differences(gradient)
    np.testing.assert_array_equal(outcome(tf.function(gradient), HPU), [0, 0])


@pytest.mark.parametrize("dilation", [0, -1])
@pytest.mark.parametrize(
    ("op", "rank"),
    [
        ("Conv2DBackpropFilter", 4),
        ("Conv2DBackpropInput", 4),
        ("Conv3DBackpropFilterV2", 5),
        ("Conv3DBackpropInputV2", 5),
    ],
)
def test_dilations_that_are_not_positive(op: str, rank: int, dilation: int) -> None:
    images, filters = [2, *[4] * (rank - 2), 2], [*[1] * (rank - 2), 2, 2]
    attributes = {"strides": [1] * rank, "padding": "SAME", "dilations": [1, dilation, *[1] * (rank - 2)]}
    gradient = tf.Variable(tf.ones(images))

    def function() -> tf.Tensor:
        if "Filter" in op:
            operands = {"input": tf.ones(images), "filter_sizes": filters}
        else:
            operands = {"input_sizes": images, "filter": tf.ones(filters)}
        return getattr(raw, op)(out_backprop=gradient.value(), **operands, **attributes)

    for run in (function, tf.function(function), tf.function(function, jit_compile=True)):
        for _ in range(EAGER_CALLS):
            assert outcome(run, HPU) is tf.errors.InvalidArgumentError


def test_ranks_that_would_crash_lowerings() -> None:
    """tf2xla's lowerings and TensorFlow's shape functions read operands of a fixed rank."""
    row, scalar = tf.ones([3]), tf.constant(1)
    calls = [
        lambda: gen_xla_ops.xla_dynamic_slice(row, scalar, tf.constant([2])),
        lambda: gen_xla_ops.xla_dequantize(tf.constant(1, tf.uint32), 0.0, 1.0, "MIN_COMBINED", False),
    ]
    for call in calls:
        for run in (call, tf.function(call, jit_compile=True)):
            assert outcome(run, HPU) in (tf.errors.InvalidArgumentError, ValueError)
