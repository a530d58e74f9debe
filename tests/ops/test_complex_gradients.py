"""Gradients of complex functions equal the CPU's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.ops.outcomes import differences

pytestmark = pytest.mark.usefixtures("hpu")

OPS = ("InvGrad", "ReciprocalGrad", "RsqrtGrad", "SigmoidGrad", "SqrtGrad", "TanhGrad")
FUNCTIONS = ("reciprocal", "sqrt", "rsqrt", "tanh", "sigmoid", "exp", "log", "square", "sinh", "atan", "conj", "real")


def numbers(dtype: Any, seed: int) -> Any:
    dice = np.random.default_rng(seed)
    return (dice.standard_normal(7) + 1j * dice.standard_normal(7)).astype(dtype)


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_gradient_ops(op: str, dtype: Any) -> None:
    y, dy = numbers(dtype, 1), numbers(dtype, 2)
    assert not differences(lambda: getattr(tf.raw_ops, op)(y=y, dy=dy))


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_gradient_ops_of_real_numbers(op: str, dtype: Any) -> None:
    y, dy = (np.abs(numbers(np.complex128, seed)).astype(dtype) for seed in (1, 2))
    assert not differences(lambda: getattr(tf.raw_ops, op)(y=y, dy=dy))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_gradients(function: str) -> None:
    x, dy = numbers(np.complex64, 3), numbers(np.complex64, 4)

    def gradient() -> tf.Tensor:
        value = tf.constant(x)
        with tf.GradientTape() as tape:
            tape.watch(value)
            result = getattr(tf.math, function)(value)
        return tape.gradient(result, value, dy if result.dtype.is_complex else dy.real)

    assert not differences(gradient)
