"""Batch and layer normalization against their formulas in float64."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from tests.gaudi import kernel_library as kernels

EPSILON = 1e-3
all_types = pytest.mark.parametrize("dtype", kernels.FLOATS, ids=kernels.suffix)


def channel_operands(channels: int, count: int) -> list[np.ndarray]:
    """Returns positive f32 numbers for each channel."""
    return [kernels.random_array((channels,), np.float32, 10 + i, 0.5, 2) for i in range(count)]


def batch_norm_params(momentum: float = 0.25, training: bool | None = None) -> bytes:
    params = struct.pack("fff", 0, momentum, np.float32(EPSILON))
    return params if training is None else params + struct.pack("?3x", training)


def normalized(x: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    return (x.astype(np.float64) - mean) / np.sqrt(variance.astype(np.float64) + np.float64(np.float32(EPSILON)))


def rows(x: np.ndarray) -> np.ndarray:
    return x.astype(np.float64).reshape(-1, x.shape[-1])


@kernels.covers("batch_norm_fwd_*")
@all_types
@pytest.mark.parametrize("training", [None, True])
@pytest.mark.parametrize("results", [3, 5])
def test_batch_norm(dtype: np.dtype, training: bool | None, results: int) -> None:
    x = kernels.random_array((4, 3, 2, 5), dtype)
    beta, gamma, running_mean, running_variance = channel_operands(5, 4)
    specs = [(x.shape, dtype)] + [((5,), np.float32)] * (results - 1)
    params = batch_norm_params(0.25, training)
    operands = [x, beta, gamma, running_mean, running_variance]
    actual = kernels.run(f"batch_norm_fwd_{kernels.suffix(dtype)}", operands, specs, params)
    mean, variance = rows(x).mean(axis=0), rows(x).var(axis=0)
    kernels.assert_close(actual[0], normalized(x, mean, variance) * gamma + beta)
    kernels.assert_close(actual[1], mean)
    kernels.assert_close(actual[2], 1 / np.sqrt(variance + np.float64(np.float32(EPSILON))))
    if results == 5:
        kernels.assert_close(actual[3], 0.75 * running_mean + 0.25 * mean)
        kernels.assert_close(actual[4], 0.75 * running_variance + 0.25 * rows(x).var(axis=0, ddof=1))


def test_batch_norm_without_training_uses_running_statistics() -> None:
    x = kernels.random_array((4, 3, 2, 5), np.float32)
    beta, gamma, mean, variance = channel_operands(5, 4)
    specs = [(x.shape, np.float32)] + [((5,), np.float32)] * 4
    operands = [x, beta, gamma, mean, variance]
    actual = kernels.run("batch_norm_fwd_f32", operands, specs, batch_norm_params(0.25, False))
    kernels.assert_close(actual[0], normalized(x, mean, variance) * gamma + beta)
    np.testing.assert_array_equal(actual[3], mean)
    np.testing.assert_array_equal(actual[4], variance)


@kernels.covers("batch_norm_inf_*", "tf_batch_normalization_fwd")
@all_types
def test_inference(dtype: np.dtype) -> None:
    x = kernels.random_array((4, 3, 2, 5), dtype)
    beta, gamma, mean, variance = channel_operands(5, 4)
    expected = normalized(x, mean, variance) * gamma + beta
    spec = (x.shape, dtype)
    guid = f"batch_norm_inf_{kernels.suffix(dtype)}"
    for params in (batch_norm_params(), batch_norm_params(0, False)):
        kernels.assert_close(kernels.run_one(guid, [x, beta, gamma, mean, variance], spec, params), expected)
    epsilon = struct.pack("f", np.float32(EPSILON))
    actual = kernels.run_one("tf_batch_normalization_fwd", [x, mean, variance, beta, gamma], spec, epsilon)
    kernels.assert_close(actual, expected)


def batch_norm_gradients(
    x: np.ndarray, dy: np.ndarray, gamma: np.ndarray, mean: np.ndarray, variance: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns dX, dGamma, dBeta by the chain rule over mean and variance."""
    n = x.size // x.shape[-1]
    deviation = np.sqrt(variance + np.float64(np.float32(EPSILON)))
    centered = rows(x) - mean
    d_normalized = rows(dy) * gamma
    d_variance = (d_normalized * centered).sum(axis=0) * -0.5 / deviation**3
    d_mean = -(d_normalized / deviation).sum(axis=0) + d_variance * -2 * centered.mean(axis=0)
    dx = d_normalized / deviation + d_variance * 2 * centered / n + d_mean / n
    return dx.reshape(x.shape), (rows(dy) * centered / deviation).sum(axis=0), rows(dy).sum(axis=0)


