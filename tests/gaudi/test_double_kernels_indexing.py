"""Gathers, scatters and one-hot encodings against numpy, and indices out of range."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.gaudi import kernel_library as kernels

all_types = pytest.mark.parametrize("dtype", kernels.TYPE_CODES, ids=kernels.suffix)
index_types = pytest.mark.parametrize("index_type", [np.int32, np.int64])
shapes = st.lists(st.integers(1, 4), min_size=1, max_size=4)


def axis_params(axis: int, rank: int, *more: int) -> bytes:
    return struct.pack(f"{1 + len(more)}i", rank - 1 - axis, *more)


def indices_below(limit: int, shape: tuple[int, ...], index_type: type = np.int32) -> np.ndarray:
    return np.random.default_rng(0).integers(0, limit, shape).astype(index_type)


@kernels.covers("gather_fwd_*")
@settings(max_examples=60, deadline=None)
@given(data=st.data(), shape=shapes, index_shape=st.lists(st.integers(1, 3), min_size=1, max_size=3))
def test_gather(data: st.DataObject, shape: list[int], index_shape: list[int]) -> None:
    axis = data.draw(st.integers(0, len(shape) - 1))
    x = kernels.random_array(shape, np.float32)
    indices = indices_below(shape[axis], tuple(index_shape))
    expected = np.take(x, indices, axis)
    for params in (axis_params(axis, len(shape)), axis_params(axis, len(shape), 0)):
        actual = kernels.run_one("gather_fwd_f32", [x, indices], (expected.shape, np.float32), params)
        np.testing.assert_array_equal(actual, expected)


@all_types
@index_types
def test_gather_of_rows(dtype: np.dtype, index_type: type) -> None:
    x = kernels.random_array((7, 3), dtype, 0, 0, 100)
    indices: np.ndarray = np.array([6, 0, 0, 3], index_type)
    actual = kernels.run_one(f"gather_fwd_{kernels.suffix(dtype)}", [x, indices], ((4, 3), dtype), axis_params(0, 2))
    np.testing.assert_array_equal(actual, x[indices])


@pytest.mark.parametrize(("batch_dims", "axis"), [(1, 1), (1, 2), (2, 2), (2, 3)])
def test_gather_of_batches(batch_dims: int, axis: int) -> None:
    x = kernels.random_array((2, 3, 4, 5), np.float32)
    index_shape = (*x.shape[:batch_dims], 2, 2)
    indices = indices_below(x.shape[axis], index_shape)
    expected = np.stack(
        [np.take(x[batch], indices[batch], axis - batch_dims) for batch in np.ndindex(*x.shape[:batch_dims])]
    )
    expected = expected.reshape(*x.shape[:batch_dims], *expected.shape[1:])
    params = axis_params(axis, 4, batch_dims)
    actual = kernels.run_one("gather_fwd_f32", [x, indices], (expected.shape, np.float32), params)
    np.testing.assert_array_equal(actual, expected)


@kernels.covers("gather_elements_fwd_*")
@pytest.mark.parametrize("axis", [0, 1, 2])
@index_types
def test_gather_elements(axis: int, index_type: type) -> None:
    x = kernels.random_array((4, 3, 5), np.float32)
    shape = tuple(7 if i == axis else size for i, size in enumerate(x.shape))
    indices = indices_below(x.shape[axis], shape, index_type)
    actual = kernels.run_one("gather_elements_fwd_f32", [x, indices], (shape, np.float32), axis_params(axis, 3))
    np.testing.assert_array_equal(actual, np.take_along_axis(x, indices, axis))


@pytest.mark.parametrize("bad", [-1, 4, 2**31 - 1])
@pytest.mark.parametrize("guid", ["gather_fwd_f32", "gather_elements_fwd_f32", "gather_fwd_i8"])
def test_indices_out_of_range_poison_the_result(guid: str, bad: int) -> None:
    dtype = np.dtype(np.int8 if guid.endswith("i8") else np.float32)
    with pytest.raises(kernels.KernelError, match=rf"index {bad} is out of range \[0, 4\)") as failure:
        kernels.run_one(guid, [np.zeros(4, dtype), np.array([0, bad, 1], np.int32)], ((3,), dtype), bytes(4))
    (poisoned,) = failure.value.outputs
    assert np.all(poisoned == -1) if dtype == np.int8 else np.isnan(poisoned).all()


def test_indices_of_other_types() -> None:
    with pytest.raises(kernels.KernelError, match="input 1: expected i32 or i64, found f32"):
        x = np.zeros(4, np.float32)
        kernels.run_one("gather_fwd_f32", [x, x], ((4,), np.float32), bytes(4))


@kernels.covers("one_hot_fwd_*")
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_one_hot(axis: int) -> None:
    indices = np.array([[0, 3, 1], [2, -1, 4]], np.int32)
    expected = np.moveaxis(np.where(indices[..., np.newaxis] == np.arange(4), 2.5, -1), -1, axis)
    params = axis_params(axis, 3, 4) + struct.pack("ff", 2.5, -1)
    actual = kernels.run_one("one_hot_fwd_f32", [indices], (expected.shape, np.float32), params)
    np.testing.assert_array_equal(actual, expected)


@st.composite
def scatters(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draws an operand, sorted indices with one row per update, and updates."""
    shape = draw(shapes)
    depth = draw(st.integers(1, len(shape)))
    count = draw(st.integers(1, 6))
    rows = [tuple(draw(st.integers(0, size - 1)) for size in shape[:depth]) for _ in range(count)]
    return (
        kernels.random_array(shape, np.int32, 0, -50, 50),
        np.array(sorted(rows), np.int32).reshape(count, depth),
        kernels.random_array((count, *shape[depth:]), np.int32, 1, -50, 50),
    )


