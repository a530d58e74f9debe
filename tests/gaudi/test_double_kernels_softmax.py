"""Softmax, cross entropy and their gradients against their formulas in float64."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from tests.gaudi import kernel_library as kernels

SUM, MEAN, NO_REDUCTION = 0, 1, 2
all_types = pytest.mark.parametrize("dtype", kernels.FLOATS, ids=kernels.suffix)

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def log_softmax(x: np.ndarray, axis: int) -> np.ndarray:
    shifted = x.astype(np.float64) - x.astype(np.float64).max(axis=axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))


@kernels.covers("softmax_fwd_*", "logsoftmax_fwd_*")
@all_types
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_softmax(dtype: np.dtype, axis: int) -> None:
    x = kernels.random_array((3, 4, 5), dtype, 0, -80, 80)
    params = struct.pack("i", 2 - axis)
    suffix = kernels.suffix(dtype)
    expected = log_softmax(x, axis)
    kernels.assert_close(kernels.run_one(f"logsoftmax_fwd_{suffix}", [x], (x.shape, dtype), params), expected)
    kernels.assert_close(kernels.run_one(f"softmax_fwd_{suffix}", [x], (x.shape, dtype), params), np.exp(expected))


def test_softmax_of_extremes() -> None:
    x = np.array([[3e38, -3e38, 0], [-np.inf, 0, 0], [np.nan, 1, 2], [np.inf, 0, 0]], np.float32)
    actual = kernels.run_one("softmax_fwd_f32", [x], (x.shape, np.float32), struct.pack("i", 0))
    np.testing.assert_array_equal(actual[:2], np.array([[1, 0, 0], [0, 0.5, 0.5]]))
    assert np.isnan(actual[2]).all()
    assert np.isnan(actual[3, 0])
    with pytest.raises(kernels.KernelError, match="dim 2 is out of range for rank 2"):
        kernels.run_one("softmax_fwd_f32", [x], (x.shape, np.float32), struct.pack("i", 2))


@kernels.covers("softmax_bwd_*", "logsoftmax_bwd_*")
@all_types
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_gradients_of_softmax(dtype: np.dtype, axis: int) -> None:
    dy = kernels.random_array((3, 4, 5), dtype, 1)
    log = log_softmax(kernels.random_array((3, 4, 5), dtype), axis).astype(dtype)
    y = np.exp(log.astype(np.float64)).astype(dtype)
    wide_y, wide_dy = y.astype(np.float64), dy.astype(np.float64)
    params = struct.pack("i", 2 - axis)
    suffix = kernels.suffix(dtype)
    actual = kernels.run_one(f"softmax_bwd_{suffix}", [y, dy], (y.shape, dtype), params)
    kernels.assert_close(actual, wide_y * (wide_dy - (wide_y * wide_dy).sum(axis=axis, keepdims=True)))
    actual = kernels.run_one(f"logsoftmax_bwd_{suffix}", [log, dy], (y.shape, dtype), params)
    kernels.assert_close(actual, wide_dy - np.exp(log.astype(np.float64)) * wide_dy.sum(axis=axis, keepdims=True))


def entropy_params(mode: int, batch: int, version: int = 8, axis: int = 0, tf_mode: bool = False) -> bytes:
    return struct.pack("Iii?3x", mode, batch, axis, tf_mode)[:version]


@kernels.covers("softmax_cross_entropy_fwd_*", "softmax_cross_entropy_bwd_*")
@all_types
@pytest.mark.parametrize("mode", [SUM, MEAN, NO_REDUCTION])
@pytest.mark.parametrize("version", [8, 12, 16])
def test_cross_entropy(dtype: np.dtype, mode: int, version: int) -> None:
    batch, classes = 6, 4
    logits = kernels.random_array((batch, classes), dtype)
    labels = np.array([0, 3, 1, 1, 2, 0], np.int32)
    log = log_softmax(logits, 1)
    losses = -log[np.arange(batch), labels]
    expected = {SUM: losses.sum(keepdims=True), MEAN: losses.mean(keepdims=True), NO_REDUCTION: losses}[mode]
    params = entropy_params(mode, batch, version)
    suffix = kernels.suffix(dtype)
    loss, probabilities = kernels.run(
        f"softmax_cross_entropy_fwd_{suffix}", [logits, labels], [(expected.shape, dtype), (log.shape, dtype)], params
    )
    kernels.assert_close(loss, expected)
    kernels.assert_close(probabilities, log)
    actual = kernels.run_one(f"softmax_cross_entropy_bwd_{suffix}", [probabilities, labels], (log.shape, dtype), params)
    gradient = np.exp(probabilities.astype(np.float64)) - np.eye(classes)[labels]
    kernels.assert_close(actual, gradient / (batch if mode == MEAN else 1))


@pytest.mark.parametrize(
    ("labels", "params", "text"),
    [
        ([0, 4], entropy_params(MEAN, 2), "label 4: there are 4 classes"),
        ([-1, 0], entropy_params(MEAN, 2), "label -1: there are 4 classes"),
        ([0, 1], entropy_params(MEAN, 3), r"batchSize 3: the logits are \{4,2\}"),
        ([0, 1], entropy_params(3, 2), "mode 3 is unknown"),
        ([0, 1], entropy_params(MEAN, 2, 16, 1), "only axis 0 without isTfMode is modelled"),
        ([0, 1], entropy_params(MEAN, 2, 16, 0, True), "only axis 0 without isTfMode is modelled"),
        ([0, 1, 2], entropy_params(MEAN, 2), "input 1: expected 2 labels of i32"),
    ],
)
def test_cross_entropy_of_bad_arguments(labels: list[int], params: bytes, text: str) -> None:
    logits = np.zeros((2, 4), np.float32)
    operands = [logits, np.array(labels, np.int32)]
    with pytest.raises(kernels.KernelError, match=text) as failure:
        kernels.run("softmax_cross_entropy_fwd_f32", operands, [((1,), np.float32), (logits.shape, np.float32)], params)
    assert all(np.isnan(output).all() for output in failure.value.outputs)
    with pytest.raises(kernels.KernelError, match=text):
        kernels.run_one("softmax_cross_entropy_bwd_f32", operands, (logits.shape, np.float32), params)