@kernels.covers("batch_norm_bwd_*", "tf_fused_batch_norm_grad")
@all_types
def test_gradients_of_batch_norm(dtype: np.dtype) -> None:
    x = kernels.random_array((4, 3, 2, 5), dtype)
    dy = kernels.random_array(x.shape, dtype, 1)
    (gamma,) = channel_operands(5, 1)
    mean = rows(x).mean(axis=0).astype(np.float32)
    variance = rows(x).var(axis=0).astype(np.float32)
    istd = (1 / np.sqrt(variance + np.float64(np.float32(EPSILON)))).astype(np.float32)
    expected = batch_norm_gradients(x, dy, gamma, mean.astype(np.float64), variance.astype(np.float64))
    specs = [(x.shape, dtype), ((5,), np.float32), ((5,), np.float32)]

    # The statistics are f32 numbers; cancellation makes their rounding visible.
    def check(actual: np.ndarray, golden: np.ndarray) -> None:
        tolerance = 4 * float(np.finfo(np.float32).eps) + (2**-8 if actual.dtype != np.float32 else 0)
        np.testing.assert_allclose(actual.astype(np.float64), golden, rtol=tolerance, atol=2e-6)

    for params in (b"", batch_norm_params(), batch_norm_params(0, True)):
        guid = f"batch_norm_bwd_{kernels.suffix(dtype)}"
        dx, dbeta, dgamma = kernels.run(guid, [x, dy, mean, istd, gamma], specs, params)
        for actual, golden in zip((dx, dgamma, dbeta), expected):
            check(actual, golden)
    epsilon = struct.pack("f", np.float32(EPSILON))
    results = kernels.run("tf_fused_batch_norm_grad", [dy, x, gamma, mean, variance], specs, epsilon)
    for actual, golden in zip(results, expected):
        check(actual, golden)


@kernels.covers("moments_fwd", "norm_moments_fwd_*")
@all_types
def test_moments(dtype: np.dtype) -> None:
    x = kernels.random_array((2, 3, 4, 5), dtype)
    mean, variance = kernels.run("moments_fwd", [x], [((5,), np.float32), ((1, 1, 1, 5), np.float32)])
    kernels.assert_close(mean, rows(x).mean(axis=0))
    kernels.assert_close(variance.reshape(-1), rows(x).var(axis=0))
    # Masks 14 and 3: all dimensions but the fastest, and the two fastest.
    for mask, axes in ((14, (0, 1, 2)), (3, (2, 3))):
        wide = x.astype(np.float64)
        golden = [wide.mean(axis=axes, keepdims=True), wide.var(axis=axes, keepdims=True)]
        specs = [(golden[0].shape, np.float32)] * 2
        actual = kernels.run(f"norm_moments_fwd_{kernels.suffix(dtype)}", [x], specs, struct.pack("I", mask))
        for result, expected in zip(actual, golden):
            kernels.assert_close(result, expected)
    with pytest.raises(kernels.KernelError, match="mask 16: the rank is 4"):
        kernels.run("norm_moments_fwd_f32", [x.astype(np.float32)], [((1,), np.float32)] * 2, struct.pack("I", 16))


