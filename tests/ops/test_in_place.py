"""Ops whose CPU kernels update a buffer in place that other ops share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.support.compare import CPU, HPU, assert_same_on_hpu

pytestmark = pytest.mark.usefixtures("hpu")

v1 = tf.compat.v1
TYPES = [tf.float32, tf.float64, tf.bfloat16, tf.int32, tf.int64, tf.uint8, tf.complex64, tf.bool, tf.string]


def _parts(dtype: tf.DType, count: int, shape: tuple[int, ...] = (2, 3)) -> list[Any]:
    numbers = [np.arange(i, i + int(np.prod(shape))).reshape(shape) for i in range(count)]
    if dtype == tf.string:
        return [part.astype("S2").astype(object) for part in numbers]
    return [part.astype(dtype.as_numpy_dtype) for part in numbers]


def _in_session(build: Callable[..., Any], parts: list[Any], device: str) -> Any:
    config = v1.ConfigProto(allow_soft_placement=True)
    with tf.Graph().as_default(), v1.Session(config=config) as session, tf.device(device):
        fed = [v1.placeholder(part.dtype if part.dtype != object else tf.string, part.shape) for part in parts]
        return session.run(build(*fed), dict(zip(fed, parts)))


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("dtype", TYPES, ids=lambda dtype: str(dtype.name))
def test_parallel_stack(dtype: tf.DType, count: int) -> None:
    parts = _parts(dtype, count)
    stack = lambda *parts: tf.parallel_stack(parts)  # noqa: E731
    for _ in range(2):
        with tf.device(HPU):
            np.testing.assert_array_equal(tf.function(stack)(*parts).numpy(), np.stack(parts))
    np.testing.assert_array_equal(_in_session(stack, parts, HPU), np.stack(parts))


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("dtype", [d for d in TYPES if d not in (tf.bool, tf.string)], ids=lambda d: str(d.name))
def test_accumulate_n(dtype: tf.DType, count: int) -> None:
    parts = _parts(dtype, count)
    add = lambda *parts: tf.math.accumulate_n(parts)  # noqa: E731
    with tf.device(HPU):
        np.testing.assert_array_equal(tf.function(add)(*parts).numpy(), sum(parts[1:], parts[0]))
    np.testing.assert_array_equal(_in_session(add, parts, HPU), sum(parts[1:], parts[0]))


def test_inside_control_flow() -> None:
    def stacked(x: tf.Tensor, y: tf.Tensor) -> Any:
        branch = tf.cond(tf.reduce_sum(x) > 0, lambda: tf.parallel_stack([x, y]), lambda: tf.parallel_stack([y, x]))
        loop = tf.while_loop(lambda i, _: i < 3, lambda i, s: (i + 1, tf.math.accumulate_n([s, x, y])), (0, x))
        text = tf.cond(tf.reduce_sum(x) > 0, lambda: tf.parallel_stack(["a", "b"]), lambda: tf.constant(["c", "d"]))
        return branch, loop, text

    x, y = (part.astype(np.float32) for part in _parts(tf.float32, 2))
    with tf.device(HPU):
        branch, (turns, total), text = tf.function(stacked)(x, y)
    np.testing.assert_array_equal(branch.numpy(), np.stack([x, y]))
    np.testing.assert_array_equal(total.numpy(), 4 * x + 3 * y)
    assert turns.numpy() == 3 and text.numpy().tolist() == [b"a", b"b"]


@pytest.mark.parametrize("op", [tf.raw_ops.InplaceAdd, tf.raw_ops.InplaceSub, tf.raw_ops.InplaceUpdate])
@pytest.mark.parametrize("dtype", [tf.float32, tf.int32, tf.int64], ids=lambda dtype: str(dtype.name))
def test_rows(op: Callable[..., Any], dtype: tf.DType) -> None:
    x, v = _parts(dtype, 2, (3, 2))
    update = lambda x, v: op(x=x + tf.ones_like(x), i=tf.constant([0, 2]), v=v[:2])  # noqa: E731
    for _ in range(3):
        assert_same_on_hpu(update, x, v)
    assert_same_on_hpu(tf.function(update), x, v)
    np.testing.assert_array_equal(_in_session(update, [x, v], HPU), _in_session(update, [x, v], CPU))
