"""Gradient ops that are functions of the op's result: operands of equal element count get the result's shape."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.ops.outcomes import differences

pytestmark = pytest.mark.usefixtures("hpu")

OPS = ("InvGrad", "ReciprocalGrad", "RsqrtGrad", "SigmoidGrad", "SqrtGrad", "TanhGrad")
SHAPES = (((9, 4), (1, 9, 4)), ((1, 4, 3), (4, 3)), ((2, 6), (3, 4)), ((3, 2), (3, 1)), ((5, 2), (1, 2)), ((4,), ()))


def numbers(shape: tuple[int, ...], dtype: Any) -> tf.Tensor:
    return tf.constant((1 + np.arange(np.prod(shape)).reshape(shape)).astype(dtype))


@pytest.mark.parametrize(("of_y", "of_dy"), SHAPES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64])
@pytest.mark.parametrize("op", OPS)
def test_shapes(op: str, dtype: Any, of_y: tuple[int, ...], of_dy: tuple[int, ...]) -> None:
    y, dy = numbers(of_y, dtype), numbers(of_dy, dtype)
    assert not differences(lambda: getattr(tf.raw_ops, op)(y=y, dy=dy))