def layer_norm_params(axes: int | None = None, epsilon: float | None = EPSILON) -> bytes:
    params = struct.pack("?3xf", epsilon is not None, epsilon or 7)
    return params if axes is None else params + struct.pack("ii", axes, axes)


@kernels.covers("layer_norm_fwd_*", "layer_norm_bwd_*")
@all_types
@pytest.mark.parametrize(("mask", "axes"), [(None, (3,)), (1, (3,)), (3, (2, 3))])
def test_layer_norm(dtype: np.dtype, mask: int | None, axes: tuple[int, ...]) -> None:
    x = kernels.random_array((4, 2, 3, 6), dtype)
    dy = kernels.random_array(x.shape, dtype, 1)
    scale_shape = x.shape[axes[0] :]
    gamma = kernels.random_array(scale_shape, np.float32, 2, 0.5, 2)
    beta = kernels.random_array(scale_shape, np.float32, 3)
    wide = x.astype(np.float64)
    mean = wide.mean(axis=axes, keepdims=True)
    istd = 1 / np.sqrt(wide.var(axis=axes, keepdims=True) + np.float64(np.float32(EPSILON)))
    params = layer_norm_params(mask)
    suffix = kernels.suffix(dtype)
    statistics = (mean.shape, np.float32)
    actual = kernels.run(
        f"layer_norm_fwd_{suffix}", [x, beta, gamma], [(x.shape, dtype), statistics, statistics], params
    )
    kernels.assert_close(actual[0], (wide - mean) * istd * gamma + beta)
    kernels.assert_close(actual[1], mean)
    kernels.assert_close(actual[2], istd)
    plain = kernels.run(f"layer_norm_fwd_{suffix}", [x, None, None], [(x.shape, dtype)], params)
    kernels.assert_close(plain[0], (wide - mean) * istd)

    scale = (gamma.shape, np.float32)
    operands = [x, dy, actual[1], actual[2], gamma]
    dx, dbeta, dgamma = kernels.run(f"layer_norm_bwd_{suffix}", operands, [(x.shape, dtype), scale, scale], params)
    hat = (wide - mean) * istd
    scaled = dy.astype(np.float64) * gamma
    expected = istd * (
        scaled - scaled.mean(axis=axes, keepdims=True) - hat * (scaled * hat).mean(axis=axes, keepdims=True)
    )
    others = tuple(axis for axis in range(4) if axis not in axes)
    tolerance = 1e-5 if dtype == np.float32 else 2**-7
    np.testing.assert_allclose(dx.astype(np.float64), expected, rtol=tolerance, atol=1e-5)
    np.testing.assert_allclose(dgamma, (dy.astype(np.float64) * hat).sum(axis=others), rtol=1e-5, atol=1e-5)
    kernels.assert_close(dbeta, dy.astype(np.float64).sum(axis=others))


def test_layer_norm_has_a_default_epsilon() -> None:
    x = np.array([[1, 1.001]], np.float32)
    actual = kernels.run("layer_norm_fwd_f32", [x], [(x.shape, np.float32)], layer_norm_params(None, None))[0]
    wide = x.astype(np.float64)
    kernels.assert_close(actual, (wide - wide.mean()) / np.sqrt(wide.var() + 1e-5))


def test_statistics_of_other_sizes() -> None:
    x = np.zeros((2, 3, 4, 5), np.float32)
    operands = [x, *channel_operands(4, 4)]
    with pytest.raises(kernels.KernelError, match="input 1: expected 5 elements"):
        kernels.run("batch_norm_inf_f32", operands, [(x.shape, np.float32)], batch_norm_params())
    with pytest.raises(kernels.KernelError, match="input 1: expected 5 elements"):
        kernels.run("layer_norm_fwd_f32", operands[:3], [(x.shape, np.float32)], layer_norm_params())
