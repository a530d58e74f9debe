"""jit_compile=True removes assertions, and ops that only assertions use, as XLA:CPU does."""

from __future__ import annotations

from typing import Any

import pytest
import tensorflow as tf

from tests.support.compare import CPU, HPU, assert_close

pytestmark = pytest.mark.usefixtures("hpu")


def with_text(x: Any) -> Any:
    tf.raw_ops.Assert(condition=tf.reduce_all(x > 0), data=["not positive:", x])
    return x * 2


def in_a_branch(x: Any) -> Any:
    def positive() -> Any:
        tf.raw_ops.Assert(condition=tf.reduce_all(x > 0), data=["not positive:", x])
        return x + 1

    return tf.cond(tf.reduce_sum(x) > 0, positive, lambda: x)


def before_a_result(x: Any) -> Any:
    check = tf.raw_ops.Assert(condition=tf.reduce_all(x > 0), data=["not positive:", x])
    with tf.control_dependencies([check]):
        return x - 1


@pytest.mark.parametrize("numbers", [[1.0, 2.0, 3.0], [-1.0, 2.0, 3.0]])
@pytest.mark.parametrize("function", [with_text, in_a_branch, before_a_result])
def test_is_dropped_as_on_the_cpu(function: Any, numbers: list[float]) -> None:
    def run(device: str) -> Any:
        with tf.device(device):
            return tf.function(function, autograph=False, jit_compile=True)(tf.constant(numbers))

    assert_close(run(HPU), run(CPU))


def test_other_strings_are_refused() -> None:
    with tf.device(HPU), pytest.raises(tf.errors.InvalidArgumentError, match="strings"):
        tf.function(lambda x: tf.strings.as_string(x), jit_compile=True)(tf.constant([1.0]))
