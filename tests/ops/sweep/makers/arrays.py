"""Makers for ops with related arguments: permutations, diagonals, segments, solvable matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from tests.ops.sweep.makers import maker
from tests.ops.sweep.makers.calls import call, pick, raw, run, whole
from tests.ops.sweep.program import Program
from tests.ops.sweep.records import Array
from tests.ops.sweep.values import TYPES, draw_array, draw_shape, draw_style

Rng = np.random.Generator


def _inplace(op: str) -> None:
    @maker(op)
    def make(rng: Rng) -> Program:
        shape = draw_shape(rng, int(rng.integers(1, 4)))
        dtype = pick(rng, *[t for t in TYPES if t != tf.bool])
        rows = rng.permutation(shape[0])[: int(rng.integers(0, 4))]
        arguments = {"x": draw_array(rng, dtype, shape), "i": whole(rows)}
        return call(op, {**arguments, "v": draw_array(rng, dtype, (len(rows), *shape[1:]))})


for _op in ("InplaceAdd", "InplaceSub", "InplaceUpdate"):
    _inplace(_op)


@maker("InvertPermutation")
def make_permutation(rng: Rng) -> Program:
    return call(
        "InvertPermutation", {"x": whole(rng.permutation(int(rng.integers(0, 9))), pick(rng, tf.int32, tf.int64))}
    )


def _set_diag(op: str) -> None:
    @maker(op)
    def make(rng: Rng) -> Program:
        shape, dtype = draw_shape(rng, int(rng.integers(2, 5))), pick(rng, *TYPES)
        rows, columns = shape[-2:]
        low = int(rng.integers(-rows + 1, columns)) if rows and columns and op != "MatrixSetDiag" else 0
        high = min(low + int(rng.integers(0, 2)), max(columns - 1, low)) if op != "MatrixSetDiag" else 0
        longest = min(rows + min(high, 0), columns + min(-low, 0)) if rows and columns else 0
        diagonals = [high - low + 1] if high > low else []
        arguments = {
            "input": draw_array(rng, dtype, shape),
            "diagonal": draw_array(rng, dtype, (*shape[:-2], *diagonals, max(0, longest))),
        }
        if op == "MatrixSetDiag":
            return call(op, arguments)
        k = whole(low) if low == high else whole([low, high])
        attributes = {"align": pick(rng, "LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT")} if op.endswith("V3") else {}
        return call(op, {**arguments, "k": k}, **attributes)


for _op in ("MatrixSetDiag", "MatrixSetDiagV2", "MatrixSetDiagV3"):
    _set_diag(_op)


@maker("InTopKV2")
def make_in_top(rng: Rng) -> Program:
    rows, classes = int(rng.integers(0, 6)), int(rng.integers(1, 6))
    index = pick(rng, tf.int32, tf.int64)
    arguments = {
        "predictions": draw_array(rng, tf.float32, (rows, classes), draw_style(rng)),
        "targets": whole(rng.integers(-1, classes + 1, rows), index),
        "k": whole(rng.integers(0, classes + 2), index),
    }
    return call("InTopKV2", arguments)


def _irfft(op: str, rank: int) -> None:
    @maker(op)
    def make(rng: Rng) -> Program:
        dtype = pick(rng, tf.complex64, tf.complex128)
        lengths = rng.integers(1, 7, rank).tolist()
        shape = (*draw_shape(rng, 1), *lengths[:-1], lengths[-1] // 2 + 1)
        arguments = {"input": draw_array(rng, dtype, shape), "fft_length": whole(lengths)}
        return call(op, arguments, Treal=dtype.real_dtype)


_irfft("IRFFT", 1)
_irfft("IRFFT2D", 2)
_irfft("IRFFT3D", 3)


def _square(rng: Rng, definite: bool) -> Array:
    dtype, size = pick(rng, tf.float32, tf.float64, tf.complex64, tf.complex128), int(rng.integers(0, 5))
    x = draw_array(rng, dtype, (*draw_shape(rng, int(rng.integers(0, 2))), size, size))
    if rng.random() < 0.15:
        return np.zeros_like(x)  # singular matrix
    if definite:
        x = x @ np.conj(np.swapaxes(x, -1, -2))
    return np.asarray(x + 5 * np.eye(size)).astype(dtype.as_numpy_dtype)


def _matrix(op: str, definite: bool, sides: bool) -> None:
    @maker(op)
    def make(rng: Rng) -> Program:
        x = _square(rng, definite)
        if not sides:
            more: dict[str, Any] = {"adjoint": bool(rng.integers(2))} if op == "MatrixInverse" else {}
            return call(op, {"input": x}, **more)
        attributes: dict[str, Any] = {"adjoint": bool(rng.integers(2))}
        if op == "MatrixTriangularSolve":
            attributes["lower"] = bool(rng.integers(2))
        side = draw_array(rng, tf.as_dtype(x.dtype), (*x.shape[:-1], int(rng.integers(0, 4))))
        return call(op, {"matrix": x, "rhs": side}, **attributes)


_matrix("Cholesky", True, False)
_matrix("MatrixInverse", False, False)
_matrix("MatrixSolve", False, True)
_matrix("MatrixTriangularSolve", False, True)


def _decomposition(op: str, function: Any) -> None:
    """Maker that compares products of the factors, because the factors' signs and order are not unique."""

    @maker(op)
    def make(rng: Rng) -> Program:
        dtype = pick(rng, tf.float32, tf.float64)
        shape = (*draw_shape(rng, int(rng.integers(0, 2))), *rng.integers(1, 5, 2).tolist())
        return run(function, x=draw_array(rng, dtype, shape))


