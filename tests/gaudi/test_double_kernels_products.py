"""Matrix products against numpy's in float64."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.gaudi import kernel_library as kernels

TRANSPOSES = [(False, False), (False, True), (True, False), (True, True)]


def gemm_params(transpose_a: bool, transpose_b: bool) -> bytes:
    return struct.pack("??", transpose_a, transpose_b)


def swapped(x: np.ndarray, transpose: bool) -> np.ndarray:
    return np.swapaxes(x, -1, -2) if transpose else x


def product(a: np.ndarray, b: np.ndarray, transpose_a: bool = False, transpose_b: bool = False) -> np.ndarray:
    return swapped(a.astype(np.float64), transpose_a) @ swapped(b.astype(np.float64), transpose_b)


@kernels.covers("gemm", "batch_gemm")
@pytest.mark.parametrize("dtype", kernels.FLOATS, ids=kernels.suffix)
@pytest.mark.parametrize(("transpose_a", "transpose_b"), TRANSPOSES)
@pytest.mark.parametrize("guid", ["gemm", "batch_gemm"])
def test_gemm(guid: str, dtype: np.dtype, transpose_a: bool, transpose_b: bool) -> None:
    a = kernels.random_array((7, 3) if transpose_a else (3, 7), dtype)
    b = kernels.random_array((5, 7) if transpose_b else (7, 5), dtype, 1)
    bias = kernels.random_array((5,), dtype, 2)
    params = gemm_params(transpose_a, transpose_b)
    expected = product(a, b, transpose_a, transpose_b)
    for operands, result in (([a, b], expected), ([a, b, None], expected), ([a, b, bias], expected + bias)):
        # The result may be of higher precision than the operands.
        for result_type in (dtype, np.float32):
            actual = kernels.run_one(guid, operands, (expected.shape, result_type), params)
            kernels.assert_close(actual, result)


def test_gemm_without_params_transposes_nothing() -> None:
    a, b = kernels.random_array((3, 4), np.float32), kernels.random_array((4, 2), np.float32, 1)
    kernels.assert_close(kernels.run_one("gemm", [a, b], ((3, 2), np.float32)), product(a, b))


def test_gemm_of_integers() -> None:
    a = kernels.random_array((3, 40), np.int8, 0, -128, 128)
    b = kernels.random_array((40, 4), np.int8, 1, -128, 128)
    actual = kernels.run_one("gemm", [a, b], ((3, 4), np.int32))
    np.testing.assert_array_equal(actual, a.astype(np.int32) @ b.astype(np.int32))


@kernels.covers("batch_gemm")
@settings(max_examples=60, deadline=None)
@given(
    batch=st.lists(st.integers(1, 3), max_size=3),
    ones=st.lists(st.tuples(st.booleans(), st.booleans()), min_size=3, max_size=3),
    dropped=st.integers(0, 3),
    transposes=st.sampled_from(TRANSPOSES),
)
def test_batch_gemm_broadcasts(
    batch: list[int], ones: list[tuple[bool, bool]], dropped: int, transposes: tuple[bool, bool]
) -> None:
    a_batch = [1 if one_a else size for size, (one_a, _) in zip(batch, ones)]
    b_batch = [1 if one_b else size for size, (_, one_b) in zip(batch, ones)][min(dropped, len(batch)) :]
    a = kernels.random_array((*a_batch, 4, 2) if transposes[0] else (*a_batch, 2, 4), np.float32)
    b = kernels.random_array((*b_batch, 3, 4) if transposes[1] else (*b_batch, 4, 3), np.float32, 1)
    expected = product(a, b, *transposes)
    actual = kernels.run_one("batch_gemm", [a, b], (expected.shape, np.float32), gemm_params(*transposes))
    kernels.assert_close(actual, expected)


@pytest.mark.parametrize(("a_batch", "b_batch"), [((0,), (0,)), ((0,), (1,)), ((1,), (0,)), ((2, 0), (2, 1))])
def test_batch_gemm_of_no_matrices(a_batch: tuple[int, ...], b_batch: tuple[int, ...]) -> None:
    a, b = np.ones((*a_batch, 2, 4), np.float32), np.ones((*b_batch, 4, 3), np.float32)
    expected = product(a, b)
    assert expected.size == 0
    actual = kernels.run_one("batch_gemm", [a, b], (expected.shape, np.float32), dense=True)
    assert actual.shape == expected.shape


@kernels.covers("gemm_dedx", "gemm_dedw", "batch_gemm_dedx", "batch_gemm_dedw")
@pytest.mark.parametrize("batch", [(), (2, 3)])
def test_gradients_of_gemm(batch: tuple[int, ...]) -> None:
    prefix = "batch_" if batch else ""
    a = kernels.random_array((*batch, 3, 4), np.float32)
    b = kernels.random_array((*batch, 4, 5), np.float32, 1)
    dy = kernels.random_array((*batch, 3, 5), np.float32, 2)
    for params in (b"", gemm_params(False, True)):
        da = kernels.run_one(f"{prefix}gemm_dedx", [dy, b], (a.shape, np.float32), params)
        kernels.assert_close(da, product(dy, b, False, True))
    for params in (b"", gemm_params(True, False)):
        db = kernels.run_one(f"{prefix}gemm_dedw", [dy, a], (b.shape, np.float32), params)
        kernels.assert_close(db, product(a, dy, True, False))


@pytest.mark.parametrize(
    ("guid", "shapes", "text"),
    [
        ("gemm", ((3, 4), (5, 2), (3, 2)), r"common dimension differs: \{4,3\}, \{2,5\}"),
        ("gemm", ((2, 3, 4), (4, 2), (2, 3, 2)), "operands have ranks 3 and 2: expected 2"),
        ("gemm", ((3, 4), (4, 2), (2, 3)), r"output 0: expected sizes \{2,3\}, found \{3,2\}"),
        ("batch_gemm", ((2, 3, 4), (3, 4, 2), (2, 3, 2)), "batch dimension 2 differs"),
        ("batch_gemm", ((4,), (4, 2), (2,)), "operands have ranks 1 and 2"),
    ],
)
def test_sizes_that_do_not_match(guid: str, shapes: tuple[tuple[int, ...], ...], text: str) -> None:
    a, b = (np.zeros(shape, np.float32) for shape in shapes[:2])
    with pytest.raises(kernels.KernelError, match=text):
        kernels.run_one(guid, [a, b], (shapes[2], np.float32))


def test_bias_of_another_size() -> None:
    a, b, bias = np.zeros((3, 4), np.float32), np.zeros((4, 2), np.float32), np.zeros(3, np.float32)
    with pytest.raises(kernels.KernelError, match="bias: expected 2 elements"):
        kernels.run_one("gemm", [a, b, bias], ((3, 2), np.float32))


def test_nan_and_infinity_spread() -> None:
    a = np.array([[np.inf, 1], [1, 1], [np.nan, 0]], np.float32)
    b = np.array([[0.0], [1]], np.float32)
    actual = kernels.run_one("gemm", [a, b], ((3, 1), np.float32))
    np.testing.assert_array_equal(actual, np.array([[np.nan], [1], [np.nan]]))
    huge = np.full((1, 2), 3e38, np.float32)
    assert np.isposinf(kernels.run_one("gemm", [huge, np.ones((2, 1), np.float32)], ((1, 1), np.float32)))


def test_sums_are_not_rounded_on_the_way() -> None:
    a = np.array([[2.0**24, 1, 1, -(2.0**24)]], np.float32)
    actual = kernels.run_one("gemm", [a, np.ones((4, 1), np.float32)], ((1, 1), np.float32))
    np.testing.assert_array_equal(actual, [[2]])


@pytest.mark.parametrize("dtype", [kernels.F32, kernels.BF16], ids=kernels.suffix)
def test_a_switch_flushes_denormals(dtype: np.dtype) -> None:
    tiny = np.float32(2.0**-126)
    a = np.array([[tiny / 2, 0], [tiny, 0], [0.5, 0]], np.float32).astype(dtype)
    b = np.array([[1, 2.0**20, tiny], [0, 0, 0]], np.float32).astype(dtype)
    flushing = kernels.Switches(flush_denormals=True)
    exact = kernels.run_one("gemm", [a, b], ((3, 3), dtype))
    kernels.assert_close(exact, product(a, b), ulps=0)
    assert float(exact[0, 0]) != 0
    flushed = kernels.run_one("gemm", [a, b], ((3, 3), dtype), switches=flushing)
    expected = product(np.where(np.abs(a.astype(np.float32)) < tiny, 0, a.astype(np.float32)), b)
    kernels.assert_close(flushed, np.where(np.abs(expected) < tiny, 0, expected), ulps=0)
    assert not np.any(flushed.astype(np.float32)[0])
    assert float(flushed[2, 2]) == 0
