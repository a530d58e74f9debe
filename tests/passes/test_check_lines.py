"""Errors of the checks that passes add: they name the program's op and line, like the errors of the op itself."""

from __future__ import annotations

import pathlib
from collections.abc import Callable

import pytest
import tensorflow as tf

pytestmark = pytest.mark.usefixtures("hpu")


def take_row(index: tf.Tensor) -> tf.Tensor:
    return tf.gather(tf.range(10.0), index)  # fails: GatherV2


@tf.function
def _divided(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
    return x // y  # fails: floordiv


def divide_in_a_called_function(number: tf.Tensor) -> tf.Tensor:
    return _divided(tf.constant(3), number - 11) + 1


def draw_from_a_range(limit: tf.Tensor) -> tf.Tensor:
    return tf.random.uniform([2], 12, limit, tf.int32)  # fails: random_uniform


@pytest.mark.parametrize(
    ("function", "node", "text"),
    [
        (take_row, "GatherV2", "indices = 11 is not in [0, 10)"),
        (divide_in_a_called_function, "floordiv", "Integer division by zero"),
        (draw_from_a_range, "random_uniform", "Need minval < maxval, got 12 >= 11"),
    ],
)
def test_errors_of_checks_name_the_line(function: Callable[[tf.Tensor], tf.Tensor], node: str, text: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError) as raised:
        tf.function(function)(tf.constant(11)).numpy()
    message = str(raised.value)
    lines = pathlib.Path(__file__).read_text(encoding="utf-8").splitlines()
    (line,) = [number for number, source in enumerate(lines, 1) if source.endswith(f"# fails: {node}")]
    assert text in message
    assert f"Detected at node {node} defined at" in message
    assert f'File "{__file__}", line {line}, in ' in message
    assert "{{node " + node + "}}" in message and "/habana_check" not in message.partition("root error")[0]
    assert "<stack traces unavailable>" not in message
