"""Kernels that move elements or fill tensors, against numpy."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.gaudi import kernel_library as kernels

ALL_TYPES = pytest.mark.parametrize("dtype", kernels.TYPE_CODES, ids=kernels.suffix)
shapes = st.lists(st.integers(1, 4), min_size=1, max_size=5).map(tuple)


def numbered(shape: Sequence[int], dtype: Any = np.int32) -> np.ndarray:
    """Returns consecutive numbers, modulo a prime or the range of the type."""
    return (
        (np.arange(np.prod(shape, dtype=int)) % 251 % (2 ** min(8 * np.dtype(dtype).itemsize - 1, 30)))
        .astype(dtype)
        .reshape(shape)
    )


def axis_params(axis: int) -> bytes:
    return struct.pack("I", axis)


def fcd(axis: int, rank: int) -> int:
    """Returns an axis counted from the fastest dimension."""
    return rank - 1 - axis


@kernels.covers("identity", "memcpy", "memset")
@ALL_TYPES
def test_copies_and_zeros(dtype: np.dtype) -> None:
    x = kernels.special_values(dtype)[np.newaxis].repeat(3, axis=0)
    for guid in ("identity", "memcpy"):
        actual = kernels.run_one(guid, [x], (x.shape, dtype))
        assert actual.tobytes() == x.tobytes(), guid
    assert not np.any(kernels.run_one("memset", [], (x.shape, dtype)).view(np.uint8))


def test_copies_do_not_cast() -> None:
    with pytest.raises(kernels.KernelError, match="input 0: type f32, output 0 has i32"):
        kernels.run_one("memcpy", [np.zeros(2, np.float32)], ((2,), np.int32))


@kernels.covers("reshape", "static_reshape")
@ALL_TYPES
def test_reshapes(dtype: np.dtype) -> None:
    x = numbered((4, 3, 6), dtype)
    for guid in ("reshape", "static_reshape"):
        actual = kernels.run_one(guid, [x[:, :, ::2]], ((2, 18), dtype))
        np.testing.assert_array_equal(actual, x[:, :, ::2].reshape(2, 18))
        with pytest.raises(kernels.KernelError, match="other numbers of elements"):
            kernels.run_one(guid, [x], ((2, 18), dtype))


@kernels.covers("expand_dims", "squeeze", "flatten")
def test_changes_of_the_rank() -> None:
    x = numbered((2, 1, 3))
    for axis, shape in [(0, (2, 1, 3, 1)), (1, (2, 1, 1, 3)), (3, (1, 2, 1, 3))]:
        actual = kernels.run_one("expand_dims", [x], (shape, np.int32), axis_params(axis))
        np.testing.assert_array_equal(actual, x.reshape(shape))
    actual = kernels.run_one("squeeze", [x], ((2, 3), np.int32), axis_params(1))
    np.testing.assert_array_equal(actual, x.reshape(2, 3))
    with pytest.raises(kernels.KernelError, match=r"axis 0 of \{3,1,2\} is not 1"):
        kernels.run_one("squeeze", [x], ((2, 3), np.int32), axis_params(0))
    y = numbered((2, 3, 4))
    for axis, flat in [(0, (6, 4)), (1, (2, 12)), (2, (1, 24))]:
        actual = kernels.run_one("flatten", [y], (flat, np.int32), axis_params(axis))
        np.testing.assert_array_equal(actual, y.reshape(flat))


@kernels.covers("reinterpret_cast")
def test_reinterpret_cast() -> None:
    x = np.array([[1.5, -0.0, np.nan], [3, 4, 5]], np.float32)
    for dtype, columns in [(np.int32, 3), (np.int16, 6), (np.uint8, 12)]:
        actual = kernels.run_one("reinterpret_cast", [x], ((2, columns), dtype))
        np.testing.assert_array_equal(actual, x.view(dtype))
    with pytest.raises(kernels.KernelError, match="rows of other sizes in bytes"):
        kernels.run_one("reinterpret_cast", [x], ((2, 3), np.int16))


def transpose_params(permutation: Sequence[int], version: int) -> bytes:
    """Returns the params for numpy's permutation."""
    rank = len(permutation)
    reversed_axes = [fcd(permutation[fcd(i, rank)], rank) for i in range(rank)]
    if version == 1:
        return struct.pack("6I", *reversed_axes, *([0] * (5 - rank)), rank)
    return struct.pack("26I", rank, *reversed_axes, *([0] * (25 - rank)))


