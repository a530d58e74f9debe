"""Copy, CopyHost and DebugGradientIdentity, which TensorFlow's debugger inserts into graphs."""

from __future__ import annotations

import functools

import pytest
import tensorflow as tf

from tests.ops.outcomes import differences

pytestmark = pytest.mark.usefixtures("hpu")
raw = tf.raw_ops


def copy_of(op: str, number: tf.Variable) -> tf.Tensor:
    return getattr(raw, op)(input=number.value())


@pytest.mark.parametrize("op", ["Copy", "CopyHost", "DebugGradientIdentity"])
def test_copies(op: str) -> None:
    for dtype in (tf.float32, tf.int64, tf.bool):
        number = tf.Variable(tf.cast([1, 0, 3], dtype))
        assert not differences(functools.partial(copy_of, op, number))
