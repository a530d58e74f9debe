"""Reductions, cumulative sums and topk against numpy."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.gaudi import kernel_library as kernels

NUMBERS = [*kernels.FLOATS, np.dtype(np.int32), np.dtype(np.int8), np.dtype(np.uint8), np.dtype(np.int64)]
REDUCTIONS: dict[str, Callable[..., Any]] = {"max": np.max, "min": np.min, "prod": np.prod, "sum": np.sum}
LOSING: dict[str, Callable[..., Any]] = {"max": np.nanmax, "min": np.nanmin}
ARGUMENTS: dict[str, Callable[..., Any]] = {"argmax": np.argmax, "argmin": np.argmin}
shapes = st.lists(st.integers(1, 4), min_size=1, max_size=5).map(tuple)

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def mask_params(axes: Sequence[int], rank: int, keep: bool) -> bytes:
    return struct.pack("I?3x", sum(1 << (rank - 1 - axis) for axis in axes), keep)


def wide(x: np.ndarray) -> np.ndarray:
    return x.astype(np.float64 if x.dtype in kernels.FLOATS else np.int64)


@kernels.covers(*(f"reduce_{name}_fwd_*" for name in REDUCTIONS))
@pytest.mark.parametrize("dtype", NUMBERS, ids=kernels.suffix)
@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_reductions_of_one_dimension(name: str, dtype: np.dtype, axis: int) -> None:
    x = kernels.random_array((3, 4, 5), dtype, 0, 0 if dtype.kind == "u" else -3, 4)
    expected = REDUCTIONS[name](wide(x), axis=axis, keepdims=True)
    guid = f"reduce_{name}_fwd_{kernels.suffix(dtype)}"
    actual = kernels.run_one(guid, [x], (expected.shape, dtype), struct.pack("I", 2 - axis))
    kernels.assert_close(actual, expected)


@kernels.covers(*(f"reduce_{name}_multi_dim_fwd_*" for name in REDUCTIONS))
@settings(max_examples=80, deadline=None)
@given(data=st.data(), shape=shapes, name=st.sampled_from(sorted(REDUCTIONS)), keep=st.booleans())
def test_reductions_of_several_dimensions(data: st.DataObject, shape: tuple[int, ...], name: str, keep: bool) -> None:
    axes = data.draw(st.lists(st.integers(0, len(shape) - 1), min_size=1, unique=True))
    x = kernels.random_array(shape, np.float32)
    expected = REDUCTIONS[name](wide(x), axis=tuple(axes), keepdims=keep)
    expected = expected.reshape(expected.shape or (1,))
    params = mask_params(axes, len(shape), keep)
    actual = kernels.run_one(f"reduce_{name}_multi_dim_fwd_f32", [x], (expected.shape, np.float32), params)
    kernels.assert_close(actual, expected)


@kernels.covers("reduce_mean_fwd_*", "reduce_mean_multi_dim_fwd_*")
@pytest.mark.parametrize("dtype", kernels.FLOATS, ids=kernels.suffix)
def test_means(dtype: np.dtype) -> None:
    x = kernels.random_array((3, 4, 5), dtype)
    suffix = kernels.suffix(dtype)
    one = kernels.run_one(f"reduce_mean_fwd_{suffix}", [x], ((3, 1, 5), dtype), struct.pack("I", 1))
    kernels.assert_close(one, wide(x).mean(axis=1, keepdims=True))
    two = kernels.run_one(f"reduce_mean_multi_dim_fwd_{suffix}", [x], ((4,), dtype), mask_params((0, 2), 3, False))
    kernels.assert_close(two, wide(x).mean(axis=(0, 2)))


def test_sums_are_not_rounded_on_the_way() -> None:
    x = np.array([1] + [2**-9] * 512, np.float32).astype(kernels.BF16)
    actual = kernels.run_one("reduce_sum_fwd_bf16", [x], ((1,), kernels.BF16), struct.pack("I", 0))
    assert float(actual[0]) == 2


def test_integers_wrap() -> None:
    x = np.array([100, 100, 100], np.int8)
    assert kernels.run_one("reduce_sum_fwd_i8", [x], ((1,), np.int8), struct.pack("I", 0))[0] == 44
    x = np.array([2**62, 2, 3], np.int64)
    assert kernels.run_one("reduce_prod_fwd_i64", [x], ((1,), np.int64), struct.pack("I", 0))[0] == -(2**63)


@pytest.mark.parametrize("name", LOSING)
def test_nan_and_infinities_in_extrema(name: str) -> None:
    x = np.array([[np.nan, 1, -np.inf], [2, np.nan, np.inf], [np.inf, 3, -np.inf], [-0.0, 5, -1]], np.float32)
    guid, spec, params = f"reduce_{name}_fwd_f32", ((4, 1), np.float32), struct.pack("I", 0)
    expected = REDUCTIONS[name](x, axis=1, keepdims=True)
    np.testing.assert_array_equal(kernels.run_one(guid, [x], spec, params), expected)
    losing = kernels.run_one(guid, [x], spec, params, kernels.Switches(lose_nan_in_max_min=True))
    np.testing.assert_array_equal(losing, LOSING[name](x, axis=1, keepdims=True))


@pytest.mark.parametrize(("field", "text"), [(3, "dimension 3: the rank is 3"), (40, "dimension 40")])
def test_dimensions_outside_the_rank(field: int, text: str) -> None:
    x = np.zeros((2, 3, 4), np.float32)
    with pytest.raises(kernels.KernelError, match=text):
        kernels.run_one("reduce_sum_fwd_f32", [x], ((2, 3, 1), np.float32), struct.pack("I", field))


@pytest.mark.parametrize("mask", [0, 8, 9])
def test_masks_outside_the_rank(mask: int) -> None:
    x = np.zeros((2, 3, 4), np.float32)
    with pytest.raises(kernels.KernelError, match=f"mask {mask}: the rank is 3"):
        kernels.run_one("reduce_sum_multi_dim_fwd_f32", [x], ((2, 3, 1), np.float32), struct.pack("I?3x", mask, True))


@kernels.covers(*(f"{name}_fwd_*" for name in ARGUMENTS), *(f"{name}_multi_dim_fwd_*" for name in ARGUMENTS))
@pytest.mark.parametrize("dtype", NUMBERS, ids=kernels.suffix)
@pytest.mark.parametrize("name", ARGUMENTS)
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_arguments_of_extrema(name: str, dtype: np.dtype, axis: int) -> None:
    # Few different values: the first of ties counts.
    x = kernels.random_array((3, 6, 4), np.int32, 0, 0, 3).astype(dtype)
    expected = np.expand_dims(ARGUMENTS[name](wide(x), axis=axis), axis)
    suffix = kernels.suffix(dtype)
    actual = kernels.run_one(f"{name}_fwd_{suffix}", [x], (expected.shape, np.int32), struct.pack("I", 2 - axis))
    np.testing.assert_array_equal(actual, expected)
    for keep, result in ((True, expected), (False, expected.squeeze(axis))):
        actual = kernels.run_one(
            f"{name}_multi_dim_fwd_{suffix}", [x], (result.shape, np.int64), mask_params([axis], 3, keep)
        )
        np.testing.assert_array_equal(actual, result)


@pytest.mark.parametrize("name", ARGUMENTS)
def test_arguments_over_all_dimensions(name: str) -> None:
    x = kernels.random_array((3, 6, 4), np.float32)
    actual = kernels.run_one(f"{name}_multi_dim_fwd_f32", [x], ((1,), np.int32), mask_params((0, 1, 2), 3, False))
    np.testing.assert_array_equal(actual, [ARGUMENTS[name](x)])


def test_nan_wins_in_arguments() -> None:
    x = np.array([[1, np.nan, 3, np.nan], [np.inf, 0, np.nan, 2], [np.nan, 5, 1, 7]], np.float32)
    spec, params = ((3, 1), np.int32), struct.pack("I", 0)
    for name, golden in ARGUMENTS.items():
        actual = kernels.run_one(f"{name}_fwd_f32", [x], spec, params)
        np.testing.assert_array_equal(actual[:, 0], golden(x, axis=1))
    losing = kernels.run_one("argmax_fwd_f32", [x], spec, params, kernels.Switches(lose_nan_in_max_min=True))
    np.testing.assert_array_equal(losing[:, 0], [2, 0, 3])
    losing = kernels.run_one("argmin_fwd_f32", [x], spec, params, kernels.Switches(lose_nan_in_max_min=True))
    np.testing.assert_array_equal(losing[:, 0], [0, 1, 2])


@kernels.covers("cumsum_fwd_*")
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(
    "dtype", [kernels.F32, kernels.BF16, np.dtype(np.int32), np.dtype(np.uint8)], ids=kernels.suffix
)
def test_cumulative_sums(axis: int, exclusive: bool, reverse: bool, dtype: np.dtype) -> None:
    x = kernels.random_array((3, 4, 5), dtype, 0, 0, 100)
    numbers = np.flip(wide(x), axis) if reverse else wide(x)
    sums = np.cumsum(numbers, axis=axis) - (numbers if exclusive else 0)
    expected = np.flip(sums, axis) if reverse else sums
    params = struct.pack("3i", 2 - axis, exclusive, reverse)
    actual = kernels.run_one(f"cumsum_fwd_{kernels.suffix(dtype)}", [x], (x.shape, dtype), params)
    kernels.assert_close(actual, expected.astype(dtype) if dtype == np.uint8 else expected)


def test_exclusive_sums_keep_infinities_apart() -> None:
    x = np.array([1, np.inf, 2], np.float32)
    actual = kernels.run_one("cumsum_fwd_f32", [x], (x.shape, x.dtype), struct.pack("3i", 0, 1, 0))
    np.testing.assert_array_equal(actual, [0, 1, np.inf])
    with pytest.raises(kernels.KernelError, match="axis 1 is out of range for rank 1"):
        kernels.run_one("cumsum_fwd_f32", [x], (x.shape, x.dtype), struct.pack("3i", 1, 0, 0))


def topk_params(count: int, axis: int, bottom: bool, version: int) -> bytes:
    return struct.pack("II?3x?3x", count, axis, bottom, True)[:version]


def ordered(x: np.ndarray, axis: int, bottom: bool) -> np.ndarray:
    """Returns indices in order: stable, with NaN as the largest number."""
    keys = wide(x)
    ascending = np.argsort(keys, axis=axis, kind="stable")
    if bottom:
        return ascending
    # Descending and stable: ascending and stable on the reversed axis, reversed.
    backwards = np.flip(np.argsort(np.flip(keys, axis), axis=axis, kind="stable"), axis)
    return x.shape[axis] - 1 - backwards


@kernels.covers("topk")
@pytest.mark.parametrize("dtype", NUMBERS, ids=kernels.suffix)
@pytest.mark.parametrize("bottom", [False, True])
@pytest.mark.parametrize(("axis", "count"), [(0, 3), (1, 2), (2, 40), (2, 1)])
def test_topk(dtype: np.dtype, bottom: bool, axis: int, count: int) -> None:
    # Long rows of few values: ties keep their order.
    x = kernels.random_array((3, 4, 40), np.int32, 0, 0, 4).astype(dtype)
    if dtype in kernels.FLOATS:
        x[1, 2, 3] = np.nan
        x[0, 0, 1:4] = [np.inf, -np.inf, -0.0]
    indices = np.take(ordered(x, axis, bottom), range(count), axis)
    for version in (12, 16):
        values, positions = kernels.run(
            "topk",
            [x],
            [(indices.shape, dtype), (indices.shape, np.int32)],
            topk_params(count, 2 - axis, bottom, version),
        )
        np.testing.assert_array_equal(positions, indices)
        np.testing.assert_array_equal(
            values.astype(np.float64), np.take_along_axis(x, indices, axis).astype(np.float64)
        )


def test_topk_of_the_first_versions() -> None:
    x = np.array([[3, 1, 2], [7, 9, 8]], np.float32)
    for version in (4, 8):
        values, positions = kernels.run(
            "topk", [x], [((2, 2), np.float32), ((2, 2), np.int32)], topk_params(2, 0, False, version)
        )
        np.testing.assert_array_equal(values, [[3, 2], [9, 8]])
        np.testing.assert_array_equal(positions, [[0, 2], [1, 2]])
    with pytest.raises(kernels.KernelError, match=r"bsw 4: axis 0 of \{3,2\}"):
        kernels.run("topk", [x], [((2, 4), np.float32), ((2, 4), np.int32)], topk_params(4, 0, False, 12))
