"""Linear algebra and Fourier transforms compared with the CPU, and singular matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.support.compare import HPU, Tolerance, assert_same_graph

pytestmark = pytest.mark.usefixtures("hpu")

# Errors grow with the condition of the matrices, which are far from singular.
FACTORS = Tolerance(1e-4, 1e-4)
SHAPES = [(1, 1), (2, 3, 9, 9)]


def values(*shape: int, seed: int = 3) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def dominant(x: tf.Tensor) -> tf.Tensor:
    """Returns matrices that are far from singular and far from symmetric."""
    return x + 4.0 * x.shape[-1] ** 0.5 * tf.eye(x.shape[-1])


def positive(x: tf.Tensor) -> tf.Tensor:
    return tf.matmul(x, x, transpose_b=True) + tf.eye(x.shape[-1])


def inverses(x: tf.Tensor) -> Any:
    a = dominant(x)
    return tf.linalg.inv(a), tf.linalg.inv(a, adjoint=True), tf.linalg.cholesky(positive(x))


def solutions(x: tf.Tensor) -> Any:
    a, right = dominant(x), x[..., :1]
    return (
        tf.linalg.solve(a, right),
        tf.linalg.solve(a, right, adjoint=True),
        tf.linalg.triangular_solve(a, right, lower=False),
        tf.linalg.triangular_solve(a, right, adjoint=True),
        tf.linalg.cholesky_solve(tf.linalg.cholesky(positive(x)), right),
    )


def determinants(x: tf.Tensor) -> Any:
    sign, logarithm = tf.linalg.slogdet(x)
    return tf.linalg.det(x / 4), sign, logarithm, tf.linalg.logdet(positive(x))


def factors(x: tf.Tensor) -> Any:
    return tf.linalg.qr(dominant(x)), tf.linalg.svd(x, compute_uv=False), tf.linalg.eigvalsh(positive(x))


def eliminations(x: tf.Tensor) -> Any:
    diagonals = tf.stack([x[..., 0, :], x[..., 0, :] / 2, x[..., -1, :]], -2)  # requires row exchanges
    dominant_diagonals = diagonals + tf.constant([[0.0], [9.0], [0.0]])
    return (
        tf.linalg.lu(tf.stop_gradient(x)),  # TensorFlow has no gradient of lu
        tf.linalg.tridiagonal_solve(diagonals, x),
        tf.linalg.tridiagonal_solve(dominant_diagonals, x, partial_pivoting=False),
    )


@pytest.mark.parametrize("function", [inverses, solutions, determinants, factors, eliminations])
@pytest.mark.parametrize("shape", SHAPES)
def test_matrices(function: Callable[..., Any], shape: tuple[int, ...]) -> None:
    assert_same_graph(function, values(*shape), tolerance=FACTORS)


def test_doubles() -> None:
    matrices = values(2, 7, 7).astype(np.float64)

    def compute(x: tf.Tensor) -> Any:
        a = tf.matmul(x, x, transpose_b=True) + tf.eye(7, dtype=tf.float64)
        return tf.linalg.inv(a), tf.linalg.cholesky(a), tf.linalg.solve(a, x), tf.linalg.slogdet(x)

    assert_same_graph(compute, matrices, tolerance=Tolerance(1e-10, 1e-10))


@pytest.mark.parametrize("shape", [(5, 3), (2, 3, 4)])
@pytest.mark.parametrize("full_matrices", [False, True])
def test_vectors_of_factors(shape: tuple[int, ...], full_matrices: bool) -> None:
    @tf.function
    def decompose(x: tf.Tensor) -> Any:
        return tf.linalg.qr(x, full_matrices), tf.linalg.svd(x, full_matrices)

    x = values(*shape)
    with tf.device(HPU):
        (q, r), (s, u, v) = tf.nest.map_structure(lambda y: y.numpy(), decompose(tf.constant(x)))
    np.testing.assert_allclose(q @ r, x, atol=1e-5)
    least = s.shape[-1]
    product = (u[..., :least] * s[..., None, :]) @ np.swapaxes(v[..., :least], -1, -2)
    np.testing.assert_allclose(product, x, atol=1e-5)
    for vectors in (q, u, v):
        count = vectors.shape[-1]
        identity = np.broadcast_to(np.eye(count), (*shape[:-2], count, count))
        np.testing.assert_allclose(np.swapaxes(vectors, -1, -2) @ vectors, identity, atol=1e-5)


def test_eigenvectors() -> None:
    @tf.function
    def decompose(x: tf.Tensor) -> Any:
        return tf.linalg.eigh(x + tf.linalg.matrix_transpose(x))

    x = values(3, 9, 9)
    with tf.device(HPU):
        w, v = [y.numpy() for y in decompose(tf.constant(x))]
    assert (np.diff(w) >= 0).all()
    np.testing.assert_allclose((v * w[:, None, :]) @ np.swapaxes(v, -1, -2), x + np.swapaxes(x, -1, -2), atol=1e-4)


@pytest.mark.parametrize("shape", [(0, 3, 3), (2, 0, 0)])
def test_no_elements(shape: tuple[int, ...]) -> None:
    def compute(x: tf.Tensor) -> Any:
        return (
            tf.linalg.inv(x),
            tf.linalg.cholesky(x),
            tf.linalg.solve(x, x),
            tf.linalg.det(x),
            tf.linalg.slogdet(x),
            tf.linalg.lu(tf.stop_gradient(x)),  # TensorFlow has no gradient of lu
        )

    assert_same_graph(compute, np.zeros(shape, np.float32), gradients=False, clusters=False)


def test_matrices_without_a_result_become_nan() -> None:
    """XLA returns NaN per matrix.

    On the CPU, TensorFlow's kernels for inverses and solving fail for the whole batch.
    """

    @tf.function(jit_compile=True)
    def compute(x: tf.Tensor) -> Any:
        lu = tf.linalg.lu(x)[0]
        return tf.linalg.inv(x), tf.linalg.solve(x, tf.ones_like(x)), tf.linalg.cholesky(x), lu, tf.linalg.det(x)

    regular, singular = np.array([[2, 0], [0, 4]], np.float32), np.zeros((2, 2), np.float32)
    with tf.device(HPU):
        *matrices, determinant = [y.numpy() for y in compute(tf.constant([regular, singular, regular]))]
    np.testing.assert_allclose(determinant, [8, 0, 8])
    for result in matrices:
        assert np.isnan(result[1][np.tril_indices(2)]).all()
        assert np.isfinite(result[[0, 2]]).all()
    np.testing.assert_allclose(matrices[0][2], [[0.5, 0], [0, 0.25]])


def transforms(x: tf.Tensor) -> Any:
    z = tf.complex(x, 1 - x)
    spectra = [
        tf.signal.rfft(x),
        tf.signal.rfft2d(x),
        tf.signal.fft(z),
        tf.signal.ifft(z),
        tf.signal.fft2d(z),
        tf.signal.ifft2d(z),
        tf.signal.stft(x, 4, 2),
    ]
    real = [tf.signal.irfft(z), tf.signal.irfft2d(z), tf.signal.dct(x)]
    return [tf.math.real(s) for s in spectra], [tf.math.imag(s) for s in spectra], real


@pytest.mark.parametrize("shape", [(2, 8), (3, 6, 9)])
def test_fourier_transforms(shape: tuple[int, ...]) -> None:
    assert_same_graph(transforms, values(*shape), tolerance=Tolerance(1e-4, 1e-4))


def test_fourier_transforms_of_other_lengths() -> None:
    def compute(x: tf.Tensor) -> Any:
        z = tf.complex(x, 1 - x)
        return tf.signal.rfft(x, [5]), tf.signal.rfft(x, [13]), tf.signal.irfft(z, [7]), tf.signal.irfft2d(z, [4, 20])

    assert_same_graph(compute, values(2, 6, 9), gradients=False)
