"""Slices in all versions of their params, insertions and strided views, against numpy."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.gaudi import kernel_library as kernels

VERSIONS = (80, 400, 704)
Entry = tuple[int, int, int, int]  # axis, start, end, step, with numpy's axis


def slice_params(entries: Sequence[Entry], rank: int, version: int) -> bytes:
    """Returns params of `version` bytes."""
    count = 5 if version == 80 else 25
    axes, starts, ends, steps = ([entry[i] for entry in entries] for i in range(4))
    columns = [[rank - 1 - axis for axis in axes], starts, ends, steps]
    filled = [[*column, *([0] * (count - len(column)))] for column in columns]
    if version == 704:
        return struct.pack("25I4x", *filled[0]) + b"".join(struct.pack("25Q", *column) for column in filled[1:])
    return b"".join(struct.pack(f"{count}I", *column) for column in filled)


def index_of(entries: Sequence[Entry], rank: int) -> tuple[slice, ...]:
    index = [slice(None)] * rank
    for axis, start, end, step in entries:
        index[axis] = slice(start, end, step)
    return tuple(index)


@st.composite
def sliced_arrays(draw: st.DrawFn) -> tuple[np.ndarray, list[Entry]]:
    shape = draw(st.lists(st.integers(1, 5), min_size=1, max_size=5))
    entries = []
    for axis in draw(st.lists(st.integers(0, len(shape) - 1), unique=True)):
        start = draw(st.integers(0, shape[axis] - 1))
        entries.append((axis, start, draw(st.integers(start + 1, shape[axis])), draw(st.integers(1, 3))))
    return np.arange(np.prod(shape), dtype=np.int32).reshape(shape), entries


@kernels.covers("slice", "slice_insert", "strided_slice_grad")
@settings(max_examples=80, deadline=None)
@given(drawn=sliced_arrays(), version=st.sampled_from(VERSIONS))
def test_slices(drawn: tuple[np.ndarray, list[Entry]], version: int) -> None:
    x, entries = drawn
    index = index_of(entries, x.ndim)
    params = slice_params(entries, x.ndim, version)
    taken = x[index]
    np.testing.assert_array_equal(kernels.run_one("slice", [x], (taken.shape, np.int32), params), taken)
    inserted = x.copy()
    inserted[index] = -taken
    actual = kernels.run_one("slice_insert", [x, -taken], (x.shape, np.int32), params)
    np.testing.assert_array_equal(actual, inserted)
    zeros = np.zeros_like(x)
    zeros[index] = taken
    actual = kernels.run_one("strided_slice_grad", [taken], (x.shape, np.int32), params)
    np.testing.assert_array_equal(actual, zeros)


def test_slice_of_rank_8_and_64_bits() -> None:
    x = np.arange(2**8, dtype=np.int64).reshape([2] * 8) << 40
    entries = [(axis, axis % 2, 2, 1) for axis in range(8)]
    expected = x[index_of(entries, 8)]
    actual = kernels.run_one("slice", [x], (expected.shape, np.int64), slice_params(entries, 8, 704))
    np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("entry", "text"),
    [
        ((0, 1, 4, 1), r"axis 1: \[1, 4\) is not inside \{4,3\}"),
        ((0, 2, 2, 1), r"axis 1: \[2, 2\) is not inside"),
        ((0, 0, 2, 0), "entry 0: step 0"),
        ((-1, 0, 1, 1), r"entry 0: axis 2 of \{4,3\} is out of range or used twice"),
    ],
)
def test_slices_outside(version: int, entry: Entry, text: str) -> None:
    x = np.zeros((3, 4), np.float32)
    with pytest.raises(kernels.KernelError, match=text):
        kernels.run_one("slice", [x], ((2, 4), np.float32), slice_params([entry], 2, version))


@pytest.mark.parametrize("step", [7, 2**31, 2**64 - 1])
def test_steps_beyond_the_size(step: int) -> None:
    x = np.arange(6, dtype=np.int32)
    params = slice_params([(0, 2, 6, step)], 1, 704)
    np.testing.assert_array_equal(kernels.run_one("slice", [x], ((1,), np.int32), params), [2])


def test_slice_checks_the_result() -> None:
    x = np.zeros((5, 4), np.float32)
    params = slice_params([(0, 0, 5, 2)], 2, 80)
    with pytest.raises(kernels.KernelError, match=r"expected sizes \{4,3\}, found \{4,2\}"):
        kernels.run_one("slice", [x], ((2, 4), np.float32), params)


@kernels.covers("slice_axis")
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_slice_axis(axis: int) -> None:
    x = np.arange(60, dtype=np.int32).reshape(3, 4, 5)
    expected = np.take(x, [1, 2], axis)
    params = struct.pack("I4xQQ", 2 - axis, 1, 3)
    np.testing.assert_array_equal(kernels.run_one("slice_axis", [x], (expected.shape, np.int32), params), expected)
    with pytest.raises(kernels.KernelError, match=r"\[1, 6\) is not inside axis"):
        kernels.run_one("slice_axis", [x], (expected.shape, np.int32), struct.pack("I4xQQ", 2 - axis, 1, 6))


def strided_params(offset: int, strides: Sequence[int]) -> bytes:
    return struct.pack("26Q", offset, *strides, *([0] * (25 - len(strides))))


@kernels.covers("strided_view", "strided_insert")
@pytest.mark.parametrize(
    ("shape", "offset", "strides"),
    [((4, 5), 3, (1, 6)), ((2, 3, 4), 0, (5, 1, 20)), ((7,), 2, (8,)), ((3, 3), 10, (1, 2))],
)
def test_strided_views(shape: tuple[int, ...], offset: int, strides: tuple[int, ...]) -> None:
    x = np.arange(60, dtype=np.float32).reshape(3, 20)
    steps = [4 * stride for stride in reversed(strides)]
    view = np.lib.stride_tricks.as_strided(x.reshape(-1)[offset:], shape, steps)
    params = strided_params(offset, strides)
    np.testing.assert_array_equal(kernels.run_one("strided_view", [x], (shape, np.float32), params), view)
    # Overlapping views take equal values, so their order does not matter.
    update = -view.copy()
    expected = x.copy()
    np.lib.stride_tricks.as_strided(expected.reshape(-1)[offset:], shape, steps)[...] = update
    actual = kernels.run_one("strided_insert", [x, update], (x.shape, np.float32), params, dense=True)
    np.testing.assert_array_equal(actual, expected)


def test_strided_views_stay_inside_their_tensor() -> None:
    x = np.zeros((3, 20), np.float32)
    kernels.run_one("strided_view", [x], ((2, 3), np.float32), strided_params(1, (20, 18)))
    for offset, strides in ((2, (20, 18)), (1, (20, 19)), (60, (1, 1)), (2**64 - 1, (1, 1)), (0, (2**63, 1))):
        with pytest.raises(kernels.KernelError, match=r"the view \{3,2\} is not inside \{20,3\}"):
            kernels.run_one("strided_view", [x], ((2, 3), np.float32), strided_params(offset, strides))
