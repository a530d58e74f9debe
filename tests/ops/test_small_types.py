"""float8 and complex matrices, which few kernels support."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.support.compare import CPU, HPU, Tolerance, assert_close

pytestmark = pytest.mark.usefixtures("hpu")
DOUBLE = Tolerance(1e-10, 1e-10)
FLOAT8 = (tf.dtypes.experimental.float8_e5m2, tf.dtypes.experimental.float8_e4m3fn)
NUMBERS = np.array([1.5, -2.0, 0.0, 448.0, 1e9, -1e9, np.inf, np.nan, 3e-3, 1e-9], np.float32)
CALLS = 4


def there(x: tf.Tensor, dtype: tf.DType) -> tf.Tensor:
    return tf.cast(x * 1, dtype)


def back(x: tf.Tensor, dtype: tf.DType) -> tf.Tensor:
    return tf.cast(tf.cast(x * 1, dtype), tf.float32)


def constant(x: tf.Tensor, dtype: tf.DType) -> Any:
    folded = tf.identity(tf.cast(tf.constant(NUMBERS[:4]), dtype))
    return folded, tf.cast(folded, tf.float32) + x[0], tf.ensure_shape(tf.stop_gradient(folded), [4])


@pytest.mark.parametrize("graph", [False, True], ids=["eager", "graph"])
@pytest.mark.parametrize("dtype", FLOAT8, ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("program", [there, back, constant])
def test_float8(program: Callable[..., Any], dtype: tf.DType, graph: bool) -> None:
    def run() -> Any:
        function = tf.function(program) if graph else program
        return [function(tf.constant(NUMBERS), dtype) for _ in range(CALLS)]

    def read(results: Any) -> Any:
        return tf.nest.map_structure(lambda tensor: tensor.numpy().astype(np.float32), results)

    with tf.device(CPU):
        expected = read(run())
    with tf.device(HPU):
        tf.nest.map_structure(np.testing.assert_array_equal, read(run()), expected)


def matrices(dtype: tf.DType) -> tf.Tensor:
    parts = np.random.default_rng(3).standard_normal((2, 2, 4, 4))
    return tf.cast(tf.complex(*tf.unstack(tf.constant(parts))), dtype) + tf.cast(4 * tf.eye(4), dtype)


def hermitian(a: tf.Tensor) -> tf.Tensor:
    return tf.matmul(a, a, adjoint_b=True) + 4 * tf.eye(4, dtype=a.dtype)


COMPLEX: dict[str, Callable[[tf.Tensor], Any]] = {
    "solve": lambda a: tf.linalg.solve(a, a[..., :2]),
    "solve-adjoint": lambda a: tf.linalg.solve(a, a[..., :2], adjoint=True),
    "inverse": tf.linalg.inv,
    "determinant": lambda a: (tf.linalg.det(a), *tf.linalg.slogdet(a)),
    "cholesky": lambda a: tf.linalg.cholesky(hermitian(a)),
    "triangular": lambda a: tf.linalg.triangular_solve(a, a[..., :2]),
    "lu": lambda a: tf.linalg.lu(a)[0],
    "eigenvalues": lambda a: tf.linalg.eigvalsh(hermitian(a)),
    "singular-values": lambda a: tf.linalg.svd(a, compute_uv=False),
    "qr": lambda a: tf.matmul(*tf.linalg.qr(a)),
    "tridiagonal": lambda a: tf.linalg.tridiagonal_solve(a[..., :3, :] + 9 * tf.eye(3, 4, dtype=a.dtype), a),
    "exponential": tf.linalg.expm,
}


@pytest.mark.parametrize("graph", [False, True], ids=["eager", "graph"])
@pytest.mark.parametrize("dtype", [tf.complex64, tf.complex128], ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("name", COMPLEX)
def test_complex_matrices(name: str, dtype: tf.DType, graph: bool) -> None:
    program = tf.function(COMPLEX[name]) if graph else COMPLEX[name]
    with tf.device(CPU):
        expected = program(matrices(dtype))
    with tf.device(HPU):
        for _ in range(CALLS):
            assert_close(program(matrices(dtype)), expected, DOUBLE if dtype == tf.complex128 else None)


@pytest.mark.parametrize("dtype", [tf.float64, tf.complex128], ids=lambda dtype: dtype.name)
def test_gradient_of_the_exponential(dtype: tf.DType) -> None:
    def gradient(a: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            tape.watch(a)
            total = tf.reduce_sum(tf.abs(tf.linalg.expm(a / 8)) ** 2)
        return tape.gradient(total, a)

    for program in (gradient, tf.function(gradient)):
        with tf.device(CPU):
            expected = program(tf.cast(matrices(tf.complex128), dtype))
        with tf.device(HPU):
            assert_close(program(tf.cast(matrices(tf.complex128), dtype)), expected, DOUBLE)
