"""Lowerings that replace TensorFlow's MLIR-based ones build the same programs."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import tensorflow as tf

from tests.support.compare import CPU, HPU

pytestmark = pytest.mark.usefixtures("hpu")

FORMATS = {"NHWC": [2, 3, 4, 5], "NCHW": [2, 5, 3, 4], "NDHWC": [2, 3, 4, 2, 5]}


def instructions(function: Callable[..., object], arguments: Sequence[tf.Tensor], device: str) -> list[str]:
    """Returns the instructions of the function's program for a device, sorted and without names."""
    compiled = tf.function(function, jit_compile=True)
    with tf.device(device):
        text = compiled.experimental_get_compiler_ir(*arguments)(stage="hlo_no_metadata", device_name=device)
    lines = re.sub(r"%?[\w-]+\.\d+", "%", text.partition("\n")[2]).splitlines()
    return sorted(line.strip() for line in lines)


UNARY = [
    tf.abs,
    tf.exp,
    tf.math.expm1,
    tf.floor,
    tf.math.is_finite,
    tf.nn.relu,
    tf.nn.relu6,
    tf.sigmoid,
    tf.sign,
    tf.sqrt,
    tf.tanh,
]


@pytest.mark.parametrize("function", UNARY, ids=lambda function: function.__name__)
@pytest.mark.parametrize("dtype", [tf.float32, tf.bfloat16])
def test_unary_ops(function: Callable[..., object], dtype: tf.DType) -> None:

    def computed(x: tf.Tensor) -> tuple[object, tf.Tensor]:
        return function(x), x  # two results are a tuple on both devices

    arguments = [tf.zeros([2, 3], dtype)]
    assert instructions(computed, arguments, HPU) == instructions(computed, arguments, CPU)


def normalized(x: tf.Tensor, *statistics: tf.Tensor, **attributes: Any) -> Any:
    return tf.raw_ops.FusedBatchNormV3(
        x=x,
        scale=statistics[0],
        offset=statistics[1],
        mean=statistics[2],
        variance=statistics[3],
        epsilon=0.001,
        **attributes,
    )


def gradients(gradient: tf.Tensor, x: tf.Tensor, *statistics: tf.Tensor, **attributes: Any) -> Any:
    return tf.raw_ops.FusedBatchNormGradV3(
        y_backprop=gradient,
        x=x,
        scale=statistics[0],
        reserve_space_1=statistics[1],
        reserve_space_2=statistics[2],
        reserve_space_3=statistics[3],
        epsilon=0.001,
        **attributes,
    )


@pytest.mark.parametrize("data_format", FORMATS)
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("dtype", [tf.float32, tf.bfloat16, tf.float16])
def test_batch_normalisation(dtype: tf.DType, training: bool, data_format: str) -> None:
    x, statistics = tf.zeros(FORMATS[data_format], dtype), [tf.zeros([5])] * 4
    attributes = {"is_training": training, "data_format": data_format}

    def forward(*arguments: tf.Tensor) -> Any:
        return normalized(*arguments, **attributes)

    def backward(*arguments: tf.Tensor) -> Any:
        return gradients(*arguments, **attributes)

    assert instructions(forward, [x, *statistics], HPU) == instructions(forward, [x, *statistics], CPU)
    assert instructions(backward, [x, x, *statistics], HPU) == instructions(backward, [x, x, *statistics], CPU)


def test_moving_averages() -> None:
    arguments = [tf.zeros(FORMATS["NHWC"]), *[tf.zeros([5])] * 4]

    def averaged(*values: tf.Tensor) -> Any:
        return normalized(*values, is_training=True, exponential_avg_factor=0.9)

    assert instructions(averaged, arguments, HPU) == instructions(averaged, arguments, CPU)


def test_a_batch_of_one_value() -> None:
    arguments = [tf.zeros([1, 1, 1, 5]), *[tf.zeros([5])] * 4]

    def forward(*values: tf.Tensor) -> Any:
        return normalized(*values, is_training=True)

    assert instructions(forward, arguments, HPU) == instructions(forward, arguments, CPU)
