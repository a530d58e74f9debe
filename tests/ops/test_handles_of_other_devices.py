"""Loops, branches and calls with HPU variables and variables that only the CPU supports."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import tensorflow as tf

pytestmark = pytest.mark.usefixtures("hpu")

Body = Callable[[tf.Tensor], tf.Tensor]


def branch(body: Body, x: tf.Tensor) -> Any:
    return tf.cond(tf.reduce_sum(x) > 0.0, lambda: body(x), lambda: x)


def case(body: Body, x: tf.Tensor) -> Any:
    return tf.switch_case(tf.cast(tf.reduce_sum(x), tf.int32) - 2, [lambda: body(x), lambda: x])


def loop(body: Body, x: tf.Tensor) -> Any:
    return tf.while_loop(lambda i, _: i < 1, lambda i, x: (i + 1, body(x)), (0, x))[1]


@pytest.mark.parametrize("construct", [branch, case, loop])
def test_a_variable_of_strings_is_passed_on(construct: Callable[[Body, tf.Tensor], Any]) -> None:
    text, number = tf.Variable("a"), tf.Variable([1.0, 2.0])

    @tf.function(autograph=False)
    def passed(x: tf.Tensor, text: tf.Variable, number: tf.Variable) -> tf.Tensor:
        number.assign_add([1.0, 1.0])
        text.assign(text + "b")
        return x * 2.0

    run = tf.function(lambda x: construct(lambda y: passed(y, text, number), x), autograph=False)
    assert run(tf.constant([1.0, 1.0])).numpy().tolist() == [2.0, 2.0]
    assert number.numpy().tolist() == [2.0, 3.0]
    assert text.numpy() == b"ab"