@kernels.covers("transpose")
@settings(max_examples=60, deadline=None)
@given(data=st.data(), shape=shapes, version=st.sampled_from([1, 2]))
def test_transpose(data: st.DataObject, shape: tuple[int, ...], version: int) -> None:
    permutation = data.draw(st.permutations(range(len(shape))))
    x = numbered(shape)
    expected = np.transpose(x, permutation)
    actual = kernels.run_one("transpose", [x], (expected.shape, np.int32), transpose_params(permutation, version))
    np.testing.assert_array_equal(actual, expected)


def test_transpose_of_rank_8() -> None:
    x = numbered((1, 2, 3, 1, 2, 2, 1, 3), np.int64)
    permutation = (3, 1, 0, 7, 6, 5, 4, 2)
    expected = np.transpose(x, permutation)
    actual = kernels.run_one("transpose", [x], (expected.shape, np.int64), transpose_params(permutation, 2))
    np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("permutation", [(0, 0), (0, 2), (0,)])
def test_transpose_refuses_what_is_no_permutation(permutation: tuple[int, ...]) -> None:
    params = struct.pack("26I", len(permutation), *permutation, *([0] * (25 - len(permutation))))
    with pytest.raises(kernels.KernelError, match=r"is not a permutation of the dimensions of \{3,2\}"):
        kernels.run_one("transpose", [numbered((2, 3))], ((2, 3), np.int32), params)


@kernels.covers("broadcast")
@settings(max_examples=40, deadline=None)
@given(shape=shapes, ones=st.lists(st.booleans(), min_size=5, max_size=5), dropped=st.integers(0, 2))
def test_broadcast(shape: tuple[int, ...], ones: list[bool], dropped: int) -> None:
    source = tuple(1 if one else size for one, size in zip(ones, shape))[min(dropped, len(shape) - 1) :]
    x = numbered(source)
    actual = kernels.run_one("broadcast", [x], (shape, np.int32))
    np.testing.assert_array_equal(actual, np.broadcast_to(x, shape))


def test_broadcast_refuses_other_sizes() -> None:
    with pytest.raises(kernels.KernelError, match=r"sizes \{2\} do not broadcast to \{4,3\}"):
        kernels.run_one("broadcast", [numbered((2,))], ((3, 4), np.int32))


@kernels.covers("concat", "split")
@settings(max_examples=40, deadline=None)
@given(data=st.data(), shape=shapes, lengths=st.lists(st.integers(1, 4), min_size=1, max_size=4))
def test_concat_and_split(data: st.DataObject, shape: tuple[int, ...], lengths: list[int]) -> None:
    axis = data.draw(st.integers(0, len(shape) - 1))
    whole = numbered((*shape[:axis], sum(lengths), *shape[axis + 1 :]))
    parts = np.split(whole, np.cumsum(lengths)[:-1], axis)
    params = axis_params(fcd(axis, len(shape)))
    np.testing.assert_array_equal(kernels.run_one("concat", parts, (whole.shape, np.int32), params), whole)
    for actual, part in zip(kernels.run("split", [whole], [(part.shape, np.int32) for part in parts], params), parts):
        np.testing.assert_array_equal(actual, part)


def test_concat_checks_sums() -> None:
    parts = [numbered((2, 3)), numbered((2, 2))]
    with pytest.raises(kernels.KernelError, match="axis 0: the parts have size 5, the whole 6"):
        kernels.run_one("concat", parts, ((2, 6), np.int32), axis_params(0))
    with pytest.raises(kernels.KernelError, match=r"part: expected sizes \{5,2\}, found \{3,2\}"):
        kernels.run_one("concat", parts, ((4, 5), np.int32), axis_params(1))


@kernels.covers("reverse_*")
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_reverse(axis: int) -> None:
    x = numbered((2, 3, 4), np.float32)
    axes = np.array([fcd(axis, 3)], np.int32)
    actual = kernels.run_one("reverse_f32", [x, axes], (x.shape, np.float32))
    np.testing.assert_array_equal(actual, np.flip(x, axis))
    with pytest.raises(kernels.KernelError, match="axis 3 is out of range for rank 3"):
        kernels.run_one("reverse_f32", [x, np.array([3], np.int32)], (x.shape, np.float32))


def test_plain_reverse_is_an_internal_guid() -> None:
    with pytest.raises(kernels.KernelError, match="reverse: the guid lacks its types"):
        kernels.run_one("reverse", [numbered((2,)), np.zeros(1, np.int32)], ((2,), np.int32))


@kernels.covers("tile_fwd_*")
@pytest.mark.parametrize("version", [1, 2])
def test_tile(version: int) -> None:
    x = numbered((2, 1, 3))
    repeats = (2, 3, 2)
    params = struct.pack("iii", *reversed(repeats)) + struct.pack("ii", 1, 1)[: 4 * version]
    expected = np.tile(x, repeats)
    np.testing.assert_array_equal(kernels.run_one("tile_fwd_i32", [x], (expected.shape, np.int32), params), expected)