def _qr(x: Any) -> Any:
    q, r = raw("Qr")(input=x)
    return tf.matmul(q, r), tf.abs(r)


def _svd(x: Any) -> Any:
    s, u, v = raw("Svd")(input=x)
    return s, tf.matmul(u, tf.linalg.matmul(tf.linalg.diag(s), v, adjoint_b=True))


def _eig(x: Any) -> Any:
    values, vectors = raw("SelfAdjointEigV2")(input=tf.matmul(x, x, transpose_b=True))
    return values, tf.matmul(vectors, tf.linalg.matmul(tf.linalg.diag(values), vectors, adjoint_b=True))


_decomposition("Qr", _qr)
_decomposition("Svd", _svd)
_decomposition("SelfAdjointEigV2", _eig)


@maker("Const", "HostConst")
def make_const(rng: Rng) -> Program:
    value = draw_array(rng, pick(rng, *TYPES), draw_shape(rng), draw_style(rng))
    return run(lambda: tf.constant(value))


@maker("DeviceIndex")
def make_device_index(rng: Rng) -> Program:
    names = pick(rng, ["TPU_REPLICATED_CORE"], ["GPU", "FPGA"], [])
    return run(lambda: raw("DeviceIndex")(device_names=names))


@maker("EagerPyFunc")
def make_py_function(rng: Rng) -> Program:
    x = draw_array(rng, pick(rng, tf.float32, tf.int32, tf.int64), draw_shape(rng))
    return run(lambda x: tf.py_function(lambda y: y + y, [x], x.dtype), x=x)


@maker("Placeholder", "PlaceholderV2")
def make_placeholder(rng: Rng) -> Program:
    """Placeholder, which a Session feeds; otherwise an identity of the value."""
    return run(lambda x: tf.identity(x), x=draw_array(rng, pick(rng, *TYPES), draw_shape(rng)))


def _bound(op: str) -> None:
    @maker(op)
    def make(rng: Rng) -> Program:
        dtype = pick(rng, tf.float32, tf.float64, tf.int32, tf.int64)
        rows = int(rng.integers(0, 4))
        found = np.sort(draw_array(rng, dtype, (rows, int(rng.integers(0, 7)))), 1)
        values = draw_array(rng, dtype, (rows, int(rng.integers(0, 5))))
        return call(op, {"sorted_inputs": found, "values": values}, None, out_type=pick(rng, tf.int32, tf.int64))


_bound("LowerBound")
_bound("UpperBound")


@maker("Assert")
def make_assert(rng: Rng) -> Program:
    def function(condition: Any, x: Any) -> Any:
        check = raw("Assert")(condition=condition, data=[x, tf.constant("text")])
        with tf.control_dependencies([check] if check is not None else []):
            return tf.identity(x)

    return run(
        function, condition=np.asarray(rng.random() < 0.7), x=draw_array(rng, pick(rng, *TYPES), draw_shape(rng))
    )
