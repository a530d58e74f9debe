"""Diagonal ops equal the CPU's. tf2xla implements some of them with the lowerings of others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.ops.outcomes import differences

pytestmark = pytest.mark.usefixtures("hpu")

raw = tf.raw_ops
SHAPES = ((3,), (2, 4), (2, 1, 1), (2, 0))
OPS: dict[str, Callable[[Any], Any]] = {
    "MatrixDiag": lambda x: raw.MatrixDiag(diagonal=x),
    "MatrixDiagPart": lambda x: raw.MatrixDiagPart(input=raw.MatrixDiag(diagonal=x)),
    "MatrixSetDiag": lambda x: raw.MatrixSetDiag(input=raw.MatrixDiag(diagonal=x), diagonal=x + x),
    "Diag": lambda x: raw.Diag(diagonal=x),
    "DiagPart": lambda x: raw.DiagPart(input=raw.Diag(diagonal=x)),
    "MatrixDiagV3": lambda x: raw.MatrixDiagV3(
        diagonal=x, k=1, num_rows=-1, num_cols=-1, padding_value=tf.constant(7, x.dtype)
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [np.float32, np.uint8, np.int64, np.complex64])
@pytest.mark.parametrize("op", OPS)
def test_diagonals(op: str, dtype: Any, shape: tuple[int, ...]) -> None:
    x = tf.constant((1 + np.arange(np.prod(shape)).reshape(shape)).astype(dtype))  # captured, so that it is not folded
    assert not differences(lambda: OPS[op](x))


@pytest.mark.parametrize("align", ["LEFT_LEFT", "LEFT_RIGHT", "RIGHT_LEFT", "RIGHT_RIGHT"])
@pytest.mark.parametrize("band", [(0, 0), (2, 2), (-1, -1), (-2, 3), (-1, 0), (1, 2)])
@pytest.mark.parametrize("shape", [(4, 4), (3, 5), (2, 5, 4)])
def test_bands_of_diagonals(shape: tuple[int, ...], band: tuple[int, int], align: str) -> None:
    x = tf.constant(1.0 + np.arange(np.prod(shape), dtype=np.float32).reshape(shape))
    padding = tf.constant(-7.0)
    assert not differences(lambda: raw.MatrixDiagPartV3(input=x, k=band, padding_value=padding, align=align))
    assert not differences(lambda: raw.MatrixDiagPartV2(input=x, k=band, padding_value=padding))


@pytest.mark.parametrize("band", [(5, 5), (-4, -4), (1, 0), (0, 1, 2)])
def test_bands_outside_the_matrix_raise(band: tuple[int, ...]) -> None:
    x = tf.reshape(tf.range(12.0), [3, 4])
    assert not differences(lambda: raw.MatrixDiagPartV3(input=x, k=band, padding_value=tf.constant(0.0)))


def test_diagonal_of_an_array_of_four_dimensions() -> None:
    x = tf.reshape(tf.range(36.0), [2, 3, 2, 3])
    assert not differences(lambda: raw.DiagPart(input=x))
