"""Linear algebra, Fourier transforms, and einsum products."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator

import tensorflow as tf

from benchmarks.op_cases.case import OpCase, gradient, gradients


def _positive(x: tf.Tensor) -> tf.Tensor:
    """Symmetric, positive definite matrices."""
    return tf.matmul(x, x, transpose_b=True) + x.shape[-1] * tf.eye(x.shape[-1])


def _lower(x: tf.Tensor) -> tf.Tensor:
    """Well-conditioned lower triangular matrices."""
    return tf.linalg.band_part(x, -1, 0) + x.shape[-1] * tf.eye(x.shape[-1])


def linear_algebra() -> Iterator[OpCase]:
    many, few, large = (256, 8, 8), (16, 64, 64), (1, 384, 384)
    for shape in (many, few, large):
        yield OpCase("Cholesky", lambda x: tf.linalg.cholesky(_positive(x)), (shape,))
        yield OpCase("inverse", tf.linalg.inv, (shape,))
    for shape in (many, few):
        yield OpCase("solve", tf.linalg.solve, (shape, shape))
        yield OpCase("triangular solve", lambda x, y: tf.linalg.triangular_solve(_lower(x), y), (shape, shape))
        yield OpCase("Cholesky solve", lambda x, y: tf.linalg.cholesky_solve(_lower(x), y), (shape, shape))
        yield OpCase("determinant", tf.linalg.det, (shape,))
        yield OpCase("sign and log of determinant", tf.linalg.slogdet, (shape,))
        yield OpCase("log of determinant", lambda x: tf.linalg.logdet(_positive(x)), (shape,))
        yield OpCase("QR", tf.linalg.qr, (shape,))
        yield OpCase("singular values", lambda x: tf.linalg.svd(x, compute_uv=False), (shape,))
        yield OpCase("singular value decomposition", tf.linalg.svd, (shape,))
        yield OpCase("eigenvalues", lambda x: tf.linalg.eigh(_positive(x)), (shape,))
    yield OpCase("QR", tf.linalg.qr, ((16, 128, 32),))
    yield OpCase("least squares", tf.linalg.lstsq, ((16, 128, 32), (16, 128, 4)))
    yield OpCase("matrix exponential", tf.linalg.expm, (many,))
    yield from list(gradients("Cholesky", lambda x: tf.linalg.cholesky(_positive(x)), few, few))[1:]
    yield from list(gradients("inverse", tf.linalg.inv, few, few))[1:]
    yield from list(gradients("log of determinant", lambda x: tf.linalg.logdet(_positive(x)), few, few[:1]))[1:]
    yield from list(gradients("QR", lambda x: tf.linalg.qr(x)[1], few, few))[1:]
    yield from list(gradients("eigenvalues", lambda x: tf.linalg.eigh(_positive(x))[0], few, few[:2]))[1:]
    yield OpCase("band part", lambda x: tf.linalg.band_part(x, 3, 3), ((16, 256, 256),))
    yield OpCase("diagonal", tf.linalg.diag_part, ((16, 256, 256),))
    yield OpCase("set diagonal", tf.linalg.set_diag, ((16, 256, 256), (16, 256)))


def _with_phase(x: tf.Tensor) -> tf.Tensor:
    return tf.complex(x, 1 - x)


def fourier() -> Iterator[OpCase]:
    rows, image, sound, frames = (256, 1024), (16, 96, 96), (8, 16000), (8, 122, 257)
    yield from gradients("Fourier transform", lambda x: tf.abs(tf.signal.rfft(x)), rows, (256, 513))
    yield from gradients("from spectra", lambda x: tf.signal.irfft(_with_phase(x)), (256, 513), rows)
    yield from gradients("complex Fourier transform", lambda x: tf.abs(tf.signal.fft(_with_phase(x))), rows, rows)
    yield from gradients("Fourier transform 2d", lambda x: tf.abs(tf.signal.fft2d(_with_phase(x))), image, image)
    yield from gradients("real Fourier transform 2d", lambda x: tf.abs(tf.signal.rfft2d(x)), image, (16, 96, 49))
    yield from gradients("spectrogram", lambda x: tf.abs(tf.signal.stft(x, 512, 128)), sound, frames)
    yield OpCase("from a spectrogram", lambda x: tf.signal.inverse_stft(_with_phase(x), 512, 128), (frames,))
    yield OpCase("cosine transform", tf.signal.dct, (rows,))
    yield OpCase("complex Fourier transform", lambda x: tf.abs(tf.signal.fft(_with_phase(x))), ((2048, 16),))


def _einsum(equation: str) -> Callable[..., tf.Tensor]:
    return lambda x, y: tf.einsum(equation, x, y)


def products() -> list[OpCase]:
    square, tokens, heads = (512, 512), (16, 64, 256), (16, 64, 4, 64)
    transposed = {"first": {"transpose_a": True}, "second": {"transpose_b": True}}
    return [
        *(
            OpCase(
                f"matmul, {which} transposed", functools.partial(tf.matmul, **options), (square, square), tf.bfloat16
            )
            for which, options in transposed.items()
        ),
        OpCase("matmul gradients", gradient(tf.matmul), (square,) * 3),
        OpCase("matmul gradients", gradient(tf.matmul), (square,) * 3, tf.bfloat16),
        OpCase("matmul", tf.matmul, ((256, 256), (256, 256)), tf.float64),
        OpCase("batched matmul", tf.matmul, ((16, 128, 128), (16, 128, 64)), tf.bfloat16),
        OpCase("batched matmul gradients", gradient(tf.matmul), ((16, 128, 128), (16, 128, 64), (16, 128, 64))),
        OpCase("dense of tokens", _einsum("btd,df->btf"), (tokens, (256, 512))),
        OpCase("dense of tokens gradients", gradient(_einsum("btd,df->btf")), (tokens, (256, 512), (16, 64, 512))),
        OpCase("heads of tokens", _einsum("btd,dhk->bthk"), (tokens, (256, 4, 64))),
        OpCase("heads of tokens gradients", gradient(_einsum("btd,dhk->bthk")), (tokens, (256, 4, 64), heads)),
        OpCase("tokens of heads", _einsum("bthk,hkd->btd"), (heads, (4, 64, 256))),
        OpCase("attention values", _einsum("bhqk,bkhd->bqhd"), ((16, 4, 64, 64), heads)),
        OpCase("attention scores gradients", gradient(_einsum("bqhd,bkhd->bhqk")), (heads, heads, (16, 4, 64, 64))),
        OpCase("attention scores", _einsum("bqhd,bkhd->bhqk"), (heads, heads), tf.bfloat16),
        OpCase("outer products", _einsum("bi,bj->bij"), ((64, 128), (64, 128))),
        OpCase("inner products", _einsum("bi,bi->b"), ((2048, 512), (2048, 512))),
        OpCase("bilinear form", _einsum("bi,ij->bj"), ((2048, 256), (256, 256))),
        OpCase("sum of a product", _einsum("bij,bij->"), ((16, 256, 256), (16, 256, 256))),
        OpCase("tensordot", lambda x, y: tf.tensordot(x, y, [[2], [0]]), (tokens, (256, 512))),
        OpCase("matrix by vector", tf.linalg.matvec, ((2048, 512), (512,))),
        OpCase("matrices by vectors", tf.linalg.matvec, ((64, 128, 128), (64, 128))),
        OpCase("cross product", tf.linalg.cross, ((131072, 3), (131072, 3))),
        OpCase("trace", tf.linalg.trace, ((64, 128, 128),)),
        OpCase("matrices of diagonals", tf.linalg.diag, ((64, 128),)),
        OpCase("norm of rows", lambda x: tf.norm(x, axis=-1), ((2048, 512),)),
        OpCase("matrix power", lambda x: x @ x @ x, ((16, 128, 128),)),
        OpCase("normalise", lambda x: tf.linalg.normalize(x, axis=-1)[0], ((2048, 512),)),
        OpCase("LU", lambda x: tf.linalg.lu(x)[0], ((16, 64, 64),)),
        OpCase("adjoint", tf.linalg.adjoint, ((64, 128, 128),)),
        OpCase(
            "tridiagonal solve",
            lambda x, y: tf.linalg.tridiagonal_solve(x + tf.constant([[0.0], [9.0], [0.0]]), y),
            ((64, 3, 128), (64, 128, 4)),
        ),
    ]
