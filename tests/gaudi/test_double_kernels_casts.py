"""Casts between all pairs of types, and their round modes."""

from __future__ import annotations

import fractions
import math
import struct
from collections.abc import Callable

import numpy as np
import pytest

from tests.gaudi import kernel_library as kernels

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def half_away_from_zero(x: fractions.Fraction) -> int:
    return int(math.copysign(math.floor(abs(x) + fractions.Fraction(1, 2)), x))


MODES: dict[int, Callable[[fractions.Fraction], int]] = {0: round, 1: math.floor, 2: math.ceil, 4: math.trunc}
MODES[6] = half_away_from_zero
TO_ZERO = struct.pack("i", 4)


def cast(x: np.ndarray, dtype: np.dtype, params: bytes = b"") -> np.ndarray:
    guid = f"cast_{kernels.suffix(x.dtype)}_to_{kernels.suffix(dtype)}"
    return kernels.run_one(guid, [x], (x.shape, dtype), params)


@kernels.covers("cast_*_to_*")
@pytest.mark.parametrize("to", kernels.INTEGERS, ids=kernels.suffix)
@pytest.mark.parametrize("source", kernels.INTEGERS, ids=kernels.suffix)
def test_integers_keep_their_low_bits(source: np.dtype, to: np.dtype) -> None:
    x = kernels.special_values(source)
    np.testing.assert_array_equal(cast(x, to), x.astype(to))


@pytest.mark.parametrize("to", kernels.FLOATS, ids=kernels.suffix)
@pytest.mark.parametrize("source", kernels.INTEGERS, ids=kernels.suffix)
def test_integers_to_floats(source: np.dtype, to: np.dtype) -> None:
    x = kernels.special_values(source)
    kernels.assert_close(cast(x, to), x.astype(np.float64), ulps=0)


@pytest.mark.parametrize("to", kernels.FLOATS, ids=kernels.suffix)
@pytest.mark.parametrize("source", kernels.FLOATS, ids=kernels.suffix)
def test_floats_round_to_nearest_even(source: np.dtype, to: np.dtype) -> None:
    x = np.concatenate([kernels.special_values(source), kernels.random_array((200,), source, 1, -1e-4, 1e-4)])
    expected = x.astype(np.float32).astype(to)
    actual = cast(x, to)
    np.testing.assert_array_equal(actual.astype(np.float64), expected.astype(np.float64))
    kernels.assert_same_zeros(actual, expected.astype(np.float64))


@pytest.mark.parametrize("to", kernels.INTEGERS, ids=kernels.suffix)
@pytest.mark.parametrize("source", kernels.FLOATS, ids=kernels.suffix)
@pytest.mark.parametrize("mode", MODES)
def test_floats_to_integers(source: np.dtype, to: np.dtype, mode: int) -> None:
    x = kernels.special_values(source)
    info = np.iinfo(to)
    invalid = info.min if to.kind == "i" else info.max
    expected = []
    for value in x.astype(np.float64):
        whole = MODES[mode](fractions.Fraction(value)) if np.isfinite(value) else None
        expected.append(whole if whole is not None and info.min <= whole <= info.max else invalid)
    np.testing.assert_array_equal(cast(x, to, struct.pack("i", mode)), np.array(expected, to))


def rounded(number: float | fractions.Fraction, dtype: np.dtype, mode: int) -> float:
    """Returns a finite number rounded to a float type, computed with exact fractions."""
    info = kernels.limits(dtype)
    value = fractions.Fraction(number)
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    exponent = max(exponent - (abs(value) < fractions.Fraction(2) ** exponent), int(info.minexp))
    quantum = fractions.Fraction(2) ** (exponent - int(info.nmant))
    result = MODES[mode](value / quantum) * quantum
    if abs(result) <= fractions.Fraction(float(info.max)):
        return float(result)
    towards_zero = mode == 4 or (mode == 1 and value > 0) or (mode == 2 and value < 0)
    return math.copysign(float(info.max) if towards_zero else math.inf, value)


@pytest.mark.parametrize("to", kernels.FLOATS, ids=kernels.suffix)
@pytest.mark.parametrize("source", [np.dtype(np.int64), np.dtype(np.uint64)], ids=kernels.suffix)
@pytest.mark.parametrize("mode", MODES)
def test_wide_integers_round_once(source: np.dtype, to: np.dtype, mode: int) -> None:
    """Numbers next to a tie. float64 would round them to the tie."""
    bits = int(kernels.limits(to).nmant) + 1
    numbers = [0, 1, 2**53 + 1, int(np.iinfo(source).max)]
    for exponent in (14, 60, 62):
        tie = (2**bits + 1) * 2 ** (exponent - bits) if exponent > bits else 2**exponent
        numbers += [tie + offset for offset in (-1, 0, 1, 2 ** max(exponent - bits, 1))]
    if source.kind == "i":
        numbers += [-number for number in numbers] + [int(np.iinfo(source).min)]
    expected = [rounded(fractions.Fraction(number), to, mode) if number else 0.0 for number in numbers]
    actual = cast(np.array(numbers, source), to, struct.pack("i", mode))
    assert list(actual.astype(np.float64)) == expected


@pytest.mark.parametrize("to", [kernels.BF16, kernels.F16], ids=kernels.suffix)
@pytest.mark.parametrize("mode", MODES)
def test_round_modes_of_floats(to: np.dtype, mode: int) -> None:
    info = kernels.limits(to)
    scales = [1.0, 1e-3, 40000.0, float(info.max), float(info.tiny), float(info.smallest_subnormal)]
    x = np.concatenate([kernels.random_array((40,), np.float32, i) * np.float32(s) for i, s in enumerate(scales)])
    x = x[np.isfinite(x) & (x != 0)]
    ties = np.array([1 + float(info.eps) / 2, 1 + 1.5 * float(info.eps)], np.float32)
    x = np.concatenate([x, ties, -ties])
    expected = [rounded(float(value), to, mode) for value in x]
    actual = cast(x, to, struct.pack("i", mode))
    np.testing.assert_array_equal(actual.astype(np.float64), expected)
    kernels.assert_same_zeros(actual, np.copysign(expected, x))


def test_signs_and_nan_survive() -> None:
    x = np.array([0.0, -0.0, np.nan, np.inf, -np.inf], np.float32)
    for to in (kernels.BF16, kernels.F16):
        back = cast(cast(x, to), kernels.F32)
        np.testing.assert_array_equal(back, x)
        np.testing.assert_array_equal(np.signbit(back), np.signbit(x))


@pytest.mark.parametrize("size", [0, 4, 8, 12, 16])
def test_versions_of_the_params(size: int) -> None:
    x = np.array([2.7, -2.7], np.float32)
    params = (TO_ZERO + bytes(12))[:size]
    np.testing.assert_array_equal(cast(x, np.dtype(np.int32), params), [2, -2] if size else [3, -3])


@pytest.mark.parametrize("mode", [3, 7, 8, -1])
def test_unknown_and_stochastic_modes(mode: int) -> None:
    with pytest.raises(kernels.KernelError, match=f"round mode {mode}: unknown, or stochastic"):
        cast(np.zeros(2, np.float32), kernels.BF16, struct.pack("i", mode))


def test_the_guid_names_both_types() -> None:
    x = np.zeros(2, np.float32)
    with pytest.raises(kernels.KernelError, match="the guid's types are not those of the tensors"):
        kernels.run_one("cast_bf16_to_i32", [x], (x.shape, np.int32))
    with pytest.raises(kernels.KernelError, match="the guid's types are not those of the tensors"):
        kernels.run_one("cast_f32_to_i16", [x], (x.shape, np.int32))