def test_tile_of_rank_5() -> None:
    x = numbered((2, 1, 1, 1, 3))
    expected = np.tile(x, (3, 1, 1, 1, 2))
    params = struct.pack("5i", 2, 1, 1, 1, 3)
    np.testing.assert_array_equal(kernels.run_one("tile_fwd_i32", [x], (expected.shape, np.int32), params), expected)
    with pytest.raises(kernels.KernelError, match="dimension 1: 0 repetitions"):
        kernels.run_one("tile_fwd_i32", [x], (expected.shape, np.int32), struct.pack("5i", 2, 0, 1, 1, 3))


@kernels.covers("pad_fwd_*")
@pytest.mark.parametrize(
    "dtype", [kernels.F32, kernels.BF16, np.dtype(np.int32), np.dtype(np.int8)], ids=kernels.suffix
)
def test_pad(dtype: np.dtype) -> None:
    x = numbered((2, 3, 4), dtype)
    pads = [(0, 2), (1, 0), (3, 1)]
    value = -3
    packed = struct.pack("f" if dtype in kernels.FLOATS else "i", value)
    before = [pair[0] for pair in reversed(pads)]
    after = [pair[1] for pair in reversed(pads)]
    packed += struct.pack("10I", *before, 0, 0, *after, 0, 0)
    expected = np.pad(x.astype(np.int32), pads, constant_values=value)
    for params in (packed, packed + bytes(4)):
        actual = kernels.run_one(f"pad_fwd_{kernels.suffix(dtype)}", [x], (expected.shape, dtype), params)
        np.testing.assert_array_equal(actual.astype(np.int32), expected)
    with pytest.raises(kernels.KernelError, match="pads of dimension 4, the rank is 3"):
        params = packed[:4] + struct.pack("10I", *before, 0, 1, *after, 0, 0)
        kernels.run_one(f"pad_fwd_{kernels.suffix(dtype)}", [x], (expected.shape, dtype), params)


@kernels.covers("constant_*")
@ALL_TYPES
def test_constant(dtype: np.dtype) -> None:
    is_float = dtype in kernels.FLOATS
    for value in (0, 1, 100) if dtype.kind == "u" else (-7, 0, 100):
        params = struct.pack("f" if is_float else "i", value)
        actual = kernels.run_one(f"constant_{kernels.suffix(dtype)}", [], ((2, 3), dtype), params)
        np.testing.assert_array_equal(actual, np.full((2, 3), value).astype(dtype))


@pytest.mark.parametrize("value", [-1, 2**40 + 5, -(2**62)])
def test_constant_of_64_bits(value: int) -> None:
    actual = kernels.run_one("constant_i64", [], ((3,), np.int64), struct.pack("q", value))
    np.testing.assert_array_equal(actual, [value] * 3)
    with pytest.raises(kernels.KernelError, match="params of 8 bytes are for 64-bit types"):
        kernels.run_one("constant_i32", [], ((3,), np.int32), struct.pack("q", value))


@kernels.covers("range_*")
@pytest.mark.parametrize(("start", "limit", "delta"), [(0, 5, 1), (3, -4, -2), (-5, 5, 3), (2, 2, 1)])
def test_range(start: int, limit: int, delta: int) -> None:
    expected = np.arange(start, limit, delta)
    for dtype, form in ((np.int32, "iii"), (np.float32, "fff")):
        params = struct.pack(form, start, limit, delta)
        actual = kernels.run_one(f"range_{kernels.suffix(dtype)}", [], (expected.shape, dtype), params)
        np.testing.assert_array_equal(actual, expected.astype(dtype))


def test_range_of_fractions() -> None:
    actual = kernels.run_one("range_f32", [], ((4,), np.float32), struct.pack("fff", 0.5, 1.5, 0.25))
    np.testing.assert_array_equal(actual, [0.5, 0.75, 1, 1.25])
    with pytest.raises(kernels.KernelError, match=r"output 0: expected sizes \{4\}, found \{5\}"):
        kernels.run_one("range_f32", [], ((5,), np.float32), struct.pack("fff", 0.5, 1.5, 0.25))
    for limit in (np.inf, np.nan):
        with pytest.raises(kernels.KernelError, match=r"output 0: expected (inf|nan) elements, found \{5\}"):
            kernels.run_one("range_f32", [], ((5,), np.float32), struct.pack("fff", 0.5, limit, 0.25))
    with pytest.raises(kernels.KernelError, match="delta is 0"):
        kernels.run_one("range_i32", [], ((4,), np.int32), struct.pack("iii", 0, 4, 0))