def scatter_params(indices: np.ndarray) -> bytes:
    return struct.pack("6i", 2, indices.shape[1], indices.shape[0], 0, 0, 0)


@kernels.covers("scatter_nd_fwd_*", "scatter_nd_onnx_fwd_*")
@settings(max_examples=60, deadline=None)
@given(drawn=scatters())
def test_scatter_nd(drawn: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    x, indices, updates = drawn
    added, replaced = x.copy(), x.copy()
    for row, update in zip(indices, updates):
        added[tuple(row)] += update
        replaced[tuple(row)] = update
    spec = (x.shape, np.int32)
    actual = kernels.run_one("scatter_nd_fwd_i32", [x, indices, updates], spec, scatter_params(indices))
    np.testing.assert_array_equal(actual, added)
    actual = kernels.run_one("scatter_nd_onnx_fwd_i32", [x, indices, updates], spec)
    np.testing.assert_array_equal(actual, replaced)


def test_the_order_of_updates() -> None:
    """Order-dependent sums and updates at equal indices have other results in other orders."""
    zeros, rows = np.zeros(2, np.float32), np.zeros(3, np.int32)
    updates = np.array([2.0**60, 1, -(2.0**60)], np.float32)
    indices = rows.reshape(3, 1)
    nodes: list[tuple[str, list[np.ndarray], bytes, set[float]]] = [
        ("scatter_nd_fwd_f32", [zeros, indices, updates], scatter_params(indices), {0, 1}),
        ("scatter_nd_onnx_fwd_f32", [zeros, indices, updates], b"", set(updates)),
        ("unsorted_scatter_add_fwd_f32", [zeros, rows, updates], axis_params(0, 1), {0, 1}),
        ("unsorted_segment_sum_fwd_f32", [updates, rows], struct.pack("i", 2), {0, 1}),
    ]
    for guid, inputs, params, expected in nodes:
        seeded = [
            kernels.run_one(guid, inputs, ((2,), np.float32), params, kernels.Switches(order=order))[0]
            for order in [0, *range(40)]
        ]
        assert set(seeded) == expected, guid
        assert seeded[0] == (updates[-1] if "onnx" in guid else 0), guid


def test_added_updates_have_sorted_indices() -> None:
    x, updates = np.zeros((4, 2), np.float32), np.ones((3, 2), np.float32)
    indices = np.array([[2], [0], [1]], np.int32)
    with pytest.raises(kernels.KernelError, match="input 1: row 1 is not sorted"):
        kernels.run_one("scatter_nd_fwd_f32", [x, indices, updates], (x.shape, np.float32), scatter_params(indices))
    with pytest.raises(kernels.KernelError, match=r"origIndicesShape is not that of the indices, \{1,3\}"):
        params = scatter_params(indices[:2])
        kernels.run_one("scatter_nd_fwd_f32", [x, indices, updates], (x.shape, np.float32), params)
    actual = kernels.run_one("scatter_nd_onnx_fwd_f32", [x, indices, updates], (x.shape, np.float32))
    np.testing.assert_array_equal(actual, [[1, 1]] * 3 + [[0, 0]])


@pytest.mark.parametrize("guid", ["scatter_nd_fwd_f32", "scatter_nd_onnx_fwd_f32"])
@pytest.mark.parametrize("bad", [(0, 2), (-1, 0), (3, 0)])
def test_scatters_out_of_range(guid: str, bad: tuple[int, int]) -> None:
    x = np.zeros((3, 2), np.float32)
    indices = np.array([bad], np.int32)
    params = b"" if "onnx" in guid else scatter_params(indices)
    with pytest.raises(kernels.KernelError, match="is out of range") as failure:
        kernels.run_one(guid, [x, indices, np.ones(1, np.float32)], (x.shape, np.float32), params)
    assert np.isnan(failure.value.outputs[0]).all()


@kernels.covers("unsorted_scatter_add_fwd_*")
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("dtype", [kernels.F32, np.dtype(np.int32)], ids=kernels.suffix)
def test_unsorted_scatter_add(axis: int, dtype: np.dtype) -> None:
    x = kernels.random_array((4, 5), dtype, 0, 0, 9)
    params = axis_params(axis, 2)
    guid = f"unsorted_scatter_add_fwd_{kernels.suffix(dtype)}"
    spec = (x.shape, dtype)
    rows = np.array([3, 0, 3], np.int32)
    updates = kernels.random_array((3, 5) if axis == 0 else (4, 3), dtype, 1, 0, 9)
    expected = x.astype(np.float64)
    for position, row in enumerate(rows):
        target, update = (expected, updates) if axis == 0 else (expected.T, updates.T)
        target[row] += update[position].astype(np.float64)
    kernels.assert_close(kernels.run_one(guid, [x, rows, updates], spec, params), expected)
    indices = indices_below(x.shape[axis], (3, 4))
    elements = updates[:3, :3] if axis == 1 else updates[:, :4]
    indices = indices[: elements.shape[0], : elements.shape[1]]
    expected = x.astype(np.float64)
    for at in np.ndindex(*elements.shape):
        expected[(indices[at], at[1]) if axis == 0 else (at[0], indices[at])] += float(elements[at])
    kernels.assert_close(kernels.run_one(guid, [x, indices, elements], spec, params), expected)
    with pytest.raises(kernels.KernelError, match="is out of range"):
        kernels.run_one(guid, [x, np.array([0, 5, 1], np.int32), updates], spec, params)


@kernels.covers("unsorted_segment_sum_fwd_*")
@pytest.mark.parametrize("dtype", [kernels.F32, kernels.BF16, np.dtype(np.int32)], ids=kernels.suffix)
@pytest.mark.parametrize("id_rank", [1, 2])
def test_unsorted_segment_sum(dtype: np.dtype, id_rank: int) -> None:
    data = kernels.random_array((4, 3, 2), dtype, 0, -9, 9)
    ids = indices_below(5, data.shape[:id_rank])
    expected = np.zeros((5, *data.shape[id_rank:]))
    np.add.at(expected, ids, data.astype(np.float64))
    guid = f"unsorted_segment_sum_fwd_{kernels.suffix(dtype)}"
    actual = kernels.run_one(guid, [data, ids], (expected.shape, dtype), struct.pack("i", 5))
    kernels.assert_close(actual, expected)
    with pytest.raises(kernels.KernelError, match=r"index -1 is out of range \[0, 5\)"):
        kernels.run_one(guid, [data, -np.ones_like(ids)], (expected.shape, dtype), struct.pack("i", 5))
