"""Eager comparisons of int32 tensors run in host memory, so branching on a result does not wait for the device."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import tensorflow as tf

COMPARISONS = [tf.equal, tf.greater, tf.greater_equal, tf.less, tf.less_equal, tf.not_equal]


@pytest.mark.parametrize("compare", COMPARISONS, ids=lambda compare: compare.__name__)
def test_results_are_in_host_memory_and_equal_the_cpus(hpu: str, compare: Callable[..., tf.Tensor]) -> None:
    values = [[-3, 0, 7], [2, 2, 1 << 30]], [[-3, 1, 6], [2, -2, -(1 << 30)]]
    with tf.device(hpu):
        result = compare(tf.constant(values[0]), tf.constant(values[1]))
    with tf.device("/CPU:0"):
        expected = compare(tf.constant(values[0]), tf.constant(values[1]))
    assert "CPU" in result.backing_device
    assert result.numpy().tolist() == expected.numpy().tolist()


def test_other_types_are_compared_on_the_hpu(hpu: str) -> None:
    with tf.device(hpu):
        for dtype in (tf.float32, tf.int64):
            assert "HPU" in tf.less(tf.constant(1, dtype), tf.constant(2, dtype)).backing_device


def test_ops_of_the_hpu_take_the_result(hpu: str) -> None:
    with tf.device(hpu):
        chosen = tf.where(tf.less(tf.constant([1, 5]), 3), tf.constant([1.0, 2.0]), tf.constant([-1.0, -2.0]))
    assert "HPU" in chosen.backing_device
    assert chosen.numpy().tolist() == [1.0, -2.0]


def test_errors_are_the_cpus(hpu: str) -> None:
    with tf.device(hpu), pytest.raises(tf.errors.InvalidArgumentError, match=r"(?i)incompatible shapes"):
        tf.raw_ops.Less(x=tf.constant([1, 2]), y=tf.constant([1, 2, 3]))
