"""Elementwise kernels against their definitions in float64 and in Python's integers."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy

from tests.gaudi import kernel_library as kernels

I8 = np.dtype(np.int8)
I32 = np.dtype(np.int32)

gammaln = np.vectorize(lambda x: math.inf if math.isinf(x) or (x <= 0 and x == int(x)) else math.lgamma(x))
FLOAT_UNARY: dict[str, Callable[[Any], Any]] = {
    "ceil_fwd": np.ceil,
    "cos_fwd": np.cos,
    "erf_fwd": np.vectorize(math.erf),
    "erfc_fwd": np.vectorize(math.erfc),
    "exp_fwd": np.exp,
    "expm1_fwd": np.expm1,
    "floor_fwd": np.floor,
    "gammaln_fwd": gammaln,
    "log1p_fwd": np.log1p,
    "log_fwd": np.log,
    "round_fwd": np.rint,
    "rsqrt_fwd": lambda x: 1 / np.sqrt(x),
    "sigmoid_fwd": lambda x: 1 / (1 + np.exp(-x)),
    "sin_fwd": np.sin,
    "sinh_fwd": np.sinh,
    "sqrt_fwd": np.sqrt,
    "tan_fwd": np.tan,
    "tanh_fwd": np.tanh,
}
UNARY: dict[str, Callable[[Any], Any]] = {
    "abs_fwd": np.abs,
    "neg_fwd": np.negative,
    "pow2_fwd": np.square,
    "sign_fwd": lambda x: np.where(x == 0, x, np.sign(x)),
}
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add_fwd": np.add,
    "max_fwd": np.maximum,
    "min_fwd": np.minimum,
    "mult_fwd": np.multiply,
    "sub_fwd": np.subtract,
}
FLOAT_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "atan2_fwd": np.arctan2,
    "div_fwd": np.divide,
    "mod_fwd": np.fmod,
    "pow_fwd": np.power,
}
BITS: dict[str, Callable[[Any, Any], Any]] = {
    "bitwise_and_fwd": np.bitwise_and,
    "bitwise_or_fwd": np.bitwise_or,
    "bitwise_xor_fwd": np.bitwise_xor,
}
COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "equal_fwd": np.equal,
    "greater_equal_fwd": np.greater_equal,
    "greater_fwd": np.greater,
    "less_equal_fwd": np.less_equal,
    "less_fwd": np.less,
}
LOGIC: dict[str, Callable[[Any, Any], Any]] = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def typed(table: dict[str, Any]) -> list[str]:
    return [f"{stem}_*" for stem in table]


def guid(stem: str, dtype: Any) -> str:
    return f"{stem}_{kernels.suffix(dtype)}"


def pairs(dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    """Returns all pairs of special values."""
    values = kernels.special_values(dtype)
    a, b = np.meshgrid(values, values, indexing="ij")
    return a.copy(), b.copy()


def exact(values: np.ndarray) -> np.ndarray:
    """Returns integers without limits, or float64."""
    return values.astype(np.float64 if values.dtype in kernels.FLOATS else object)


def wrapped(values: Any, dtype: np.dtype) -> np.ndarray:
    """Returns integers modulo the width of a type."""
    bits = 8 * dtype.itemsize
    unsigned = np.array([int(value) % (1 << bits) for value in np.ravel(np.asarray(values, object))], np.uint64)
    return unsigned.astype(f"u{dtype.itemsize}").view(dtype).reshape(np.shape(values))


@kernels.covers(*typed(FLOAT_UNARY))
@pytest.mark.parametrize("dtype", kernels.FLOATS, ids=kernels.suffix)
@pytest.mark.parametrize("stem", FLOAT_UNARY)
def test_float_functions(stem: str, dtype: np.dtype) -> None:
    x = np.concatenate([kernels.special_values(dtype), kernels.random_array((40,), dtype)])
    expected = FLOAT_UNARY[stem](x.astype(np.float64))
    actual = kernels.run_one(guid(stem, dtype), [x], (x.shape, dtype))
    kernels.assert_close(actual, expected, ulps=1)
    kernels.assert_same_zeros(actual, expected)


def test_float_functions_refuse_integers() -> None:
    x = np.arange(3, dtype=np.int32)
    with pytest.raises(kernels.KernelError, match=r"exp_fwd_i32: input 0: expected a float type, found i32"):
        kernels.run_one("exp_fwd_i32", [x], (x.shape, x.dtype))


@kernels.covers("erfinv_fwd_*")
def test_erfinv_is_the_inverse_of_erf() -> None:
    y = np.array([-1, -0.999999, -0.5, -1e-30, -0.0, 0, 1e-3, 0.25, 0.9, 0.9999999, 1, 1.5, np.nan], np.float32)
    x = kernels.run_one("erfinv_fwd_f32", [y], (y.shape, np.float32))
    assert np.isneginf(x[0])
    assert np.isposinf(x[-3])
    assert np.isnan(x[-2:]).all()
    middle = slice(1, -3)
    # Half an ulp of x changes erf(x) by less than half an ulp of y.
    back = np.vectorize(math.erf)(x[middle].astype(np.float64))
    np.testing.assert_allclose(back, y[middle].astype(np.float64), rtol=1e-6)
    assert np.signbit(x[4])


@kernels.covers(*typed(UNARY))
@pytest.mark.parametrize("dtype", kernels.TYPE_CODES, ids=kernels.suffix)
@pytest.mark.parametrize("stem", UNARY)
def test_functions_of_any_type(stem: str, dtype: np.dtype) -> None:
    x = kernels.special_values(dtype)
    actual = kernels.run_one(guid(stem, dtype), [x], (x.shape, dtype))
    if dtype in kernels.FLOATS:
        expected = UNARY[stem](x.astype(np.float64))
        kernels.assert_close(actual, expected)
        kernels.assert_same_zeros(actual, expected)
    else:
        numbers = exact(x)
        values = [(n > 0) - (n < 0) for n in numbers] if stem == "sign_fwd" else list(map(UNARY[stem], numbers))
        np.testing.assert_array_equal(actual, wrapped(values, dtype))


@kernels.covers("isfinite_fwd_*")
@pytest.mark.parametrize("dtype", kernels.FLOATS, ids=kernels.suffix)
def test_isfinite(dtype: np.dtype) -> None:
    x = kernels.special_values(dtype)
    actual = kernels.run_one(guid("isfinite_fwd", dtype), [x], (x.shape, I8))
    np.testing.assert_array_equal(actual, np.isfinite(x.astype(np.float64)))


@kernels.covers(*typed(BINARY))
@pytest.mark.parametrize("dtype", kernels.TYPE_CODES, ids=kernels.suffix)
@pytest.mark.parametrize("stem", BINARY)
def test_arithmetic(stem: str, dtype: np.dtype) -> None:
    a, b = pairs(dtype)
    actual = kernels.run_one(guid(stem, dtype), [a, b], (a.shape, dtype))
    expected = BINARY[stem](exact(a), exact(b))
    if dtype in kernels.FLOATS:
        kernels.assert_close(actual, expected)
        if stem not in ("max_fwd", "min_fwd"):  # 0 and -0 are equal
            kernels.assert_same_zeros(actual, expected)
    else:
        np.testing.assert_array_equal(actual, wrapped(expected, dtype))


@kernels.covers(*typed(FLOAT_BINARY))
@pytest.mark.parametrize("dtype", kernels.FLOATS, ids=kernels.suffix)
@pytest.mark.parametrize("stem", FLOAT_BINARY)
def test_float_arithmetic(stem: str, dtype: np.dtype) -> None:
    a, b = pairs(dtype)
    actual = kernels.run_one(guid(stem, dtype), [a, b], (a.shape, dtype))
    expected = FLOAT_BINARY[stem](a.astype(np.float64), b.astype(np.float64))
    kernels.assert_close(actual, expected)
    kernels.assert_same_zeros(actual, expected)


@st.composite
def broadcasts(draw: st.DrawFn) -> tuple[tuple[int, ...], tuple[int, ...]]:
    drawn = draw(st_numpy.mutually_broadcastable_shapes(num_shapes=2, min_dims=1, max_dims=5, max_side=4))
    return drawn.input_shapes[0], drawn.input_shapes[1]


@settings(max_examples=60, deadline=None)
@given(shapes=broadcasts(), stem=st.sampled_from(sorted(BINARY)), dtype=st.sampled_from([kernels.F32, I32]))
def test_operands_broadcast(shapes: tuple[tuple[int, ...], tuple[int, ...]], stem: str, dtype: np.dtype) -> None:
    a, b = (kernels.random_array(shape, dtype, seed, -50, 50) for seed, shape in enumerate(shapes))
    expected = BINARY[stem](exact(a), exact(b))
    kernels.assert_close(kernels.run_one(guid(stem, dtype), [a, b], (expected.shape, dtype)), expected)


def test_operands_may_have_any_strides() -> None:
    a = kernels.random_array((4, 6), np.float32)
    b = kernels.random_array((6, 4), np.float32, 1)
    actual = kernels.run_one("sub_fwd_f32", [a[:, ::2], b.T[:, 1::2]], ((4, 3), np.float32))
    np.testing.assert_array_equal(actual, a[:, ::2] - b.T[:, 1::2])


@pytest.mark.parametrize(
    ("shapes", "text"),
    [
        (((2, 3), (2, 4), (2, 4)), r"input 1: sizes \{4,2\} do not broadcast to \{3,2\}"),
        (((2, 3), (3,), (3, 3)), r"output 0: expected sizes \{3,2\}, found \{3,3\}"),
        (((1, 3), (3,), (3,)), r"output 0: expected sizes \{3,1\}, found \{3\}"),
    ],
)
def test_sizes_that_do_not_broadcast(shapes: tuple[tuple[int, ...], ...], text: str) -> None:
    a, b = (np.zeros(shape, np.float32) for shape in shapes[:2])
    with pytest.raises(kernels.KernelError, match=text):
        kernels.run_one("add_fwd_f32", [a, b], (shapes[2], np.float32))


def test_a_mask_multiplies_floats() -> None:
    x = kernels.random_array((3, 5), kernels.BF16)
    mask = kernels.random_array((3, 5), I8, 1, 0, 2)
    actual = kernels.run_one("mult_fwd_bf16", [x, mask], (x.shape, kernels.BF16))
    np.testing.assert_array_equal(actual.astype(np.float32), x.astype(np.float32) * mask)


@pytest.mark.parametrize(("stem", "golden"), [("max_fwd", np.fmax), ("min_fwd", np.fmin)])
def test_a_switch_loses_nan(stem: str, golden: Callable[[Any, Any], Any]) -> None:
    a, b = pairs(kernels.F32)
    switches = kernels.Switches(lose_nan_in_max_min=True)
    actual = kernels.run_one(guid(stem, np.float32), [a, b], (a.shape, np.float32), switches=switches)
    np.testing.assert_array_equal(actual, golden(a, b))


def divided(a: int, b: int, floors: bool) -> tuple[int, int]:
    quotient = a // b
    if not floors and quotient * b != a and (a < 0) != (b < 0):
        quotient += 1
    return quotient, a - quotient * b


@kernels.covers("div_mod_fwd_*")
@pytest.mark.parametrize("floors", [False, True])
@pytest.mark.parametrize("dtype", kernels.INTEGERS, ids=kernels.suffix)
def test_div_mod(dtype: np.dtype, floors: bool) -> None:
    a, b = pairs(dtype)
    spec = (a.shape, dtype)
    quotient, remainder = kernels.run(guid("div_mod_fwd", dtype), [a, b], [spec, spec], struct.pack("?", floors))
    smallest = np.iinfo(dtype).min
    undefined = wrapped(0x5555555555555555, dtype)
    for n, d, q, r in zip(a.flat, b.flat, quotient.flat, remainder.flat):
        if d == 0 or (dtype.kind == "i" and n == smallest and d == -1):
            assert (q, r) == (undefined, undefined), (n, d)
        else:
            assert (q, r) == divided(int(n), int(d), floors), (n, d)


@kernels.covers("floor_divide_fwd_*", "rem_fwd_*", "mod_fwd_*")
@pytest.mark.parametrize("dtype", [I32, np.dtype(np.uint8), np.dtype(np.int64)], ids=kernels.suffix)
def test_integer_division(dtype: np.dtype) -> None:
    a, b = pairs(dtype)
    defined = (b != 0) & ~((a == np.iinfo(dtype).min) & (exact(b) == -1))
    a, b = a[defined], b[defined]
    results = {
        "floor_divide_fwd": [divided(int(n), int(d), True)[0] for n, d in zip(a, b)],
        "rem_fwd": [divided(int(n), int(d), True)[1] for n, d in zip(a, b)],
        "mod_fwd": [divided(int(n), int(d), False)[1] for n, d in zip(a, b)],
    }
    for stem, expected in results.items():
        actual = kernels.run_one(guid(stem, dtype), [a, b], (a.shape, dtype))
        np.testing.assert_array_equal(actual, np.array(expected, dtype), err_msg=stem)


@kernels.covers("floor_divide_fwd_*", "rem_fwd_*")
def test_float_division() -> None:
    a, b = pairs(kernels.F32)
    finite = np.isfinite(a) & np.isfinite(b) & (b != 0)
    a, b = a[finite], b[finite]
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    floored = kernels.run_one("floor_divide_fwd_f32", [a, b], (a.shape, np.float32))
    kernels.assert_close(floored, np.floor(wide_a / wide_b))
    remainder = kernels.run_one("rem_fwd_f32", [a, b], (a.shape, np.float32))
    kernels.assert_close(remainder, np.mod(wide_a, wide_b))


@kernels.covers(*typed(BITS), "bitwise_not_fwd_*")
@pytest.mark.parametrize("dtype", kernels.INTEGERS, ids=kernels.suffix)
def test_bits(dtype: np.dtype) -> None:
    a, b = pairs(dtype)
    for stem, golden in BITS.items():
        actual = kernels.run_one(guid(stem, dtype), [a, b], (a.shape, dtype))
        np.testing.assert_array_equal(actual, golden(a, b), err_msg=stem)
    actual = kernels.run_one(guid("bitwise_not_fwd", dtype), [a], (a.shape, dtype))
    np.testing.assert_array_equal(actual, ~a)


@kernels.covers("bitshift_fwd_*")
@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("dtype", kernels.INTEGERS, ids=kernels.suffix)
def test_shifts(dtype: np.dtype, left: bool) -> None:
    bits = 8 * dtype.itemsize
    x = kernels.special_values(dtype)[:, np.newaxis]
    # The width itself counts as 0.
    distances = np.array([0, 1, 3, bits - 1, bits], dtype)[np.newaxis]
    params = struct.pack("I", 0 if left else 1)
    actual = kernels.run_one(guid("bitshift_fwd", dtype), [x, distances], ((x.size, 5), dtype), params)
    expected = [
        [int(value) << (int(d) % bits) if left else int(value) >> (int(d) % bits) for d in distances[0]]
        for value in x[:, 0]
    ]
    np.testing.assert_array_equal(actual, wrapped(expected, dtype))


@kernels.covers(*typed(COMPARISONS))
@pytest.mark.parametrize("dtype", kernels.TYPE_CODES, ids=kernels.suffix)
@pytest.mark.parametrize("stem", COMPARISONS)
def test_comparisons(stem: str, dtype: np.dtype) -> None:
    a, b = pairs(dtype)
    actual = kernels.run_one(guid(stem, dtype), [a, b], (a.shape, I8))
    np.testing.assert_array_equal(actual, COMPARISONS[stem](exact(a), exact(b)))


@kernels.covers(*typed(LOGIC), "not_*", "not_fwd_*")
def test_logic() -> None:
    a, b = pairs(I8)
    for stem, golden in LOGIC.items():
        actual = kernels.run_one(f"{stem}_i8", [a, b], (a.shape, I8))
        np.testing.assert_array_equal(actual, golden(a, b), err_msg=stem)
    for stem in ("not_i8", "not_fwd_i8"):
        np.testing.assert_array_equal(kernels.run_one(stem, [a], (a.shape, I8)), a == 0, err_msg=stem)
    with pytest.raises(kernels.KernelError, match="expected i8 or u8, found i32"):
        kernels.run_one("and_i32", [a.astype(I32), b], (a.shape, I8))


@kernels.covers("where_fwd_*")
@pytest.mark.parametrize("dtype", kernels.TYPE_CODES, ids=kernels.suffix)
def test_where(dtype: np.dtype) -> None:
    condition = kernels.random_array((3, 1, 4), I8, 0, -2, 2)
    a = kernels.random_array((5, 4), dtype, 1, 0, 100)
    b = kernels.special_values(dtype)[-1:]
    expected = np.where(condition != 0, exact(a), exact(b))
    actual = kernels.run_one(guid("where_fwd", dtype), [condition, a, b], (expected.shape, dtype))
    np.testing.assert_array_equal(exact(actual), expected)


@kernels.covers("clamp_pt_fwd_*")
def test_clamp() -> None:
    x = kernels.special_values(kernels.F32)
    spec = (x.shape, np.float32)
    actual = kernels.run_one("clamp_pt_fwd_f32", [x], spec, struct.pack("ff", 2.5, -1.5))
    np.testing.assert_array_equal(actual, np.clip(x, -1.5, 2.5))
    integers = np.arange(-5, 5, dtype=np.int32)
    clamped = kernels.run_one("clamp_pt_fwd_i32", [integers], (integers.shape, I32), struct.pack("ii", 2, -3))
    np.testing.assert_array_equal(clamped, np.clip(integers, -3, 2))


@kernels.covers("add_bwd_*")
def test_gradient_of_add() -> None:
    dy = kernels.random_array((2, 3, 4), np.float32)
    da, db = kernels.run("add_bwd_f32", [dy], [((2, 3, 4), np.float32), ((3, 1), np.float32)])
    np.testing.assert_array_equal(da, dy)
    kernels.assert_close(db, dy.astype(np.float64).sum(axis=(0, 2))[:, np.newaxis])
