"""Patterns in function bodies of loops, branches and calls that are not inlined."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.support.clusters import assert_launched, pattern_rewrites
from tests.support.compare import HPU, assert_close

pytestmark = pytest.mark.usefixtures("hpu")

X = np.random.default_rng(3).standard_normal((4, 16), dtype=np.float32)


def loop(x: tf.Tensor) -> tf.Tensor:
    return tf.while_loop(lambda i, _: i < 3, lambda i, y: (i + 1, tf.nn.gelu(y) + x), (0, x), maximum_iterations=3)[1]


def branch(x: tf.Tensor) -> tf.Tensor:
    return tf.cond(tf.reduce_sum(x) > 0, lambda: tf.nn.gelu(x), lambda: tf.nn.gelu(x, approximate=True))


def loop_in_branch(x: tf.Tensor) -> tf.Tensor:
    return tf.cond(tf.reduce_sum(x) > 0, lambda: loop(x), lambda: tf.nn.softmax(x))


def loop_with_a_value_used(x: tf.Tensor) -> tf.Tensor:
    def body(i: tf.Tensor, y: tf.Tensor, _: tf.Tensor) -> Any:
        erf = tf.math.erf(y / np.sqrt(2.0))
        return i + 1, 0.5 * y * (1.0 + erf), erf

    return tf.while_loop(lambda i, *_: i < 3, body, (0, x, x), maximum_iterations=3)[1:]


def run(function: Callable[[tf.Tensor], Any], gradients: bool) -> Any:
    @tf.function
    def function_step(x: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        return (y, tape.gradient(y, x)) if gradients else y

    with tf.device(HPU):
        return function_step(tf.constant(X))


@pytest.mark.parametrize("gradients", [False, True], ids=["forward", "train"])
@pytest.mark.parametrize(
    ("function", "patterns"),
    [
        (loop, ["gelu_erf"]),
        (branch, ["gelu_erf", "gelu_tanh"]),
        (loop_in_branch, ["gelu_erf"]),
        (loop_with_a_value_used, []),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_groups_in_functions(
    function: Callable[[tf.Tensor], Any], patterns: list[str], gradients: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TF_ENABLE_PATTERN_MATCHER", "0")
    plain = run(function, gradients)
    assert pattern_rewrites("function_step") == []
    monkeypatch.setenv("TF_ENABLE_PATTERN_MATCHER", "1")
    got = run(function, gradients)
    rewrites = pattern_rewrites("function_step")
    if not gradients:  # a gradient function uses values of the forward function, which must not be hidden
        assert sorted(rewrite.what.split(":")[0] for rewrite in rewrites) == patterns
        assert all("/" in rewrite.node for rewrite in rewrites)
    assert_close(got, plain)
    assert_launched()


def test_a_function_with_other_callers_is_not_changed() -> None:
    """The CPU runs TensorFlow's original body, while the HPU runs a rewritten copy."""
    traced = tf.function(loop).get_concrete_function(tf.TensorSpec(X.shape))
    with tf.device(HPU):
        on_hpu = tf.function(traced)(tf.constant(X))
    with tf.device("/CPU:0"):
        on_cpu = tf.function(traced)(tf.constant(X))
    assert_close(on_hpu, on_cpu)
